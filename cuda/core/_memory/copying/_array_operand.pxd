# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries as source or destination of a copy."""

from cuda.core._handles._handles cimport Allocation, StreamHandle

# Buffers load this module at their first copy of an array, and its functions by these types.
ctypedef int (*CopyToArray)(object, const Allocation&, const StreamHandle&, object) except -1
ctypedef int (*CopyFromArray)(const Allocation&, object, const StreamHandle&, object) except -1

# The bytes of a buffer to an array, or those of an array, in C order, to a buffer; in stream order. The caller keeps
# the memory of the buffer and the stream.
cdef int copy_to_array(object array, const Allocation& source, const StreamHandle& h_stream, object options) except -1
cdef int copy_from_array(const Allocation& target, object array, const StreamHandle& h_stream, object options) except -1

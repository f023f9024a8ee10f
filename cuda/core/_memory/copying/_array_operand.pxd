# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays of others, as the other side of a copy."""

from cuda.core._handles._handles cimport AllocationHandle
from cuda.core._stream cimport Stream


# The bytes of a buffer to an array, or those of an array, in C order, to a buffer; in stream order.
cdef int copy_to_array(object array, const AllocationHandle& h_source, Stream stream, object options) except -1
cdef int copy_from_array(const AllocationHandle& h_target, object array, Stream stream, object options) except -1

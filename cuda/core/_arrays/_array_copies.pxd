# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies between buffers and arrays of other libraries, contiguous or strided, and between views."""

from cuda.core._arrays._views cimport ViewState


# Copies all elements of `source` to `target`. ValueError if shapes or types differ, the memory overlaps, or `target` is
# read-only.
cdef int copy_view(ViewState target, ViewState source, object stream, object allocator, object blocking) except -1

# An array to copy from or to, as a view with whole strides. Later work of the stream, if it is not None, is ordered
# after the work that the exporter of the array has enqueued.
cdef ViewState as_view(object array, str name, object stream)

# Fills all elements of a view in device-accessible memory.
cdef int fill_view(ViewState self, object value, object stream) except -1

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies between buffers and arrays of other libraries, strided ones included."""

from cuda.core._arrays._views cimport ViewState
from cuda.core._native._cuda_core cimport Allocation, StreamHandle


# Copies between a buffer and an array (its bytes in C order), in stream order. The caller keeps the memory of the
# buffer and the stream alive.
cdef int copy_to_array(object array, const Allocation& source, const StreamHandle& h_stream, object options) except -1
cdef int copy_from_array(const Allocation& target, object array, const StreamHandle& h_stream, object options) except -1


# Copies all elements of `source` to `target`. ValueError if shapes or types differ, the memory overlaps, or `target` is
# read-only.
cdef int copy_view(ViewState target, ViewState source, object stream, object allocator, object blocking) except -1

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Stream-ordered copies, hints for copies, and fills."""

from libc.stdint cimport int64_t

from cuda.core._native._cuda_core cimport AllocationPin, StreamHandle
from cuda.core._utils cimport cydriver


# In all these functions, the caller keeps the arguments alive during the call.

# Copies all bytes of `source` to `target`, in stream order; the sizes must agree. `options` is a CopyOptions or None.
cdef int copy(
    const AllocationPin& target, const AllocationPin& source, const StreamHandle& h_stream, object options=*
) except -1

# Copies bytes between plain addresses, which must not overlap.
cdef int copy_bytes(
    cydriver.CUdeviceptr target, cydriver.CUdeviceptr source, size_t size, const StreamHandle& h_stream, object options
) except -1

# Rejects ranges of one size that overlap, unless they are the same.
cdef int check_disjoint(cydriver.CUdeviceptr target, cydriver.CUdeviceptr source, size_t size) except -1


# One box of a CopyPlan, as plain numbers: planes of rows of bytes.
cdef struct Box:
    size_t width
    int64_t rows
    int64_t target_pitch
    int64_t source_pitch
    int64_t planes
    int64_t target_plane
    int64_t source_plane

cdef Box box_of(object plan) except *

# Executes a CopyPlan, in stream order. Pageable host memory must be declared.
cdef int copy_boxes(
    object plan,
    cydriver.CUdeviceptr target,
    bint is_target_on_host,
    cydriver.CUdeviceptr source,
    bint is_source_on_host,
    const StreamHandle& h_stream,
) except -1

# Larger pageable copies first wait for the stream, interruptibly.
cdef int64_t MAX_STAGED
cdef int wait_to_copy(cydriver.CUdeviceptr host, cydriver.CUstream c_stream) except -1


# Converts a CopyOptions to the driver's structure, and rejects other types.
cdef cydriver.CUmemcpyAttributes hints_of(object options) except *

# Rejects streams for which the driver accepts no hints.
cdef int check_stream(const StreamHandle& h_stream) except -1

# Returns true if the driver is new enough (`version`) for these hints; raises if one is needed for correctness.
cdef bint has_hints(const cydriver.CUmemcpyAttributes& hints, int version) except -1


# Fills memory with repetitions of `value`: an int of one byte, or an object with the buffer protocol.
cdef int fill_bytes(cydriver.CUdeviceptr pointer, size_t size, object value, cydriver.CUstream c_stream) except -1

# Fills rows of `width` bytes with repetitions of an element.
cdef int fill_rows(
    cydriver.CUdeviceptr pointer, size_t width, size_t rows, size_t pitch, bytes element, cydriver.CUstream c_stream
) except -1

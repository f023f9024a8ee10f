# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Allocate, free, adopt: each writes the handle of the memory."""

from libcpp.atomic cimport atomic

from cuda.core._handles._handles cimport Allocation, AllocationHandle, Keep, MemoryPoolHandle, StreamHandle
from cuda.core._utils cimport cydriver


# An argument `size` as a number of bytes.
cdef size_t size_argument(object size) except? <size_t>-1

# Memory of a pool, freed in the order of `h_stream`. Fails on a capturing stream.
cdef int allocate_from_pool(
    const MemoryPoolHandle& h_pool, size_t size, const StreamHandle& h_stream, AllocationHandle* h_allocation
) except -1

# How many pools there are that end with their handles.
cdef atomic[int]* own_pools

# Frees the memory whose release waited for the end of a capture, where that has ended.
cdef void free_what_captures_left() noexcept nogil

# Memory of a graph: the stream must be capturing. Freeing it in the capture adds a node to the graph.
cdef int allocate_in_graph(size_t size, const StreamHandle& h_stream, AllocationHandle* h_allocation) except -1

# Memory at a given address: `resource.deallocate` frees it; or it is only borrowed, and `owner` kept alive.
cdef int wrap(
    object ptr, object size, object resource, object owner, object stream, AllocationHandle* h_allocation
) except -1

# Borrowed memory; `keep` is kept alive.
cdef int borrow(cydriver.CUdeviceptr pointer, size_t size, const Keep& keep, AllocationHandle* h_allocation) except -1

# Sets the stream on which the memory (of `resource`, which may be None) is freed.
cdef int set_stream(Allocation& value, const StreamHandle& h_stream, object resource) except -1

# That stream, a Stream; None where there is none.
cdef object stream_of(const Allocation& value)

# The parts of the above that memory of other processes needs, too.
cdef int fix_context(Allocation& value) except -1
cdef void free_in_stream_order(Allocation value) noexcept nogil

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Functions that allocate or wrap memory; each writes the handle of the allocation."""

from libcpp.atomic cimport atomic

from cuda.core._handles._handles cimport Allocation, AllocationHandle, Keep, MemoryPoolHandle, StreamHandle
from cuda.core._utils cimport cydriver


# An argument `size` as a number of bytes.
cdef size_t size_argument(object size) except? <size_t>-1

# Allocates from a pool; the memory is freed on `h_stream`. RuntimeError on a capturing stream.
cdef int allocate_from_pool(
    const MemoryPoolHandle& h_pool, size_t size, const StreamHandle& h_stream, AllocationHandle* h_allocation
) except -1

# The number of pools that this library will destroy.
cdef atomic[int]* own_pools

# Frees memory whose free was deferred because its stream was capturing, if that capture has ended.
cdef void free_what_captures_left() noexcept nogil

# Allocates graph memory on a capturing stream. Freeing it during the capture adds a memory free node.
cdef int allocate_in_graph(size_t size, const StreamHandle& h_stream, AllocationHandle* h_allocation) except -1

# Wraps existing memory. `resource.deallocate` frees it; without a resource it is borrowed, and `owner` is kept alive.
cdef int wrap(
    object ptr, object size, object resource, object owner, object stream, AllocationHandle* h_allocation
) except -1

# Wraps borrowed memory; `keep` is kept alive.
cdef int borrow(cydriver.CUdeviceptr pointer, size_t size, const Keep& keep, AllocationHandle* h_allocation) except -1

# Sets the stream on which the memory (of `resource`, which may be None) is freed.
cdef int set_stream(Allocation& value, const StreamHandle& h_stream, object resource) except -1

# The stream on which the memory is freed, as a Stream; None if there is none.
cdef object stream_of(const Allocation& value)

# Used by the imports of memory of other processes, too.
cdef int fix_context(Allocation& value) except -1
cdef void free_in_stream_order(Allocation value) noexcept nogil

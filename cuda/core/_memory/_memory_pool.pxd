# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory pools: how they are created, adopted, shared and destroyed."""

from cuda.core._memory._buffer cimport Buffer
from cuda.core._memory._memory_resource cimport MemoryResource
from cuda.core._native._cuda_core cimport KeptMemoryPool, MemoryPoolHandle, MemoryPoolMember
from cuda.core._stream cimport Stream
from cuda.core._utils cimport cydriver


# Creates a pool of at most `max_size` bytes (0: no limit), which keeps `release_threshold` bytes when a stream or event
# is synchronized (None: all).
cdef MemoryPoolHandle MemPool_create(
    cydriver.CUmemAllocationType kind, cydriver.CUmemLocation location, bint is_shared, size_t max_size,
    object release_threshold
) except *

# Imports the pool behind a file descriptor of another process; `owner` keeps the descriptor open during the call.
cdef MemoryPoolHandle MemPool_import(int descriptor, object owner) except *

# Borrows a pool of another owner.
cdef MemoryPoolHandle MemPool_wrap(cydriver.CUmemoryPool c_pool) except *

# Borrows a pool of the driver. If its release threshold is 0, the default, it is set to keep all freed memory.
cdef MemoryPoolHandle MemPool_adopt(cydriver.CUmemoryPool c_pool) except *

cdef int MemPool_get(cydriver.CUmemoryPool c_pool, cydriver.CUmemPool_attribute attribute, void* value) except -1
cdef int MemPool_set(cydriver.CUmemoryPool c_pool, cydriver.CUmemPool_attribute attribute, void* value) except -1


cdef class _MemPool(MemoryResource):
    cdef:
        MemoryPoolMember _h_pool    # empty when closed
        bint _is_mapped             # imported from another process; cannot allocate
        MemoryPoolMember _h_users   # the same pool, borrowed: live allocations have copies, which are counted
        bint _is_overridden         # a subclass defines allocate()
        object _buffer_class        # the class of the buffers that allocate() returns; None for Buffer


cdef class _MemPoolAttributes:
    cdef MemoryPoolHandle _h_pool   # set once


# Raise RuntimeError if the resource is closed; MemPool_keep also keeps the pool for a call.
cdef int MemPool_check_open(_MemPool self) except -1
cdef int MemPool_keep(_MemPool self, KeptMemoryPool* kept) except -1

# Sets the pool that a resource allocates from.
cdef void MemPool_open(_MemPool self, const MemoryPoolHandle& h_pool) except *

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._handles cimport KeptMemoryPool, MemoryPoolHandle, MemoryPoolMember
from cuda.core._memory._buffer cimport Buffer
from cuda.core._memory._memory_resource cimport MemoryResource
from cuda.core._stream cimport Stream
from cuda.core._utils cimport cydriver


cdef class _MemPool(MemoryResource):
    cdef:
        MemoryPoolMember _h_pool    # empty when closed
        bint _is_mapped             # made by another process, and so not for allocating
        MemoryPoolMember _h_users   # the same pool, as its live allocations keep it: they are counted by it
        bint _is_overridden         # a subclass defines allocate()
        object _buffer_class        # what allocate() makes; None for Buffer


cdef class _MemPoolAttributes:
    cdef MemoryPoolHandle _h_pool   # set once


# Raises RuntimeError when the resource is closed; the second keeps the pool for a call.
cdef int MemPool_check_open(_MemPool self) except -1
cdef int MemPool_keep(_MemPool self, KeptMemoryPool* kept) except -1

# A new pool, which keeps `release_threshold` bytes (see below) over a synchronization; of at most `max_size`
# bytes, where that is not 0.
cdef MemoryPoolHandle MemPool_create(
    cydriver.CUmemAllocationType kind, cydriver.CUmemLocation location, bint is_shared, size_t max_size,
    object release_threshold
) except *

# The pool behind a file descriptor of another process, and the pool that somebody else owns.
cdef MemoryPoolHandle MemPool_import(int descriptor, object owner) except *
cdef MemoryPoolHandle MemPool_wrap(cydriver.CUmemoryPool c_pool) except *

# A pool that the driver has made: it keeps freed memory for reuse, unless somebody has set its threshold.
cdef MemoryPoolHandle MemPool_adopt(cydriver.CUmemoryPool c_pool) except *

# The bytes that a pool keeps over a synchronization; None for all.
cdef int MemPool_set_threshold(const MemoryPoolHandle& h_pool, object release_threshold) except -1

# The pool that a resource allocates from, from now on.
cdef void MemPool_open(_MemPool self, const MemoryPoolHandle& h_pool) except *

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

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.bindings cimport cydriver

from cuda.core._handles._handles cimport MemoryPoolHandle
from cuda.core._memory._buffer cimport Buffer, MemoryResource
from cuda.core._stream cimport Stream


cdef class _MemPool(MemoryResource):
    cdef:
        MemoryPoolHandle _h_pool    # empty when closed
        bint _is_overridden         # a Python subclass defines allocate()


cdef class _MemPoolAttributes:
    cdef MemoryPoolHandle _h_pool


# A new pool, and the pool that somebody else owns.
cdef MemoryPoolHandle MemPool_create(cydriver.CUmemPoolProps* properties) except *
cdef MemoryPoolHandle MemPool_wrap(cydriver.CUmemoryPool c_pool) except *

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._memory._ipc cimport IPCAllocationHandle, LetIn
from cuda.core._memory._memory_pool cimport _MemPool


cdef class _IPCMemPool(_MemPool):
    cdef:
        IPCAllocationHandle _allocation_handle  # None where the pool is not shared
        LetIn _let_in                           # what imported memory needs; NULL for nothing


# Lets other processes open the pool, which was made with a handle type that allows it.
cdef int IPCMemPool_share(_IPCMemPool self) except -1

# The resource that is registered under the UUID of an allocation handle, or None.
cdef object IPCMemPool_registered(type cls, object alloc_handle)

# Opens the pool of another process and registers it; returns `self`, or the resource registered before.
cdef object IPCMemPool_open(_IPCMemPool self, object alloc_handle)

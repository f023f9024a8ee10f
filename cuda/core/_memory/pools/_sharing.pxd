# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._memory._ipc cimport IPCAllocationHandle, GrantAccess
from cuda.core._memory._memory_pool cimport _MemPool


cdef class _IPCMemPool(_MemPool):
    cdef:
        IPCAllocationHandle _allocation_handle  # None if the pool is not shared
        GrantAccess _grant_access               # grants devices access to imported memory; NULL if not needed


# Exports the pool, which was created with a handle type that allows it.
cdef int IPCMemPool_share(_IPCMemPool self) except -1

# The resource that is registered under the UUID of an allocation handle, or None.
cdef object IPCMemPool_registered(type cls, object alloc_handle)

# Imports the pool of another process and registers it; returns `self`, or the resource registered before.
cdef object IPCMemPool_open(_IPCMemPool self, object alloc_handle)

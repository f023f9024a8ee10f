# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Sharing of memory pools and buffers between processes."""

from cuda.core._memory._memory_pool cimport _MemPool
from cuda.core._native._cuda_core cimport Allocation, AllocationHandle, MemoryPoolHandle, StreamHandle
from cuda.core._utils cimport cydriver


cdef class IPCAllocationHandle:
    cdef:
        int _descriptor     # -1 when closed
        object _uuid


cdef class IPCBufferDescriptor:
    cdef:
        bytes _payload
        size_t _size


# A function that grants devices access to a pool of host memory.
ctypedef int (*GrantAccess)(cydriver.CUmemoryPool c_pool) except -1

# A handle that owns a file descriptor.
cdef IPCAllocationHandle IPCAllocationHandle_create(int descriptor, object uuid)

# A handle with a duplicate of the file descriptor of another handle, or of an open file descriptor.
cdef IPCAllocationHandle IPCAllocationHandle_copy(object handle)

# Exports a pool, so that another process can import it.
cdef IPCAllocationHandle export_pool(const MemoryPoolHandle& h_pool)

# Exports memory of a shared pool, which the caller keeps alive.
cdef IPCBufferDescriptor export_memory(const Allocation& memory, int device_id)

# Opens memory of an imported pool; `handle` is the handle that the pool was imported from. All imports of the same
# memory share one mapping. `grant_access` is NULL for device memory, which its device can always access.
cdef int import_memory(
    const MemoryPoolHandle& h_pool, IPCAllocationHandle handle, GrantAccess grant_access,
    IPCBufferDescriptor descriptor, const StreamHandle& h_stream, AllocationHandle* h_allocation
) except -1


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

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._handles cimport Allocation, AllocationHandle, MemoryPoolHandle, StreamHandle
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

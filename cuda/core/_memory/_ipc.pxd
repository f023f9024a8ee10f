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


# Grants devices access to a pool of the host.
ctypedef int (*LetIn)(cydriver.CUmemoryPool c_pool) except -1

# A handle that owns a file descriptor.
cdef IPCAllocationHandle IPCAllocationHandle_create(int descriptor, object uuid)

# A handle with a descriptor of its own, for a call and for exporting further; of a handle, or an open descriptor.
cdef IPCAllocationHandle IPCAllocationHandle_copy(object handle)

# What another process needs to open a pool, and memory of it.
cdef IPCAllocationHandle export_pool(const MemoryPoolHandle& h_pool)

# Of memory that the caller keeps.
cdef IPCBufferDescriptor export_memory(const Allocation& memory, int device_id)

# Memory of an imported pool, which came by `handle`. All imports of one piece of memory share one mapping.
# `let_in` is NULL where the device of the memory needs nothing for access.
cdef int import_memory(
    const MemoryPoolHandle& h_pool, IPCAllocationHandle handle, LetIn let_in, IPCBufferDescriptor descriptor,
    const StreamHandle& h_stream, AllocationHandle* h_allocation
) except -1

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Graph memory, and the creation, adoption, import, access and destruction of memory pools."""

from cuda.core._memory._memory_resource cimport MemoryResource
from cuda.core._native._cuda_core cimport MemoryPoolPin, MemoryPoolHandle, MemoryPoolField
from cuda.core._utils cimport cydriver


cdef class _MemPool(MemoryResource):
    cdef:
        MemoryPoolField _h_pool    # empty when closed
        MemoryPoolField _h_users   # the same pool, borrowed: live allocations have copies, which are counted
        bint _is_mapped             # imported from another process; cannot allocate
        bint _is_overridden         # a subclass defines allocate()
        object _buffer_class        # the class of the buffers that allocate() returns; None for Buffer
        public int _device_id       # -1 if the memory is not tied to a device
        public object _location     # a NUMA node or a preferred location, as its class needs it


# Raise RuntimeError if the resource is closed; MemPool_pin also keeps the pool for a call.
cdef int MemPool_check_open(_MemPool self) except -1
cdef int MemPool_pin(_MemPool self, MemoryPoolPin* pin) except -1

# Sets the pool that a resource allocates from.
cdef void MemPool_open(_MemPool self, const MemoryPoolHandle& h_pool) except *

# Imports the pool of a file descriptor from another process; `owner` keeps the descriptor open during the call.
cdef MemoryPoolHandle MemPool_import(int descriptor, object owner) except *

# Grants all devices access to an imported pool of host memory, which only the host can access.
cdef int MemPool_grant_imported(cydriver.CUmemoryPool c_pool) except -1

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._driver_object cimport DriverObject
from cuda.core._handles._handles cimport AllocationHandle
from cuda.core._stream cimport Stream


cdef class MemoryResource:
    cdef object __weakref__

    # Allocation without a Python call; the base goes through the overridden Python method.
    cdef Buffer _allocate(self, size_t size, Stream stream)


cdef class Buffer(DriverObject):
    cdef:
        AllocationHandle _h_allocation
        object _memory_resource     # None for wrapped memory
        object _owner
        object _ipc_descriptor
        int _export_count           # memoryviews that look at the memory


# A buffer of class `cls` over an allocation.
cdef Buffer Buffer_create(type cls, const AllocationHandle& h_allocation, object memory_resource, object owner)

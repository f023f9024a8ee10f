# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cpython.object cimport PyObject

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
        PyObject* _handle_object    # what `handle` and `size` read
        PyObject* _size_object


# A buffer of class `cls` over an allocation.
cdef Buffer Buffer_create(type cls, const AllocationHandle& h_allocation, object memory_resource, object owner)

# Refreshes `handle` and `size` after the allocation of a buffer has changed.
cdef int Buffer_show(Buffer self) except -1

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cpython.object cimport PyObject

from cuda.core._handles._driver_object cimport DriverObject
from cuda.core._handles._handles cimport AllocationHandle
from cuda.core._memory._memory_resource cimport MemoryResource
from cuda.core._stream cimport Stream


cdef class Buffer(DriverObject):
    cdef:
        AllocationHandle _h_allocation
        object _memory_resource     # None for wrapped memory
        object _owner
        object _ipc_descriptor
        bint _is_mapped             # allocated by another process
        int _export_count           # memoryviews that look at the memory
        PyObject* _handle_object    # what `handle` and `size` read
        PyObject* _size_object


# A buffer of class `cls` over an allocation.
cdef Buffer Buffer_create(type cls, const AllocationHandle& h_allocation, object memory_resource, object owner)

# What a resource allocates, checked to be a buffer.
cdef Buffer Buffer_allocate(MemoryResource mr, size_t size, Stream stream)

# Refreshes `handle` and `size` after the allocation of a buffer has changed.
cdef int Buffer_show(Buffer self) except -1

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Buffers: ranges of memory on the device or the host."""

from libc.stdint cimport uint32_t, uintptr_t

from cpython.object cimport PyObject

from cuda.core._memory._memory_resource cimport MemoryResource as CMemoryResource
from cuda.core._native._cuda_core cimport (
    Allocation,
    AllocationHandle,
    AllocationField,
    DriverObject,
    AllocationPin,
    StreamHandle,
    refuse_closed,
)
from cuda.core._stream cimport Stream


cdef class Buffer(DriverObject):
    cdef:
        AllocationField _h_allocation
        object _memory_resource     # None for wrapped memory
        object _owner               # the parent of a sub-buffer
        object _ipc_descriptor      # kept when closed, because others may still open the memory
        object _ipc_resource        # the resource that goes with the descriptor
        SubBuffers _slices          # None before the first
        bint _is_slice
        bint _is_mapped             # allocated by another process
        bint _is_readonly           # of the array that lends the memory
        int _export_count           # memoryviews of the memory and of slices of it
        PyObject* _handle_object    # the values of `handle` and `size`
        PyObject* _size_object


cdef class SubBuffers:
    cdef dict _references   # the address of each sub-buffer -> a weak reference to it

    cdef int add(self, DriverObject part) except -1
    cdef void remove(self, DriverObject part) noexcept
    # Closes all sub-buffers that are left.
    cdef void close(self) noexcept


# A buffer of class `cls` over an allocation.
cdef Buffer Buffer_create(type cls, const AllocationHandle& h_allocation, object memory_resource, object owner)

# Allocates from a resource, and checks that the result is a buffer of at least this size.
cdef Buffer Buffer_allocate(CMemoryResource mr, size_t size, Stream stream)

# The resource of a buffer, or None if closed.
cdef object resource_of(Buffer self)

# Refreshes `handle` and `size` after the allocation has changed.
cdef int Buffer_update_members(Buffer self) except -1

# Pins the memory for a call; RuntimeError if the buffer is closed.
cdef inline int Buffer_pin(Buffer self, AllocationPin* pin) except -1:
    return 0 if pin.hold(self._h_allocation) else refuse_closed(self)

# TypeError if the buffer is read-only. `name` is the name of the argument.
cdef inline int check_writable(Buffer self, str name) except -1:
    return Buffer_raise_readonly(self, name) if self._is_readonly else 0

cdef int Buffer_raise_readonly(Buffer self, str name) except -1

# Orders later work of a DLPack consumer after the work now in the stream of the memory. `stream` is the argument of
# `__dlpack__`, `device_type` that of the memory.
cdef int order_consumer(const Allocation& memory, object stream, int device_type) except -1

# Waits for the work now in the stream of the memory.
cdef int wait_for_memory(const Allocation& memory) except -1

# The address of the stream of the memory as the CUDA array interface names it, or None without one.
cdef object stream_address(const Allocation& memory)

# The buffers of an argument, which must be a sequence of one or more.
cdef list buffers_argument(object buffers, str name)


# An array as a kernel argument.
cdef struct ArrayArgument:
    uintptr_t pointer
    uint32_t element        # the DLDataType as a number, or 0 if unknown
    bint is_readonly


# Arrays of other libraries, for modules that do not know how to read them: a higher layer implements the methods.
cdef class ArrayAccess:
    # Copy between a buffer and an array (its bytes in C order), in stream order. The caller keeps the memory of the
    # buffer and the stream alive.
    cdef int copy_to_array(
        self, object array, const Allocation& source, const StreamHandle& h_stream, object options
    ) except -1
    cdef int copy_from_array(
        self, const Allocation& target, object array, const StreamHandle& h_stream, object options
    ) except -1
    # Whether an object supports a protocol for arrays, or its type has an importer.
    cdef bint is_array(self, object obj) except -1
    # Whether an object of this very class is always an array, and the class is never freed.
    cdef bint is_known_class(self, object cls) except -1
    # Reads any array, without stream ordering. Returns whether a device can access the memory.
    cdef int read_argument(self, object array, ArrayArgument* argument) except -1

cdef ArrayAccess array_access()

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Buffers: ranges of memory on the device or the host."""

from libc.stdint cimport uintptr_t

from cpython.object cimport PyObject

from cuda.core._memory._memory_resource cimport MemoryResource as CMemoryResource, SubBuffers
from cuda.core._native._cuda_core cimport (
    Allocation,
    AllocationHandle,
    AllocationMember,
    DriverObject,
    KeptAllocation,
    StreamHandle,
    refuse_closed,
)
from cuda.core._stream cimport Stream


cdef class MemoryRange(DriverObject):
    cdef:
        AllocationMember _h_allocation
        object _memory_resource     # None for wrapped memory
        object _owner               # the parent of a sub-buffer
        object _ipc_descriptor      # kept when closed, because others may still open the memory
        object _ipc_resource        # what the descriptor goes with
        SubBuffers _slices          # None before the first
        bint _is_slice
        bint _is_mapped             # allocated by another process
        bint _is_readonly           # of the array that lends the memory
        int _export_count           # memoryviews of the memory and of slices of it
        PyObject* _handle_object    # what `handle` and `size` read
        PyObject* _size_object


# Refreshes `handle` and `size` after the allocation has changed.
cdef int MemoryRange_update_members(MemoryRange self) except -1

# Makes an empty range the slice `self[key]`.
cdef int MemoryRange_cut(MemoryRange self, object key, MemoryRange part) except -1

# The resource, None when closed.
cdef object resource_of(MemoryRange self)

# BufferError while a memoryview of the memory exists, which would read freed memory later.
cdef int MemoryRange_refuse_while_exported(MemoryRange self) except -1

# What methods begin with: keeping the memory for a call, RuntimeError when the range is closed, and a check that it
# may be written. `name` is that of the argument.
cdef inline int MemoryRange_keep(MemoryRange self, KeptAllocation* kept) except -1:
    return 0 if kept.hold(self._h_allocation) else refuse_closed(self)

cdef inline int check_writable(MemoryRange self, str name) except -1:
    return MemoryRange_refuse_write(self, name) if self._is_readonly else 0

cdef int MemoryRange_refuse_write(MemoryRange self, str name) except -1


cdef class Buffer(MemoryRange):
    pass


# A buffer of class `cls` over an allocation.
cdef Buffer Buffer_create(type cls, const AllocationHandle& h_allocation, object memory_resource, object owner)

# What a resource allocates, checked to be a buffer.
cdef Buffer Buffer_allocate(CMemoryResource mr, size_t size, Stream stream)

# The buffers of an argument, which must be a sequence of one or more.
cdef list buffers_argument(object buffers, str name)


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
    # Reads the address of any array, without stream ordering. Returns whether a device can access the memory.
    cdef int read_address(self, object array, uintptr_t* pointer) except -1

cdef ArrayAccess array_access()

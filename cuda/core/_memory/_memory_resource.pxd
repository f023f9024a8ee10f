# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory resources: their base class, locations, allocation and release of memory, and slices of it."""

from libcpp.atomic cimport atomic

from cuda.core._native._cuda_core cimport (
    Allocation,
    AllocationHandle,
    DriverObject,
    Keep,
    MemoryPoolHandle,
    StreamHandle,
)
from cuda.core._stream cimport Stream
from cuda.core._utils cimport cydriver


# Buffers are objects here, because their class refers to this one.
cdef class MemoryResource:
    cdef object __weakref__

    # Allocation without a Python call; the base goes through the overridden Python method.
    cdef object _allocate(self, size_t size, Stream stream)

    # Whether other processes may open the memory; what they need for that; and memory opened by it: whether it
    # is mapped from another process. Refused here.
    cdef bint _is_shared(self) noexcept
    cdef object _export(self, object buffer)
    cdef bint _import(self, object descriptor, Stream stream, AllocationHandle* h_allocation) except -1


cdef struct PointerInfo:
    int device_id               # -1 for pageable host memory
    bint is_device_accessible
    bint is_host_accessible
    bint is_managed


# The driver's information about an address.
cdef PointerInfo pointer_info(cydriver.CUdeviceptr pointer) except *


# Checks an argument `location`: a Device or a Host.
cdef cydriver.CUmemLocation location_argument(object location) except *

# Builds a location from its type and ID; the ID is ignored for types without one.
cdef cydriver.CUmemLocation location_of(cydriver.CUmemLocationType kind, int ordinal) noexcept nogil

# The Device or Host that the driver reports; None for no location.
cdef object location_object(int kind, int ordinal)

# The NUMA node nearest to the device that is current.
cdef int nearest_numa_node() except -1

# An attribute of a device; 0 if the driver does not know the attribute.
cdef int device_attribute(cydriver.CUdevice_attribute attribute, int device_id) except? -1


# An argument `size` as a number of bytes.
cdef size_t size_argument(object size) except? <size_t>-1

# Allocates from a pool; the memory is freed on `h_stream`. RuntimeError on a capturing stream.
cdef int allocate_from_pool(
    const MemoryPoolHandle& h_pool, size_t size, const StreamHandle& h_stream, AllocationHandle* h_allocation
) except -1

# The number of pools that this library will destroy.
cdef atomic[int]* own_pools

# Allocates graph memory on a capturing stream. Freeing it during the capture adds a memory free node.
cdef int allocate_in_graph(size_t size, const StreamHandle& h_stream, AllocationHandle* h_allocation) except -1

# Wraps existing memory. `resource.deallocate` frees it; without a resource it is borrowed, and `owner` is kept alive.
cdef int wrap(
    object ptr, object size, object resource, object owner, object stream, AllocationHandle* h_allocation
) except -1

# Wraps borrowed memory; `keep` is kept alive.
cdef int borrow(cydriver.CUdeviceptr pointer, size_t size, const Keep& keep, AllocationHandle* h_allocation) except -1

# Sets the stream on which the memory (of `resource`, which may be None) is freed.
cdef int set_stream(Allocation& value, const StreamHandle& h_stream, object resource) except -1

# The stream on which the memory is freed, as a Stream; None if there is none.
cdef object stream_of(const Allocation& value)

# Used by the imports of memory of other processes, too.
cdef int fix_context(Allocation& value) except -1
cdef void free_in_stream_order(Allocation value) noexcept nogil


cdef class SubBuffers:
    cdef dict _references   # the address of each sub-buffer -> a weak reference to it

    cdef int add(self, DriverObject part) except -1
    cdef void remove(self, DriverObject part) noexcept
    # Close all sub-buffers that are left.
    cdef void close(self) noexcept


# Reads the bounds of `buffer[key]`, which are not yet adjusted to the size of the buffer.
cdef int read_bounds(object key, Py_ssize_t* start, Py_ssize_t* stop) except -1

# Creates the handle of a slice of `whole`; `keep` keeps the memory of the parent.
cdef int narrow(
    const Allocation& whole, Py_ssize_t start, Py_ssize_t stop, const Keep& keep, AllocationHandle* h_part
) except -1

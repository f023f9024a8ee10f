# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory resources: their base class, pointer information, locations, and allocations with their release."""

from libcpp.atomic cimport atomic

from cuda.core._native._cuda_core cimport (
    Allocation,
    AllocationHandle,
    DriverObject,
    Anchor,
    MemoryPoolHandle,
    StreamHandle,
)
from cuda.core._stream cimport Stream
from cuda.core._utils cimport cydriver


# Buffers are objects here, because their class refers to this one.
cdef class MemoryResource:
    cdef object __weakref__

    # Allocates without a Python call. The base calls the overridden Python method.
    cdef object _allocate(self, size_t size, Stream stream)

    # IPC, which the base does not support: returns true if other processes can open the memory; exports a buffer; and
    # imports one, and returns true if its memory is mapped from another process.
    cdef bint _is_shared(self) noexcept
    cdef object _export(self, object buffer)
    cdef bint _import(self, object descriptor, Stream stream, AllocationHandle* h_allocation) except -1


cdef struct PointerInfo:
    int device_id               # -1 for pageable host memory
    bint is_device_accessible
    bint is_host_accessible
    bint is_managed


# Queries the driver about an address.
cdef PointerInfo pointer_info(cydriver.CUdeviceptr pointer) except *


# Checks an argument `location`: a Device or a Host.
cdef cydriver.CUmemLocation location_argument(object location) except *

# Builds a location from its type and ID; the ID is ignored for types without one.
cdef cydriver.CUmemLocation location_of(cydriver.CUmemLocationType kind, int ordinal) noexcept nogil

# A locality domain of a device.
cdef cydriver.CUmemLocation domain_of(int device_id, int domain) noexcept nogil

# The Device or Host that the driver reports, or None for no location.
cdef object location_object(int kind, int ordinal)

# An attribute of a device, or 0 if the driver does not know the attribute.
cdef int attribute_or_zero(cydriver.CUdevice_attribute attribute, int device_id) except? -1


# Converts an argument `size` to a number of bytes.
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

# Memory that `resource.deallocate` frees is owned in two steps. The first runs all Python code that an exception can
# interrupt, and returns whether freeing waits. The driver call that allocates goes between them.
cdef bint prepare(object resource, const StreamHandle& h_stream, bint has_memory, Allocation& value) except -1
cdef int own_by_resource(Allocation& value, bint waits, AllocationHandle* h_allocation) except -1

# Frees memory by a call for which the driver waits, once the work in flight has completed. If a signal handler raises
# meanwhile, the memory is retired, and a later failure warns.
ctypedef cydriver.CUresult (*FreeCall)(cydriver.CUdeviceptr pointer, size_t size) noexcept nogil
cdef int free_after_wait(FreeCall function, cydriver.CUdeviceptr pointer, size_t size, const char* api) except -1

# The address that `deallocate` is called with.
cdef cydriver.CUdeviceptr freed_address(object ptr) except? 0

# Wraps borrowed memory; `anchor` keeps its owner alive.
cdef int borrow(
    cydriver.CUdeviceptr pointer, size_t size, const Anchor& anchor, AllocationHandle* h_allocation
) except -1

# Sets the stream to free the memory (of `resource`, which may be None) on.
cdef int set_stream(Allocation& value, const StreamHandle& h_stream, object resource) except -1

# The stream to free the memory on, as a Stream, or None if there is none.
cdef object stream_of(const Allocation& value)

# For a default stream, stores the current context, because the memory must be freed in it.
cdef int fix_context(Allocation& value) except -1

# Frees memory of a pool on its stream.
cdef void free_in_stream_order(Allocation value) noexcept nogil

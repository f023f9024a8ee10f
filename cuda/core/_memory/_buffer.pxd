# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._handles cimport AllocationHandle
from cuda.core._memory._memory_resource cimport MemoryResource as CMemoryResource
from cuda.core._memory.ranges._memory_range cimport MemoryRange
from cuda.core._stream cimport Stream


cdef class Buffer(MemoryRange):
    pass


# A buffer of class `cls` over an allocation.
cdef Buffer Buffer_create(type cls, const AllocationHandle& h_allocation, object memory_resource, object owner)

# What a resource allocates, checked to be a buffer.
cdef Buffer Buffer_allocate(CMemoryResource mr, size_t size, Stream stream)

# The buffers of an argument, which must be a sequence of one or more.
cdef list buffers_argument(object buffers, str name)

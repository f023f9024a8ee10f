# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The base of memory resources that wrap another one, and the adaptors that count and cache allocations."""

from cuda.core._memory._buffer cimport Buffer
from cuda.core._memory._memory_resource cimport MemoryResource
from cuda.core._native._cuda_core cimport Allocation, AllocationHandle
from cuda.core._stream cimport Stream


cdef class MemoryResourceAdaptor(MemoryResource):
    cdef:
        MemoryResource _upstream
        bint _is_closed
        bint _is_overridden     # a subclass defines allocate()
        bint _is_ordered        # devices reach the memory, so that frees wait for their stream

    cdef Buffer _allocate_open(self, size_t size, Stream stream)


# Raises RuntimeError when the adaptor is closed.
cdef int Adaptor_check_open(MemoryResourceAdaptor self) except -1

# What the upstream resource allocates, and its memory, checked to be open.
cdef Buffer Adaptor_allocate_upstream(
    MemoryResourceAdaptor self, size_t size, Stream stream, AllocationHandle* h_memory
)

# The stream on which memory of the adaptor will be freed.
cdef int Adaptor_set_stream(MemoryResourceAdaptor self, Stream stream, Allocation* value) except -1

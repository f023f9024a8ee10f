# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Storage of arrays, and the fast creation of results."""

from libc.stdint cimport uint64_t

from cuda.core._memory._memory_resource cimport MemoryResource


cdef class ArrayStorage:
    cdef:
        public object shape, strides, dtype, size, nbytes, allocator, base
        public bint _is_c, _is_f
        public object _device       # the ArrayDevice
        public object _gpudata      # the allocation, or in views the address
        public object _owner        # the allocation, which tells whether the memory was freed
        public object _argument     # the kernel argument
        public uint64_t _address


cdef class ResultSource:
    cdef:
        MemoryResource _resource
        object _members, _take_again
        unsigned int _count


# Allocates `size` bytes.
cdef object ResultSource_take(ResultSource self, size_t size)

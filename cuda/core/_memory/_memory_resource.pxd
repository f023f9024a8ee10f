# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._handles cimport AllocationHandle
from cuda.core._stream cimport Stream


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

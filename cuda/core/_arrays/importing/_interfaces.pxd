# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport int64_t

from cuda.core._dlpack cimport DLDataType


cdef struct ElementType:
    int64_t itemsize
    DLDataType dlpack       # no lanes: DLPack has no such type

# (shape, typestr, address, is_readonly) of `__array_interface__` or `__cuda_array_interface__`; only the shape is
# left to check. BufferError for what breaks the protocol, whose name is that of the attribute.
cdef tuple read_entries(object interface, str name)

# An element such as '<f4', '<U3' (3 characters of 4 bytes) or '<M8[ns]'.
cdef int parse_typestr(object typestr, ElementType* element) except -1
# One such as 'i' or '<d', as PEP 3118 has them; false for all that is no single number in the order of this machine.
cdef bint parse_format(const char* text, int64_t itemsize, ElementType* element) noexcept

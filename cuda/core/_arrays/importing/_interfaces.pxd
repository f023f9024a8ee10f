# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport int64_t

from cuda.core._dlpack cimport DLDataType


cdef struct ElementType:
    int64_t itemsize
    DLDataType dlpack       # lanes == 0: DLPack has no such type

# Returns (shape, typestr, address, is_readonly) of an array interface; `name` is that of the attribute, for messages.
# BufferError if the interface violates the protocol; shape and typestr are not checked yet.
cdef tuple read_entries(object interface, str name)

# Parses a typestr such as '<f4', '<U3' (3 characters of 4 bytes) or '<M8[ns]'; BufferError if it is malformed.
cdef int parse_typestr(object typestr, ElementType* element) except -1
# Parses a format of PEP 3118 such as 'i' or '<d'. False unless it is a single number in native byte order.
cdef bint parse_format(const char* text, int64_t itemsize, ElementType* element) noexcept

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport int64_t


# (shape, typestr, address, is_readonly) of `__array_interface__` or `__cuda_array_interface__`; only the shape is
# left to check. BufferError for what breaks the protocol.
cdef tuple read_entries(object interface)

# The bytes of an element such as '<f4', '<U3' (of 4 bytes each) or '<M8[ns]'.
cdef int64_t parse_itemsize(object typestr) except -1

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The layout class, and checks of shapes and strides."""

from libc.stdint cimport int64_t


cdef class _StridedLayout:
    cdef:
        tuple _shape
        tuple _strides              # in elements; None for implicit C order
        int64_t _itemsize
        int64_t _slice_offset

    cdef tuple explicit_strides(self)


# Convert arguments to ints that fit 64 bits. Errors name `shape`, `strides` or `itemsize`.
cdef tuple checked_shape(object shape)
cdef tuple checked_strides(object strides, Py_ssize_t ndim)
cdef int64_t checked_itemsize(object itemsize) except -1
# ValueError if a layout is larger than the address space. Strides are in units of `unit` bytes, or None.
cdef int check_reach(tuple shape, tuple strides, int64_t unit, int64_t itemsize) except -1

# A layout whose parts are known to be valid.
cdef _StridedLayout Layout_create(tuple shape, tuple strides, int64_t itemsize, int64_t slice_offset=*)

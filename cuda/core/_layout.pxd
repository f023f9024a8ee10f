# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport int64_t


cdef class _StridedLayout:
    cdef:
        tuple _shape
        tuple _strides              # in elements; None for implicit C order
        int64_t _itemsize
        int64_t _slice_offset

    cdef tuple explicit_strides(self)


# A layout whose parts are known to be valid.
cdef _StridedLayout Layout_create(tuple shape, tuple strides, int64_t itemsize, int64_t slice_offset=*)

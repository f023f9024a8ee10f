# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libcpp.vector cimport vector

from cuda.core._dlpack cimport DLDataType, DLPackSource, DLTensor
from cuda.core._handles._handles cimport AllocationHandle
from cuda.core._layout cimport _StridedLayout


cdef extern from "extents.hpp" namespace "cuda_core" nogil:
    cppclass Extents:
        int64_t* take(size_t count) except +
        int64_t* data() noexcept


# What is known of the memory of an array. The Python objects for layout and dtype are made when asked for.
cdef class ViewState:
    cdef:
        uintptr_t _ptr                      # of the first element
        int _device_id                      # -1 for plain host memory
        int _device_type                    # of DLPack; 0 where the source does not say
        bint _is_device_accessible
        bint _is_readonly
        bint _is_sized                      # the size of _h_allocation limits layouts
        int _ndim
        const int64_t* _shape               # kept by _dlpack, _keeper or _extents
        const int64_t* _strides             # NULL for C order
        int64_t _stride_unit                # what the strides count: 1 for elements, or the item size for bytes
        int64_t _itemsize                   # 0: _element says it
        Extents _extents                    # shape, then strides
        vector[int64_t] _lent               # the same in elements, for C code that borrows them
        DLDataType _element                 # no lanes: _dtype or _typestr says what the elements are
        bint _is_padded                     # an element of less than 8 bits has a byte of its own
        DLPackSource _dlpack
        AllocationHandle _h_allocation      # set once
        object _exporting_obj
        object _keeper
        object _typestr
        object _dtype
        tuple _known_shape
        _StridedLayout _known_layout

cdef enum:
    MAX_NDIM = 64

# Copies a shape and strides, which may be NULL, into `_extents`.
cdef int take_extents(ViewState self, const int64_t* shape, const int64_t* strides, Py_ssize_t ndim) except -1
# Notes the extents as the array itself has them: `strides` in bytes, or None. Errors name `shape` and `strides`.
cdef int set_extents(ViewState self, object shape, object strides, int64_t itemsize) except -1
# Notes a tensor that someone else keeps; `_dlpack` or `_extents` holds its shape.
cdef int set_tensor(ViewState self, const DLTensor* tensor) except -1
# Sees to it that `_shape` and `_strides` are there, which a state with a layout need not have.
cdef int require_extents(ViewState self) except -1
# What a versioned tensor says beside that.
cdef void set_flags(ViewState self, uint64_t flags) noexcept
# Takes over what another state knows, which is kept.
cdef int set_state(ViewState self, ViewState other) except -1
# Whether all strides are whole elements, as DLPack and layouts have them.
cdef bint has_whole_strides(ViewState self) noexcept
cdef int check_device(int device_type) except -1

# The layout; ValueError for elements that are packed into bytes, which have no addresses.
cdef _StridedLayout layout_of(ViewState self)
cdef tuple shape_of(ViewState self)
cdef tuple strides_of(ViewState self)       # in elements; None for implicit C order
cdef bint is_packed(ViewState self) noexcept
cdef object dtype_of(ViewState self)
# (code, bits, lanes) of DLPack; None where it has no such type.
cdef object element_of(ViewState self)
cdef int64_t itemsize_of(ViewState self) except -1
# Raises where a layout needs more than the allocation of a buffer has.
cdef int check_size(ViewState self, _StridedLayout layout) except -1

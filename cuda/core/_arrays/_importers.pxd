# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport int64_t, uintptr_t
from libcpp.vector cimport vector

from cuda.core._dlpack cimport DLDataType, DLManagedTensorVersioned, DLPackSource, DLTensor
from cuda.core._handles._handles cimport AllocationHandle
from cuda.core._layout cimport _StridedLayout
from cuda.core._memory._buffer cimport Buffer


# What a view knows of its memory. The Python objects for layout and dtype are made when asked for.
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
        vector[int64_t] _extents            # shape, then strides
        DLDataType _element                 # no lanes: _dtype or _typestr says what the elements are
        DLPackSource _dlpack
        AllocationHandle _h_allocation      # set once
        object _exporting_obj
        object _keeper
        object _typestr
        object _dtype
        _StridedLayout _known_layout

# Each fills an empty state from an object; that of a NumPy array is false where only the protocol can tell.
cdef bint view_numpy(ViewState self, object array, bint is_interface) except -1
cdef int view_dlpack(ViewState self, object obj, object stream_ptr) except -1
cdef int view_cuda_interface(ViewState self, object obj, object stream_ptr) except -1
cdef int view_array_interface(ViewState self, object obj) except -1
cdef int view_buffer(ViewState self, Buffer buffer, _StridedLayout layout, object dtype, bint is_readonly) except -1
# Fills it from a tensor that someone else keeps; `_dlpack` or `_extents` holds its shape.
cdef int view_tensor(ViewState self, const DLTensor* tensor) except -1

cdef _StridedLayout layout_of(ViewState self)
cdef object dtype_of(ViewState self)
cdef int64_t itemsize_of(ViewState self) except -1
# Raises where a layout needs more than the allocation of a buffer has.
cdef int check_size(ViewState self, _StridedLayout layout) except -1

# Whether `obj` is exactly an array of NumPy, which is not imported for that.
cdef bint is_numpy(object obj) except -1
# The consumer's stream, of anything integer-like: an int, or None, which memory on a device or of the host alone
# does not allow.
cdef object stream_argument(object stream_ptr, int device_type)
# Lets later work of the consumer's stream wait for the producer's.
cdef int order_streams(object consumer, object producer) except -1

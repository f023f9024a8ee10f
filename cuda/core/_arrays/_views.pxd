# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""View states: descriptions of arrays, and how to fill them through the protocols that arrays support."""

from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libcpp.vector cimport vector

from cuda.core._dlpack cimport DLDataType, DLPackSource, DLTensor
from cuda.core._layout cimport _StridedLayout
from cuda.core._native._cuda_core cimport AllocationHandle


cdef struct ElementType:
    int64_t itemsize
    DLDataType dlpack       # lanes == 0: DLPack has no such type

# Returns (shape, typestr, address, is_readonly) of an array interface. `name` is the attribute's name, for messages.
# BufferError if the interface violates the protocol. Shape and typestr are not checked yet.
cdef tuple read_entries(object interface, str name)

# Parses a typestr such as '<f4', '<U3' (3 characters of 4 bytes) or '<M8[ns]'. BufferError if it is malformed.
cdef int parse_typestr(object typestr, ElementType* element) except -1


cdef extern from "extents.hpp" namespace "cuda_core" nogil:
    cppclass Extents:
        int64_t* reset(size_t count) except +
        int64_t* data() noexcept


# The description of an array's memory. The Python objects for shape, layout and dtype are created on first access.
cdef class ViewState:
    cdef:
        uintptr_t _ptr                      # of the first element
        int _device_id                      # -1 for plain host memory
        int _device_type                    # of DLPack; 0 if unknown
        bint _is_device_accessible
        bint _is_readonly
        bint _is_size_known                 # the size of _h_allocation is known, and limits layouts
        int _ndim
        const int64_t* _shape               # owned by _dlpack, _keeper or _extents
        const int64_t* _strides             # NULL for C order
        int64_t _stride_unit                # 1 if the strides are in elements, the item size if they are in bytes
        int64_t _itemsize                   # 0 if _element has it
        Extents _extents                    # shape, then strides
        vector[int64_t] _borrowed_extents   # likewise, with strides in elements, for C code that borrows the tensor
        DLDataType _element                 # lanes == 0: unknown, see _dtype or _typestr
        bint _is_padded                     # each element of less than 8 bits has its own byte
        DLPackSource _dlpack
        AllocationHandle _h_allocation      # set once
        object _exporting_obj
        object _keeper                      # owns the memory or its description
        object _typestr
        object _dtype
        tuple _known_shape
        _StridedLayout _known_layout

cdef enum:
    MAX_NDIM = 64

# Copies a shape, and strides if they are not NULL, into `_extents`.
cdef int copy_extents(ViewState self, const int64_t* shape, const int64_t* strides, Py_ssize_t ndim) except -1
# Sets shape and strides from Python objects. `strides` are in bytes, or None. Errors name `shape` and `strides`.
cdef int set_extents(ViewState self, object shape, object strides, int64_t itemsize) except -1
# Sets all fields from a tensor, whose shape and strides must be owned by `_dlpack` or `_extents`.
cdef int set_tensor(ViewState self, const DLTensor* tensor) except -1
# Makes sure that `_shape` and `_strides` are set. In a state with a layout, they might not be.
cdef int require_extents(ViewState self) except -1
# Sets the fields for the flags of a versioned tensor.
cdef void set_flags(ViewState self, uint64_t flags) noexcept
# Copies all fields of another state, which is kept alive.
cdef int set_state(ViewState self, ViewState other) except -1

# The layout. ValueError if elements of less than 8 bits are packed into bytes, and so have no addresses.
cdef _StridedLayout layout_of(ViewState self)
cdef tuple shape_of(ViewState self)
cdef tuple strides_of(ViewState self)       # in elements; None for implicit C order
# Returns true if several elements of less than 8 bits share a byte.
cdef bint is_packed(ViewState self) noexcept
cdef object dtype_of(ViewState self)
# Sets the element type of a new state to a NumPy dtype, or None.
cdef int set_dtype(ViewState self, object dtype) except -1
# (code, bits, lanes) of DLPack, or None if DLPack has no such type.
cdef object element_of(ViewState self)
cdef int64_t itemsize_of(ViewState self) except -1
# The result of `__dlpack_device__`: (device_type, device_id).
cdef tuple dlpack_device(ViewState self)
# ValueError if a layout needs more bytes than the buffer has.
cdef int check_size(ViewState self, _StridedLayout layout) except -1


# The purpose of an import. It decides how streams are ordered, and whether strides must be whole elements.
cdef enum Purpose:
    FOR_VIEW        # strides must be whole elements; `stream_ptr` is the user's: an int or None
    FOR_COPY        # `stream_ptr` is the address of the copy's stream, which is not ordered against host memory
    FOR_ADDRESS     # only the address is needed; no streams are ordered

# Fills an empty state from an object. False if the importer does not handle it, so a protocol must be used.
ctypedef bint (*Importer)(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1

# Each fills an empty state from an object through a protocol. AttributeError if the object does not support the
# protocol, BufferError if it violates it.
cdef int import_dlpack(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1
# Like import_dlpack(), for exporters with another value than -1 for "no ordering".
cdef int import_dlpack_as(ViewState self, object obj, object stream_ptr, Purpose purpose, object unordered) except -1
cdef int import_cuda_interface(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1
cdef int import_array_interface(ViewState self, object obj) except -1
cdef int import_python_buffer(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1
# Imports an array of NumPy's own class without a protocol. False if a protocol must be used.
cdef bint import_numpy(ViewState self, object array, bint is_interface, Purpose purpose) except -1

# Returns true if the class of `obj` is numpy.ndarray, not a subclass. The check does not import NumPy.
cdef bint is_numpy(object obj) except -1
# The `stream` argument of the protocols for memory of this DLPack device type: the address of the consumer's stream, -1
# for no ordering, or None.
cdef object stream_argument(object stream_ptr, int device_type, Purpose purpose)
# Orders later work of the consumer's stream after the work now in the producer's. The arguments are addresses.
cdef int order_streams(object consumer, object producer) except -1

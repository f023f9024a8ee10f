# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The state of views: the description of the memory of an array of any library."""

from __future__ import annotations

cimport cython
from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libc.string cimport memcpy

from cpython.object cimport PyObject
from cpython.long cimport PyLong_CheckExact
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_CheckExact, PyTuple_GET_SIZE, PyTuple_New, PyTuple_SET_ITEM

from cuda.core._dlpack cimport (
    DEVICE_CPU,
    DEVICE_CUDA,
    DEVICE_CUDA_HOST,
    DEVICE_CUDA_MANAGED,
    DLPACK_FLAG_IS_PADDED,
    DLPACK_FLAG_READ_ONLY,
    DLDataType,
    DLPack_dtype,
    DLPack_element_of_dtype,
    DLPack_release,
    DLTensor,
    numpy,
)
from cuda.core._layout cimport (
    Layout_create,
    _StridedLayout,
    check_reach,
    checked_itemsize,
    checked_shape,
    checked_strides,
)
from cuda.core._utils._cpython cimport make_hasattr_safe, read_short_int, tuple_items

from math import prod

__all__ = []

# Slightly below 2**63, because of rounding.
cdef double MAX_REACH = 9.2e18


@cython.freelist(16)
cdef class ViewState:
    """The base class of views, with their read-only properties."""

    @property
    def ptr(self) -> int:
        """The address of the first element."""
        return self._ptr

    @property
    def device_id(self) -> int:
        """The ordinal of the device; -1 for host memory imported through DLPack."""
        return self._device_id

    @property
    def is_device_accessible(self) -> bool:
        """Whether a device can access the memory."""
        return self._is_device_accessible

    @property
    def readonly(self) -> bool:
        """Whether the memory is read-only."""
        return self._is_readonly

    @property
    def exporting_obj(self) -> object:
        """The object that exported the memory."""
        return self._exporting_obj

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of elements along each axis."""
        return shape_of(self)

    @property
    def strides(self) -> tuple[int, ...] | None:
        """The strides in elements; None for implicit C order."""
        return strides_of(self)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(shape_of(self))

    @property
    def dtype(self) -> numpy.dtype | None:
        """The element type; None if only the element size is known.

        Raises
        ------
        NotImplementedError
            If the elements are vectors, or their type needs the package ml_dtypes and that is not installed.
        TypeError
            If NumPy has no such element type.
        """
        return dtype_of(self)

    @property
    def dlpack_dtype(self) -> tuple[int, int, int] | None:
        """The DLPack element type, ``(code, bits, lanes)``; None if DLPack has no such type.

        Unlike :attr:`dtype`, it also describes types that NumPy does not have: vectors, and elements of less than 8
        bits that are packed into bytes. Views of packed elements have a shape and strides, but no layout, because the
        elements have no addresses.
        """
        return element_of(self)

    @property
    def _layout(self) -> _StridedLayout:
        return layout_of(self)

    def __dealloc__(self):
        DLPack_release(&self._dlpack)


cdef int set_extents(ViewState self, object shape, object strides, int64_t itemsize) except -1:
    # The checks may run Python code that uses this state, so its fields are set after them.
    cdef int64_t[2 * MAX_NDIM] numbers
    cdef int64_t* c_strides = NULL
    cdef Py_ssize_t ndim = read_short_ints(shape, numbers, True)
    cdef Py_ssize_t i
    if itemsize <= 0:
        checked_itemsize(itemsize)
    if ndim < 0:
        shape = checked_shape(shape)
        ndim = len(<tuple>shape)
        for i in range(ndim):
            numbers[i] = (<tuple>shape)[i]
    if strides is not None:
        if read_short_ints(strides, numbers + ndim, False) != ndim:
            strides = checked_strides(strides, ndim)
            for i in range(ndim):
                numbers[ndim + i] = (<tuple>strides)[i]
        c_strides = numbers + ndim
    if not is_addressable(numbers, c_strides, ndim, itemsize):
        check_reach(shape, strides, 1, itemsize)
    copy_extents(self, numbers, c_strides, ndim)
    self._ndim = <int>ndim
    self._shape = self._extents.data()
    self._strides = NULL
    if strides is not None:
        self._strides = self._extents.data() + ndim
    self._stride_unit = self._itemsize = itemsize
    return 0


cdef int copy_extents(ViewState self, const int64_t* shape, const int64_t* strides, Py_ssize_t ndim) except -1:
    cdef int64_t* numbers = self._extents.reset(ndim if strides == NULL else 2 * ndim)
    if ndim > 0:
        memcpy(numbers, shape, ndim * sizeof(int64_t))
        if strides != NULL:
            memcpy(numbers + ndim, strides, ndim * sizeof(int64_t))
    return 0


# Returns the number of ints; -1 if the general check has to decide: if `values` is not a tuple, an entry is not an int
# of at most 60 bits, or an extent is negative.
cdef Py_ssize_t read_short_ints(object values, int64_t* numbers, bint is_shape) noexcept:
    cdef PyObject** items
    cdef Py_ssize_t i
    cdef Py_ssize_t count
    if not PyTuple_CheckExact(values):
        return -1
    count = PyTuple_GET_SIZE(values)
    if count > MAX_NDIM:
        return -1
    items = tuple_items(<PyObject*>values)
    for i in range(count):
        if not PyLong_CheckExact(<object>items[i]) or not read_short_int(items[i], &numbers[i]):
            return -1
        if is_shape and numbers[i] < 0:
            return -1
    return count


# Whether the array fits the address space; `strides` are in bytes.
cdef bint is_addressable(const int64_t* shape, const int64_t* strides, Py_ssize_t ndim, int64_t itemsize) noexcept:
    cdef double elements = 1
    cdef double reach = 0
    cdef Py_ssize_t i
    for i in range(ndim):
        elements *= max(1, <double>shape[i])
        if strides != NULL and shape[i] > 1:
            reach += abs(<double>strides[i]) * (<double>shape[i] - 1)
    return max(elements * itemsize, reach + itemsize) < MAX_REACH


cdef int set_tensor(ViewState self, const DLTensor* tensor) except -1:
    check_device(tensor.device.device_type)
    self._ptr = <uintptr_t>tensor.data + tensor.byte_offset
    self._device_type = tensor.device.device_type
    self._is_device_accessible = self._device_type != DEVICE_CPU
    self._device_id = tensor.device.device_id if self._is_device_accessible else -1
    self._ndim = tensor.ndim
    self._shape = tensor.shape
    self._strides = tensor.strides
    self._stride_unit = 1
    self._element = tensor.dtype
    return 0


cdef void set_flags(ViewState self, uint64_t flags) noexcept:
    self._is_readonly = flags & DLPACK_FLAG_READ_ONLY != 0
    self._is_padded = flags & DLPACK_FLAG_IS_PADDED != 0


cdef int require_extents(ViewState self) except -1:
    cdef _StridedLayout layout = self._known_layout
    if self._shape != NULL or layout is None:
        return 0
    cdef tuple shape = layout._shape
    cdef tuple strides = layout.explicit_strides()
    cdef Py_ssize_t ndim = len(shape)
    cdef int64_t* numbers = self._extents.reset(2 * ndim)
    cdef Py_ssize_t i
    for i in range(ndim):
        numbers[i], numbers[ndim + i] = shape[i], strides[i]
    self._ndim = <int>ndim
    self._itemsize, self._stride_unit = layout._itemsize, 1
    self._shape = self._extents.data()
    self._strides = self._extents.data() + ndim
    return 0


cdef int set_state(ViewState self, ViewState other) except -1:
    self._ptr = other._ptr
    self._device_id, self._device_type = other._device_id, other._device_type
    self._is_device_accessible, self._is_readonly = other._is_device_accessible, other._is_readonly
    self._is_size_known, self._h_allocation = other._is_size_known, other._h_allocation
    self._ndim, self._shape, self._strides = other._ndim, other._shape, other._strides
    self._stride_unit, self._itemsize, self._known_layout = other._stride_unit, other._itemsize, other._known_layout
    self._element, self._dtype, self._typestr = other._element, other._dtype, other._typestr
    self._is_padded = other._is_padded
    self._keeper = other
    return 0


cdef bint has_whole_strides(ViewState self) noexcept:
    cdef int i
    if self._strides != NULL and self._stride_unit > 1:
        for i in range(self._ndim):
            if self._strides[i] % self._stride_unit != 0:
                return False
    return True


cdef int check_device(int device_type) except -1:
    if device_type not in (DEVICE_CPU, DEVICE_CUDA, DEVICE_CUDA_HOST, DEVICE_CUDA_MANAGED):
        raise BufferError(
            f"memory of DLPack device type {device_type} is not supported, only memory of the host and of CUDA"
        )
    return 0


cdef _StridedLayout layout_of(ViewState self):
    if self._known_layout is None:
        layout = Layout_create(shape_of(self), strides_of(self), itemsize_of(self))
        with cython.critical_section(self):
            if self._known_layout is None:
                self._known_layout = layout
    return self._known_layout


cdef tuple shape_of(ViewState self):
    if self._known_layout is not None:
        return self._known_layout._shape
    if self._known_shape is None:
        if self._exporting_obj is None and self._dlpack.tensor == NULL:
            raise ValueError("this view is empty: make one with StridedMemoryView.from_any_interface()")
        shape = tuple_of(self._shape, self._ndim, 1)
        with cython.critical_section(self):
            if self._known_shape is None:
                self._known_shape = shape
    return self._known_shape


cdef tuple strides_of(ViewState self):
    if self._known_layout is not None:
        return self._known_layout._strides
    shape_of(self)
    if self._strides == NULL or self._ndim == 0:
        return None
    return tuple_of(self._strides, self._ndim, self._stride_unit)


cdef tuple tuple_of(const int64_t* numbers, int count, int64_t unit):
    cdef tuple out = PyTuple_New(count)
    cdef object number
    cdef int i
    for i in range(count):
        number = numbers[i] if unit == 1 else numbers[i] // unit
        Py_INCREF(number)
        PyTuple_SET_ITEM(out, i, number)
    return out


cdef bint is_packed(ViewState self) noexcept:
    return self._element.lanes != 0 and self._element.bits * self._element.lanes % 8 != 0 and not self._is_padded


cdef int64_t itemsize_of(ViewState self) except -1:
    cdef int64_t bits = self._element.bits * self._element.lanes
    if self._known_layout is not None:
        return self._known_layout._itemsize
    if self._itemsize != 0:
        return self._itemsize
    if bits == 0 or is_packed(self):
        raise ValueError(f"elements of {bits} bits cannot be addressed: they must be whole bytes")
    return (bits + 7) // 8


cdef object dtype_of(ViewState self):
    if self._dtype is None:
        if self._element.lanes != 0:
            dtype = DLPack_dtype(self._element, self._is_padded)
        elif self._typestr is not None:
            dtype = numpy().dtype(self._typestr)
        else:
            return None
        with cython.critical_section(self):
            if self._dtype is None:
                self._dtype = dtype
    return self._dtype


cdef object element_of(ViewState self):
    cdef DLDataType element = self._element
    if element.lanes == 0:
        if dtype_of(self) is None:
            return None
        try:
            element = DLPack_element_of_dtype(dtype_of(self))
        except BufferError:
            return None
    return (element.code, element.bits, element.lanes)


cdef int check_size(ViewState self, _StridedLayout layout) except -1:
    if self._h_allocation and self._is_size_known:
        needed = layout.required_size_in_bytes()
        if needed > self._h_allocation.value().size:
            raise ValueError(f"the layout needs {needed} bytes, and the buffer has {self._h_allocation.value().size}")
    return 0


make_hasattr_safe(ViewState)

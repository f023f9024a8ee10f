# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""View states: descriptions of arrays, and how to fill them through the protocols that arrays support."""

from __future__ import annotations

cimport cython
from libc.stdint cimport INT64_MAX, int64_t, uint64_t, uintptr_t
from libc.string cimport memcpy, strchr, strlen

from cpython.buffer cimport Py_buffer
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport PyObject, Py_TYPE
from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_CheckExact, PyTuple_GET_SIZE, PyTuple_New, PyTuple_SET_ITEM

from cuda.core._context cimport Context_current, Context_ordinal
from cuda.core._dlpack cimport (
    DEVICE_CPU,
    DEVICE_CUDA,
    DEVICE_CUDA_HOST,
    DEVICE_CUDA_MANAGED,
    DLDataType,
    DLPACK_FLAG_IS_PADDED,
    DLPACK_FLAG_READ_ONLY,
    DLPack_dtype,
    DLPack_element,
    DLPack_element_of_dtype,
    DLPack_read,
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
from cuda.core._memory._memory_resource cimport PointerInfo, pointer_info
from cuda.core._native._cuda_core cimport ContextHandle, StreamPin
from cuda.core._stream cimport Stream_pin, Stream_wait_stream, Stream_wrap
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport check_self_in_methods, read_short_int, tuple_items

import operator
import sys
from math import prod

from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils.validators import address_argument, check_address, shown

__all__ = ["interface_address"]


cdef extern from "Python.h":
    object PyMemoryView_FromObject(object obj)
    Py_buffer* PyMemoryView_GET_BUFFER(object view)


@cython.freelist(16)
cdef class ViewState:
    """Base class of views, with their read-only properties."""

    @property
    def ptr(self) -> int:
        """The address of the first element."""
        return self._ptr

    @property
    def device_id(self) -> int:
        """The ordinal of the device, or -1 for host memory imported through DLPack."""
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
        """The strides in elements, or None for implicit C order."""
        return strides_of(self)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(shape_of(self))

    @property
    def dtype(self) -> numpy.dtype | None:
        """The element type, or None if only the element size is known.

        Raises
        ------
        NotImplementedError
            If the elements are vectors, or their type needs the ml_dtypes package, which is not installed.
        TypeError
            If NumPy has no such element type.
        """
        return dtype_of(self)

    @property
    def dlpack_dtype(self) -> tuple[int, int, int] | None:
        """The DLPack element type, ``(code, bits, lanes)``, or None if DLPack has no such type.

        Unlike :attr:`dtype`, it also describes types that NumPy does not have: vectors, and elements of less than 8
        bits packed into bytes. Views of packed elements have a shape and strides, but no layout, because the elements
        have no addresses.
        """
        return element_of(self)

    @property
    def _layout(self) -> _StridedLayout:
        return layout_of(self)

    def __dealloc__(self):
        DLPack_release(&self._dlpack)


# ---------------------------------------------------------------------------------------------
# State

# Slightly below 2**63, because of rounding.
cdef double MAX_REACH = 9.2e18


cdef int set_extents(ViewState self, object shape, object strides, int64_t itemsize) except -1:
    # The checks can run Python code that uses this state, so its fields are set after them.
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


# Returns the number of ints, or -1 if the general check must decide: if `values` is not a tuple, an entry is not an int
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


# Returns true if the array fits the address space. `strides` are in bytes.
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


cdef _StridedLayout layout_of(ViewState self):
    if self._known_layout is None:
        layout = Layout_create(shape_of(self), strides_of(self), itemsize_of(self))
        with cython.critical_section(self):
            if self._known_layout is None:
                self._known_layout = layout
    return self._known_layout


class EmptyViewError(ValueError, AttributeError):
    """A view is empty. Also an AttributeError, so that ``hasattr()`` of a property returns False."""


cdef tuple shape_of(ViewState self):
    if self._known_layout is not None:
        return self._known_layout._shape
    if self._known_shape is None:
        if self._exporting_obj is None and self._dlpack.tensor == NULL:
            raise EmptyViewError("this view is empty; create one with StridedMemoryView.from_any_interface()")
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
        raise ValueError(f"elements of {bits} bits cannot be addressed; they must be whole bytes")
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


cdef int set_dtype(ViewState self, object dtype) except -1:
    cdef DLDataType element
    self._dtype = dtype
    # Launches check the elements of arrays by this field.
    if dtype is not None and dtype.isnative and DLPack_element(<char>ord(dtype.kind), dtype.itemsize, &element):
        self._element = element
    return 0


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


cdef tuple dlpack_device(ViewState self):
    cdef PointerInfo info
    if self._device_type != 0:
        return (self._device_type, max(self._device_id, 0))
    if not self._is_device_accessible:
        return (DEVICE_CPU, 0)
    # An empty buffer has no address to ask the driver about.
    if self._ptr == 0 and hasattr(self._exporting_obj, "__dlpack_device__"):
        return self._exporting_obj.__dlpack_device__()
    info = pointer_info(self._ptr)
    if info.is_managed:
        return (DEVICE_CUDA_MANAGED, 0)
    if info.is_device_accessible and info.is_host_accessible:
        return (DEVICE_CUDA_HOST, 0)
    return (DEVICE_CUDA, self._device_id)


cdef int check_size(ViewState self, _StridedLayout layout) except -1:
    if self._h_allocation and self._is_size_known:
        needed = layout.required_size_in_bytes()
        if needed > self._h_allocation.value().size:
            raise ValueError(f"the layout needs {needed} bytes, but the buffer has {self._h_allocation.value().size}")
    return 0


# ---------------------------------------------------------------------------------------------
# DLPack

cdef tuple MAX_VERSION = (1, 0)


cdef int import_dlpack(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1:
    return import_dlpack_as(self, obj, stream_ptr, purpose, -1)


cdef int import_dlpack_as(ViewState self, object obj, object stream_ptr, Purpose purpose, object unordered) except -1:
    cdef int device_type
    export = obj.__dlpack__
    device_type = read_device(obj.__dlpack_device__())
    check_device(device_type)
    stream = stream_argument(stream_ptr, device_type, purpose)
    if device_type == DEVICE_CPU or is_numpy_or_subclass(obj):
        stream = None       # NumPy accepts only None, even for arrays in page-locked and managed memory
    elif stream == -1:
        stream = unordered
    try:
        capsule = export(stream=stream, max_version=MAX_VERSION)
    except TypeError:
        capsule = export(stream=stream)     # an exporter from before DLPack 1.0
    DLPack_read(capsule, &self._dlpack)
    set_tensor(self, self._dlpack.tensor)
    if self._dlpack.versioned != NULL:
        set_flags(self, self._dlpack.versioned.flags)
    self._exporting_obj = obj
    return 0


# The first of (device_type, device_id).
cdef int read_device(object device) except? -1:
    try:
        device_type, _ = device
        number = operator.index(device_type)
    except (TypeError, ValueError):
        raise BufferError(
            f"__dlpack_device__ must return a tuple (device_type, device_id), not {shown(device)[:80]}"
        ) from None
    if not 0 <= number < 1 << 20:
        raise BufferError(f"memory of DLPack device type {shown(number)} is not supported")
    return number


cdef int check_device(int device_type) except -1:
    if device_type not in (DEVICE_CPU, DEVICE_CUDA, DEVICE_CUDA_HOST, DEVICE_CUDA_MANAGED):
        raise BufferError(
            f"memory of DLPack device type {device_type} is not supported, only host and CUDA memory"
        )
    return 0


# ---------------------------------------------------------------------------------------------
# Array interfaces

cdef tuple read_entries(object interface, str name):
    if not isinstance(interface, dict):
        raise BufferError(f"an array interface must be a dict, not {type(interface).__name__}")
    version = (<dict>interface).get("version", 0)
    if not isinstance(version, int) or version < 3:
        raise BufferError(f"{name} must have version 3 or later, not {shown((<dict>interface).get('version'))}")
    if (<dict>interface).get("mask") is not None:
        raise BufferError("an array with a mask cannot be viewed or copied as bytes")
    try:
        shape, typestr, data = interface["shape"], interface["typestr"], interface["data"]
    except KeyError as error:
        raise BufferError(f"the array interface lacks the entry {error}") from error
    return shape, typestr, read_address(data), bool((<tuple>data)[1])


# The address in the entry 'data', or 0 for None.
cdef object read_address(object data):
    if not isinstance(data, tuple) or len(<tuple>data) != 2:
        raise BufferError(f"the entry 'data' must be a tuple (address, is_readonly), not {type(data).__name__}")
    address = (<tuple>data)[0]
    if address is None:
        return 0
    if type(address) is not int or address < 0 or address > 0xffff_ffff_ffff_ffff:
        return check_address("the address in the entry 'data'", address)
    return address


def interface_address(obj: object) -> int:
    """Return the address in an object's ``__cuda_array_interface__``, without reading the other entries.

    Raises
    ------
    AttributeError
        If the object has no such interface.
    BufferError
        If the interface has no address.
    """
    interface = obj.__cuda_array_interface__
    if not isinstance(interface, dict):
        raise BufferError(f"an array interface must be a dict, not {type(interface).__name__}")
    if "data" not in <dict>interface:
        raise BufferError("the array interface lacks the entry 'data'")
    return read_address((<dict>interface)["data"])


# typestr -> (itemsize, (code, bits, lanes)). Programs use only a few types.
cdef dict _parsed_types = {}
cdef enum:
    MAX_CACHED_TYPES = 256
cdef bint IS_LITTLE = sys.byteorder == "little"


cdef int parse_typestr(object typestr, ElementType* element) except -1:
    cdef object found = None
    if type(typestr) is str:
        found = _parsed_types.get(typestr)
    if found is None:
        found = read_typestr(typestr)
        if len(_parsed_types) < MAX_CACHED_TYPES and type(typestr) is str:
            _parsed_types[typestr] = found
    element.itemsize = (<tuple>found)[0]
    element.dlpack.code, element.dlpack.bits, element.dlpack.lanes = (<tuple>found)[1]
    return 0


# Returns (itemsize, (code, bits, lanes)). `lanes` is 0 if DLPack has no such type.
cdef tuple read_typestr(object typestr):
    cdef DLDataType element
    itemsize = parse_itemsize(typestr)
    is_native = typestr[0] in ("|=<" if IS_LITTLE else "|=>")
    if is_native and ord(typestr[1]) < 128 and DLPack_element(<char>ord(typestr[1]), itemsize, &element):
        return itemsize, (element.code, element.bits, element.lanes)
    return itemsize, (0, 0, 0)


cdef int64_t parse_itemsize(object typestr) except -1:
    if typestr == "|O":
        return sizeof(void*)
    if isinstance(typestr, str) and len(typestr) > 2:
        count = typestr[2:].partition("[")[0]
        # Numbers of 20 digits or more do not fit 64 bits.
        if count.isdecimal() and len(count) < 20:
            itemsize = int(count) * (4 if typestr[1] == "U" else 1)
            if itemsize <= INT64_MAX:
                return itemsize
    raise BufferError(f"the entry 'typestr' must be like '<f4', not {shown(typestr)[:80]}")


cdef int import_cuda_interface(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1:
    cdef PointerInfo info
    interface = obj.__cuda_array_interface__
    if not PyLong_CheckExact(stream_ptr) or stream_ptr != -1:
        stream_ptr = stream_argument(stream_ptr, DEVICE_CUDA, purpose)
    read_interface(self, interface, "__cuda_array_interface__", purpose)
    producer = (<dict>interface).get("stream") if stream_ptr != -1 else None
    if producer is not None:
        producer = check_address("the stream of __cuda_array_interface__", producer)
        if producer == 0:
            raise BufferError("stream 0 is ambiguous in __cuda_array_interface__; the protocol forbids it")
    self._is_device_accessible = True
    self._device_id = -1
    if purpose == FOR_VIEW:
        if self._ptr != 0:
            info = pointer_info(self._ptr)
            self._device_id = info.device_id
        # The driver does not track addresses of empty arrays, nor of pageable memory that devices can access.
        if self._device_id < 0:
            self._device_id = max(current_device(), 0)
    if producer is not None and purpose != FOR_ADDRESS:
        order_streams(stream_ptr, producer)
    self._exporting_obj = obj
    return 0


cdef int import_array_interface(ViewState self, object obj) except -1:
    if is_numpy(obj) and import_numpy(self, obj, True, FOR_VIEW):
        return 0
    read_interface(self, obj.__array_interface__, "__array_interface__", FOR_VIEW)
    if is_numpy(obj):
        self._dtype = obj.dtype     # the interface does not describe structured dtypes completely
    self._device_id = current_device()
    self._exporting_obj = obj
    return 0


# Sets the fields that both array interfaces share.
cdef int read_interface(ViewState self, object interface, str name, Purpose purpose) except -1:
    cdef ElementType element
    shape, typestr, self._ptr, self._is_readonly = read_entries(interface, name)
    parse_typestr(typestr, &element)
    set_extents(self, shape, (<dict>interface).get("strides"), element.itemsize)
    if purpose == FOR_VIEW:
        check_strides(self)
    if element.dlpack.lanes != 0:
        self._element = element.dlpack
    else:
        descr = (<dict>interface).get("descr")
        self._typestr = descr if typestr[1] == "V" and descr else typestr
    self._keeper = interface
    return 0


cdef int check_strides(ViewState self) except -1:
    if not has_whole_strides(self):
        strides = tuple([self._strides[i] for i in range(self._ndim)])
        raise ValueError(f"strides in bytes must be multiples of the item size {self._itemsize}, not {strides}")
    return 0


# Returns true if all strides are multiples of the item size, as DLPack and layouts require.
cdef bint has_whole_strides(ViewState self) noexcept:
    cdef int i
    if self._strides != NULL and self._stride_unit > 1:
        for i in range(self._ndim):
            if self._strides[i] % self._stride_unit != 0:
                return False
    return True


# ---------------------------------------------------------------------------------------------
# PEP 3118

cdef int import_python_buffer(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1:
    cdef ElementType element
    cdef Py_buffer* buffer
    cdef object view
    stream_argument(stream_ptr, DEVICE_CPU, purpose)
    view = PyMemoryView_FromObject(obj)
    buffer = PyMemoryView_GET_BUFFER(view)
    if buffer.suboffsets != NULL:
        raise BufferError(f"a {type(obj).__name__} with suboffsets (indirect memory) cannot be viewed or copied")
    if buffer.itemsize <= 0:
        raise ValueError(f"the itemsize of a {type(obj).__name__} must be positive, not {buffer.itemsize}")
    self._ptr = <uintptr_t>buffer.buf
    self._is_readonly = buffer.readonly
    self._ndim = buffer.ndim
    self._shape = <const int64_t*>buffer.shape
    self._strides = <const int64_t*>buffer.strides
    self._stride_unit = self._itemsize = buffer.itemsize
    self._keeper = view
    if purpose == FOR_VIEW:
        check_strides(self)
        if parse_format(buffer.format, buffer.itemsize, &element):
            self._element = element.dlpack
        else:
            self._dtype = dtype_of_buffer(obj, view)
    self._device_type = DEVICE_CPU
    self._device_id = -1
    self._exporting_obj = obj
    return 0


# Converts the type of ctypes objects, because their buffer format does not describe padding.
cdef object dtype_of_buffer(object obj, object view):
    ctypes = sys.modules.get("ctypes")
    if ctypes is not None and isinstance(obj, (ctypes.Array, ctypes.Structure, ctypes.Union)):
        return numpy().dtype(type(obj)).base
    return numpy().asarray(view).dtype


# Parses a PEP 3118 format such as 'i' or '<d'. False unless it is a single number in native byte order.
cdef bint parse_format(const char* text, int64_t itemsize, ElementType* element) noexcept:
    cdef char kind
    element.itemsize = itemsize
    if text == NULL:
        text = b"B"
    if text[0] == c"@" or text[0] == c"=" or text[0] == (c"<" if IS_LITTLE else c">"):
        text += 1
    if strlen(text) == 2 and text[0] == c"Z" and strchr(b"fd", text[1]) != NULL:
        kind = c"c"
    elif strlen(text) != 1:
        return False
    elif strchr(b"bhilqn", text[0]) != NULL:
        kind = c"i"
    elif strchr(b"BHILQN", text[0]) != NULL:
        kind = c"u"
    elif strchr(b"efd", text[0]) != NULL:
        kind = c"f"
    elif text[0] == c"?":
        kind = c"b"
    else:
        return False
    return DLPack_element(kind, itemsize, &element.dlpack)


# ---------------------------------------------------------------------------------------------
# NumPy

# The C structure in the capsule `__array_struct__` of NumPy.
cdef struct ArrayStruct:
    int two             # the number 2, for a sanity check
    int ndim
    char typekind
    int itemsize
    int flags
    int64_t* shape
    int64_t* strides    # in bytes
    void* data

cdef enum:
    ARRAY_C_CONTIGUOUS = 0x1
    ARRAY_NOTSWAPPED = 0x200
    ARRAY_WRITEABLE = 0x400

# numpy.ndarray, once the program has imported NumPy.
cdef PyObject* _ndarray = NULL
cdef object _ndarray_kept = None


cdef bint is_numpy(object obj) except -1:
    global _ndarray, _ndarray_kept
    if _ndarray == NULL:
        ndarray = getattr(sys.modules.get("numpy"), "ndarray", None)
        if ndarray is None:
            return False
        _ndarray_kept = ndarray
        _ndarray = <PyObject*>ndarray
    return <PyObject*>Py_TYPE(obj) == _ndarray


cdef bint is_numpy_or_subclass(object obj) except -1:
    return is_numpy(obj) or (_ndarray != NULL and isinstance(obj, <object>_ndarray))


cdef bint import_numpy(ViewState self, object array, bint is_interface, Purpose purpose) except -1:
    cdef object capsule = array.__array_struct__
    cdef ArrayStruct* info = <ArrayStruct*>PyCapsule_GetPointer(capsule, NULL)
    cdef bint is_writable = info.flags & ARRAY_WRITEABLE != 0
    cdef int i
    if info.flags & ARRAY_NOTSWAPPED == 0 or not DLPack_element(info.typekind, info.itemsize, &self._element):
        # Copies need only the bytes of elements, and check for Python objects themselves. Launches need the address.
        if purpose == FOR_VIEW or (purpose == FOR_COPY and info.itemsize == 0):
            return False
        self._element.lanes = 0
        is_writable = array.flags.writeable     # the flags of __array_struct__ are not set for structured dtypes
    if purpose == FOR_VIEW:
        for i in range(info.ndim):
            if info.strides[i] % info.itemsize != 0:
                return False
        if not is_interface and is_device_accessible(array):
            return False
    self._ptr = <uintptr_t>info.data
    self._is_readonly = not is_writable
    self._ndim = info.ndim
    self._shape = info.shape
    # Unlike DLPack tensors, array interfaces have no strides for C order.
    if not (is_interface and info.flags & ARRAY_C_CONTIGUOUS):
        self._strides = info.strides
    self._stride_unit = self._itemsize = info.itemsize
    self._device_type = 0 if is_interface else DEVICE_CPU
    self._device_id = current_device() if is_interface else -1
    self._keeper = capsule
    self._exporting_obj = array
    return True


# Returns true if the array was imported from page-locked or managed memory, as by np.from_dlpack(buffer). NumPy keeps
# the DLPack device of such arrays.
cdef bint is_device_accessible(object array) except -1:
    return array.base is not None and read_device(array.__dlpack_device__()) != DEVICE_CPU


# ---------------------------------------------------------------------------------------------
# Streams

cdef object MAX_ADDRESS = (1 << 64) - 1


cdef object stream_argument(object stream_ptr, int device_type, Purpose purpose):
    cdef bint is_int = PyLong_CheckExact(stream_ptr)
    if purpose == FOR_ADDRESS or (is_int and stream_ptr == -1):
        return -1
    if purpose == FOR_COPY:
        return -1 if device_type == DEVICE_CPU else None if device_type == DEVICE_CUDA_HOST else stream_ptr
    if stream_ptr is None:
        if device_type == DEVICE_CPU or device_type == DEVICE_CUDA:
            raise BufferError(
                "stream_ptr=None is ambiguous; pass the address of the stream that will use the memory, "
                "or -1 if no ordering is needed"
            )
        return None
    if not is_int:
        stream_ptr = address_argument("stream_ptr", stream_ptr)
    if not -1 <= stream_ptr <= MAX_ADDRESS:
        raise ValueError(f"stream_ptr must be the address of a stream, or -1 without ordering, not {shown(stream_ptr)}")
    return stream_ptr


cdef int order_streams(object consumer, object producer) except -1:
    cdef StreamPin waiting
    if consumer != producer:
        Stream_pin(Stream_wrap(<cydriver.CUstream><uintptr_t>consumer, None), &waiting)
        Stream_wait_stream(waiting, Stream_wrap(<cydriver.CUstream><uintptr_t>producer, None))
    return 0


# The ordinal of the current context's device, or -1 if no context is current or no driver is installed.
cdef int current_device() except -2:
    cdef ContextHandle h_context
    try:
        Context_current(&h_context)
    except (CUDAError, RuntimeError):
        return -1
    return Context_ordinal(h_context) if h_context else -1


check_self_in_methods(globals())

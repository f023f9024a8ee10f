# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Importers by protocol: DLPack, the two array interfaces, the buffer protocol, and NumPy's array structure."""

from __future__ import annotations

from libc.stdint cimport int64_t, uintptr_t

from cpython.buffer cimport Py_buffer
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport Py_TYPE, PyObject
from cpython.pycapsule cimport PyCapsule_GetPointer

from cuda.core._arrays._view_state cimport (
    ViewState,
    check_device,
    has_whole_strides,
    set_extents,
    set_flags,
    set_tensor,
)
from cuda.core._arrays.importing._interfaces cimport ElementType, parse_format, parse_typestr, read_entries
from cuda.core._context cimport Context_current, Context_ordinal
from cuda.core._dlpack cimport DEVICE_CPU, DEVICE_CUDA, DEVICE_CUDA_HOST, DLPack_element, DLPack_read, numpy
from cuda.core._handles._handles cimport ContextHandle, KeptStream
from cuda.core._memory.ranges._pointer_info cimport PointerInfo, pointer_info
from cuda.core._stream cimport Stream_keep, Stream_wait_stream, Stream_wrap
from cuda.core._utils cimport cydriver

import operator
import sys

from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils.validators import address_argument, check_address, shown

__all__ = []

cdef tuple MAX_VERSION = (1, 0)
cdef object MAX_ADDRESS = (1 << 64) - 1


cdef extern from "Python.h":
    object PyMemoryView_FromObject(object obj)
    Py_buffer* PyMemoryView_GET_BUFFER(object view)


# ---------------------------------------------------------------------------------------------
# DLPack

cdef int import_dlpack(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1:
    return import_dlpack_as(self, obj, stream_ptr, purpose, -1)


cdef int import_dlpack_as(ViewState self, object obj, object stream_ptr, Purpose purpose, object unordered) except -1:
    cdef int device_type
    export = obj.__dlpack__
    device_type = read_device(obj.__dlpack_device__())
    check_device(device_type)
    stream = stream_argument(stream_ptr, device_type, purpose)
    if device_type == DEVICE_CPU or is_numpy_or_subclass(obj):
        stream = None       # NumPy accepts only None, also for arrays in page-locked and managed memory
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


# ---------------------------------------------------------------------------------------------
# Array interfaces

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
            raise BufferError("the stream 0 of __cuda_array_interface__ is ambiguous, and the protocol forbids it")
    self._is_device_accessible = True
    self._device_id = -1
    if purpose == FOR_VIEW:
        if self._ptr != 0:
            info = pointer_info(self._ptr)
            self._device_id = info.device_id
        # The driver does not know the addresses of empty arrays and of pageable memory that devices can access.
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


# Sets the fields that both array interfaces have.
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
        raise ValueError(f"strides {strides} in bytes are no multiples of the item size {self._itemsize}")
    return 0


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


# For ctypes objects, the type is converted: their buffer format does not describe padding.
cdef object dtype_of_buffer(object obj, object view):
    ctypes = sys.modules.get("ctypes")
    if ctypes is not None and isinstance(obj, (ctypes.Array, ctypes.Structure, ctypes.Union)):
        return numpy().dtype(type(obj)).base
    return numpy().asarray(view).dtype


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

# numpy.ndarray, after the program has imported NumPy.
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
        # Copies need only the bytes of elements, and check for Python objects themselves; launches need the address.
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
    # Array interfaces have no strides for C order, DLPack tensors have.
    if not (is_interface and info.flags & ARRAY_C_CONTIGUOUS):
        self._strides = info.strides
    self._stride_unit = self._itemsize = info.itemsize
    self._device_type = 0 if is_interface else DEVICE_CPU
    self._device_id = current_device() if is_interface else -1
    self._keeper = capsule
    self._exporting_obj = array
    return True


# Whether the array was imported from page-locked or managed memory, such as np.from_dlpack(buffer). NumPy keeps the
# DLPack device of such arrays.
cdef bint is_device_accessible(object array) except -1:
    return array.base is not None and read_device(array.__dlpack_device__()) != DEVICE_CPU


# ---------------------------------------------------------------------------------------------
# Streams

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
                "or -1 where no ordering is needed"
            )
        return None
    if not is_int:
        stream_ptr = address_argument("stream_ptr", stream_ptr)
    if not -1 <= stream_ptr <= MAX_ADDRESS:
        raise ValueError(f"stream_ptr must be the address of a stream, or -1 without ordering, not {shown(stream_ptr)}")
    return stream_ptr


cdef int order_streams(object consumer, object producer) except -1:
    cdef KeptStream waiting
    if consumer != producer:
        Stream_keep(Stream_wrap(<cydriver.CUstream><uintptr_t>consumer, None), &waiting)
        Stream_wait_stream(waiting, Stream_wrap(<cydriver.CUstream><uintptr_t>producer, None))
    return 0


# The ordinal of the current context's device; -1 if no context is current or no driver is installed.
cdef int current_device() except -2:
    cdef ContextHandle h_context
    try:
        Context_current(&h_context)
    except (CUDAError, RuntimeError):
        return -1
    return Context_ordinal(h_context) if h_context else -1

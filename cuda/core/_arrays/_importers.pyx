# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""How a view learns of memory: from DLPack, the two array interfaces, NumPy and buffers."""

from __future__ import annotations

cimport cython
from libc.stdint cimport int64_t, uintptr_t

from cpython.long cimport PyLong_CheckExact
from cpython.object cimport Py_TYPE, PyObject
from cpython.pycapsule cimport PyCapsule_GetPointer
from cuda.bindings cimport cydriver

from cuda.core._arrays._interfaces cimport parse_itemsize, read_entries
from cuda.core._context cimport Context_current, Context_ordinal
from cuda.core._dlpack cimport (
    DEVICE_CPU,
    DEVICE_CUDA,
    DEVICE_CUDA_HOST,
    DEVICE_CUDA_MANAGED,
    DLPack_dtype,
    DLPack_element,
    DLPack_read,
    DLPack_release,
    DLTensor,
    numpy,
)
from cuda.core._handles._driver_object cimport refuse_closed
from cuda.core._handles._handles cimport ContextHandle
from cuda.core._layout cimport Layout_create, _StridedLayout
from cuda.core._memory._buffer cimport Buffer
from cuda.core._memory.ranges._pointer_info cimport PointerInfo, pointer_info
from cuda.core._stream cimport Stream_wrap

import sys

from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils.validators import address_argument, check_address, shown

__all__ = []

cdef tuple MAX_VERSION = (1, 0)
cdef object MAX_ADDRESS = (1 << 64) - 1


@cython.freelist(16)
cdef class ViewState:
    """What a view knows of its memory, wherever it learned it."""

    def __dealloc__(self):
        DLPack_release(&self._dlpack)


# The structure behind NumPy's `__array_struct__`.
cdef struct ArrayStruct:
    int two
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

# numpy.ndarray, once somebody has imported NumPy.
cdef PyObject* _ndarray = NULL
cdef object _ndarray_kept = None


cdef bint is_numpy(object obj) except -1:
    global _ndarray, _ndarray_kept
    if _ndarray == NULL:
        _ndarray_kept = getattr(sys.modules.get("numpy"), "ndarray", None)
        if _ndarray_kept is None:
            return False
        _ndarray = <PyObject*>_ndarray_kept
    return <PyObject*>Py_TYPE(obj) == _ndarray


cdef bint view_numpy(ViewState self, object array, bint is_interface) except -1:
    cdef object capsule = array.__array_struct__
    cdef ArrayStruct* info = <ArrayStruct*>PyCapsule_GetPointer(capsule, NULL)
    cdef int i
    if info.flags & ARRAY_NOTSWAPPED == 0 or not DLPack_element(info.typekind, info.itemsize, &self._element):
        return False
    for i in range(info.ndim):
        if info.strides[i] % info.itemsize != 0:
            return False
    self._ptr = <uintptr_t>info.data
    self._is_readonly = info.flags & ARRAY_WRITEABLE == 0
    self._ndim = info.ndim
    self._shape = info.shape
    # An interface leaves C order out, DLPack spells it.
    if not (is_interface and info.flags & ARRAY_C_CONTIGUOUS):
        self._strides = info.strides
    self._stride_unit = info.itemsize
    self._device_type = 0 if is_interface else DEVICE_CPU
    self._device_id = current_device() if is_interface else -1
    self._keeper = capsule
    self._exporting_obj = array
    return True


cdef int view_dlpack(ViewState self, object obj, object stream_ptr) except -1:
    cdef int device_type
    export = obj.__dlpack__
    device_type = obj.__dlpack_device__()[0]
    stream_ptr = stream_argument(stream_ptr, device_type)
    # Exporters of host memory know no "no stream" but None.
    stream = None if device_type == DEVICE_CPU and stream_ptr == -1 else stream_ptr
    try:
        capsule = export(stream=stream, max_version=MAX_VERSION)
    except TypeError:
        capsule = export(stream=stream)     # written before DLPack 1.0
    DLPack_read(capsule, &self._dlpack)
    view_tensor(self, self._dlpack.tensor)
    self._is_readonly = self._dlpack.is_readonly
    self._exporting_obj = obj
    if isinstance(obj, Buffer):
        self._h_allocation = (<Buffer>obj)._h_allocation.copy()
        self._is_sized = is_sized(<Buffer>obj)
    return 0


cdef int view_tensor(ViewState self, const DLTensor* tensor) except -1:
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


cdef int view_cuda_interface(ViewState self, object obj, object stream_ptr) except -1:
    cdef PointerInfo info
    interface = obj.__cuda_array_interface__
    if interface.get("version", 0) < 3:
        version = shown(interface.get("version"))
        raise BufferError(f"__cuda_array_interface__ must be of version 3 or newer, not {version}")
    stream_ptr = stream_argument(stream_ptr, DEVICE_CUDA)
    read_interface(self, interface)
    producer = interface.get("stream")
    if producer is not None:
        producer = check_address("the stream of __cuda_array_interface__", producer)
    if producer == 0:
        raise BufferError("the stream 0 of __cuda_array_interface__ is ambiguous, and not allowed by the protocol")
    self._is_device_accessible = True
    self._device_id = -1
    if self._ptr != 0:
        info = pointer_info(self._ptr)
        self._device_id = info.device_id
    # What the driver does not know is without elements, or host memory that the device reaches.
    if self._device_id < 0:
        self._device_id = max(current_device(), 0)
    if producer is not None and stream_ptr != -1:
        order_streams(stream_ptr, producer)
    self._exporting_obj = obj
    return 0


cdef int view_array_interface(ViewState self, object obj) except -1:
    if is_numpy(obj) and view_numpy(self, obj, True):
        return 0
    interface = obj.__array_interface__
    if interface.get("version", 0) < 3:
        raise BufferError(f"__array_interface__ must be of version 3 or newer, not {shown(interface.get('version'))}")
    read_interface(self, interface)
    if is_numpy(obj):
        self._dtype = obj.dtype     # the interface does not say all about structures
    self._device_id = current_device()
    self._exporting_obj = obj
    return 0


# What both array interfaces share.
cdef int read_interface(ViewState self, object interface) except -1:
    cdef int64_t itemsize
    shape, typestr, self._ptr, self._is_readonly = read_entries(interface)
    itemsize = parse_itemsize(typestr)
    self._known_layout = _StridedLayout(shape, interface.get("strides"), itemsize, True)
    is_native = typestr[0] in "|=<" if sys.byteorder == "little" else typestr[0] in "|=>"
    if not is_native or not DLPack_element(<char>ord(typestr[1]), itemsize, &self._element):
        descr = interface.get("descr")
        self._typestr = descr if typestr[1] == "V" and descr else typestr
    self._keeper = interface
    return 0


cdef int view_buffer(ViewState self, Buffer buffer, _StridedLayout layout, object dtype, bint is_readonly) except -1:
    self._h_allocation = buffer._h_allocation.copy()
    if not self._h_allocation:
        refuse_closed(buffer)
    self._is_sized = is_sized(buffer)
    check_size(self, layout)
    self._ptr = self._h_allocation.value().pointer + layout._slice_offset * layout._itemsize
    self._is_device_accessible = buffer.is_device_accessible
    try:
        self._device_id = buffer.device_id
    except RuntimeError:
        self._device_id = pointer_info(self._ptr).device_id     # page-locked memory is on no one device
    self._is_readonly = is_readonly or buffer._is_readonly
    self._known_layout = layout
    self._dtype = dtype
    self._exporting_obj = buffer
    return 0


# Wrapped memory may be of more bytes than its user cared to say.
cdef bint is_sized(Buffer buffer) noexcept:
    return buffer._memory_resource is not None or buffer._is_part


cdef int check_size(ViewState self, _StridedLayout layout) except -1:
    if self._h_allocation and self._is_sized:
        needed = layout.required_size_in_bytes()
        if needed > self._h_allocation.value().size:
            raise ValueError(f"the layout needs {needed} bytes, and the buffer has {self._h_allocation.value().size}")
    return 0


cdef _StridedLayout layout_of(ViewState self):
    cdef int i
    if self._known_layout is None:
        if self._exporting_obj is None and self._dlpack.tensor == NULL:
            raise ValueError("this view is empty: make one with StridedMemoryView.from_any_interface()")
        shape = tuple([self._shape[i] for i in range(self._ndim)])
        strides = None
        if self._strides != NULL and self._ndim > 0:
            strides = tuple([self._strides[i] // self._stride_unit for i in range(self._ndim)])
        self._known_layout = Layout_create(shape, strides, itemsize_of(self))
    return self._known_layout


cdef int64_t itemsize_of(ViewState self) except -1:
    cdef int64_t bits = self._element.bits * self._element.lanes
    if self._known_layout is not None:
        return self._known_layout._itemsize
    if bits == 0 and self._dtype is not None:
        return self._dtype.itemsize
    if bits == 0 or bits % 8 != 0:
        raise ValueError(f"elements of {bits} bits cannot be addressed: they must be whole bytes")
    return bits // 8


cdef object dtype_of(ViewState self):
    if self._dtype is None:
        if self._element.lanes != 0:
            self._dtype = DLPack_dtype(self._element)
        elif self._typestr is not None:
            self._dtype = numpy().dtype(self._typestr)
    return self._dtype


cdef object stream_argument(object stream_ptr, int device_type):
    check_device(device_type)
    if stream_ptr is None:
        if device_type == DEVICE_CPU or device_type == DEVICE_CUDA:
            raise BufferError(
                "stream_ptr=None is ambiguous; pass the address of the stream that will use the memory, "
                "or -1 where no ordering is needed"
            )
        return None
    if not PyLong_CheckExact(stream_ptr):
        stream_ptr = address_argument("stream_ptr", stream_ptr)
    if not -1 <= stream_ptr <= MAX_ADDRESS:
        raise ValueError(f"stream_ptr must be the address of a stream, or -1 without ordering, not {shown(stream_ptr)}")
    return stream_ptr


cdef int check_device(int device_type) except -1:
    if device_type not in (DEVICE_CPU, DEVICE_CUDA, DEVICE_CUDA_HOST, DEVICE_CUDA_MANAGED):
        raise BufferError(f"memory on devices of DLPack type {device_type} is not supported, only host and CUDA memory")
    return 0


cdef int order_streams(object consumer, object producer) except -1:
    if consumer != producer:
        Stream_wrap(<cydriver.CUstream><uintptr_t>consumer, None).wait(
            Stream_wrap(<cydriver.CUstream><uintptr_t>producer, None)
        )
    return 0


# The ordinal of the current context; -1 where there is none, or no driver.
cdef int current_device() except -2:
    cdef ContextHandle h_context
    try:
        Context_current(&h_context)
    except (CUDAError, RuntimeError):
        return -1
    return Context_ordinal(h_context) if h_context else -1

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Import of tensors without DLPack capsules: by the C exchange table of their class, or by PyTorch's attributes."""

from __future__ import annotations

from libc.stdint cimport int32_t, int64_t, uintptr_t

from cpython.dict cimport PyDict_GetItemWithError
from cpython.object cimport PyObject, PyTypeObject
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid

from cuda.core._arrays._view_state cimport MAX_NDIM, ViewState, copy_extents, set_flags, set_tensor
from cuda.core._arrays.importing._protocols cimport Purpose, order_streams, stream_argument
from cuda.core._dlpack cimport (
    DEVICE_CPU,
    DEVICE_CUDA,
    DLManagedTensorVersioned,
    DLPack_check,
    DLPackExchangeAPI,
    DLTensor,
)
from cuda.core._utils._cpython cimport type_namespace

import re
import sys

__all__ = []

cdef extern from "Python.h":
    bint PyType_IsSubtype(PyTypeObject* cls, PyTypeObject* base)
    PyObject* PyImport_GetModuleDict()

# DLPack type codes by the letters at the start of a dtype's name.
_CODES = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "complex": 5, "bool": 6}
_SMALL_FLOATS = {
    "float8_e4m3fn": 10, "float8_e4m3fnuz": 11, "float8_e5m2": 12, "float8_e5m2fnuz": 13, "float8_e8m0fnu": 14,
}

# torch.Tensor, after the program has imported PyTorch, and its exchange table, if it has one.
cdef object _tensor_class = None
cdef const DLPackExchangeAPI* _torch_table = NULL
cdef dict _elements = {}    # dtype -> (code, bits)


cdef object loaded_class(str module, str name):
    cdef PyObject* found = PyDict_GetItemWithError(<object>PyImport_GetModuleDict(), module)
    if found == NULL:
        return None
    cls = getattr(<object>found, name, None)
    return cls if isinstance(cls, type) else None


cdef bint is_torch_type(object cls) except -1:
    global _tensor_class, _torch_table
    if _tensor_class is None:
        tensor_class = loaded_class("torch", "Tensor")
        if tensor_class is None:
            return False
        _torch_table = find_exchange(tensor_class)
        _tensor_class = tensor_class
    return PyType_IsSubtype(<PyTypeObject*>cls, <PyTypeObject*>_tensor_class)


cdef bint import_torch(ViewState self, object tensor, object stream_ptr, Purpose purpose) except -1:
    cdef DLTensor c_tensor
    cdef void* c_stream = NULL
    if _torch_table == NULL or not borrow(self, tensor, &c_tensor):
        read_attributes(self, tensor, &c_tensor)
    set_tensor(self, &c_tensor)
    stream_ptr = stream_argument(stream_ptr, self._device_type, purpose)
    if self._device_type == DEVICE_CUDA and stream_ptr != -1:
        if _torch_table != NULL:
            _torch_table.current_work_stream(DEVICE_CUDA, self._device_id, &c_stream)
            order_streams(stream_ptr, <uintptr_t>c_stream)
        else:
            order_streams(stream_ptr, sys.modules["torch"].cuda.current_stream(self._device_id).cuda_stream)
    self._exporting_obj = tensor
    return True


cdef const DLPackExchangeAPI* find_exchange(object cls) except? NULL:
    cdef const DLPackExchangeAPI* table = NULL
    cdef PyObject* namespace = NULL
    cdef PyObject* found = NULL
    # Search the dicts of the classes: a failed getattr() takes longer than everything else here.
    for base in cls.__mro__:
        namespace = type_namespace(<PyTypeObject*>base)
        if namespace != NULL:
            found = PyDict_GetItemWithError(<object>namespace, "__dlpack_c_exchange_api__")
        if found != NULL:
            break
    else:
        return NULL
    capsule = <object>found
    if not PyCapsule_IsValid(capsule, b"dlpack_exchange_api"):
        return NULL
    table = <const DLPackExchangeAPI*>PyCapsule_GetPointer(capsule, b"dlpack_exchange_api")
    if (
        table.version.major != 1
        or table.managed_from_object == NULL
        or table.borrow_from_object == NULL
        or table.current_work_stream == NULL
    ):
        return NULL
    return table


# Unlike import_torch(), this needs a managed tensor: its flags tell whether it is read-only, and PyTorch's never are.
cdef bint import_with_table(ViewState self, object tensor, object stream_ptr, Purpose purpose) except -1:
    cdef const DLPackExchangeAPI* table = find_exchange(type(tensor))
    cdef DLManagedTensorVersioned* managed = NULL
    cdef void* c_stream = NULL
    if table == NULL:
        return False
    try:
        table.managed_from_object(<void*>tensor, &managed)
    except Exception:
        return False    # the protocol may still work, or give a better error
    if managed == NULL:
        return False
    self._dlpack.versioned = managed
    self._dlpack.tensor = &managed.dl_tensor
    if managed.version.major != 1:
        raise BufferError(f"the tensor must be of DLPack version 1.x, not {managed.version.major}.x")
    DLPack_check(&managed.dl_tensor)
    set_tensor(self, &managed.dl_tensor)
    set_flags(self, managed.flags)
    stream_ptr = stream_argument(stream_ptr, self._device_type, purpose)
    if self._device_type == DEVICE_CUDA and stream_ptr != -1:
        table.current_work_stream(DEVICE_CUDA, self._device_id, &c_stream)
        order_streams(stream_ptr, <uintptr_t>c_stream)
    self._exporting_obj = tensor
    return True


# False if the table's function raises: the tensor's attributes may still work, or give a better error.
cdef bint borrow(ViewState self, object tensor, DLTensor* c_tensor) except -1:
    try:
        _torch_table.borrow_from_object(<void*>tensor, c_tensor)
    except Exception:
        return False
    own_extents(self, c_tensor)
    return True


# Copies the tensor's shape and strides, which are valid only until Python code runs.
cdef int own_extents(ViewState self, DLTensor* c_tensor) except -1:
    DLPack_check(c_tensor)
    copy_extents(self, c_tensor.shape, c_tensor.strides, c_tensor.ndim)
    c_tensor.shape = self._extents.data()
    if c_tensor.strides != NULL:
        c_tensor.strides = self._extents.data() + c_tensor.ndim
    return 0


cdef int read_attributes(ViewState self, object tensor, DLTensor* c_tensor) except -1:
    cdef int64_t[2 * MAX_NDIM] numbers
    cdef int32_t ndim
    cdef int32_t i
    device = tensor.device
    if device.type not in ("cpu", "cuda"):
        raise BufferError(f"a tensor on the device {device} cannot be viewed, only one on the host or a CUDA device")
    try:
        shape, strides = tensor.shape, tensor.stride()
        c_tensor.data = <void*><uintptr_t>tensor.data_ptr()
    except (RuntimeError, NotImplementedError) as error:
        raise BufferError(f"only dense strided tensors can be viewed: {error}") from error
    if len(shape) > MAX_NDIM:
        raise ValueError(f"a tensor must have from 0 to {MAX_NDIM} axes, not {len(shape)}")
    ndim = len(shape)
    for i in range(ndim):
        numbers[i], numbers[ndim + i] = shape[i], strides[i]
    c_tensor.shape = numbers
    c_tensor.strides = numbers + ndim
    c_tensor.ndim = ndim
    c_tensor.byte_offset = 0
    c_tensor.device.device_type = DEVICE_CUDA if device.type == "cuda" else DEVICE_CPU
    c_tensor.device.device_id = device.index or 0
    code, bits = element_of(tensor)
    c_tensor.dtype.code = code
    c_tensor.dtype.bits = bits
    c_tensor.dtype.lanes = 1
    return own_extents(self, c_tensor)


# (code, bits) of DLPack, from the name of the dtype, such as torch.float32.
cdef tuple element_of(object tensor):
    dtype = tensor.dtype
    element = _elements.get(dtype)
    if element is None:
        name = str(dtype).rpartition(".")[2]
        code = _SMALL_FLOATS.get(name)
        if code is None:
            code = _CODES.get(re.match("[a-z]*", name)[0])
        if code is None:
            raise BufferError(f"a tensor of {dtype} cannot be viewed: DLPack has no such type")
        element = _elements[dtype] = (code, 8 * tensor.element_size())
    return element

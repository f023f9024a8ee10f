# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Export of views with DLPack: capsules, and the exchange table for C code."""

from __future__ import annotations

from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp.vector cimport vector

from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_New
from cpython.ref cimport Py_INCREF

from cuda.core._arrays._view_state cimport (
    ViewState,
    dtype_of,
    is_packed,
    set_flags,
    set_tensor,
    shape_of,
    strides_of,
)
from cuda.core._dlpack cimport (
    DEVICE_CPU,
    DEVICE_CUDA,
    DEVICE_CUDA_HOST,
    DEVICE_CUDA_MANAGED,
    DLPACK_FLAG_IS_PADDED,
    DLPACK_FLAG_READ_ONLY,
    DLManagedTensorVersioned,
    DLPack_check,
    DLPack_element_of_dtype,
    DLPack_export,
    DLPack_read,
    DLPackExchangeAPI,
    DLPackSource,
    DLTensor,
    SetError,
)
from cuda.core._handles._handles cimport Keep
from cuda.core._memory.ranges._pointer_info cimport PointerInfo, pointer_info
from cuda.core._utils._cpython cimport set_error_on_any_thread

from cuda.core._arrays._layout_ops import c_strides

cdef extern from "Python.h":
    PyObject* PyExc_NotImplementedError

__all__ = []

# The class of views that exchange_object() creates.
cdef type _view_class = ViewState


cdef int register_view_class(object cls) except -1:
    global _view_class
    _view_class = cls
    return 0


cdef int check_export_arguments(object stream, object dl_device, object copy) except -1:
    if stream is not None and not isinstance(stream, int):
        raise TypeError(f"stream must be an int or None, not {type(stream).__name__}")
    if dl_device is not None and not isinstance(dl_device, tuple):
        raise TypeError(f"dl_device must be a tuple (device_type, device_id) or None, not {type(dl_device).__name__}")
    if copy is not None and not isinstance(copy, bool):
        raise TypeError(f"copy must be a bool or None, not {type(copy).__name__}")
    return 0


cdef object export_view(ViewState self, bint is_versioned):
    cdef DLTensor tensor
    cdef vector[int64_t] extents
    cdef uint64_t flags = DLPACK_FLAG_READ_ONLY if self._is_readonly else 0
    if fill_tensor(self, &tensor, &extents):
        flags |= DLPACK_FLAG_IS_PADDED
        if not is_versioned:
            raise BufferError(
                f"elements of {tensor.dtype.bits} bits in a byte each need a consumer that knows DLPack 1.0 "
                "(max_version)"
            )
    return DLPack_export(tensor, self, Keep(), is_versioned, flags)


cdef tuple dlpack_device(ViewState self):
    cdef PointerInfo info
    if self._device_type != 0:
        return (self._device_type, max(self._device_id, 0))
    if not self._is_device_accessible:
        return (DEVICE_CPU, 0)
    info = pointer_info(self._ptr)
    if info.is_managed:
        return (DEVICE_CUDA_MANAGED, 0)
    if info.is_device_accessible and info.is_host_accessible:
        return (DEVICE_CUDA_HOST, 0)
    return (DEVICE_CUDA, self._device_id)


# Fills the DLTensor of the view. Its shape and strides are stored in `extents`, which is filled if necessary. Returns
# True if elements of less than 8 bits have a byte each: the tensor then needs the flag IS_PADDED.
cdef bint fill_tensor(ViewState self, DLTensor* tensor, vector[int64_t]* extents) except -1:
    cdef tuple shape = shape_of(self)
    cdef tuple strides = strides_of(self)
    cdef int32_t ndim = <int32_t>len(shape)
    cdef vector[int64_t] found
    device_type, device_id = dlpack_device(self)
    tensor.dtype = self._element
    if self._element.lanes == 0:
        dtype = dtype_of(self)
        if dtype is None:
            raise BufferError("the type of the elements is not known; make the view with a dtype to export it")
        tensor.dtype = DLPack_element_of_dtype(dtype)
    if strides is None:
        strides = c_strides(shape)
    if extents.size() != 2 * <size_t>ndim:
        for extent in shape:
            found.push_back(extent)
        for stride in strides:
            found.push_back(stride)
        extents.swap(found)
    tensor.data = NULL if 0 in shape else <void*>self._ptr
    tensor.device.device_type = device_type
    tensor.device.device_id = device_id
    tensor.ndim = ndim
    tensor.shape = extents.data() if ndim > 0 else NULL
    tensor.strides = extents.data() + ndim if ndim > 0 else NULL
    tensor.byte_offset = 0
    return tensor.dtype.bits * tensor.dtype.lanes % 8 != 0 and not is_packed(self)


# The exchange table. Callers of its functions hold the interpreter lock, except for `allocate`.
cdef DLPackExchangeAPI _table


cdef object exchange_capsule():
    _table.version.major = 1
    _table.version.minor = 3
    _table.previous_api = NULL
    _table.allocate = exchange_allocate
    _table.managed_from_object = exchange_managed
    _table.object_from_managed = exchange_object
    _table.borrow_from_object = exchange_borrow
    _table.current_work_stream = exchange_stream
    return PyCapsule_New(&_table, b"dlpack_exchange_api", NULL)


cdef const char* NO_ALLOCATOR = b"a StridedMemoryView cannot allocate memory"


cdef int exchange_allocate(
    DLTensor* prototype, DLManagedTensorVersioned** result, void* context, SetError set_error
) noexcept nogil:
    if set_error != NULL:
        set_error(context, b"NotImplementedError", NO_ALLOCATOR)
        return -1
    set_error_on_any_thread(PyExc_NotImplementedError, NO_ALLOCATOR)
    return -1


cdef int exchange_managed(void* obj, DLManagedTensorVersioned** result) except -1:
    cdef DLPackSource source
    check_pointer(obj, "the object")
    check_pointer(result, "the result")
    DLPack_read(export_view(<ViewState?><object>obj, True), &source)
    result[0] = source.versioned
    return 0


cdef int exchange_object(DLManagedTensorVersioned* managed, void** result) except -1:
    cdef ViewState self = _view_class.__new__(_view_class)
    check_pointer(managed, "the tensor")
    check_pointer(result, "the result")
    DLPack_check(&managed.dl_tensor)
    set_tensor(self, &managed.dl_tensor)
    set_flags(self, managed.flags)
    # Nothing below fails: from here on, the view releases the tensor.
    self._dlpack.versioned = managed
    self._dlpack.tensor = &managed.dl_tensor
    Py_INCREF(self)
    result[0] = <void*>self
    return 0


cdef int exchange_borrow(void* obj, DLTensor* result) except -1:
    check_pointer(obj, "the object")
    check_pointer(result, "the result")
    cdef ViewState self = <ViewState?><object>obj
    if fill_tensor(self, result, &self._borrowed_extents):
        raise BufferError("a borrowed tensor has no flag for elements of less than 8 bits that have a byte each")
    return 0


cdef int exchange_stream(int32_t device_type, int32_t device_id, void** result) except -1:
    check_pointer(result, "the result")
    result[0] = NULL
    return 0


cdef int check_pointer(const void* pointer, str name) except -1:
    if pointer == NULL:
        raise ValueError(f"{name} must not be a null pointer")
    return 0

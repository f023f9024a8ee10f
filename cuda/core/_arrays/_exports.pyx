# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Views as DLPack sees them: capsules, and the table through which C code exchanges tensors."""

from __future__ import annotations

from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

from cpython.exc cimport PyErr_SetString
from cpython.pycapsule cimport PyCapsule_New
from cpython.ref cimport Py_INCREF

from cuda.core._arrays._view_state cimport ViewState, dtype_of, layout_of, set_tensor
from cuda.core._dlpack cimport (
    DEVICE_CPU,
    DEVICE_CUDA,
    DEVICE_CUDA_HOST,
    DEVICE_CUDA_MANAGED,
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
from cuda.core._layout cimport _StridedLayout
from cuda.core._memory.ranges._pointer_info cimport PointerInfo, pointer_info

__all__ = []

# What a tensor from C becomes.
cdef type _view_class = ViewState


cdef int register_view_class(type cls) except -1:
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
    describe(self, &tensor, &extents)
    return DLPack_export(tensor, self, Keep(), is_versioned, DLPACK_FLAG_READ_ONLY if self._is_readonly else 0)


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


# The view as DLPack sees it; shape and strides lie in `extents`, filled here where that was not done before.
cdef int describe(ViewState self, DLTensor* tensor, vector[int64_t]* extents) except -1:
    cdef _StridedLayout layout = layout_of(self)
    cdef tuple strides = layout.explicit_strides()
    cdef int32_t ndim = <int32_t>len(layout._shape)
    cdef int32_t i
    device_type, device_id = dlpack_device(self)
    tensor.dtype = self._element
    if self._element.lanes == 0:
        dtype = dtype_of(self)
        if dtype is None:
            raise BufferError("the type of the elements is not known; make the view with a dtype to export it")
        tensor.dtype = DLPack_element_of_dtype(dtype)
    if extents.size() != 2 * <size_t>ndim:
        extents.resize(2 * ndim)
        for i in range(ndim):
            extents[0][i] = layout._shape[i]
            extents[0][ndim + i] = strides[i]
    tensor.data = NULL if 0 in layout._shape else <void*>self._ptr
    tensor.device.device_type = device_type
    tensor.device.device_id = device_id
    tensor.ndim = ndim
    tensor.shape = extents.data() if ndim > 0 else NULL
    tensor.strides = extents.data() + ndim if ndim > 0 else NULL
    tensor.byte_offset = 0
    return 0


# The functions of the exchange table; the caller holds the interpreter lock.
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
    with gil:
        PyErr_SetString(NotImplementedError, NO_ALLOCATOR)
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
    self._is_readonly = managed.flags & DLPACK_FLAG_READ_ONLY != 0
    # From here on nothing fails, and the tensor is the view's to release.
    self._dlpack.versioned = managed
    self._dlpack.tensor = &managed.dl_tensor
    Py_INCREF(self)
    result[0] = <void*>self
    return 0


cdef int exchange_borrow(void* obj, DLTensor* result) except -1:
    check_pointer(obj, "the object")
    check_pointer(result, "the result")
    cdef ViewState self = <ViewState?><object>obj
    return describe(self, result, &self._extents)


cdef int exchange_stream(int32_t device_type, int32_t device_id, void** result) except -1:
    check_pointer(result, "the result")
    result[0] = NULL
    return 0


cdef int check_pointer(const void* pointer, str name) except -1:
    if pointer == NULL:
        raise ValueError(f"{name} must not be a null pointer")
    return 0

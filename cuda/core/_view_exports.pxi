# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The export of views through DLPack, by capsules and by the C exchange table; a part of ``_memoryview.pyx``."""

from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector

from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_New
from cpython.ref cimport Py_INCREF

from cuda.core._arrays._importers cimport import_array
from cuda.core._arrays._views cimport (
    FOR_VIEW,
    ViewState,
    dlpack_device,
    dtype_of,
    is_packed,
    set_flags,
    set_tensor,
    shape_of,
    strides_of,
)
from cuda.core._dlpack cimport (
    DEVICE_CUDA,
    DEVICE_CUDA_MANAGED,
    DLManagedTensorVersioned,
    DLPACK_FLAG_IS_PADDED,
    DLPACK_FLAG_READ_ONLY,
    DLPackExchangeAPI,
    DLPackSource,
    DLPack_check,
    DLPack_check_stream,
    DLPack_element_of_dtype,
    DLPack_export,
    DLPack_read,
    DLTensor,
    SetError,
)
from cuda.core._memory._buffer cimport order_consumer, stream_address
from cuda.core._native._cuda_core cimport Anchor
from cuda.core._utils._cpython cimport set_error_on_any_thread

from cuda.core._layout_ops import c_strides


cdef extern from "Python.h":
    PyObject* PyExc_NotImplementedError


cdef int check_export_arguments(object stream, object dl_device, object copy) except -1:
    DLPack_check_stream(stream)
    if dl_device is not None and not isinstance(dl_device, tuple):
        raise TypeError(f"dl_device must be a tuple (device_type, device_id) or None, not {type(dl_device).__name__}")
    if copy is not None and not isinstance(copy, bool):
        raise TypeError(f"copy must be a bool or None, not {type(copy).__name__}")
    return 0


# The address of the stream of the memory, as the CUDA array interface names it, or None.
cdef object producer_of(ViewState self):
    if self._h_allocation:
        return stream_address(self._h_allocation.value())
    interface = getattr(self._exporting_obj, "__cuda_array_interface__", None)
    return interface.get("stream") if isinstance(interface, dict) else None


def order_export(ViewState self, stream) -> None:
    """Order later work of a consumer's stream, an argument of ``__dlpack__``, after the work that the memory needs."""
    cdef int device_type = dlpack_device(self)[0]
    if self._h_allocation:
        order_consumer(self._h_allocation.value(), stream, device_type)
    elif stream != -1 and device_type in (DEVICE_CUDA, DEVICE_CUDA_MANAGED) and self._exporting_obj is not None:
        # The exporter orders its own work. Its own export may be that of a view like this one.
        stream = 1 if stream is None else stream
        if self._device_type == 0 and hasattr(self._exporting_obj, "__cuda_array_interface__"):
            StridedMemoryView.from_cuda_array_interface(self._exporting_obj, stream)
        else:
            import_array(ViewState.__new__(ViewState), self._exporting_obj, stream, FOR_VIEW)


# Returns a DLPack capsule on a device that can access the memory. It keeps the view alive.
cdef object export_view(ViewState self, bint is_versioned, tuple device, uint64_t flags):
    cdef DLTensor tensor
    cdef vector[int64_t] extents
    if self._is_readonly:
        flags |= DLPACK_FLAG_READ_ONLY
    if fill_tensor(self, &tensor, &extents):
        flags |= DLPACK_FLAG_IS_PADDED
        if not is_versioned:
            raise BufferError(
                f"elements of {tensor.dtype.bits} bits in a byte each need a consumer that supports DLPack 1.0 "
                "(max_version)"
            )
    tensor.device.device_type, tensor.device.device_id = device
    return DLPack_export(tensor, self, Anchor(), is_versioned, flags)


# Fills the DLTensor of the view, whose shape and strides are stored in `extents`. Returns true if the tensor needs the
# flag IS_PADDED, because elements of less than 8 bits have a byte each.
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
            raise BufferError("the element type is unknown; create the view with a dtype to export it")
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


# The exchange table of StridedMemoryView. Callers hold the GIL, except for `allocate`.
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
    cdef ViewState self
    check_pointer(obj, "the object")
    check_pointer(result, "the result")
    self = <ViewState?><object>obj
    DLPack_read(export_view(self, True, dlpack_device(self), 0), &source)
    result[0] = source.versioned
    return 0


cdef int exchange_object(DLManagedTensorVersioned* managed, void** result) except -1:
    cdef StridedMemoryView self = new_view(StridedMemoryView)
    check_pointer(managed, "the tensor")
    check_pointer(result, "the result")
    DLPack_check(&managed.dl_tensor)
    set_tensor(self, &managed.dl_tensor)
    set_flags(self, managed.flags)
    # Nothing below fails, so from now on the view releases the tensor.
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
        raise BufferError("a borrowed tensor has no flag for elements of less than 8 bits in a byte each")
    return 0


cdef int exchange_stream(int32_t device_type, int32_t device_id, void** result) except -1:
    check_pointer(result, "the result")
    result[0] = NULL
    return 0


cdef int check_pointer(const void* pointer, str name) except -1:
    if pointer == NULL:
        raise ValueError(f"{name} must not be a null pointer")
    return 0

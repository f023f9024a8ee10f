# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Importers: the fastest way to fill a view state from an array, by its type."""

from __future__ import annotations

from libc.stdint cimport int32_t, int64_t, uint32_t, uintptr_t

from cpython.buffer cimport PyObject_CheckBuffer
from cpython.dict cimport PyDict_GetItemWithError
from cpython.object cimport PyObject, PyTypeObject, Py_TYPE
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid

from cuda.core._arrays._views cimport (
    ElementType,
    FOR_ADDRESS,
    FOR_COPY,
    FOR_VIEW,
    Importer,
    MAX_NDIM,
    Purpose,
    ViewState,
    check_size,
    copy_extents,
    dlpack_device,
    import_cuda_interface,
    import_dlpack,
    import_dlpack_as,
    import_numpy,
    import_python_buffer,
    is_numpy,
    order_streams,
    parse_typestr,
    set_extents,
    set_dtype,
    set_flags,
    set_state,
    set_tensor,
    stream_argument,
)
from cuda.core._dlpack cimport (
    DEVICE_CPU,
    DEVICE_CUDA,
    DLManagedTensorVersioned,
    DLPackExchangeAPI,
    DLPack_check,
    DLTensor,
)
from cuda.core._layout cimport _StridedLayout
from cuda.core._memory._buffer cimport ArrayArgument, Buffer
from cuda.core._memory._memory_resource cimport pointer_info
from cuda.core._native._cuda_core cimport refuse_closed
from cuda.core._utils._cpython cimport check_self_in_methods, type_namespace
from cuda.core._utils._type_table cimport TypeTable

import re
import sys

from cuda.core._utils.locks import RLock

__all__ = ["register_importer"]


cdef extern from "Python.h":
    bint PyType_IsSubtype(PyTypeObject* cls, PyTypeObject* base)
    PyObject* PyImport_GetModuleDict()


cdef TypeTable[Importer] _table
cdef object _table_lock = RLock()

# The importers of users: type -> function.
cdef dict _registered = {}


def register_importer(cls: type, importer: object | None) -> None:
    """Register an importer for arrays of a type that supports no protocol or a slow one.

    Objects of the type and its subclasses can then be viewed, copied from and to, and passed to kernels.

    Parameters
    ----------
    cls : type
        The type of the arrays.
    importer : Callable[[object, int | None], object] | None
        Called with the array and the address of the stream that will use the memory (-1 if no ordering is needed, None
        if no stream was given). It returns a :class:`StridedMemoryView`, or an object that supports DLPack, the CUDA
        array interface or the buffer protocol. If it returns a view, it must order later work of the stream after
        earlier work on the array. None removes a registered importer.

    Raises
    ------
    TypeError
        If ``cls`` is not a type, or is one of this package, NumPy or a known library, or ``importer`` is not callable.
    RuntimeError
        If more than a hundred types are registered.

    Examples
    --------
    >>> import numpy as np
    >>> from cuda.core.utils import StridedMemoryView, register_importer
    >>> class Image:
    ...     def __init__(self, pixels):
    ...         self.pixels = pixels
    >>> register_importer(Image, lambda image, stream_ptr: image.pixels)
    >>> StridedMemoryView.from_any_interface(Image(np.zeros((4, 6))), stream_ptr=-1).shape
    (4, 6)
    """
    cdef const Importer* found = NULL
    if not isinstance(cls, type):
        raise TypeError(f"cls must be a type, not {type(cls).__name__}")
    if importer is not None and not callable(importer):
        raise TypeError(f"importer must be a function or None, not {type(importer).__name__}")
    if importer is None:
        _registered.pop(cls, None)
        return
    if cls not in _registered:
        found = find_known(cls)
        if (found != NULL and found[0] != &import_registered) or cls.__module__.partition(".")[0] == "numpy":
            raise TypeError(f"cls must not be {cls.__name__}, because cuda.core imports arrays of this type itself")
        if not add_entry(<PyTypeObject*>cls, &import_registered):
            raise RuntimeError("too many types are registered; register a common base class instead")
    _registered[cls] = importer


# Registers the importer of a type of this package and its subclasses.
cdef int add_importer(object cls, Importer importer) except -1:
    if not add_entry(<PyTypeObject*>cls, importer):
        raise RuntimeError("the table of importers is full")
    return 0


cdef bint add_entry(PyTypeObject* cls, Importer importer) except -1:
    with _table_lock:
        return _table.add(cls, importer)


cdef bint import_array(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1:
    cdef bint is_unordered
    if is_numpy(obj):
        # Views of NumPy arrays with another stream_ptr than -1 go through NumPy's DLPack export, which might reject it.
        is_unordered = purpose != FOR_VIEW or (type(stream_ptr) is int and stream_ptr == -1)
        if is_unordered and import_numpy(self, obj, False, purpose):
            return True
    elif import_known(self, obj, stream_ptr, purpose):
        return True
    return import_by_protocol(self, obj, stream_ptr, purpose)


cdef bint import_by_protocol(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1:
    cdef bint has_buffer = PyObject_CheckBuffer(obj)
    # The buffer protocol has more element types than DLPack. Device arrays might also have it, but using it raises.
    if purpose == FOR_COPY and has_buffer and not hasattr(obj, "__cuda_array_interface__"):
        import_python_buffer(self, obj, stream_ptr, purpose)
    elif has_dlpack(obj):
        import_dlpack(self, obj, stream_ptr, purpose)
    elif hasattr(obj, "__cuda_array_interface__"):
        import_cuda_interface(self, obj, stream_ptr, purpose)
    elif has_buffer:
        import_python_buffer(self, obj, stream_ptr, purpose)
    else:
        return False
    return True


cdef bint import_known(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1:
    cdef const Importer* found = find_known(<object>Py_TYPE(obj))
    return found != NULL and found[0](self, obj, stream_ptr, purpose)


cdef bint import_known_with_dlpack(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1:
    cdef const Importer* found = find_known(<object>Py_TYPE(obj))
    return found != NULL and not reads_interface(found[0]) and found[0](self, obj, stream_ptr, purpose)


cdef bint import_known_with_interface(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1:
    cdef const Importer* found = find_known(<object>Py_TYPE(obj))
    return found != NULL and not reads_dlpack(found[0]) and found[0](self, obj, stream_ptr, purpose)


# The importer of a type or its nearest base class. A known library's type is registered when it is first seen.
cdef const Importer* find_known(object cls) except? NULL:
    cdef const Importer* found = _table.find(<PyTypeObject*>cls)
    if found == NULL:
        found = find_inherited(cls)
    if found == NULL and register_library_type(cls):
        found = find_inherited(cls)
    return found


cdef const Importer* find_inherited(object cls) except? NULL:
    cdef const Importer* found = NULL
    for base in cls.__mro__:
        found = _table.find(<PyTypeObject*>base)
        if found != NULL:
            break
    return found


# Registers the library's base class, not `cls`, because entries keep their types forever and `cls` might be a user's.
cdef bint register_library_type(object cls) except -1:
    cdef Importer importer = NULL
    if is_torch_type(cls):
        return add_entry(<PyTypeObject*>sys.modules["torch"].Tensor, import_torch)
    if is_cupy_type(cls):
        return add_entry(<PyTypeObject*>sys.modules["cupy"].ndarray, import_cupy)
    known = library_class(cls, &importer)
    if known is not None:
        return add_entry(<PyTypeObject*>known, importer)
    if find_exchange(cls) != NULL:
        for base in reversed(cls.__mro__):
            if "__dlpack_c_exchange_api__" in base.__dict__:
                return add_entry(<PyTypeObject*>base, import_with_table)
    return False


cdef bint is_array(object obj) except -1:
    return (
        is_numpy(obj)
        or find_known(type(obj)) != NULL
        or has_dlpack(obj)
        or hasattr(obj, "__cuda_array_interface__")
        or PyObject_CheckBuffer(obj)
    )


cdef int read_argument(object array, ArrayArgument* argument) except -1:
    cdef ViewState state
    if isinstance(array, ViewState):
        state = <ViewState>array
    else:
        state = ViewState.__new__(ViewState)
        if not import_array(state, array, -1, FOR_ADDRESS):
            raise TypeError(f"this {type(array).__name__} no longer supports a protocol for arrays")
    argument.pointer = state._ptr
    argument.element = state._element.code | state._element.bits << 8 | <uint32_t>state._element.lanes << 16
    argument.is_readonly = state._is_readonly
    # The exporter might not know that its host memory is page-locked, but the driver does.
    return state._is_device_accessible or pointer_info(state._ptr).is_device_accessible


cdef bint is_known_class(object cls) except -1:
    return _table.find(<PyTypeObject*>cls) != NULL


cdef bint has_dlpack(object obj) except -1:
    return hasattr(obj, "__dlpack__") and hasattr(obj, "__dlpack_device__")


cdef bint import_registered(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1:
    for base in type(obj).__mro__:
        function = _registered.get(base)
        if function is not None:
            break
    else:
        return False    # its importer was removed
    array = function(obj, stream_ptr)
    if isinstance(array, ViewState):
        set_state(self, array)
    elif not import_returned(self, array, stream_ptr, purpose):
        raise BufferError(
            f"the importer of {base.__name__} returned a {type(array).__name__}, which has neither DLPack, "
            f"__cuda_array_interface__ nor the buffer protocol"
        )
    self._exporting_obj = obj
    self._keeper = (array, self._keeper)
    return True


# Imports the result of a user's importer, without calling another user's importer, because that might never end.
cdef bint import_returned(ViewState self, object array, object stream_ptr, Purpose purpose) except -1:
    cdef const Importer* found = NULL
    for base in type(array).__mro__:
        found = _table.find(<PyTypeObject*>base)
        if found != NULL and found[0] != &import_registered and found[0](self, array, stream_ptr, purpose):
            return True
    return import_by_protocol(self, array, stream_ptr, purpose)


# ---------------------------------------------------------------------------------------------
# Exchange tables

# Returns the exchange table of a class, or NULL if it has none of a supported version.
cdef const DLPackExchangeAPI* find_exchange(object cls) except? NULL:
    cdef const DLPackExchangeAPI* table = NULL
    cdef PyObject* namespace = NULL
    cdef PyObject* found = NULL
    # Searches the dicts of the classes, because a failed getattr() takes longer than everything else here.
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


# Unlike import_torch(), this needs a managed tensor, because a PyTorch tensor is never read-only but others can be.
cdef bint import_with_table(ViewState self, object tensor, object stream_ptr, Purpose purpose) except -1:
    cdef const DLPackExchangeAPI* table = find_exchange(type(tensor))
    cdef DLManagedTensorVersioned* managed = NULL
    cdef void* c_stream = NULL
    if table == NULL:
        return False
    try:
        table.managed_from_object(<void*>tensor, &managed)
    except Exception:
        return False    # the protocol might still work, or raise a better error
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


# ---------------------------------------------------------------------------------------------
# PyTorch

# DLPack type codes by the letters at the start of a dtype's name.
_CODES = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "complex": 5, "bool": 6}
_SMALL_FLOATS = {
    "float8_e4m3fn": 10, "float8_e4m3fnuz": 11, "float8_e5m2": 12, "float8_e5m2fnuz": 13, "float8_e8m0fnu": 14,
}

# torch.Tensor, once the program has imported PyTorch, and its exchange table, if it has one.
cdef object _tensor_class = None
cdef const DLPackExchangeAPI* _torch_table = NULL
cdef dict _tensor_elements = {}    # dtype -> (code, bits)


cdef bint is_torch_type(object cls) except -1:
    global _tensor_class, _torch_table
    if _tensor_class is None:
        tensor_class = loaded_class("torch", "Tensor")
        if tensor_class is None:
            return False
        _torch_table = find_exchange(tensor_class)
        _tensor_class = tensor_class
    return PyType_IsSubtype(<PyTypeObject*>cls, <PyTypeObject*>_tensor_class)


# Fills an empty state from a tensor, ordered after PyTorch's current stream.
cdef bint import_torch(ViewState self, object tensor, object stream_ptr, Purpose purpose) except -1:
    cdef DLTensor c_tensor
    cdef void* c_stream = NULL
    if _torch_table == NULL or not borrow_tensor(self, tensor, &c_tensor):
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


# False if the table's function raises: the tensor's attributes might still work, or raise a better error.
cdef bint borrow_tensor(ViewState self, object tensor, DLTensor* c_tensor) except -1:
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
        raise BufferError(f"a tensor on device {device} cannot be viewed, only one on the host or a CUDA device")
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
    code, bits = tensor_element(tensor)
    c_tensor.dtype.code = code
    c_tensor.dtype.bits = bits
    c_tensor.dtype.lanes = 1
    return own_extents(self, c_tensor)


# (code, bits) of DLPack, from the name of the dtype, such as torch.float32.
cdef tuple tensor_element(object tensor):
    dtype = tensor.dtype
    element = _tensor_elements.get(dtype)
    if element is None:
        name = str(dtype).rpartition(".")[2]
        code = _SMALL_FLOATS.get(name)
        if code is None:
            code = _CODES.get(re.match("[a-z]*", name)[0])
        if code is None:
            raise BufferError(f"a tensor of {dtype} cannot be viewed: DLPack has no such type")
        element = _tensor_elements[dtype] = (code, 8 * tensor.element_size())
    return element


# ---------------------------------------------------------------------------------------------
# CuPy

cdef class CachedElement:
    """The element type of a dtype, as a dict value."""

    cdef ElementType type


# dtype -> CachedElement. CuPy supports about as many NumPy dtypes as DLPack, so there are few.
cdef dict _cupy_elements = {}
cdef enum:
    MAX_CACHED_TYPES = 256


cdef bint is_cupy_type(object cls) except -1:
    array_class = loaded_class("cupy", "ndarray")
    return array_class is not None and issubclass(cls, array_class)


# Fills an empty state from an array, ordered after CuPy's current stream.
cdef bint import_cupy(ViewState self, object array, object stream_ptr, Purpose purpose) except -1:
    cdef object memory = array.data
    cdef object dtype = array.dtype
    cdef CachedElement element = _cupy_elements.get(dtype)
    if element is None:
        element = read_dtype(dtype)
    self._ptr = memory.ptr
    set_extents(self, array.shape, array.strides, element.type.itemsize)
    self._element = element.type.dlpack
    if self._element.lanes == 0:
        self._dtype = dtype
    # _device_type stays 0, because the attributes do not show whether the memory is managed. See dlpack_device().
    self._is_device_accessible = True
    self._device_id = memory.device_id
    stream_ptr = stream_argument(stream_ptr, DEVICE_CUDA, purpose)
    if stream_ptr != -1:
        producer = sys.modules["cupy"].cuda.get_current_stream(self._device_id).ptr
        order_streams(stream_ptr, producer)
    self._keeper = memory
    self._exporting_obj = array
    return True


cdef CachedElement read_dtype(object dtype):
    cdef CachedElement found = CachedElement.__new__(CachedElement)
    parse_typestr(dtype.str, &found.type)
    found.type.itemsize = dtype.itemsize
    if len(_cupy_elements) < MAX_CACHED_TYPES:
        _cupy_elements[dtype] = found
    return found


# ---------------------------------------------------------------------------------------------
# Numba, JAX and Warp

# (module, class). Only classes of modules that the program has imported are used.
cdef tuple _CLASSES = (
    ("numba.cuda.cudadrv.devicearray", "DeviceNDArray"),
    ("jaxlib._jax", "ArrayImpl"),
    ("jaxlib.xla_extension", "ArrayImpl"),
    ("warp", "array"),
)


# Returns the array class of Numba, JAX or Warp that `cls` is or derives from, and its importer. None for others.
cdef object library_class(object cls, Importer* importer):
    for module, name in _CLASSES:
        base = loaded_class(module, name)
        if base is not None and issubclass(cls, base):
            if module.startswith("jaxlib."):
                importer[0] = import_jax
            elif hasattr(base, "__dlpack__") and hasattr(base, "__dlpack_device__"):
                importer[0] = import_with_dlpack
            else:
                importer[0] = import_with_interface
            return base
    return None


# Return true if the importer uses the protocol. Both are false for importers that read arrays without one.
cdef bint reads_dlpack(Importer importer) noexcept:
    cdef Importer jax = import_jax
    cdef Importer dlpack = import_with_dlpack
    return importer == jax or importer == dlpack


cdef bint reads_interface(Importer importer) noexcept:
    cdef Importer interface = import_with_interface
    return importer == interface


# JAX would use -1 as a stream address, so it gets None for "no ordering".
cdef bint import_jax(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1:
    import_dlpack_as(self, obj, stream_ptr, purpose, None)
    return True


cdef bint import_with_dlpack(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1:
    # Even for copies of host memory, because the buffer protocol of JAX raises for bfloat16.
    import_dlpack(self, obj, stream_ptr, purpose)
    return True


cdef bint import_with_interface(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1:
    import_cuda_interface(self, obj, stream_ptr, purpose)
    return True


# Returns a library's class, or None if the program has not imported the module.
cdef object loaded_class(str module, str name):
    cdef PyObject* found = PyDict_GetItemWithError(<object>PyImport_GetModuleDict(), module)
    if found == NULL:
        return None
    cls = getattr(<object>found, name, None)
    return cls if isinstance(cls, type) else None


# ---------------------------------------------------------------------------------------------
# Buffers and views

cdef int view_buffer(ViewState self, Buffer buffer, _StridedLayout layout, object dtype, bint is_readonly) except -1:
    self._h_allocation = buffer._h_allocation.copy()
    if not self._h_allocation:
        refuse_closed(buffer)
    self._is_size_known = is_size_known(buffer)
    check_size(self, layout)
    self._ptr = self._h_allocation.value().pointer + layout._slice_offset * layout._itemsize
    self._is_device_accessible = buffer.is_device_accessible
    try:
        self._device_id = buffer.device_id
    except RuntimeError:
        self._device_id = pointer_info(self._ptr).device_id     # page-locked memory belongs to no device
    self._is_readonly = is_readonly or buffer._is_readonly
    self._known_layout = layout
    set_dtype(self, dtype)
    self._exporting_obj = buffer
    return 0


# The size of wrapped memory is the one passed to from_handle(), but the memory might be larger.
cdef bint is_size_known(Buffer buffer) noexcept:
    return buffer._memory_resource is not None or buffer._is_slice


cdef bint import_buffer(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1:
    import_dlpack(self, obj, stream_ptr, purpose)
    self._h_allocation = (<Buffer>obj)._h_allocation.copy()
    self._is_size_known = is_size_known(<Buffer>obj)
    return True


cdef bint import_view(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1:
    stream_argument(stream_ptr, dlpack_device(<ViewState>obj)[0], purpose)
    set_state(self, <ViewState>obj)
    self._exporting_obj = obj
    return True


cdef int add_view_class(object cls) except -1:
    return add_importer(cls, &import_view)


add_importer(Buffer, &import_buffer)
add_importer(ViewState, &import_view)
check_self_in_methods(globals())

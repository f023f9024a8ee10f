# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The table of importers by array type, for views, copies and launches.

The importer of a known library's type is chosen once. For other objects, the protocol is chosen each time, because an
object may have an attribute that its type lacks, or refuse one that its type has.
"""

from __future__ import annotations

from cpython.buffer cimport PyObject_CheckBuffer
from cpython.object cimport Py_TYPE, PyTypeObject
from libc.stdint cimport uintptr_t

from cuda.core._arrays._view_state cimport ViewState, set_state
from cuda.core._arrays.importing._cupy_arrays cimport import_cupy, is_cupy_type
from cuda.core._arrays.importing._exchange cimport find_exchange, import_torch, import_with_table, is_torch_type
from cuda.core._arrays.importing._library_arrays cimport library_class, reads_dlpack, reads_interface
from cuda.core._arrays.importing._protocols cimport (
    FOR_ADDRESS,
    FOR_COPY,
    FOR_VIEW,
    Importer,
    Purpose,
    import_cuda_interface,
    import_dlpack,
    import_numpy,
    import_python_buffer,
    is_numpy,
)
from cuda.core._memory.ranges._pointer_info cimport pointer_info
from cuda.core._utils._type_table cimport TypeTable

import sys
from _thread import RLock

__all__ = ["register_importer"]

cdef TypeTable[Importer] _table
cdef object _table_lock = RLock()

# The importers of users: type -> function.
cdef dict _registered = {}


def register_importer(cls: type, importer: object | None) -> None:
    """Register an importer for arrays of a type that supports no protocol, or a slow one.

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
        If ``cls`` is not a type, or a type of this package, NumPy or a known library, or ``importer`` is not callable.
    RuntimeError
        If more than a hundred types are registered.

    Examples
    --------
    >>> register_importer(Image, lambda image, stream_ptr: image.pixels)
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
            raise TypeError(f"cls must not be {cls.__name__}: cuda.core imports arrays of this type itself")
        if not add_entry(<PyTypeObject*>cls, &import_registered):
            raise RuntimeError("too many types are registered; register a common base class of several")
    _registered[cls] = importer


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
        # Views of NumPy arrays with another stream_ptr than -1 go through NumPy's DLPack export, which may refuse it.
        is_unordered = purpose != FOR_VIEW or (type(stream_ptr) is int and stream_ptr == -1)
        if is_unordered and import_numpy(self, obj, False, purpose):
            return True
    elif import_known(self, obj, stream_ptr, purpose):
        return True
    return import_by_protocol(self, obj, stream_ptr, purpose)


cdef bint import_by_protocol(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1:
    cdef bint has_buffer = PyObject_CheckBuffer(obj)
    # The buffer protocol has more element types than DLPack. Device arrays may have it, too, but raise when it is used.
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


# The importer of a type or of its nearest base class. A known library's type is registered when it is first seen.
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


# Registers the base class from the library, not `cls`: entries keep their types for ever, and `cls` may be a user's.
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


cdef int read_address(object array, uintptr_t* pointer) except -1:
    cdef ViewState state = ViewState.__new__(ViewState)
    if not import_array(state, array, -1, FOR_ADDRESS):
        raise TypeError(f"this {type(array).__name__} no longer supports a protocol for arrays")
    pointer[0] = state._ptr
    # The exporter may not know that its host memory is page-locked; the driver does.
    return state._is_device_accessible or pointer_info(state._ptr).is_device_accessible


cdef bint import_registered(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1:
    for base in type(obj).__mro__:
        function = _registered.get(base)
        if function is not None:
            break
    else:
        return False    # the importer was removed
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


# Imports the result of a user's importer. Users' importers are not called for it, because that could never end.
cdef bint import_returned(ViewState self, object array, object stream_ptr, Purpose purpose) except -1:
    cdef const Importer* found = NULL
    for base in type(array).__mro__:
        found = _table.find(<PyTypeObject*>base)
        if found != NULL and found[0] != &import_registered and found[0](self, array, stream_ptr, purpose):
            return True
    return import_by_protocol(self, array, stream_ptr, purpose)


cdef bint has_dlpack(object obj) except -1:
    return hasattr(obj, "__dlpack__") and hasattr(obj, "__dlpack_device__")

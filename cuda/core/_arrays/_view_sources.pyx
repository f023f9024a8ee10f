# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Creation of views: calls the importer for an object, through a given protocol or any."""

from __future__ import annotations

from cuda.core._arrays._view_state cimport ViewState
from cuda.core._arrays.importing._buffer_views cimport view_buffer
from cuda.core._arrays.importing._exchange cimport is_torch_type
from cuda.core._arrays.importing._importers cimport (
    import_array,
    import_known,
    import_known_with_dlpack,
    import_known_with_interface,
    is_array,
)
from cuda.core._arrays.importing._protocols cimport (
    FOR_VIEW,
    import_array_interface,
    import_cuda_interface,
    import_dlpack,
    import_numpy,
    is_numpy,
)
from cuda.core._dlpack cimport numpy
from cuda.core._layout cimport _StridedLayout
from cuda.core._memory._buffer cimport Buffer

from cuda.core._utils.validators import shown

__all__ = []


cdef int read_any_interface(ViewState self, object obj, object stream_ptr) except -1:
    return 0 if import_array(self, obj, stream_ptr, FOR_VIEW) else refuse_without_protocol(obj)


cdef int read_dlpack(ViewState self, object obj, object stream_ptr) except -1:
    if is_numpy(obj):
        if type(stream_ptr) is int and stream_ptr == -1 and import_numpy(self, obj, False, FOR_VIEW):
            return 0
    elif not isinstance(obj, ViewState) and import_known_with_dlpack(self, obj, stream_ptr, FOR_VIEW):
        return 0
    import_dlpack(self, obj, stream_ptr, FOR_VIEW)
    return 0


cdef int read_cuda_array_interface(ViewState self, object obj, object stream_ptr) except -1:
    if isinstance(obj, (ViewState, Buffer)) or not import_known_with_interface(self, obj, stream_ptr, FOR_VIEW):
        import_cuda_interface(self, obj, stream_ptr, FOR_VIEW)
    return 0


cdef int read_array_interface(ViewState self, object obj) except -1:
    if is_torch_type(type(obj)):
        import_known(self, obj, -1, FOR_VIEW)
    else:
        import_array_interface(self, obj)
    return 0


cdef int read_buffer(
    ViewState self, object buffer, object shape, object strides, object itemsize, object dtype, bint is_readonly
) except -1:
    if not isinstance(buffer, Buffer):
        raise TypeError(f"buffer must be a Buffer, not {type(buffer).__name__}")
    if dtype is None and itemsize is None:
        raise ValueError("either itemsize or dtype must be given")
    if dtype is not None:
        if not isinstance(dtype, numpy().dtype):
            raise TypeError(f"dtype must be a numpy.dtype, not {shown(dtype)}")
        if itemsize is not None and itemsize != dtype.itemsize:
            raise ValueError(f"itemsize={shown(itemsize)} contradicts {shown(dtype)}, of {dtype.itemsize} bytes")
        itemsize = dtype.itemsize
    return view_buffer(self, buffer, _StridedLayout(shape, strides, itemsize), dtype, is_readonly)


cdef int check_empty(ViewState self) except -1:
    if self._exporting_obj is not None or self._keeper is not None or self._dlpack.tensor != NULL:
        raise RuntimeError("this view is initialized already; create a new one")
    return 0


cdef int check_has_protocol(object obj) except -1:
    return 0 if is_array(obj) else refuse_without_protocol(obj)


cdef int refuse_without_protocol(object obj) except -1:
    raise BufferError(
        f"{type(obj).__name__} has neither DLPack nor __cuda_array_interface__, so it cannot be viewed"
    )

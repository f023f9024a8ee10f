# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays of CuPy, read through their C attributes, because their protocols take microseconds."""

from __future__ import annotations

from cuda.core._arrays._view_state cimport ViewState, set_extents
from cuda.core._arrays.importing._exchange cimport loaded_class
from cuda.core._arrays.importing._interfaces cimport ElementType, parse_typestr
from cuda.core._arrays.importing._protocols cimport Purpose, order_streams, stream_argument
from cuda.core._dlpack cimport DEVICE_CUDA

import sys

__all__ = []


cdef class CachedElement:
    """The element type of a dtype, as a value of a dict."""

    cdef ElementType type


# dtype -> CachedElement. CuPy supports about the NumPy dtypes that DLPack has, so there are few.
cdef dict _elements = {}
cdef enum:
    MAX_CACHED_TYPES = 256


cdef bint is_cupy_type(object cls) except -1:
    array_class = loaded_class("cupy", "ndarray")
    return array_class is not None and issubclass(cls, array_class)


cdef bint import_cupy(ViewState self, object array, object stream_ptr, Purpose purpose) except -1:
    cdef object memory = array.data
    cdef object dtype = array.dtype
    cdef CachedElement element = _elements.get(dtype)
    if element is None:
        element = read_dtype(dtype)
    self._ptr = memory.ptr
    set_extents(self, array.shape, array.strides, element.type.itemsize)
    self._element = element.type.dlpack
    if self._element.lanes == 0:
        self._dtype = dtype
    # _device_type stays 0: the attributes do not tell whether the memory is managed; dlpack_device() asks the driver.
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
    if len(_elements) < MAX_CACHED_TYPES:
        _elements[dtype] = found
    return found

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Views of the same memory with another layout or element type: the implementation of ``StridedMemoryView.view()``."""

from __future__ import annotations

from libc.stdint cimport int64_t

from cuda.core._arrays._view_state cimport ViewState, check_size, layout_of
from cuda.core._dlpack cimport DEVICE_CPU
from cuda.core._layout cimport _StridedLayout
from cuda.core._memory.ranges._pointer_info cimport PointerInfo, pointer_info

__all__ = []


cdef ViewState derive(ViewState self, _StridedLayout layout, object dtype):
    cdef ViewState view
    cdef PointerInfo info
    cdef _StridedLayout own_layout = layout_of(self)
    cdef bint is_typed = (
        dtype is not None or self._element.lanes != 0 or self._dtype is not None or self._typestr is not None
    )
    cdef int64_t itemsize = own_layout._itemsize if dtype is None else dtype.itemsize
    if is_typed and itemsize != layout._itemsize:
        raise ValueError(f"the type has items of {itemsize} bytes, the layout of {layout._itemsize}")
    check_size(self, layout)
    view = type(self).__new__(type(self))
    view._ptr = self._ptr + (layout._slice_offset * layout._itemsize - own_layout._slice_offset * own_layout._itemsize)
    view._device_id, view._device_type = self._device_id, self._device_type
    view._is_device_accessible, view._is_readonly = self._is_device_accessible, self._is_readonly
    view._is_size_known, view._h_allocation = self._is_size_known, self._h_allocation
    view._known_layout = layout
    if dtype is not None:
        view._dtype = dtype
    else:
        view._element, view._dtype, view._typestr = self._element, self._dtype, self._typestr
        view._is_padded = self._is_padded
    view._exporting_obj = self._exporting_obj
    view._keeper = self._keeper if isinstance(self._keeper, ViewState) else self
    if self._device_type == DEVICE_CPU or (self._device_type == 0 and not self._h_allocation):
        # The exporter may not know that its host memory is page-locked; the driver does.
        info = pointer_info(view._ptr)
        if info.is_device_accessible:
            view._device_type = 0
            view._device_id, view._is_device_accessible = info.device_id, True
    return view

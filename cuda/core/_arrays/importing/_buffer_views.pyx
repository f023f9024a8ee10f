# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The importers of buffers and views, which have more information than the protocols carry."""

from __future__ import annotations

from cuda.core._arrays._exports cimport dlpack_device
from cuda.core._arrays._view_state cimport ViewState, check_size, set_state
from cuda.core._arrays.importing._importers cimport add_importer
from cuda.core._arrays.importing._protocols cimport Purpose, import_dlpack, stream_argument
from cuda.core._handles._driver_object cimport refuse_closed
from cuda.core._layout cimport _StridedLayout
from cuda.core._memory._buffer cimport Buffer
from cuda.core._memory.ranges._pointer_info cimport pointer_info

__all__ = []


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
    self._dtype = dtype
    self._exporting_obj = buffer
    return 0


# The size of wrapped memory is what the user gave to from_handle(); the memory may be larger.
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


add_importer(Buffer, &import_buffer)
add_importer(ViewState, &import_view)

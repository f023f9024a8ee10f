# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Strided memory views: of arrays, of buffers, derived and typed; and what they export."""

from cuda.core._arrays._views cimport ViewState
from cuda.core._layout cimport _StridedLayout


# Checks the types of the arguments of `__dlpack__`.
cdef int check_export_arguments(object stream, object dl_device, object copy) except -1
# Returns a DLPack capsule that keeps the view alive.
cdef object export_view(ViewState self, bint is_versioned)

# The capsule `__dlpack_c_exchange_api__`, and the class of the views that the table's functions create.
cdef object exchange_capsule()
cdef int register_view_class(object cls) except -1


# Returns a view of the same memory and of the same class with another layout; with another type if `dtype` is not None.
cdef ViewState derive(ViewState self, _StridedLayout layout, object dtype)


# Each fills an empty state. They raise what the methods of StridedMemoryView, such as from_dlpack(), document.
cdef int read_any_interface(ViewState self, object obj, object stream_ptr) except -1
cdef int read_dlpack(ViewState self, object obj, object stream_ptr) except -1
cdef int read_cuda_array_interface(ViewState self, object obj, object stream_ptr) except -1
cdef int read_array_interface(ViewState self, object obj) except -1
cdef int read_buffer(
    ViewState self, object buffer, object shape, object strides, object itemsize, object dtype, bint is_readonly
) except -1

# RuntimeError if the state is not empty.
cdef int check_empty(ViewState self) except -1
# BufferError if the object supports no protocol for arrays.
cdef int check_has_protocol(object obj) except -1


cdef class StridedMemoryView(ViewState):
    pass

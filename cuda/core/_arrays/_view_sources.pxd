# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._arrays._view_state cimport ViewState


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

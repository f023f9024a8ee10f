# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._arrays._protocols cimport Purpose
from cuda.core._arrays._view_state cimport ViewState


# The class of Numba, JAX or Warp that a class is, or inherits from; None for others.
cdef object library_class(object cls)
# Whether arrays of that class have DLPack; else they have the CUDA array interface.
cdef bint library_has_dlpack(object base) except -1

# Each reads an array by the protocol that all of its class have.
cdef bint import_with_dlpack(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1
cdef bint import_with_interface(ViewState self, object obj, object stream_ptr, Purpose purpose) except -1

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._arrays._view_state cimport ViewState
from cuda.core._arrays.importing._protocols cimport Purpose


# Whether the class is that of CuPy's arrays or derived from it. CuPy is not imported for the check.
cdef bint is_cupy_type(object cls) except -1
# Fills an empty state from an array, ordered after CuPy's current stream.
cdef bint import_cupy(ViewState self, object array, object stream_ptr, Purpose purpose) except -1

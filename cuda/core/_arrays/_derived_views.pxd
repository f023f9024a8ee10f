# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._arrays._view_state cimport ViewState
from cuda.core._layout cimport _StridedLayout


# Returns a view of the same memory and of the same class with another layout; with another type if `dtype` is not None.
cdef ViewState derive(ViewState self, _StridedLayout layout, object dtype)

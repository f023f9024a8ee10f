# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._arrays._view_state cimport ViewState
from cuda.core._layout cimport _StridedLayout


# A view, of the class of `self`, of the same memory with another layout, and another type where `dtype` is not None.
cdef ViewState derive(ViewState self, _StridedLayout layout, object dtype)

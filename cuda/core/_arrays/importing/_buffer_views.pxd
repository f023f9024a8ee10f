# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._arrays._view_state cimport ViewState
from cuda.core._layout cimport _StridedLayout
from cuda.core._memory._buffer cimport Buffer


# Fills an empty state for the memory of a buffer, with a layout.
cdef int view_buffer(ViewState self, Buffer buffer, _StridedLayout layout, object dtype, bint is_readonly) except -1

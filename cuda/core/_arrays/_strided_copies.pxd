# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._arrays._view_state cimport ViewState


# All elements of `source` to those of `target`; refuses what does not fit.
cdef int copy_view(ViewState target, ViewState source, object stream, object allocator, object blocking) except -1

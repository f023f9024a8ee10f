# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._view_sources cimport ViewState


cdef class StridedMemoryView(ViewState):
    pass

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The view class, for extensions that accept views."""

from cuda.core._arrays._views cimport ViewState


cdef class StridedMemoryView(ViewState):
    pass

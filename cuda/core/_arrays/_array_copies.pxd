# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies between buffers and arrays of other libraries, contiguous or strided, and between views."""

from cuda.core._arrays._views cimport ViewState


# Copies all elements of `source` to `target`. ValueError if shapes or types differ, the memory overlaps, or `target` is
# read-only.
cdef int copy_view(ViewState target, ViewState source, object stream, object allocator, object blocking) except -1

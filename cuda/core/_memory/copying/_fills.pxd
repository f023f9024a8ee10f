# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Fills with a pattern of any width."""

from cuda.core._utils cimport cydriver


# Fills memory with repetitions of `value`: an int of one byte, or an object with the buffer protocol.
cdef int fill_bytes(cydriver.CUdeviceptr pointer, size_t size, object value, cydriver.CUstream c_stream) except -1

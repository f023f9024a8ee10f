# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies with hints (CopyOptions)."""

from cuda.core._handles._handles cimport StreamHandle
from cuda.core._utils cimport cydriver


# Copies memory with the hints of a CopyOptions. Returns false, and copies nothing, if the driver is too old for hints.
cdef bint copy_with_hints(
    cydriver.CUdeviceptr target, cydriver.CUdeviceptr source, size_t size, const StreamHandle& h_stream, object options
) except -1

# Converts a CopyOptions to the driver's structure; refuses other types.
cdef cydriver.CUmemcpyAttributes hints_of(object options) except *

# Refuses a stream on which the driver accepts no hints.
cdef int check_stream(const StreamHandle& h_stream) except -1

# Whether the driver is new enough (`version`) for these hints; raises if one is needed for correctness.
cdef bint has_hints(const cydriver.CUmemcpyAttributes& hints, int version) except -1

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._handles cimport AllocationHandle
from cuda.core._stream cimport Stream


# All bytes of `h_source` to `h_target`, in stream order; the sizes have to agree.
cdef int copy(const AllocationHandle& h_target, const AllocationHandle& h_source, Stream stream) except -1

# The memory becomes repetitions of `value`: an int of one byte, or the bytes of a pattern.
cdef int fill(const AllocationHandle& h_target, object value, Stream stream) except -1

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport uintptr_t
from libcpp.unordered_set cimport unordered_set
from libcpp.vector cimport vector

from cuda.core._utils cimport cydriver

ctypedef unordered_set[uintptr_t] NodeSet


# Whether the last nodes of a fork are no ancestors of the last nodes of `c_origin`: the fork was not joined. Called
# before the capture ends; false if the capture has ended or is invalid.
cdef bint has_unjoined_work(cydriver.CUstream c_origin, vector[cydriver.CUstream]& c_forks) noexcept nogil

# The same for the capture of a body, for all nodes but those in `before`; joins that work to `c_origin`.
cdef bint join_unjoined_work(
    cydriver.CUstream c_origin, vector[cydriver.CUstream]& c_forks, const NodeSet& before
) noexcept nogil

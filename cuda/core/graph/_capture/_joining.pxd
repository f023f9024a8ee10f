# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport uintptr_t
from libcpp.unordered_set cimport unordered_set
from libcpp.vector cimport vector

from cuda.core._utils cimport cydriver

ctypedef unordered_set[uintptr_t] NodeSet


# Whether work of forks, the last of a capture that were not joined, does not lead to what `c_origin` has captured.
# To be asked before the end of the capture; false of one that is over or invalid.
cdef bint is_work_left(cydriver.CUstream c_origin, vector[cydriver.CUstream]& c_forks) noexcept nogil

# The same of the capture of a body, for all nodes but those in `before`; that work is joined then.
cdef bint join_what_is_left(
    cydriver.CUstream c_origin, vector[cydriver.CUstream]& c_forks, const NodeSet& before
) noexcept nogil

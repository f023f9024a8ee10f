# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport uint64_t, uintptr_t
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from cuda.core._handles._handles cimport KeepList, StreamHandle, StreamMember

ctypedef KeepList* KeepListPointer


# What nodes of one executable use since they were changed in it. What they used before, the driver keeps.
cdef class ExecutableOperands:
    cdef:
        unordered_map[uintptr_t, KeepListPointer] _current      # by the address of the node
        vector[KeepListPointer] _retired                        # replaced while a launch might use it
        StreamMember _h_last                                    # of the last launch that may use any of this
        readonly bint is_used                                   # launches have to be told
        uint64_t change_count                                   # of what is kept


# Takes what a node keeps from now on, with the caller's reference; NULL for nothing.
cdef int ExecutableOperands_exchange(ExecutableOperands self, uintptr_t node, KeepList* keeps) except -1

# The same for all nodes, which keep nothing now.
cdef int ExecutableOperands_clear(ExecutableOperands self) except -1

# To be called before each launch while `is_used`. The caller keeps the stream.
cdef int ExecutableOperands_launch(ExecutableOperands self, const StreamHandle& h_stream) except -1

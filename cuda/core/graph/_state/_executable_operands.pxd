# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport uint64_t, uintptr_t
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from cuda.core._handles._handles cimport KeepList, StreamHandle, StreamMember

ctypedef KeepList* KeepListPointer


# The operands of nodes that were changed in one executable. The driver keeps the operands of unchanged nodes.
cdef class ExecutableOperands:
    cdef:
        unordered_map[uintptr_t, KeepListPointer] _current      # by the address of the node
        vector[KeepListPointer] _retired                        # replaced, but a launch in flight may use them
        StreamMember _h_last                                    # the stream of the last launch that may use them
        uint64_t _launch_count                                  # of launches that were recorded in _h_last
        readonly bint is_used                                   # ExecutableOperands_launch must be called
        uint64_t change_count                                   # incremented with each change


# Replaces the operands of a node, and takes over the caller's reference to the new ones; NULL for none.
cdef int ExecutableOperands_exchange(ExecutableOperands self, uintptr_t node, KeepList* keeps) except -1

# Removes the operands of all nodes.
cdef int ExecutableOperands_clear(ExecutableOperands self) except -1

# Must be called before each launch while `is_used` is set. The caller keeps the stream.
cdef int ExecutableOperands_launch(ExecutableOperands self, const StreamHandle& h_stream) except -1

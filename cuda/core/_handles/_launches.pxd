# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The arguments of launches, and the list of launches in progress."""

from cpython.object cimport PyObject

from cuda.core._handles._handles cimport Member


cdef extern from "argument_block.hpp" namespace "cuda_core":
    cppclass LaunchList:
        LaunchList() except +
        void keep_memory_of[T](PyObject* object, const Member[T]& member) noexcept

    # The arguments of one launch, on the stack.
    cppclass ArgumentBlock:
        ArgumentBlock() noexcept
        char* begin(LaunchList& list, PyObject* const* arguments, size_t count, size_t size) noexcept
        T* value_of[T](const Member[T]& member) noexcept
        void end() noexcept
        void** kernel_params


# The list of this process. It is never destroyed, because threads may outlive the interpreter.
cdef LaunchList* launch_list() noexcept nogil

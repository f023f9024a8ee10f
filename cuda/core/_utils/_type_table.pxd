# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A lock-free table with an entry per Python type, by address."""

from libcpp cimport bool as cpp_bool

from cpython.object cimport PyTypeObject


cdef extern from "type_table.hpp" namespace "cuda_core" nogil:
    cppclass TypeTable[Value]:
        const Value* find(PyTypeObject* cls) noexcept
        # Under a lock, with the interpreter; false when the table is full. The type is kept for ever.
        cpp_bool add(PyTypeObject* cls, const Value& value) noexcept

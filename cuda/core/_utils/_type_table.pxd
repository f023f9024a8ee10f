# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A hash table from Python types, by address, to values. Lookups take no lock."""

from libcpp cimport bool as cpp_bool

from cpython.object cimport PyTypeObject


cdef extern from "arguments.hpp" namespace "cuda_core" nogil:
    cppclass TypeTable[Value]:
        const Value* find(PyTypeObject* cls) noexcept
        # Call this under a lock, with the GIL held. Returns false if the table is full. The type is never freed.
        cpp_bool add(PyTypeObject* cls, const Value& value) noexcept

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""C functions of other extensions, imported at the first call; ``docs/design/imports.md`` has the reasons."""


cdef extern from "deferred_function.hpp" namespace "cuda_core":
    cppclass DeferredFunction:
        DeferredFunction() noexcept
        DeferredFunction(const char* module, const char* name) noexcept
        void* get() except NULL

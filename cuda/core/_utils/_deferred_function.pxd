# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""cdef functions of extensions that are imported at the first call; see ``docs/design/imports.md``."""


cdef extern from "deferred_function.hpp" namespace "cuda_core":
    cppclass DeferredFunction:
        DeferredFunction() noexcept
        DeferredFunction(const char* module, const char* name) noexcept
        void* get() except NULL

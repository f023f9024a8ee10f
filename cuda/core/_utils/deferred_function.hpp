// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// A cdef function of an extension that is imported at the first call, because most programs never make one.
#pragma once

#include "cpython.hpp"

namespace cuda_core {

class DeferredFunction {
public:
    constexpr DeferredFunction() noexcept = default;
    constexpr DeferredFunction(const char* module, const char* name) noexcept : module_(module), name_(name) {}

    // The address, whose type the .pxd file of the module has; null, with an exception set, if the import fails.
    // Threads that ask at the same time find the same address.
    void* get() {
        void* found = __atomic_load_n(&function_, __ATOMIC_ACQUIRE);
        if (!found && (found = deferred_function(module_, name_))) {
            __atomic_store_n(&function_, found, __ATOMIC_RELEASE);
        }
        return found;
    }

private:
    const char* module_ = nullptr;
    const char* name_ = nullptr;
    void* function_ = nullptr;
};

}  // namespace cuda_core

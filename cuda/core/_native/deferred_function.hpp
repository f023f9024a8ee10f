// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// The address of a cdef function whose extension is imported at the first call, because most programs never call it.
#pragma once

#include "cpython.hpp"

namespace cuda_core {

class DeferredFunction {
public:
    constexpr DeferredFunction() noexcept = default;
    constexpr DeferredFunction(const char* module, const char* name) noexcept : module_(module), name_(name) {}

    // Returns the address; null, with an exception set, if the import fails. The .pxd file of the module declares the
    // type of the function. Threads that call this at the same time find the same address.
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

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// The functions of NVRTC.
#pragma once

#include <nvrtc.h>

#include "library_calls.hpp"

namespace cuda_core {
namespace nvrtc_calls {

struct Library {
    static constexpr nvrtcResult failure = NVRTC_ERROR_INVALID_INPUT;

    static void* find(const Symbol& symbol) noexcept {
        // One that is loaded for all, as the software device is, comes first: the bindings choose in the same way.
        if (void* loaded = dlsym(RTLD_DEFAULT, symbol.versioned)) return loaded;
        void* library = open_library("libnvrtc.so.13", "nvrtc");
        if (library == nullptr) return nullptr;
        void* found = dlsym(library, symbol.versioned);
        return found ? found : find_in_bindings("cuda.bindings.cynvrtc", symbol.plain, "NVRTC");
    }
};

#include "nvrtc_calls_list.hpp"

}  // namespace nvrtc_calls
}  // namespace cuda_core

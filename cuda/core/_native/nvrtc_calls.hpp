// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// The functions of NVRTC, each looked up at its first call.
#pragma once

#include <nvrtc.h>

#include "library_calls.hpp"

namespace cuda_core {
namespace nvrtc_calls {

inline constexpr char library_name[] = "libnvrtc.so.13";

struct Library {
    static constexpr nvrtcResult failure = NVRTC_ERROR_INVALID_INPUT;

    static void* find(const Symbol& symbol) noexcept {
        // A global symbol of the process comes first, such as that of the software device, as in the bindings.
        if (void* loaded = dlsym(RTLD_DEFAULT, symbol.versioned)) return loaded;
        void* library = open_library(library_name, "nvrtc");
        if (library == nullptr) return nullptr;
        void* found = dlsym(library, symbol.versioned);
        return found ? found : find_in_bindings("cuda.bindings.cynvrtc", symbol.plain, "NVRTC");
    }
};

// Whether NVRTC is already loaded, so that a call loads no library.
inline bool is_loaded() noexcept {
    if (dlsym(RTLD_DEFAULT, "nvrtcVersion")) return true;
    void* loaded = dlopen(library_name, RTLD_NOW | RTLD_NOLOAD);
    if (loaded) dlclose(loaded);
    return loaded != nullptr;
}

#include "nvrtc_calls_list.hpp"

// The path of the loaded NVRTC; null if it is unknown.
inline const char* loaded_path() noexcept {
    Dl_info info;
    void* function = Library::find(nvrtcVersion_symbol);
    return function && dladdr(function, &info) ? info.dli_fname : nullptr;
}

}  // namespace nvrtc_calls
}  // namespace cuda_core

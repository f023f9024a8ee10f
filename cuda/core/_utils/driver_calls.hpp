// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// The functions of the driver.
#pragma once

#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "library_calls.hpp"

namespace cuda_core {
namespace driver_calls {

using GLenum = unsigned int;
using GLuint = unsigned int;

// As the bindings choose: the functions for which the NULL stream is that of the thread.
inline bool has_stream_per_thread() noexcept {
    const char* choice = std::getenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM");
    return choice != nullptr && std::atoi(choice) != 0;
}

struct Library {
    static constexpr CUresult failure = CUDA_ERROR_NOT_FOUND;

    static void* find(const Symbol& symbol) noexcept {
        void* library = open_library("libcuda.so.1", "driver");
        if (library == nullptr) return nullptr;
        void* found = nullptr;
        if (has_stream_per_thread()) {
            for (const char* ending : {"_ptsz", "_ptds"}) {
                char name[128];
                std::snprintf(name, sizeof(name), "%s%s", symbol.versioned, ending);
                if (found == nullptr) found = dlsym(library, name);
            }
        }
        if (found == nullptr) found = dlsym(library, symbol.versioned);
        // The query could answer with another version than the declared one, so it is the last resort: for functions
        // that have one version, and for a stand-in for the driver that has nothing else.
        if (found == nullptr && (std::strcmp(symbol.versioned, symbol.plain) == 0 || !dlsym(library, "cuInit"))) {
            found = query(library, symbol.plain);
        }
        return found ? found : find_in_bindings("cuda.bindings.cydriver", symbol.plain, "CUDA driver");
    }

    static void* query(void* library, const char* name) noexcept {
        using Query = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
        const Query ask = (Query)dlsym(library, "cuGetProcAddress_v2");
        void* found = nullptr;
        if (ask == nullptr || ask(name, &found, CUDA_VERSION, 0, nullptr) != CUDA_SUCCESS) return nullptr;
        return found;
    }
};

// The types of deprecated functions are named, too.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include "driver_calls_list.hpp"
#pragma GCC diagnostic pop

}  // namespace driver_calls
}  // namespace cuda_core

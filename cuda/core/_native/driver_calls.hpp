// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// The functions of the CUDA driver, each looked up at its first call.
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

// Whether to call the variants of functions for which the NULL stream is the per-thread default stream; the bindings
// decide in the same way.
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
        // cuGetProcAddress may return another version of the function than the declared one. So it is used last: for
        // functions with a single version, and for a replacement of the driver that exports only cuGetProcAddress.
        if (found == nullptr && (std::strcmp(symbol.versioned, symbol.plain) == 0 || !dlsym(library, "cuInit"))) {
            found = query(library, symbol.plain);
        }
        return found ? found : find_in_bindings("cuda.bindings.cydriver", symbol.plain, "CUDA driver");
    }

    static void* query(void* library, const char* name) noexcept {
        using Query = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
        const Query get_address = (Query)dlsym(library, "cuGetProcAddress_v2");
        void* found = nullptr;
        if (get_address == nullptr || get_address(name, &found, CUDA_VERSION, 0, nullptr) != CUDA_SUCCESS) {
            return nullptr;
        }
        return found;
    }
};

// The list has deprecated functions, too.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include "driver_calls_list.hpp"
#pragma GCC diagnostic pop

}  // namespace driver_calls
}  // namespace cuda_core

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// The functions of the CUDA driver and of NVRTC. Each is a pointer that first leads to a resolver, which looks the
// function up on the first call; calls.cpp defines them. tools/library_calls.py writes the lists, and the .pxd files by
// which Cython calls them.
#pragma once

#include <cuda.h>
#include <nvrtc.h>

#include <atomic>

#include "native.hpp"

// `since` is the first version of CUDA whose driver has the function, such as 12030, or 0.
#define CUDA_CORE_CALL_OF_TYPE(name, since, type) extern CUDA_CORE_API Entry<type> name;
#define CUDA_CORE_CALL(name, since) CUDA_CORE_CALL_OF_TYPE(name, since, decltype(&::name))

// The lists contain deprecated functions.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace cuda_core {

// The atomic pointer of a function. std::atomic has two conversions to it, between which clang cannot choose for a call.
template <class Function>
struct Entry : std::atomic<Function> {
    using std::atomic<Function>::atomic;
    operator Function() const noexcept { return this->load(std::memory_order_relaxed); }
};

namespace driver_calls {

using GLenum = unsigned int;
using GLuint = unsigned int;

#include "driver_calls_list.hpp"

// Whether the driver is already loaded, so that a call loads no library.
CUDA_CORE_API bool is_loaded() noexcept;

}  // namespace driver_calls

namespace nvrtc_calls {

#include "nvrtc_calls_list.hpp"

// Whether NVRTC is already loaded, so that a call loads no library.
CUDA_CORE_API bool is_loaded() noexcept;
// The path of the loaded NVRTC; null if it is unknown.
CUDA_CORE_API const char* loaded_path() noexcept;

}  // namespace nvrtc_calls

}  // namespace cuda_core

#pragma GCC diagnostic pop
#undef CUDA_CORE_CALL
#undef CUDA_CORE_CALL_OF_TYPE

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// The value behind a device pointer. It is freed in the order of `h_stream`, which is empty for
// memory whose release waits for nothing.
#pragma once

#include <Python.h>
#include <cuda.h>

#include <cstddef>

#include "handle.hpp"

namespace cuda_core {

struct Allocation {
    CUdeviceptr pointer = 0;
    std::size_t size = 0;
    Handle<CUstream> h_stream;
    // Only with a default stream, which means another stream in every context.
    Handle<CUcontext> h_context;
    // Only for memory that its resource has to free itself; the keep holds the reference.
    PyObject* resource = nullptr;
    // Only for memory of a cache: what goes back into it.
    struct Block* block = nullptr;
};

// Frees memory in the order of its last user, which had it under another handle.
inline void free_after(const Handle<Allocation>& memory, const Allocation& user) noexcept {
    Allocation& value = memory.value();
    const bool same_context = !user.h_context || user.h_context.get() == value.h_context.get();
    if (!user.h_stream || (user.h_stream.get() == value.h_stream.get() && same_context)) return;
    value.h_stream = user.h_stream;
    value.h_context = user.h_context;
}

}  // namespace cuda_core

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// The values of handles that are more than one driver handle.
#pragma once

#include <Python.h>
#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <functional>

#include "handle.hpp"

namespace cuda_core {

// A driver value that can only be destroyed with its own context current, such as an array or a texture object. The
// last reference may be dropped on any thread, with another context current, or none.
template <class T>
struct InContext {
    T raw{};
    Handle<CUcontext> h_context;
    Anchor needs;  // must outlive the value, which may outlive its handle: the array of a texture
};

// An allocation. It is freed on `h_stream`, which is empty for memory that is not stream-ordered.
struct Allocation {
    CUdeviceptr pointer = 0;
    std::size_t size = 0;
    Handle<CUstream> h_stream;
    // Only with a default stream, which is a different stream in each context.
    Handle<CUcontext> h_context;
    // Only for memory that its memory resource frees by itself; the anchor of the cell has the reference.
    PyObject* resource = nullptr;
    // Only for memory of a cache: the block to return to it.
    struct Block* block = nullptr;
    // Only for memory of a graphics resource, which is unmapped instead of freed.
    Handle<InContext<CUgraphicsResource>> h_graphics;
};

// Lets memory be freed on the stream of its last user, which had its own handle.
inline void free_after(const Handle<Allocation>& memory, const Allocation& user) noexcept {
    Allocation& value = memory.value();
    const bool same_context = !user.h_context || user.h_context.get() == value.h_context.get();
    if (!user.h_stream || (user.h_stream.get() == value.h_stream.get() && same_context)) return;
    value.h_stream = user.h_stream;
    value.h_context = user.h_context;
}

// A green context with both of its driver handles. Registries find it by the CUcontext, which the driver reports.
struct Green {
    CUcontext context = nullptr;
    CUgreenCtx green = nullptr;

    bool operator==(const Green& other) const noexcept { return context == other.context; }
    explicit operator std::intptr_t() const noexcept { return reinterpret_cast<std::intptr_t>(context); }
};

}  // namespace cuda_core

template <>
struct std::hash<cuda_core::Green> {
    std::size_t operator()(const cuda_core::Green& value) const noexcept {
        return std::hash<CUcontext>()(value.context);
    }
};

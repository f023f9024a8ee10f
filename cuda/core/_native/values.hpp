// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// The values of handles that are more than one driver handle.
#pragma once

#include <Python.h>
#include <cuda.h>

#include <atomic>
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
    bool is_small = false;  // so it may wait in a batch to be destroyed
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

// A texture or a surface. Kernels take them as plain numbers, and the driver does not destroy them in stream order, so
// the destruction of one that work may use has to wait for that work.
template <class T>
struct BindlessObject {
    // A bool that any thread may set.
    class Flag {
    public:
        Flag() = default;
        Flag(const Flag& other) noexcept : is_set_(other.is_set()) {}
        Flag& operator=(const Flag& other) noexcept {
            if (other.is_set()) set();
            return *this;
        }
        void set() noexcept { is_set_.store(true, std::memory_order_relaxed); }
        bool is_set() const noexcept { return is_set_.load(std::memory_order_relaxed); }

    private:
        std::atomic<bool> is_set_{false};
    };

    T raw{};                     // to describe and to destroy it
    Handle<CUcontext> h_context; // has to be current when the value is destroyed
    Anchor needs;                  // must outlive the value, which may outlive its handle: the array of a texture
    Flag is_known;               // the value was passed to a kernel or to the user, so work may use it
    bool is_small = false;       // so it may wait in a batch to be destroyed

    // The value, for a kernel or the user.
    T for_work() noexcept {
        is_known.set();
        return raw;
    }
    bool may_be_in_use() const noexcept { return is_known.is_set(); }
};

}  // namespace cuda_core

template <>
struct std::hash<cuda_core::Green> {
    std::size_t operator()(const cuda_core::Green& value) const noexcept {
        return std::hash<CUcontext>()(value.context);
    }
};

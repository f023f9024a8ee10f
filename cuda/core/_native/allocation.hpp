// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// An allocation. It is freed on `h_stream`, which is empty for memory that is not stream-ordered.
#pragma once

#include <Python.h>
#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>
#include <vector>

#include "handle.hpp"
#include "in_context.hpp"

namespace cuda_core {

struct Allocation {
    CUdeviceptr pointer = 0;
    std::size_t size = 0;
    Handle<CUstream> h_stream;
    // Only with a default stream, which is a different stream in each context.
    Handle<CUcontext> h_context;
    // Only for memory that its memory resource frees by itself; the keep of the cell has the reference.
    PyObject* resource = nullptr;
    // Only for memory of a cache: the block to return to it.
    struct Block* block = nullptr;
    // Only for memory of a graphics resource, which is unmapped instead of freed.
    Handle<InContext<CUgraphicsResource>> h_graphics;
};

// Lets memory be freed on the stream of its last user, which had a handle of its own.
inline void free_after(const Handle<Allocation>& memory, const Allocation& user) noexcept {
    Allocation& value = memory.value();
    const bool same_context = !user.h_context || user.h_context.get() == value.h_context.get();
    if (!user.h_stream || (user.h_stream.get() == value.h_stream.get() && same_context)) return;
    value.h_stream = user.h_stream;
    value.h_context = user.h_context;
}

// Memory that is freed when a capture ends.
class DeferredFrees {
public:
    bool is_empty() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }

    // False if the host is out of memory.
    bool add(const Allocation& value) noexcept {
        std::lock_guard<std::mutex> lock(mutex_);
        try {
            values_.push_back(value);
        } catch (const std::bad_alloc&) {
            return false;
        }
        count_.store(values_.size(), std::memory_order_relaxed);
        return true;
    }

    // Moves all into `values`, which is empty.
    void take(std::vector<Allocation>& values) noexcept {
        std::lock_guard<std::mutex> lock(mutex_);
        values.swap(values_);
        count_.store(0, std::memory_order_relaxed);
    }

private:
    std::mutex mutex_;
    std::vector<Allocation> values_;
    std::atomic<std::size_t> count_{0};
};

}  // namespace cuda_core

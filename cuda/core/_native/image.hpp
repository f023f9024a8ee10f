// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// A texture or a surface. Kernels take them as plain numbers, and the driver does not destroy them in stream order, so
// the destruction of one that work may use has to wait for that work.
#pragma once

#include <cuda.h>

#include <atomic>

#include "handle.hpp"

namespace cuda_core {

template <class T>
struct Image {
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
    Keep needs;                  // must outlive the value, which may outlive its handle: the array of a texture
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

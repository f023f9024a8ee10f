// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// Scopes of calls: the lock of graphs, the locks of pools and captures, and the relaxed capture mode.
#pragma once

#include <mutex>
#include <utility>

#include "native.hpp"

namespace cuda_core {

// A lock that is held from reading the address of a node or a graph to the end of the driver call that uses it, so that
// no other thread destroys it in between. The driver does not synchronize accesses to graphs.
// Released at the end of the function that has it as a local variable. The thread may take the lock again.
class GraphLock {
public:
    // Taking it again has no effect, because it is released once.
    bool try_take() { return lock_.owns_lock() || lock_.try_lock(); }
    void take() {
        if (!lock_.owns_lock()) lock_.lock();
    }
    // For the end of a graph or an executable, without the GIL. At exit, a thread that will never continue might hold the
    // lock; returns false then, and the process ends with what is left.
    bool take_to_destroy() noexcept {
        if (is_interpreter_exiting()) return try_take();
        take();
        return true;
    }

private:
    // One mutex for all graphs, because some calls use two.
    CUDA_CORE_API static std::recursive_mutex& current();

    std::unique_lock<std::recursive_mutex> lock_{current(), std::defer_lock};
};

// Held while a pool is created or destroyed; docs/design/handles.md has the reason.
CUDA_CORE_API std::mutex& pool_lock();

// Held while a capture begins or ends, and by a thread that asks whether a stream captures, until it has queried the
// stream or recorded an event, either of which disturbs a capture; also during calls for all streams of a context, in
// which the driver crashes if a capture ends. No Python code may run in between, not even a warning.
CUDA_CORE_API std::mutex& capture_lock();

// A scope in which a thread has a different stream capture mode. The driver calls are in _cuda_core.pxd.
class CaptureModeScope {
public:
    using Restore = void (*)(int mode);

    CaptureModeScope() noexcept = default;
    ~CaptureModeScope() { end(); }
    CaptureModeScope(const CaptureModeScope&) = delete;
    CaptureModeScope& operator=(const CaptureModeScope&) = delete;

    bool has_begun() const noexcept { return restore_ != nullptr; }

    // `mode` is the one that the thread had before.
    void begin(int mode, Restore restore) noexcept {
        mode_ = mode;
        restore_ = restore;
    }

    void end() noexcept {
        if (Restore restore = std::exchange(restore_, nullptr)) restore(mode_);
    }

private:
    int mode_ = 0;
    Restore restore_ = nullptr;
};

}  // namespace cuda_core

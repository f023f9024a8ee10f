// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// State of the process that all extensions share, and the scope that releases the GIL. The shared state is defined in
// the library that `_cuda_core` is: all other extensions link to it.
#pragma once

#include <Python.h>

#include <atomic>
#include <cstdint>

#include "cpython.hpp"

// Marks what the core exports to the other extensions.
#define CUDA_CORE_API __attribute__((visibility("default")))

namespace cuda_core {

// The number of forks that led to this process. A forked child cannot use the resources of its parent.
extern CUDA_CORE_API std::atomic<std::uint32_t> fork_count;
inline std::uint32_t fork_generation() noexcept { return fork_count.load(std::memory_order_relaxed); }

// Set at exit if a device is still busy: releasing resources could then wait forever.
extern CUDA_CORE_API std::atomic<bool> has_work_at_exit;

// Whether a wait must end with the driver's own, which does more than wait. There are three reasons, which never end.
extern CUDA_CORE_API std::atomic<bool> needs_driver_waits;
// It prints the output of kernels: called when code is loaded that may print.
inline void note_printing_code() noexcept { needs_driver_waits.store(true); }
// It trims pools: called for a pool that does not keep all freed memory.
inline void note_release_threshold() noexcept { needs_driver_waits.store(true); }
// Other libraries rely on it: called when they get, or give, a stream, an event, a kernel or a context.
inline void note_other_library() noexcept { needs_driver_waits.store(true); }

// The context that a wait for a whole device found idle, until any stream is used again.
extern CUDA_CORE_API std::atomic<void*> idle_context;
inline void note_use_of_stream() noexcept { idle_context.store(nullptr, std::memory_order_relaxed); }

// Whether the process exits and resources are not released. True on a thread without the GIL, on which a release cannot
// report its failure.
inline bool skips_release_at_exit() noexcept {
    if (!is_interpreter_exiting()) return false;
    return !has_gil() || has_work_at_exit.load(std::memory_order_relaxed);
}

// Signal handlers of Python run on the main thread only, so only its waits can be interrupted.
CUDA_CORE_API bool is_main_thread() noexcept;

// Releases the GIL for a scope, if this thread holds it and `is_wanted`.
class WithoutGil {
public:
    explicit WithoutGil(bool is_wanted = true) noexcept {
        if (is_wanted && !is_interpreter_exiting() && has_gil()) state_ = PyEval_SaveThread();
    }
    ~WithoutGil() {
        if (state_) run_or_block_at_exit([this] { PyEval_RestoreThread(state_); });
    }
    WithoutGil(const WithoutGil&) = delete;
    WithoutGil& operator=(const WithoutGil&) = delete;

private:
    PyThreadState* state_ = nullptr;
};

// One object per process. A forked child starts with a new one: the resources of the parent cannot be used there, and
// the parent's lock may be held by a thread that does not exist in the child.
template <class T>
class PerProcess {
public:
    T& current() {
        Born* born = born_.load(std::memory_order_acquire);
        if (born->at == fork_generation()) return born->object;
        Born* fresh = new Born;
        if (born_.compare_exchange_strong(born, fresh)) return fresh->object;
        delete fresh;
        return born->object;
    }

private:
    struct Born {
        T object;
        const std::uint32_t at = fork_generation();
    };

    std::atomic<Born*> born_{new Born};  // never deleted: threads may outlive the interpreter
};

}  // namespace cuda_core

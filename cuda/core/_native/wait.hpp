// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// The loop of all waits for the device, and calls on a thread of their own, which block and can be waited for like the
// device. docs/design/waiting.md has the reasons.
#pragma once

#include <cuda.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <utility>

#include "handle.hpp"

namespace cuda_core {

// The state of what a wait is for: CUDA_ERROR_NOT_READY until it is complete.
using Query = CUresult (*)(void* what);
// Runs the handlers of signals. Not 0 if the wait ends because one of them raised.
using OnSignal = int (*)(Query query, void* what);

inline std::int64_t nanoseconds_now() noexcept {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t(now.tv_sec) * 1000000000 + now.tv_nsec;
}

// The one loop that waits. Returns the result of the last query: CUDA_ERROR_NOT_READY if a handler raised or the time
// is over. Work that has completed costs no look at the clock. If `can_spin`, the first millisecond passes without
// pauses, as in the driver. Long work is queried at least every 2 ms, which takes little processor time. `longest` is in
// nanoseconds, and `on_signal` is null for a wait that signals do not end.
inline CUresult poll(Query query, void* what, bool can_spin, std::int64_t longest, OnSignal on_signal) {
    constexpr std::int64_t spin_time = 1'000'000, signal_interval = 50'000'000;
    constexpr std::int64_t shortest_pause = 50'000, longest_pause = 2'000'000;
    CUresult state = query(what);
    if (state != CUDA_ERROR_NOT_READY) return state;
    const std::int64_t start = nanoseconds_now();
    for (std::int64_t now = start, checked = start; state == CUDA_ERROR_NOT_READY; now = nanoseconds_now()) {
        const std::int64_t elapsed = now - start;
        if (elapsed > longest) return state;
        if (can_spin && elapsed < spin_time) {
            sched_yield();  // costs nothing if no other thread waits for the processor
        } else {
            const timespec time = {0, long(std::clamp(elapsed / 32, shortest_pause, longest_pause))};
            const bool is_signal = nanosleep(&time, nullptr) != 0 && errno == EINTR;
            if (on_signal && (is_signal || now - checked >= signal_interval)) {
                if (on_signal(query, what) != 0) return state;
                checked = now;
            }
        }
        state = query(what);
    }
    return state;
}

// A call on a thread of its own, which the caller may abandon.
struct BlockingCall {
    using Function = int (*)(void* argument);

    // `anchor` is held until the call returns, even if it is abandoned. Null if no thread can be started.
    static std::shared_ptr<BlockingCall> start(Function function, void* argument, Anchor anchor) noexcept {
        // The thread blocks signals, which are for the waiting thread, except those that a thread raises itself, or that
        // a driver or a profiler sends to its threads.
        sigset_t all, before;
        sigfillset(&all);
        for (int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGURG, SIGPROF}) sigdelset(&all, own);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        std::shared_ptr<BlockingCall> call;
        try {
            call = std::make_shared<BlockingCall>();
            std::thread([call, function, argument, anchor = std::move(anchor)]() mutable {
                call->result_ = function(argument);
                anchor = Anchor();
                call->is_done_.store(true, std::memory_order_release);
            }).detach();
        } catch (const std::exception&) {
            call.reset();
        }
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        return call;
    }

    bool is_done() const noexcept { return is_done_.load(std::memory_order_acquire); }
    int result() const noexcept { return result_; }

private:
    std::atomic<bool> is_done_{false};
    int result_ = 0;
};

}  // namespace cuda_core

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// The parts of an interruptible wait that need neither Python nor CUDA: pauses, and a helper thread for calls that
// block and cannot be polled. docs/design/waiting.md has the reasons.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "handle.hpp"

namespace cuda_core {

inline std::int64_t nanoseconds_now() noexcept {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t(now.tv_sec) * 1000000000 + now.tv_nsec;
}

// The pause between two polls of a flag that another thread is about to set. Two running threads answer each other in
// less time than a system call takes, so the first polls make none.
class Backoff {
public:
    void next() noexcept {
        if (count_ < without_calls) {
            ++count_;
#if defined(__x86_64__) || defined(__i386__)
            __builtin_ia32_pause();
#elif defined(__aarch64__)
            asm volatile("yield");
#endif
        } else {
            sched_yield();
        }
    }
    // True for the first polls, between which the caller does not read the clock either.
    bool is_spinning() const noexcept { return count_ < without_calls; }

private:
    static constexpr int without_calls = 200;  // some microseconds
    int count_ = 0;
};

// The pauses between two queries of the device. Short work is polled without pauses, as the driver does; long work at
// least every 2 ms, which takes little processor time.
class Pauses {
public:
    static constexpr std::int64_t spin_time = 1'000'000;
    static constexpr std::int64_t shortest = 50'000, longest = 2'000'000, signal_interval = 50'000'000;

    // Pauses once. True if the caller should check for signals.
    bool pause(bool can_spin) noexcept {
        const std::int64_t now = nanoseconds_now();
        if (start_ == 0) start_ = checked_ = now;
        const std::int64_t elapsed = now - start_;
        if (can_spin && elapsed < spin_time) {
            sched_yield(); // costs nothing if no other thread waits for the processor
            return false;
        }
        const timespec time = {0, long(std::clamp(elapsed / 32, shortest, longest))};
        const bool is_signal = nanosleep(&time, nullptr) != 0 && errno == EINTR;
        if (!is_signal && now - checked_ < signal_interval) return false;
        checked_ = now;
        return true;
    }

private:
    std::int64_t start_ = 0;  // of the first pause: work that has completed costs no look at the clock
    std::int64_t checked_ = 0;
};

// A call on a helper thread, which the caller may abandon. The thread is reused for the next call, unless it is still
// busy with an abandoned one.
class BlockingCall {
public:
    using Function = int (*)(void* argument);

    // `anchor` is held until the call returns, even if it is abandoned. Null if no thread can be started.
    static std::shared_ptr<BlockingCall> start(Function function, void* argument, Anchor anchor) noexcept {
        try {
            return start(std::make_shared<BlockingCall>(function, argument, std::move(anchor)));
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
    }

    static std::shared_ptr<BlockingCall> start(const std::shared_ptr<BlockingCall>& call) {
        Thread& thread = Thread::current();
        std::unique_lock<std::mutex> lock(thread.mutex);
        if (thread.state && !thread.state->next && !thread.state->is_busy) {
            thread.state->next = call;
            thread.state->has_next.store(true, std::memory_order_release);
            if (thread.state->is_asleep) sem_post(&thread.state->wake);
            return call;
        }
        auto state = std::make_shared<State>();
        state->next = call;
        state->has_next = true;
        if (!state->start(state)) return nullptr;
        thread.state = state;
        return call;
    }

    BlockingCall(Function function, void* argument, Anchor anchor)
        : function_(function), argument_(argument), anchor_(std::move(anchor)) {
        sem_init(&done_, 0, 0);
    }
    ~BlockingCall() { sem_destroy(&done_); }
    BlockingCall(const BlockingCall&) = delete;

    bool is_done() const noexcept { return is_done_.load(std::memory_order_acquire); }
    int result() const noexcept { return result_; }

    // True if the caller should check for signals; false as soon as the call is done.
    bool wait() noexcept {
        Backoff backoff;
        for (; backoff.is_spinning(); backoff.next())
            if (is_done()) return false;
        for (const std::int64_t end = nanoseconds_now() + Pauses::spin_time; nanoseconds_now() < end; backoff.next())
            if (is_done()) return false;
        timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += Pauses::signal_interval;
        if (until.tv_nsec >= 1000000000) ++until.tv_sec, until.tv_nsec -= 1000000000;
        return sem_timedwait(&done_, &until) != 0;
    }

private:
    struct State {
        State() { sem_init(&wake, 0, 0); }
        ~State() { sem_destroy(&wake); }

        // The thread blocks signals, which are for the waiting thread, except those that a thread raises itself, or that
        // a driver or a profiler sends to its threads.
        static bool start(const std::shared_ptr<State>& state) {
            sigset_t all, before;
            sigfillset(&all);
            for (int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGURG, SIGPROF}) sigdelset(&all, own);
            pthread_sigmask(SIG_SETMASK, &all, &before);
            auto* own = new std::shared_ptr<State>(state);
            pthread_t thread;
            const int error = pthread_create(&thread, nullptr, &State::main, own);
            pthread_sigmask(SIG_SETMASK, &before, nullptr);
            if (error) delete own;
            else pthread_detach(thread);
            return !error;
        }

        static void* main(void* own) {
            std::unique_ptr<std::shared_ptr<State>> state(static_cast<std::shared_ptr<State>*>(own));
            while ((*state)->run_next()) {}
            return nullptr;
        }

        // False if another helper thread has replaced this one.
        bool run_next() {
            const std::shared_ptr<BlockingCall> call = take();
            call->result_ = call->function_(call->argument_);
            call->anchor_ = Anchor();
            bool is_current;
            {
                std::lock_guard<std::mutex> lock(Thread::current().mutex);
                is_busy = false;
                call->is_done_.store(true, std::memory_order_release);
                sem_post(&call->done_);
                is_current = Thread::current().state.get() == this;
            }
            return is_current;
        }

        // The thread polls for the next call, because waking a thread costs more than most calls take.
        std::shared_ptr<BlockingCall> take() {
            Backoff backoff;
            while (backoff.is_spinning() && !has_next.load(std::memory_order_acquire)) backoff.next();
            for (const std::int64_t end = nanoseconds_now() + poll_time; !has_next.load(std::memory_order_acquire);) {
                if (nanoseconds_now() > end) sleep();
                else backoff.next();
            }
            std::lock_guard<std::mutex> lock(Thread::current().mutex);
            has_next = false;
            is_busy = true;
            return std::move(next);
        }

        void sleep() {
            {
                std::lock_guard<std::mutex> lock(Thread::current().mutex);
                if (has_next) return;
                is_asleep = true;
            }
            while (sem_wait(&wake) != 0) {}
            std::lock_guard<std::mutex> lock(Thread::current().mutex);
            is_asleep = false;
        }

        static constexpr std::int64_t poll_time = 100'000;
        sem_t wake;
        std::atomic<bool> has_next{false};
        bool is_asleep = false;
        std::shared_ptr<BlockingCall> next;
        bool is_busy = false;
    };

    // One per process, because a forked child has no helper thread.
    struct Thread {
        CUDA_CORE_API static Thread& current();
        std::mutex mutex;
        std::shared_ptr<State> state;
    };

    Function function_;
    void* argument_;
    Anchor anchor_;
    sem_t done_;
    std::atomic<bool> is_done_{false};
    int result_ = 0;
};

// Calls `function(value)` through `run`, which may make the call after it returns. `run` gets a function with its
// argument, and must call it once.
template <class T, class Result>
Result call_once(Result (*function)(T), T value, int (*run)(BlockingCall::Function, void*, const char*), const char* name) {
    struct Call {
        static int invoke(void* own) {
            std::unique_ptr<Call> call(static_cast<Call*>(own));
            return static_cast<int>(call->function(std::move(call->value)));
        }

        Result (*function)(T);
        T value;
    };
    Call* call = new (std::nothrow) Call{function, std::move(value)};
    return call ? static_cast<Result>(run(&Call::invoke, call, name)) : function(std::move(value));
}

}  // namespace cuda_core

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// The parts of an interruptible wait that need neither Python nor CUDA: clocks, pauses, and a helper
// thread for calls that block and cannot be polled. docs/design/waiting.md has the reasons.
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

// Signal handlers of Python run on the main thread only, so only its waits can be interrupted.
inline bool is_main_thread() noexcept {
    static thread_local signed char known = 0;  // a constant, because every wait reads it: it needs no guard
    if (__builtin_expect(known == 0, 0)) known = syscall(SYS_gettid) == getpid() ? 1 : -1;
    return known > 0;
}

inline std::int64_t nanoseconds_now() noexcept {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t(now.tv_sec) * 1000000000 + now.tv_nsec;
}

// Yields between two polls of what another thread is about to do. Two running threads answer each other in less time
// than a system call takes, so the first polls make none.
class Glances {
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
    // While true, the caller does not read the clock either.
    bool is_short() const noexcept { return count_ < without_calls; }

private:
    static constexpr int without_calls = 200;  // some microseconds
    int count_ = 0;
};

// The pauses between two queries. Short work is polled without pauses, as a driver does; long work every
// 2 ms at least, which takes little processor time.
class Pauses {
public:
    static constexpr std::int64_t watching = 1'000'000;
    static constexpr std::int64_t shortest = 50'000, longest = 2'000'000, between_checks = 50'000'000;

    // Waits for a moment. True when signals are to be looked at.
    bool pause(bool can_spin) noexcept {
        const std::int64_t now = nanoseconds_now(), elapsed = now - start_;
        if (can_spin && elapsed < watching) {
            sched_yield(); // costs nothing where nobody waits for the processor
            return false;
        }
        const timespec time = {0, long(std::clamp(elapsed / 32, shortest, longest))};
        const bool is_signal = nanosleep(&time, nullptr) != 0 && errno == EINTR;
        if (!is_signal && now - checked_ < between_checks) return false;
        checked_ = now;
        return true;
    }

private:
    const std::int64_t start_ = nanoseconds_now();
    std::int64_t checked_ = start_;
};

// A call on a helper thread, which its caller may abandon. The thread is reused for the next
// call, unless it is still busy with an abandoned one.
class BlockingCall {
public:
    using Function = int (*)(void* argument);

    // `keep` is what the call needs, also if it is left behind. Null where no thread can be started.
    static std::shared_ptr<BlockingCall> start(Function function, void* argument, Keep keep) noexcept {
        try {
            return start(std::make_shared<BlockingCall>(function, argument, std::move(keep)));
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
    }

    static std::shared_ptr<BlockingCall> start(const std::shared_ptr<BlockingCall>& call) {
        Thread& thread = Thread::get();
        std::unique_lock<std::mutex> lock(thread.mutex);
        if (thread.state && thread.state->born_at == fork_count() && !thread.state->next && !thread.state->is_busy) {
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

    BlockingCall(Function function, void* argument, Keep keep)
        : function_(function), argument_(argument), keep_(std::move(keep)) {
        sem_init(&done_, 0, 0);
    }
    ~BlockingCall() { sem_destroy(&done_); }
    BlockingCall(const BlockingCall&) = delete;

    bool is_done() const noexcept { return is_done_.load(std::memory_order_acquire); }
    int result() const noexcept { return result_; }

    // True when signals are to be looked at; false as soon as the call is done.
    bool wait() noexcept {
        Glances glances;
        for (; glances.is_short(); glances.next())
            if (is_done()) return false;
        for (const std::int64_t end = nanoseconds_now() + Pauses::watching; nanoseconds_now() < end; glances.next())
            if (is_done()) return false;
        timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += Pauses::between_checks;
        if (until.tv_nsec >= 1000000000) ++until.tv_sec, until.tv_nsec -= 1000000000;
        return sem_timedwait(&done_, &until) != 0;
    }

private:
    struct State {
        State() { sem_init(&wake, 0, 0); }
        ~State() { sem_destroy(&wake); }

        // Signals are for the one that waits, except those that a thread raises itself, or that a driver or
        // a profiler sends to its threads.
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

        // False when another thread has taken the place of this one.
        bool run_next() {
            const std::shared_ptr<BlockingCall> call = take();
            call->result_ = call->function_(call->argument_);
            call->keep_ = Keep();
            bool is_current;
            {
                std::lock_guard<std::mutex> lock(Thread::get().mutex);
                is_busy = false;
                call->is_done_.store(true, std::memory_order_release);
                sem_post(&call->done_);
                is_current = Thread::get().state.get() == this;
            }
            return is_current;
        }

        // The thread polls for the next call, because waking a thread costs more than most calls take.
        std::shared_ptr<BlockingCall> take() {
            Glances glances;
            while (glances.is_short() && !has_next.load(std::memory_order_acquire)) glances.next();
            for (const std::int64_t end = nanoseconds_now() + lingering; !has_next.load(std::memory_order_acquire);) {
                if (nanoseconds_now() > end) sleep();
                else glances.next();
            }
            std::lock_guard<std::mutex> lock(Thread::get().mutex);
            has_next = false;
            is_busy = true;
            return std::move(next);
        }

        void sleep() {
            {
                std::lock_guard<std::mutex> lock(Thread::get().mutex);
                if (has_next) return;
                is_asleep = true;
            }
            while (sem_wait(&wake) != 0) {}
            std::lock_guard<std::mutex> lock(Thread::get().mutex);
            is_asleep = false;
        }

        static constexpr std::int64_t lingering = 100'000;
        const std::uint32_t born_at = fork_count();
        sem_t wake;
        std::atomic<bool> has_next{false};
        bool is_asleep = false;
        std::shared_ptr<BlockingCall> next;
        bool is_busy = false;
    };

    // Included by one extension only, and never destroyed: the thread may outlive the interpreter.
    struct Thread {
        static Thread& get() {
            static Thread* thread = new Thread;
            return *thread;
        }
        std::mutex mutex;
        std::shared_ptr<State> state;
    };

    Function function_;
    void* argument_;
    Keep keep_;
    sem_t done_;
    std::atomic<bool> is_done_{false};
    int result_ = 0;
};

// A function with its argument, which may outlive the caller. `run` is given a function that calls it once.
template <class T, class Result>
Result call_once(Result (*function)(T), T value, int (*run)(BlockingCall::Function, void*, const char*), const char* name) {
    struct Call {
        static int make(void* own) {
            std::unique_ptr<Call> call(static_cast<Call*>(own));
            return static_cast<int>(call->function(std::move(call->value)));
        }

        Result (*function)(T);
        T value;
    };
    Call* call = new (std::nothrow) Call{function, std::move(value)};
    return call ? static_cast<Result>(run(&Call::make, call, name)) : function(std::move(value));
}

}  // namespace cuda_core

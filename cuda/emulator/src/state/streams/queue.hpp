// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The queues behind streams, and the threads that empty them. An item may wait for places
// in other queues; a queue whose first item waits occupies no thread. One lock guards all
// queues: it is held for moments only, never while an operation runs.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "../../common.hpp"

namespace emu::state {

class Context;
class Queue;

// One unit of work. `work` runs on a worker; what it returns other than success is sticky
// for the context. It holds by shared_ptr everything that it uses.
struct Operation {
    enum class Kind { kernel, copy, fill, host_function, graph, record, wait, allocate, release, other };
    Kind kind = Kind::other;
    const char* name = "";                               // driver call, for reports
    std::function<CUresult()> work;
    uint32_t generation = 0;                             // Context::generation() at submission
    bool calls_host() const { return kind == Kind::host_function || kind == Kind::graph; }
};

// A place in a queue: reached when that many of its items are done.
struct Place {
    std::shared_ptr<Queue> queue;
    uint64_t number = 0;
    bool reached() const;
};

class Queue : public std::enable_shared_from_this<Queue> {
public:
    explicit Queue(Context* context, int priority);
    // How the work of an item is judged: skipped after an error of the context, or run. False
    // when it was dropped, or ended before its time, because the program was interrupted.
    std::function<bool(Operation&)> execute;

    // Adds an item behind all others and gives its place. `places` that are reached already
    // are dropped. Without `wake` the caller promises to call wait() next.
    uint64_t add(Operation operation, std::vector<Place> places, bool wake = true);
    // Blocks until item `number` is done; runs items on the calling thread when no worker
    // has begun. Host functions are left to workers unless `all_kinds`.
    void wait(uint64_t number, bool all_kinds = false);
    // The same, without running anything, and not for ever.
    void wait_until(uint64_t number, std::chrono::steady_clock::time_point end);
    uint64_t submitted() const { return submitted_.load(std::memory_order_acquire); }
    uint64_t completed() const { return completed_.load(std::memory_order_acquire); }
    bool idle() const { return completed() >= submitted(); }
    // Whether an interruption dropped work since `before` of it was, or earlier and nobody was told.
    uint64_t dropped() const { return dropped_.load(std::memory_order_acquire); }
    bool tell_dropped(uint64_t before);

    // After fork(): the child has none of the threads, and may use none of this.
    static void forget_threads();

private:
    struct Item {
        uint64_t number;
        std::vector<Place> places;
        Operation operation;
    };
    friend class Workers;
    bool is_blocked();
    void drain(std::unique_lock<std::mutex>& lock, uint64_t last, bool helping, bool all_kinds);
    void finish(uint64_t number);
    void make_ready();

    std::deque<Item> items_;
    std::atomic<uint64_t> submitted_{0}, completed_{0}, dropped_{0}, told_{0};
    std::vector<std::pair<uint64_t, std::weak_ptr<Queue>>> waiting_; // for places of this one
    std::condition_variable done_;
    int sleepers_ = 0;
    int priority_ = 0;
    bool running_ = false, listed_ = false;
};

// Waits as a call of the program does: LAUNCH_FAILED if work of these queues was dropped, which is
// told once, and to all who wait meanwhile.
CUresult wait_for(const std::vector<Place>& places);

// How often the program has waited for what it submitted: pools give memory back then.
uint64_t synchronizations();
void count_synchronization();

// True in a host function or other callback of a worker: driver calls give NOT_PERMITTED.
bool in_callback();
// Around a call into the program, which is made where the scope is true: not after stop_callbacks().
class CallbackScope {
public:
    CallbackScope();
    ~CallbackScope();
    explicit operator bool() const { return allowed_; }

private:
    bool outer_;
    bool allowed_;
};

// No callback begins any more; waits as long for those that run.
void stop_callbacks(std::chrono::milliseconds patience);

} // namespace emu::state

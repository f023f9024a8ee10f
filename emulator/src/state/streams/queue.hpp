// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The queues behind streams, and the threads that execute their items. An item may wait for places in other queues; a
// queue whose first item waits occupies no thread. One lock guards all queues. It is held briefly, and never while an
// operation runs.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "../../common.hpp"
#include "../../exec/checks/turns.hpp"

namespace emu::state {

class Context;
class Queue;

// One unit of work. `work` runs on a worker; any result other than success becomes the context's sticky error. It owns
// everything it uses.
struct Operation {
    // outside_wait: for a value in memory, or an external semaphore
    enum class Kind { kernel, copy, fill, host_function, graph, record, wait, outside_wait, allocate, release, other };
    Kind kind = Kind::other;
    const char* name = ""; // the driver call, for reports
    std::function<CUresult()> work;
    uint32_t generation = 0; // Context::generation() at submission
    bool calls_host() const
    {
        return kind == Kind::host_function || kind == Kind::outside_wait || kind == Kind::graph;
    }
    // Waits for something other than items of queues: the wait for an event with work is for one of another process.
    bool follows_unknown() const { return kind == Kind::outside_wait || (kind == Kind::wait && work); }
};

// A place in a queue, reached once that many of its items have completed.
struct Place {
    std::shared_ptr<Queue> queue;
    uint64_t number = 0;
    bool reached() const;
    bool can_be_ignored() const; // reached, and not needed for the races check
    bool is_seen() const; // with races: the host has waited for it
    void seen() const; // the host has observed it, so everything submitted afterwards comes later
};

class Queue : public std::enable_shared_from_this<Queue> {
public:
    // `part` means that its items are parts of the operation that adds them, for the races check.
    explicit Queue(bool part, int priority);
    // Executes an operation, or skips it after a context error. Returns false if an interruption dropped or canceled
    // it.
    std::function<bool(Operation&)> execute;

    // Appends an item and returns its place. The item waits for `places`, after reached ones are removed. If `wake` is
    // false, the caller must call wait() next.
    uint64_t add(Operation operation, std::vector<Place> places, bool wake = true);
    // Returns when item `number` has completed. Runs items on the calling thread if no worker has started; host
    // functions only with `all_kinds`.
    void wait(uint64_t number, bool all_kinds = false);
    // Waits for item `number` until a deadline, without running items here.
    void wait_until(uint64_t number, std::chrono::steady_clock::time_point end);
    uint64_t submitted() const { return submitted_.load(std::memory_order_acquire); }
    uint64_t id() const { return id_; }
    uint64_t completed() const { return completed_.load(std::memory_order_acquire); }
    bool idle() const { return completed() >= submitted(); }
    // Counts items dropped by interruptions. report_dropped() returns true if some were dropped since that count was
    // `before`, or earlier without being reported, and marks them as reported.
    uint64_t dropped() const { return dropped_.load(std::memory_order_acquire); }
    bool report_dropped(uint64_t before);
    void forget_dropped() { reported_ = dropped(); } // items dropped until now are not reported

    // From now on report_dropped() marks nothing: at the exit, threads that ask again must not see success.
    static void keep_reports();
    // For the races check: memory that is freed from now on may have been kept until these items completed.
    static void frees_follow(const exec::Order& items);
    // For the races check: the running operation calls the host, so what is submitted from now on follows it.
    static void host_follows(const exec::Turn& turn);
    static void let_run(); // called by queries: in shuffled order, work runs only while the host waits

    // Called after fork(): the child has none of the threads, and must not use the old queues.
    static void forget_threads();

private:
    struct Item {
        uint64_t number;
        std::vector<Place> places;
        Operation operation;
        std::shared_ptr<const exec::Turn> turn; // if races are checked
    };
    friend class Workers;
    friend struct Place;
    bool is_blocked();
    void drain(std::unique_lock<std::mutex>& lock, uint64_t last, bool helping, bool all_kinds);
    void finish(uint64_t number);
    void make_ready();
    std::shared_ptr<const exec::Turn> turn_after(uint64_t number, const Operation& operation,
                                                 const std::vector<Place>& places);
    std::shared_ptr<const exec::Turn> turn_within(uint64_t number);
    void add_order(exec::Order* order, uint64_t number) const;

    std::deque<Item> items_;
    std::map<uint64_t, std::shared_ptr<const exec::Order>> orders_; // at the items where it changes
    std::atomic<uint64_t> submitted_{0}, completed_{0}, dropped_{0}, reported_{0};
    std::vector<std::pair<uint64_t, std::weak_ptr<Queue>>> waiting_; // the queues that wait for places of this one
    std::condition_variable done_;
    int sleepers_ = 0;
    const uint64_t id_;
    const bool part_;
    int priority_ = 0;
    bool running_ = false, listed_ = false;
};

// Waits like a driver call. Returns LAUNCH_FAILED if an interruption has dropped work of these queues, which is
// reported once, to all threads waiting at that time.
CUresult wait_for(const std::vector<Place>& places);
// Compares memory that queued work reads (host_sources.hpp).
void check_host_sources();
// How many callbacks into the program were made, and how many values in memory streams have waited for or written.
uint64_t host_orders();
void count_value_operation();
// How many threads wait for queues now.
extern std::atomic<int> waiting_threads;

// Counts the program's synchronizations, after which pools trim themselves.
uint64_t synchronizations();
void count_synchronization();

// Returns true in a host function or another callback, where driver calls return NOT_PERMITTED.
bool in_callback();
// Encloses a callback into the program. The callback is made only if the scope is true, so not after stop_callbacks().
class CallbackScope {
public:
    CallbackScope();
    ~CallbackScope();
    explicit operator bool() const { return allowed_; }

private:
    bool outer_;
    bool allowed_;
};

// Starts no more callbacks, and waits up to `patience` for running ones.
void stop_callbacks(std::chrono::milliseconds patience);

} // namespace emu::state

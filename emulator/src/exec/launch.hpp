// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// A running launch: which blocks are left, whether it has to stop, and its first fault.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "checks/turns.hpp"
#include "cluster.hpp"
#include "code_images.hpp"
#include "exec.hpp"
#include "fiber.hpp"

namespace emu::exec {

using Clock = std::chrono::steady_clock;

// What went wrong, as recorded when it happened; report.cpp turns it into a Fault with its text.
struct Trouble {
    FaultKind kind = FaultKind::none;
    uintptr_t pc = 0;
    bool exact = false;           // pc is the faulting instruction, not a return address
    // Return addresses in the kernel's code on the stack, the latest first. Some may be of calls that have returned.
    std::array<uintptr_t, 8> callers{};
    const Fiber* fiber = nullptr; // the thread's; null: the running one
    uintptr_t address = 0;
    uint32_t size = 0;
    bool store = false;
    std::string text; // details for the report
    std::string file; // the kernel's own source file, if passed (assert)
    int line = 0;
    uint32_t ended = 0; // exited threads of the block

    void at(const Site& site)
    {
        pc = site.pc;
        file = site.file ? site.file : "";
        line = int(site.line);
    }
};

struct Launch {
    explicit Launch(const LaunchRequest& request);
    ~Launch();
    Launch(const Launch&) = delete;
    Launch& operator=(const Launch&) = delete;

    const LaunchRequest& request;
    std::shared_ptr<const ImageRecord> image; // null: unknown
    std::vector<void*> parameters;            // as EmuEntry takes them
    uint64_t blocks;
    uint32_t threads;
    uint32_t cluster_blocks;        // blocks per cluster; 1: no clusters
    uint32_t chunk;                 // blocks that a worker takes at a time
    size_t most_helpers = SIZE_MAX; // besides the caller; a partition has a share of them
    BlockOrder order;               // blocks run in the order of their numbers
    Clock::time_point deadline = Clock::time_point::max();

    std::atomic<uint64_t> next{0};
    std::atomic<uint64_t> ended{0};
    std::atomic<bool> stopping{false};
    std::atomic<uint32_t> stuck{0}; // running blocks whose threads all wait or spin
    std::atomic<int64_t> stuck_since{0}; // in nanoseconds; 0: not all of them do
    std::atomic<uint64_t> stuck_call{0}; // the host's last driver call at that time
    std::atomic<bool> warned{false}; // about a shuffle from a lane that does not participate

    // Written by the pool, under its lock.
    int helpers = 0;
    size_t promised = 0;          // helpers that the pool has promised to it
    std::condition_variable idle; // signaled when helpers is 0
    uint64_t seen_ended = 0;      // blocks that had ended when the monitor last checked
    Clock::time_point seen_time{};

    bool has_blocks() const { return next.load(std::memory_order_relaxed) < blocks && !stopping; }

    // Makes all workers leave. The first reason is kept; FaultKind::none if there is a fault.
    void stop(FaultKind reason);
    FaultKind stop_reason();
    void fail(Fault fault); // stops the launch; the first fault is kept
    bool failed();
    Fault take_fault(); // with the findings after which the launch continued
    bool knows(const Trouble& trouble); // the launch has continued after it
    // Returns true if the launch continues after this finding.
    bool note(const Trouble& trouble, const Fault& fault, bool suppressed);

    // Waits until all blocks of a cooperative grid have arrived. Returns false if the launch stops or the blocks have
    // deadlocked, and then explains it in `why`.
    bool grid_barrier(std::string* why);
    // Returns the blocks between two grid barriers, if races are checked. Called by blocks that have begun.
    std::shared_ptr<const Era> era();
    std::shared_ptr<Cluster> join_cluster(uint64_t number);
    void leave_cluster(uint64_t number, Cluster& cluster);
    // Called when all threads of a block have arrived, with what they know.
    void arrive_in(Cluster& cluster, const KnowledgePtr& seen);
    KnowledgePtr seen_in(const Cluster& cluster);
    // Waits until the cluster's barrier has completed more than `phase` times, or the shared memory of a block is
    // known. Returns false if the launch stops.
    bool wait_in(const Cluster& cluster, uint32_t phase);
    bool wait_for(const SharedPlace& place);
    void wake_grid();
    void enter_stuck(bool* counted);
    void leave_stuck(bool* counted);
    bool is_stuck() const { return !has_blocks() && stuck >= std::min(next.load(), blocks) - ended; }

    // Keeps an object used by a kernel alive until the launch has ended.
    void keep(std::shared_ptr<const void> used);
    const uint64_t serial; // unique in the process, even if a request runs again

    // Records the end of a block. Returns false if other blocks now wait forever at the grid barrier.
    bool end_block(std::string* why);

private:
    bool grid_stuck(std::string* why) const;
    template <class Done> bool sleep_until(Done done);
    std::mutex mutex_;
    std::map<uint64_t, std::shared_ptr<Cluster>> clusters_; // clusters that have started and not ended
    // Incremented on each event that grid barrier waiters look for, so a thousand of them do not take the lock when
    // they wake up.
    std::atomic<uint32_t> grid_event_{0};
    std::atomic<uint64_t> grid_generation_{0};
    std::shared_ptr<const Era> era_;
    uint32_t first_block_ = 0; // if races are checked
    void begin_era();
    uint64_t grid_arrived_ = 0, grid_ended_ = 0;
    std::vector<std::shared_ptr<const void>> kept_;
    FaultKind reason_ = FaultKind::none;
    Fault fault_;
    std::set<std::pair<FaultKind, uintptr_t>> known_; // kinds and places after which the launch continued
    std::vector<Fault> findings_;
};

} // namespace emu::exec

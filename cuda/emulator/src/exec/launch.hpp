// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// A launch while it runs: which blocks are left, whether it must stop, its first fault.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>

#include "cluster.hpp"
#include "code_images.hpp"
#include "exec.hpp"
#include "fiber.hpp"

namespace emu::exec {

using Clock = std::chrono::steady_clock;

// What went wrong, as it is known where it went wrong; report.cpp makes a Fault of it.
struct Trouble {
    FaultKind kind = FaultKind::none;
    uintptr_t pc = 0;
    bool exact = false;  // pc is the instruction itself and not a return address
    uintptr_t caller = 0; // where the function was called, when pc is in an access check
    const Fiber* fiber = nullptr; // whose trouble it is; null: of the running one
    uintptr_t address = 0;
    uint32_t size = 0;
    bool store = false;
    std::string text;    // what is special about it
    std::string file;    // when the kernel told its place
    int line = 0;
    uint32_t ended = 0;  // threads of the block that had ended

    void at(const Site& site)
    {
        pc = site.pc;
        file = site.file ? site.file : "";
        line = int(site.line);
    }
};

struct Launch {
    explicit Launch(const LaunchRequest& request);

    const LaunchRequest& request;
    std::shared_ptr<const ImageRecord> image; // null: not known
    std::vector<void*> parameters;            // as EmuEntry takes them
    uint64_t blocks;
    uint32_t threads;
    uint32_t cluster_blocks; // of a cluster; 1: none
    uint32_t chunk;       // blocks that a worker takes at once
    size_t most_helpers = SIZE_MAX; // beside the caller: the share of the device that it may use
    uint64_t block_step;  // order of blocks: start + i * step, modulo their number
    uint64_t block_start;
    Clock::time_point deadline = Clock::time_point::max();

    std::atomic<uint64_t> next{0};
    std::atomic<uint64_t> ended{0};
    std::atomic<bool> stopping{false};

    // Of the pool, under its lock.
    int helpers = 0;
    size_t promised = 0;          // how many more the pool must let it have
    std::condition_variable idle; // helpers is 0
    uint64_t seen_ended = 0;      // of the monitor: no block ended since
    Clock::time_point seen_time{};

    bool has_blocks() const { return next.load(std::memory_order_relaxed) < blocks && !stopping; }

    // Makes all workers leave. The first reason stays; `none` when there is a fault.
    void stop(FaultKind reason);
    FaultKind stop_reason();
    void fail(Fault fault); // the first fault stays; stops
    bool failed();
    Fault take_fault();

    // All blocks of a cooperative grid. False: stopping, or a deadlock, which `why` tells.
    bool grid_barrier(std::string* why);
    // Blocks of a cluster follow each other in the order in which they are taken.
    Dim3 block_index(uint64_t number) const;
    std::shared_ptr<Cluster> join_cluster(uint64_t number);
    void leave_cluster(uint64_t number, Cluster& cluster);
    void arrive_in(Cluster& cluster); // all threads of a block have
    // Until the cluster's barrier was completed more than `phase` times, or the shared memory
    // of a block is known. False: stopping.
    bool wait_in(const Cluster& cluster, uint32_t phase);
    bool wait_for(const SharedPlace& place);
    void wake_grid();

    // Until the launch has ended, what a kernel uses stays.
    void keep(std::shared_ptr<const void> used);
    const uint64_t serial;    // unique in the process, also where a request is run again

    // A block ended; false when others wait in the grid's barrier for ever.
    bool end_block(std::string* why);

private:
    bool grid_stuck(std::string* why) const;
    template <class Done> bool sleep_until(Done done);
    std::mutex mutex_;
    std::map<uint64_t, std::shared_ptr<Cluster>> clusters_; // that have begun and not ended
    // Counts what those in the grid barrier wait for: a thousand of them must not queue for
    // the lock when they wake up.
    std::atomic<uint32_t> grid_event_{0};
    std::atomic<uint64_t> grid_generation_{0};
    uint64_t grid_arrived_ = 0, grid_ended_ = 0;
    std::vector<std::shared_ptr<const void>> kept_;
    FaultKind reason_ = FaultKind::none;
    Fault fault_;
};

} // namespace emu::exec

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The OS threads that run blocks. The caller of run() always works on its own launch, so every launch progresses;
// helpers join launches that have blocks left. The monitor handles spinning threads, time limits, and launches that
// need more OS threads to progress.
#pragma once

#include <condition_variable>
#include <mutex>
#include <vector>

#include "worker.hpp"

namespace emu::exec {

class BlockPool final : public WorkerPool {
public:
    static BlockPool& get(); // a new pool in the child of a fork()
    static bool exists();

    Fault run(const LaunchRequest& request);
    void cancel(uint64_t id);
    void remove(Worker& worker) override;
    void forget_ranges(); // clears the ranges that workers remember as accessible, because a region was closed
    int size() const { return size_; }
    bool is_alone() override;
    void forget_all_ranges() override { forget_ranges(); }
    bool crowded() const override { return crowded_.load(std::memory_order_relaxed); }

private:
    BlockPool();
    Worker& own_worker(); // the calling thread's worker, created on the first call
    void start_helpers(size_t count);
    void call_helpers(Launch& launch);
    bool make_resident(Launch& launch, uint64_t blocks);
    void helper_main();
    Launch* choose();
    void wait_for_helpers(Launch& launch);

    // Defined in monitor.cpp.
    void start_monitor();
    void wake_monitor();
    void monitor_main();
    void watch(Launch& launch, Clock::time_point now);
    bool watch(Worker& worker, bool debugged);
    bool is_debugged(Clock::time_point now);
    void signal(Worker& worker);
    bool all_spin(const Launch& launch) const;

    std::mutex mutex_;
    std::condition_variable work_;
    std::vector<Launch*> launches_;
    std::vector<Worker*> workers_;
    size_t next_launch_ = 0; // where choose() begins, so launches take turns
    size_t helpers_ = 0, idle_ = 0, lasting_ = 0;
    size_t promised_ = 0; // helpers that launches were promised but have not received yet
    int size_ = 1;
    bool deterministic_ = false;

    std::condition_variable monitor_;
    bool monitor_started_ = false;
    std::atomic<bool> monitor_sleeps_{false};
    std::atomic<bool> crowded_{false};
    // Of the monitor's thread.
    bool debugged_ = false;
    Clock::time_point next_debugger_look_{};

public:
    std::mutex& lock_for_fork() { return mutex_; }
};

} // namespace emu::exec

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The monitor: one thread that checks running launches at least every two milliseconds, and sleeps while there are
// none.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "block_pool.hpp"

namespace emu::exec {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr microseconds longest_look{2000}, shortest_look{250};
// Launches often follow each other closely, and waking the monitor for each would cost more than some idle checks.
constexpr int looks_before_sleep = 25;
// If no block of a launch has ended for this long and all its workers spin, its blocks are probably waiting for blocks
// that have not started. The launch then gets more OS threads, as a GPU would hold more blocks.
constexpr milliseconds stalled{5};

} // namespace

// Called often, so it looks only now and then.
bool BlockPool::is_debugged(Clock::time_point now)
{
    if (now < next_debugger_look_)
        return debugged_;
    next_debugger_look_ = now + milliseconds(100);
    std::ifstream status("/proc/self/status");
    std::string line;
    debugged_ = false;
    while (std::getline(status, line))
        if (line.compare(0, 10, "TracerPid:") == 0)
            debugged_ = std::atoi(line.c_str() + 10) != 0;
    return debugged_;
}

// Called under the lock.
void BlockPool::start_monitor()
{
    if (monitor_started_)
        return;
    monitor_started_ = true;
    sigset_t blocked, old;
    sigfillset(&blocked);
    pthread_sigmask(SIG_SETMASK, &blocked, &old);
    pthread_t thread;
    auto body = [](void* pool) -> void* {
        static_cast<BlockPool*>(pool)->monitor_main();
        return nullptr;
    };
    if (pthread_create(&thread, nullptr, body, this) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

void BlockPool::wake_monitor()
{
    if (monitor_sleeps_.load())
        monitor_.notify_one();
}

void BlockPool::monitor_main()
{
    prctl(PR_SET_TIMERSLACK, 1000);
    std::unique_lock<std::mutex> lock(mutex_);
    microseconds look = longest_look;
    int quiet = 0;
    for (;;) {
        quiet = launches_.empty() ? quiet + 1 : 0;
        if (quiet > looks_before_sleep) {
            monitor_sleeps_ = true;
            monitor_.wait(lock, [&] { return !launches_.empty(); });
            monitor_sleeps_ = false;
            quiet = 0;
        }
        lock.unlock();
        struct timespec pause = {0, look.count() * 1000};
        nanosleep(&pause, nullptr);
        auto now = Clock::now();
        bool debugged = is_debugged(now);
        lock.lock();
        for (Launch* launch : launches_)
            watch(*launch, now);
        auto works = [](const Worker* worker) { return worker->working_on.load() != nullptr; };
        crowded_ = std::count_if(workers_.begin(), workers_.end(), works) > size_;
        bool spinning = false;
        for (Worker* worker : workers_)
            spinning |= watch(*worker, debugged);
        look = spinning ? std::max(look / 2, shortest_look) : longest_look;
    }
}

void BlockPool::watch(Launch& launch, Clock::time_point now)
{
    if (now > launch.deadline)
        launch.stop(FaultKind::timeout);
    uint64_t ended = launch.ended.load();
    if (ended != launch.seen_ended || launch.seen_time == Clock::time_point{}) {
        launch.seen_ended = ended;
        launch.seen_time = now;
    }
    if (!launch.has_blocks() || deterministic_)
        return;
    if (size_t(launch.helpers) >= launch.most_helpers) {
        if (now - launch.seen_time <= stalled || !all_spin(launch))
            return;
        launch.most_helpers = SIZE_MAX; // its blocks wait for each other, so its partition's limit does not apply
    }
    // Small launches request no helpers when they start.
    if (idle_ || helpers_ < lasting_) {
        if (helpers_ < lasting_)
            start_helpers(lasting_ - helpers_);
        work_.notify_one();
    }
    if (!idle_ && now - launch.seen_time > stalled && all_spin(launch)) {
        uint64_t left = launch.blocks - launch.next.load();
        start_helpers(size_t(std::min<uint64_t>(left, helpers_ + 1)));
        launch.seen_time = now;
    }
}

bool BlockPool::all_spin(const Launch& launch) const
{
    for (const Worker* worker : workers_)
        if (worker->working_on.load() == &launch && !worker->repeats.load())
            return false;
    return true;
}

// Returns true if the worker should be preempted: one thread ran since the last check, and others could run.
// With a debugger, whose steps a signal would disturb, only work that has to end is.
bool BlockPool::watch(Worker& worker, bool debugged)
{
    Launch* launch = worker.working_on.load();
    if (!launch || worker.sleeps.load(std::memory_order_relaxed))
        return false;
    uint64_t progress = (worker.blocks_run.load() << 32) + worker.block.ended();
    bool stands = progress == worker.seen_progress;
    worker.seen_progress = progress;
    worker.seen_times = stands ? worker.seen_times + 1 : 0;
    if (launch->stopping) {
        signal(worker);
        return true;
    }
    if (!stands || debugged)
        return false;
    bool others = worker.block.others();
    // Even a block without other threads is sampled for a while, and occasionally later, to find out whether it spins:
    // it may wait for a block that has not started, or forever. On a busy machine it may simply not have run.
    bool is_look_due = worker.seen_times < 200 || worker.seen_times % 50 == 0;
    bool learn = is_look_due && !worker.repeats;
    // A spinning thread finds out whether the whole launch spins; on a crowded machine it sleeps for a moment.
    if (!others && !learn && !worker.repeats)
        return false;
    if (others)
        worker.block.rotate = true;
    signal(worker);
    return worker.seen_times > 1;
}

void BlockPool::signal(Worker& worker)
{
    syscall(SYS_tgkill, getpid(), worker.tid, SIGURG);
}

} // namespace emu::exec

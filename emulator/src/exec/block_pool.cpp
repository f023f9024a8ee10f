// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "block_pool.hpp"

#include <algorithm>
#include <cstring>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "checks/regions.hpp"
#include "checks/report.hpp"
#include "signals.hpp"

namespace emu::exec {
namespace {

constexpr size_t most_helpers = 4224; // as many blocks as the largest GPUs hold at a time
// How long temporary helpers wait for work before they exit.
constexpr auto helper_patience = std::chrono::seconds(2);

std::atomic<BlockPool*> instance{nullptr};

int usable_cores()
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return std::max(1, CPU_COUNT(&set));
    return std::max(1, int(std::thread::hardware_concurrency()));
}

void before_fork()
{
    instance.load()->lock_for_fork().lock();
}

void after_fork_in_parent()
{
    instance.load()->lock_for_fork().unlock();
}

// After a fork() the child does not have the pool's threads: it abandons the pool, and the next launch creates one.
void after_fork_in_child()
{
    instance.store(nullptr);
}

// Destroys the Worker of a program's thread when that thread exits.
pthread_key_t thread_end_key()
{
    static pthread_key_t key = [] {
        pthread_key_t made{};
        pthread_key_create(&made, [](void* worker) { delete static_cast<Worker*>(worker); });
        return made;
    }();
    return key;
}

} // namespace

BlockPool& BlockPool::get()
{
    BlockPool* pool = instance.load(std::memory_order_acquire);
    if (pool)
        return *pool;
    static std::mutex* making = new std::mutex;
    std::lock_guard<std::mutex> lock(*making);
    if (!instance.load()) {
        static bool first = true;
        instance.store(new BlockPool); // never destroyed, because its threads may outlive main()
        if (first)
            pthread_atfork(
                [] {
                    if (exists())
                        before_fork();
                },
                [] {
                    if (exists())
                        after_fork_in_parent();
                },
                after_fork_in_child);
        first = false;
    }
    return *instance.load();
}

bool BlockPool::exists()
{
    return instance.load() != nullptr;
}

BlockPool::BlockPool()
{
    size_ = config().threads ? config().threads : usable_cores();
    deterministic_ = config().mode == Mode::deterministic;
    lasting_ = deterministic_ ? 0 : size_t(size_ - 1);
    install_handlers();
    when_range_closes([] {
        if (exists())
            get().forget_ranges();
    });
}

Worker& BlockPool::own_worker()
{
    if (!this_worker()) {
        this_carrier = new Worker;
        pthread_setspecific(thread_end_key(), this_worker());
    }
    Worker& worker = *this_worker();
    if (worker.pool != this) { // a new worker, or one from before a fork()
        worker.tid = pid_t(syscall(SYS_gettid));
        worker.pool = this;
        std::lock_guard<std::mutex> lock(mutex_);
        workers_.push_back(&worker);
    }
    return worker;
}

void BlockPool::remove(Worker& worker)
{
    if (instance.load() != this) // the pool from before a fork(), whose lock nobody releases
        return;
    std::lock_guard<std::mutex> lock(mutex_);
    workers_.erase(std::remove(workers_.begin(), workers_.end(), &worker), workers_.end());
}

bool BlockPool::is_alone()
{
    std::lock_guard<std::mutex> lock(mutex_);
    return launches_.size() == 1;
}

void BlockPool::forget_ranges()
{
    std::lock_guard<std::mutex> lock(mutex_);
    for (Worker* worker : workers_)
        worker->forget_ranges();
}

// ------------------------------------------------------------------------ a launch

Fault BlockPool::run(const LaunchRequest& request)
{
    Worker& self = own_worker();
    install_handlers_again();
    Launch launch(request);
    if (launch.cluster_blocks > most_cluster_blocks)
        return make_fault(launch, FaultKind::trap, "a cluster has at most 16 blocks");
    {
        std::lock_guard<std::mutex> lock(mutex_);
        launches_.push_back(&launch);
        start_monitor();
    }
    wake_monitor();
    // A small launch has completed before a helper wakes up.
    bool large = launch.blocks > 1 && launch.blocks * launch.threads >= 512;
    bool together = request.cooperative || launch.cluster_blocks > 1;
    if (request.partition && !together) // a partition gets the same share of OS threads as of SMs
        launch.most_helpers = size_t(size_ - 1) * request.partition->size() / request.multiprocessors;
    if (together && launch.blocks > 1) {
        if (!make_resident(launch, request.cooperative ? launch.blocks : launch.cluster_blocks))
            launch.stop(FaultKind::out_of_resources);
    } else if (large) {
        call_helpers(launch);
    }
    self.work_on(launch);
    wait_for_helpers(launch);
    Fault fault = launch.take_fault();
    FaultKind reason = launch.stop_reason();
    if (!fault && reason != FaultKind::none && launch.ended != launch.blocks)
        fault = make_fault(launch, reason, "no memory or OS threads for its blocks");
    return fault;
}

void BlockPool::wait_for_helpers(Launch& launch)
{
    std::unique_lock<std::mutex> lock(mutex_);
    // The launch stays in the monitor's list until its last helper has left.
    launch.idle.wait(lock, [&] { return launch.helpers == 0; });
    launches_.erase(std::find(launches_.begin(), launches_.end(), &launch));
    promised_ -= std::exchange(launch.promised, 0);
}

void BlockPool::cancel(uint64_t id)
{
    std::lock_guard<std::mutex> lock(mutex_);
    for (Launch* launch : launches_)
        if (launch->request.id == id)
            launch->stop(FaultKind::canceled);
    wake_monitor();
}

// ------------------------------------------------------------------------ helpers

// Called under the lock. If a helper cannot be started, the launch proceeds without it: the caller works in any case.
void BlockPool::start_helpers(size_t count)
{
    sigset_t blocked, old;
    sigfillset(&blocked);
    pthread_sigmask(SIG_SETMASK, &blocked, &old);
    for (; count > 0 && helpers_ < most_helpers; --count) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_attr_setstacksize(&attributes, 512 << 10);
        pthread_t thread;
        auto body = [](void* pool) -> void* {
            static_cast<BlockPool*>(pool)->helper_main();
            return nullptr;
        };
        int failed = pthread_create(&thread, &attributes, body, this);
        pthread_attr_destroy(&attributes);
        if (failed)
            break;
        ++helpers_;
    }
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

void BlockPool::call_helpers(Launch& launch)
{
    size_t wanted = std::min({size_t(launch.blocks - 1), lasting_, launch.most_helpers});
    if (!wanted)
        return;
    std::lock_guard<std::mutex> lock(mutex_);
    if (helpers_ < lasting_)
        start_helpers(lasting_ - helpers_);
    for (size_t i = 0; i < std::min(wanted, idle_); ++i)
        work_.notify_one();
}

// Gives a launch whose blocks wait for each other enough OS threads: one per block of a cooperative grid, or one per
// block of a cluster (blocks are taken in order, so the oldest unfinished cluster gets all of its blocks). Threads are
// promised to one launch only, because two launches that count on the same threads could wait for each other forever.
bool BlockPool::make_resident(Launch& launch, uint64_t blocks)
{
    std::lock_guard<std::mutex> lock(mutex_);
    size_t wanted = size_t(blocks - 1);
    size_t free = idle_ - std::min(idle_, promised_);
    size_t before = helpers_;
    if (wanted > free)
        start_helpers(wanted - free);
    if (free + helpers_ - before < wanted)
        return false;
    launch.promised = wanted;
    promised_ += wanted;
    work_.notify_all();
    return true;
}

Launch* BlockPool::choose()
{
    for (size_t i = 0; i < launches_.size(); ++i) {
        Launch* launch = launches_[(next_launch_ + i) % launches_.size()];
        if (launch->has_blocks() && size_t(launch->helpers) < launch->most_helpers) {
            next_launch_ += i + 1;
            return launch;
        }
    }
    return nullptr;
}

void BlockPool::helper_main()
{
    Worker& self = own_worker();
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
        if (Launch* launch = choose()) {
            ++launch->helpers;
            if (launch->promised) {
                --launch->promised;
                --promised_;
            }
            lock.unlock();
            self.work_on(*launch);
            lock.lock();
            if (--launch->helpers == 0)
                launch->idle.notify_all();
            continue;
        }
        ++idle_;
        bool called = true;
        if (helpers_ > lasting_)
            called = work_.wait_for(lock, helper_patience) == std::cv_status::no_timeout;
        else
            work_.wait(lock);
        --idle_;
        if (!called && helpers_ > lasting_ && !choose())
            break;
    }
    --helpers_;
}

// ------------------------------------------------------------------------ the interface

Fault run(const LaunchRequest& request)
{
    return BlockPool::get().run(request);
}

namespace {
HostActivity (*host_activity)() = nullptr;
}

void set_host_activity(HostActivity (*activity)())
{
    host_activity = activity;
}

// The memory of a kernel is changed by other launches, by copies that the host enqueues, and, where the host has access,
// by the host itself.
bool Worker::waits_forever()
{
    constexpr int64_t patience = 1'000'000'000;
    Locked locked;
    if (!host_activity || !launch->is_stuck() || !pool->is_alone())
        return false;
    HostActivity host = host_activity();
    int64_t now = Clock::now().time_since_epoch().count();
    if (!host.waits || !launch->stuck_since || launch->stuck_call != host.calls) {
        launch->stuck_since = now;
        launch->stuck_call = host.calls;
        return false;
    }
    if (now - launch->stuck_since < patience)
        return false;
    const Bytes& bytes = launch->request.parameters;
    for (size_t at = 0; at + 8 <= bytes.size(); at += 8) {
        uintptr_t word;
        std::memcpy(&word, bytes.data() + at, sizeof word);
        Region region;
        if (find_region(word, 1, &region) && region.kind != RegionKind::device)
            return false;
    }
    return true;
}

void cancel(uint64_t id)
{
    if (BlockPool::exists())
        BlockPool::get().cancel(id);
}

int pool_size()
{
    return BlockPool::exists() ? BlockPool::get().size() : 0;
}

uint64_t resident_blocks_limit(const LaunchRequest& request)
{
    // A waiting thread needs at least two pages of stack; waiting threads may use a quarter of the memory.
    uint64_t memory = uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGE_SIZE)) / 4;
    uint64_t threads = std::max<uint64_t>(request.block.count(), 1);
    uint64_t by_memory = memory / (threads * 8192 + (64 << 10));
    return std::clamp<uint64_t>(by_memory, 1, most_helpers + 1);
}

} // namespace emu::exec

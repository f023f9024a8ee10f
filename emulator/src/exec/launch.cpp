// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "launch.hpp"

#include <algorithm>
#include <climits>
#include <linux/futex.h>
#include <numeric>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include "../config.hpp"

namespace emu::exec {
namespace {

// More blocks than any GPU holds at a time. Only in such large launches may a worker take several blocks and hold some
// back while it runs the first, because their kernels cannot rely on all blocks being resident.
constexpr uint64_t resident_on_any_gpu = 8192;

std::atomic<uint64_t> next_serial{1};

} // namespace

void Launch::keep(std::shared_ptr<const void> used)
{
    std::lock_guard<std::mutex> lock(mutex_);
    kept_.push_back(std::move(used));
}

Launch::Launch(const LaunchRequest& request)
    : request(request),
      image(find_image(request.image)),
      blocks(request.grid.count()),
      threads(uint32_t(request.block.count())),
      cluster_blocks(uint32_t(std::max<uint64_t>(request.cluster.count(), 1))),
      chunk(blocks > resident_on_any_gpu && cluster_blocks == 1 ? 8 : 1),
      serial(next_serial.fetch_add(1))
{
    parameters.reserve(request.layout.size());
    for (const EmuParameter& parameter : request.layout)
        parameters.push_back(const_cast<std::byte*>(request.parameters.data()) + parameter.offset);
    if (request.time_limit.count() > 0)
        deadline = Clock::now() + request.time_limit;
    order.grid = request.grid;
    order.cluster = request.cluster;
    order.blocks = blocks;
    order.cluster_blocks = cluster_blocks;
    if (request.seed && blocks > 1 && cluster_blocks == 1) {
        order.start = request.seed * 0x9e3779b97f4a7c15u % blocks;
        order.step = (request.seed * 0xd1342543de82ef95u >> 16) % blocks | 1;
        while (std::gcd(order.step, blocks) != 1)
            ++order.step;
    }
    if (request.checks.races)
        begin_era();
}

Launch::~Launch()
{
    if (first_block_)
        end_run(first_block_);
}

void Launch::begin_era()
{
    Era era;
    era.blocks = uint32_t(blocks);
    era.launch = serial;
    era.name = request.name;
    era.order = order;
    era.block = request.block;
    era.image = image;
    era.turn = current_turn();
    if (era_)
        era.turn = era_->turn; // a grid barrier, which any thread may complete
    bool first = !era_;
    era_ = exec::begin_era(std::move(era), first);
    if (first)
        first_block_ = era_->first;
}

std::shared_ptr<const Era> Launch::era()
{
    std::lock_guard<std::mutex> lock(mutex_);
    return era_;
}

void Launch::stop(FaultKind reason)
{
    {
        std::lock_guard<std::mutex> lock(mutex_);
        if (reason_ == FaultKind::none)
            reason_ = reason;
        stopping = true;
    }
    wake_grid();
}

FaultKind Launch::stop_reason()
{
    std::lock_guard<std::mutex> lock(mutex_);
    return reason_;
}

void Launch::fail(Fault fault)
{
    {
        std::lock_guard<std::mutex> lock(mutex_);
        if (!fault_)
            fault_ = std::move(fault);
        stopping = true;
    }
    wake_grid();
}

bool Launch::failed()
{
    std::lock_guard<std::mutex> lock(mutex_);
    return bool(fault_);
}

Fault Launch::take_fault()
{
    std::lock_guard<std::mutex> lock(mutex_);
    if (fault_)
        findings_.push_back(std::move(fault_));
    if (findings_.empty())
        return {};
    Fault all = findings_.front();
    for (size_t i = 1; i < findings_.size(); ++i)
        all.text += "\n" + findings_[i].text;
    return all;
}

bool Launch::knows(const Trouble& trouble)
{
    std::lock_guard<std::mutex> lock(mutex_);
    return known_.count({trouble.kind, trouble.pc});
}

bool Launch::note(const Trouble& trouble, const Fault& fault, bool suppressed)
{
    std::lock_guard<std::mutex> lock(mutex_);
    // One line can have several places in the code.
    bool repeated = std::any_of(findings_.begin(), findings_.end(), [&](const Fault& other) {
        return other.kind == fault.kind && other.line == fault.line && other.file == fault.file;
    });
    if (!suppressed && !repeated && findings_.size() + 1 >= size_t(config().keep_going))
        return false;
    known_.emplace(trouble.kind, trouble.pc);
    if (!suppressed && !repeated)
        findings_.push_back(fault);
    return true;
}

void Launch::wake_grid()
{
    ++grid_event_;
    syscall(SYS_futex, &grid_event_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

template <class Done> bool Launch::sleep_until(Done done)
{
    for (;;) {
        uint32_t event = grid_event_;
        if (done())
            return true;
        if (stopping)
            return false;
        syscall(SYS_futex, &grid_event_, FUTEX_WAIT_PRIVATE, event, nullptr, nullptr, 0);
    }
}

bool Launch::grid_stuck(std::string* why) const
{
    if (!grid_ended_ || !grid_arrived_ || grid_arrived_ + grid_ended_ < blocks)
        return false;
    *why = std::to_string(grid_arrived_) + " of " + std::to_string(blocks) + " blocks wait at a grid barrier, and " +
           std::to_string(grid_ended_) + " ended without reaching it";
    return true;
}

bool Launch::grid_barrier(std::string* why)
{
    std::unique_lock<std::mutex> lock(mutex_);
    if (++grid_arrived_ == blocks) {
        grid_arrived_ = 0;
        if (era_)
            begin_era();
        ++grid_generation_;
        lock.unlock();
        wake_grid();
        return true;
    }
    if (grid_stuck(why))
        return false;
    uint64_t generation = grid_generation_;
    lock.unlock();
    return sleep_until([&] { return grid_generation_ != generation; });
}

void Launch::enter_stuck(bool* counted)
{
    if (!std::exchange(*counted, true))
        ++stuck;
}

void Launch::leave_stuck(bool* counted)
{
    if (!std::exchange(*counted, false))
        return;
    --stuck;
    stuck_since = 0;
}

// ------------------------------------------------------------------------ clusters

std::shared_ptr<Cluster> Launch::join_cluster(uint64_t number)
{
    std::lock_guard<std::mutex> lock(mutex_);
    auto& cluster = clusters_[number / cluster_blocks];
    if (!cluster)
        cluster = std::make_shared<Cluster>(cluster_blocks);
    return cluster;
}

void Launch::leave_cluster(uint64_t number, Cluster& cluster)
{
    {
        std::lock_guard<std::mutex> lock(mutex_);
        if (++cluster.ended == cluster.blocks)
            clusters_.erase(number / cluster_blocks);
        if (!cluster.arrived || cluster.arrived + cluster.ended < cluster.blocks)
            return;
        cluster.arrived = 0;
        cluster.seen = cluster.arriving;
        ++cluster.generation;
    }
    wake_grid();
}

KnowledgePtr Launch::seen_in(const Cluster& cluster)
{
    std::lock_guard<std::mutex> lock(mutex_);
    return cluster.seen;
}

void Launch::arrive_in(Cluster& cluster, const KnowledgePtr& seen)
{
    {
        std::lock_guard<std::mutex> lock(mutex_);
        add(&cluster.arriving, seen);
        if (++cluster.arrived + cluster.ended < cluster.blocks)
            return;
        cluster.arrived = 0;
        cluster.seen = cluster.arriving;
        ++cluster.generation;
    }
    wake_grid();
}

bool Launch::wait_in(const Cluster& cluster, uint32_t phase)
{
    return sleep_until([&] { return cluster.generation > phase; });
}

bool Launch::wait_for(const SharedPlace& place)
{
    return sleep_until([&] { return place.known.load(); });
}

bool Launch::end_block(std::string* why)
{
    if (!request.cooperative) {
        ended.fetch_add(1);
        return true;
    }
    std::lock_guard<std::mutex> lock(mutex_);
    ++grid_ended_;
    ended.fetch_add(1);
    return !grid_stuck(why);
}

} // namespace emu::exec

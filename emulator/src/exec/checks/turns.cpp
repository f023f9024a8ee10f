// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "turns.hpp"

#include <algorithm>
#include <atomic>
#include <set>
#include <shared_mutex>
#include <utility>

namespace emu::exec {
namespace {

constexpr size_t eras_remembered = 4096;

struct Eras {
    std::shared_mutex mutex;
    uint32_t next = 1;
    std::multiset<uint32_t> running;
    std::map<uint32_t, std::shared_ptr<const Era>> known; // by the first block
};
Eras& eras = *new Eras; // never destroyed, because kernels run at exit

std::shared_ptr<const Turn>& turn_of_thread()
{
    static thread_local std::shared_ptr<const Turn> turn;
    return turn;
}

} // namespace

const Order everything{{0, UINT64_MAX}}; // no queue has the number 0

void join(Order& into, const Order& from)
{
    for (const auto& row : from) {
        uint64_t& known = into[row.first];
        known = std::max(known, row.second);
    }
}

bool Turn::follows(const Turn& earlier) const
{
    if (queue == earlier.queue) {
        if (number != earlier.number)
            return number > earlier.number;
        if (!node || node == earlier.node || earlier.node <= earlier_nodes)
            return true;
        unsigned index = earlier.node - earlier_nodes;
        return index < ancestors.size() && ancestors[index];
    }
    if (!before)
        return true;
    auto found = before->find(earlier.queue);
    return before->count(0) || (found != before->end() && found->second >= earlier.number);
}

std::shared_ptr<const Turn> current_turn()
{
    return turn_of_thread();
}

TurnScope::TurnScope(std::shared_ptr<const Turn> turn) : outer_(std::exchange(turn_of_thread(), std::move(turn))) {}

TurnScope::~TurnScope()
{
    turn_of_thread() = std::move(outer_);
}

static Dim3 split(uint64_t number, const Dim3& size)
{
    uint64_t row = number / size.x;
    return {uint32_t(number % size.x), uint32_t(row % size.y), uint32_t(row / size.y)};
}

Dim3 BlockOrder::index(uint64_t number) const
{
    if (cluster_blocks == 1)
        return split((start + number * step) % blocks, grid);
    Dim3 which = split(number / cluster_blocks, {grid.x / cluster.x, grid.y / cluster.y, grid.z / cluster.z});
    Dim3 within = split(number % cluster_blocks, cluster);
    return {which.x * cluster.x + within.x, which.y * cluster.y + within.y, which.z * cluster.z + within.z};
}

Dim3 Era::thread(uint32_t number) const
{
    return split(number, block);
}

std::shared_ptr<const Era> begin_era(Era era, bool runs)
{
    std::unique_lock lock(eras.mutex);
    if (eras.next + era.blocks < eras.next) { // the numbers wrap around
        eras.known.clear();
        eras.next = 1;
    }
    era.first = eras.next;
    eras.next += era.blocks;
    if (runs)
        eras.running.insert(era.first);
    auto made = std::make_shared<const Era>(std::move(era));
    eras.known[made->first] = made;
    if (eras.known.size() > eras_remembered)
        eras.known.erase(eras.known.begin());
    return made;
}

uint32_t begin_run()
{
    std::unique_lock lock(eras.mutex);
    eras.running.insert(eras.next);
    return eras.next;
}

void end_run(uint32_t first_block)
{
    std::unique_lock lock(eras.mutex);
    if (auto found = eras.running.find(first_block); found != eras.running.end())
        eras.running.erase(found);
}

uint32_t first_running_block()
{
    std::shared_lock lock(eras.mutex);
    return eras.running.empty() ? eras.next : *eras.running.begin();
}

std::shared_ptr<const Era> find_era(uint32_t block)
{
    std::shared_lock lock(eras.mutex);
    auto after = eras.known.upper_bound(block);
    if (after == eras.known.begin())
        return nullptr;
    const auto& era = std::prev(after)->second;
    return block - era->first < era->blocks ? era : nullptr;
}

} // namespace emu::exec

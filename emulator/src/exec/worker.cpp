// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "worker.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <sys/mman.h>
#include <utility>

#include "../config.hpp"
#include "checks/findings.hpp"
#include "checks/report.hpp"
#include "checks/shadow.hpp"
#include "machine.hpp"
#include "signals.hpp"

namespace emu::exec {
namespace {

constexpr size_t shared_alignment = 1024;
// A GPU gives each thread up to 512 KiB of local memory without being asked. Untouched memory costs nothing.
constexpr size_t least_stack_bytes = 576 << 10;

} // namespace

Worker::Worker()
{
    signal_stack_ = prepare_thread_for_faults();
}

Worker::~Worker()
{
    if (pool)
        pool->remove(*this);
    this_carrier = nullptr;
    release_thread_from_faults(signal_stack_);
    if (shared_base_)
        munmap(shared_base_, shared_bytes_ + shared_alignment * 64);
}

// ------------------------------------------------------------------------ a launch

bool Worker::reserve_shared(size_t bytes)
{
    constexpr size_t guard = shared_alignment * 64;
    if (bytes <= shared_bytes_)
        return true;
    bytes = (std::max<size_t>(bytes, 64 << 10) + 65535) / 65536 * 65536;
    void* base =
        mmap(nullptr, bytes + guard, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return false;
    mprotect(static_cast<char*>(base) + bytes, guard, PROT_NONE);
    if (shared_base_)
        munmap(shared_base_, shared_bytes_ + guard);
    shared_base_ = base;
    shared_bytes_ = bytes;
    return true;
}

void Worker::attach(Launch& next)
{
    const LaunchRequest& request = next.request;
    launch = &next;
    image = next.image.get();
    stacks.require(std::max(request.limits.stack_bytes, least_stack_bytes));
    *state = EmuThread{};
    state->threads = next.threads;
    state->dynamic_shared = shared_base_;
    state->dynamic_shared_size = request.dynamic_shared;
    state->static_shared_size = request.static_shared;
    state->checks = request.checks.bits() & (EMU_CHECK_MEMORY | EMU_CHECK_INITIALIZED | EMU_CHECK_ADVICE);
    if (request.checks.races) // advice modules are compiled like races modules
        state->checks |= EMU_CHECK_RACES;
    state->nsmid = request.multiprocessors;
    state->cluster_dim = {request.cluster.x, request.cluster.y, request.cluster.z};
    state->block = &block;
    emu_block_dim = {request.block.x, request.block.y, request.block.z};
    emu_grid_dim = {request.grid.x, request.grid.y, request.grid.z};
    blocks_run.store(0, std::memory_order_relaxed);
    open_shared(true);
    working_on.store(&next);
}

void Worker::open_shared(bool open)
{
    if (!config().checks.reads_shadow())
        return;
    show_shared(reinterpret_cast<uintptr_t>(state->dynamic_shared), state->dynamic_shared_size, open);
    if (!state->static_shared_size) // of the kernel; other kernels in the module may have variables
        return;
    locate_shared();
    for (const SharedVariable& entry : shared_)
        show_shared(entry.first.low, entry.second->size, open);
}

void Worker::detach()
{
    working_on.store(nullptr);
    open_shared(false);
    launch = nullptr;
    image = nullptr;
    shared_.clear();
    shared_located_ = false;
}

void Worker::work_on(Launch& next)
{
    if (!reserve_shared(std::max<size_t>(next.request.dynamic_shared, 1))) {
        next.stop(FaultKind::out_of_resources);
        return;
    }
    uint64_t control = begin_float_control();
    attach(next);
    bool good = true;
    while (good && !next.stopping) {
        uint64_t first = next.next.fetch_add(next.chunk, std::memory_order_relaxed);
        uint64_t last = std::min(first + next.chunk, next.blocks);
        if (first >= last)
            break;
        for (; good && first < last; ++first)
            good = run_block(first);
    }
    detach();
    end_float_control(control);
}

bool Worker::run_block(uint64_t number)
{
    repeats.store(false, std::memory_order_relaxed);
    poison_shared();
    if (launch->cluster_blocks > 1)
        join_cluster(number);
    begin_checks(number);
    bool good = block.run(number);
    if (good)
        finish_bulk_copies(*this);
    if (advice)
        advice->end();
    if (!good) {
        report();
        block.abandon();
    }
    if (good && cluster)
        good = end_in_cluster(number);
    cluster.reset();
    if (good) {
        std::string why;
        good = launch->end_block(&why);
        if (!good) {
            trouble.kind = FaultKind::deadlock;
            trouble.text = why;
            report();
        }
    }
    launch->leave_stuck(&is_stuck);
    blocks_run.store(blocks_run.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return good;
}

// On a GPU, shared memory holds what earlier blocks left there.
void Worker::poison_shared()
{
    constexpr size_t most = 64 << 10; // for modules of many kernels
    if (state->dynamic_shared_size)
        std::memset(state->dynamic_shared, config().fill, state->dynamic_shared_size);
    if (!state->static_shared_size) // of the kernel; other kernels in the module may have variables
        return;
    locate_shared();
    size_t done = 0;
    for (const SharedVariable& entry : shared_)
        if ((done += entry.second->size) <= most || !blocks_run)
            std::memset(reinterpret_cast<void*>(entry.first.low), config().fill, entry.second->size);
}

void Worker::join_cluster(uint64_t number)
{
    cluster = launch->join_cluster(number);
    cluster_rank = uint32_t(number % cluster->blocks);
    const Dim3& size = launch->request.cluster;
    uint32_t row = cluster_rank / size.x;
    state->cluster_block = {cluster_rank % size.x, row % size.y, row / size.y};
    locate_shared();
    if (state->checks & EMU_CHECK_RACES) {
        forget_accesses(reinterpret_cast<uintptr_t>(state->dynamic_shared), state->dynamic_shared_size);
        for (const SharedVariable& entry : shared_)
            forget_accesses(entry.first.low, entry.second->size);
    }
    open_shared(true);
    SharedPlace& place = cluster->places[cluster_rank];
    place.dynamic = reinterpret_cast<uintptr_t>(state->dynamic_shared);
    for (const auto& entry : shared_)
        place.variables.push_back(entry.first.low);
    place.known = true;
    launch->wake_grid();
}

// The shared memory of a block ends with it. Returns false if another block accesses it without order.
bool Worker::end_in_cluster(uint64_t number)
{
    Access earlier;
    EmuRange range{reinterpret_cast<uintptr_t>(state->dynamic_shared), 0};
    range.high = range.low + state->dynamic_shared_size;
    if (races)
        earlier = races->end(range.low, state->dynamic_shared_size);
    for (const SharedVariable& entry : shared_)
        if (races && !earlier.block) {
            range = {entry.first.low, entry.first.low + entry.second->size};
            earlier = races->end(range.low, entry.second->size);
        }
    cluster->places[cluster_rank].ended = true;
    open_shared(false);
    pool->forget_all_ranges();
    launch->leave_cluster(number, *cluster);
    if (!earlier.block)
        return true;
    trouble.kind = FaultKind::race;
    trouble.pc = uintptr_t(earlier.half_pc()) << 1;
    trouble.address = range.low;
    trouble.store = earlier.stored();
    trouble.text = "in shared memory of another block of the cluster, which can exit before that: nothing orders its "
                   "end after the access";
    report();
    return false;
}

void Worker::report()
{
    FaultKind reason = launch->stop_reason();
    if (trouble.kind == FaultKind::none)
        trouble.kind = reason;
    if (trouble.kind != FaultKind::none && !launch->failed()) {
        Fault fault = make_fault(*this, trouble);
        record_finding(fault, {});
        launch->fail(std::move(fault));
    }
    launch->stop(FaultKind::none);
    trouble = Trouble{};
}

// ------------------------------------------------------------------------ on a fiber

void Worker::give_way(const Site& site, bool seen_before)
{
    if (!std::exchange(current->notes().polled, false)) {
        current->notes().spins = seen_before ? current->notes().spins + 1 : 0;
        current->notes().mbarrier = 0;
    }
    if (seen_before) {
        repeats.store(true, std::memory_order_relaxed);
        if (!block.others() && pool->crowded()) {
            struct timespec moment = {0, 500000}; // gives time to other threads, since it may wait for one
            nanosleep(&moment, nullptr);
        }
    }
    block.yield(current, site);
}

void Worker::find_shared()
{
    if (!image)
        return;
    shared_located_ = true;
    for (const EmuVariable* variable : image->shared) {
        auto low = reinterpret_cast<uintptr_t>(variable->locate());
        uintptr_t room = std::max(variable->room, variable->size);
        shared_.push_back({{low, low + room}, variable});
    }
}

uintptr_t Worker::widen_shared(uint32_t low, uint32_t mask)
{
    locate_shared();
    auto base = reinterpret_cast<uintptr_t>(state->dynamic_shared);
    // The distance to the start is the same in 32 bits as in 64.
    auto distance = [&](uintptr_t start) { return (low - uint32_t(start)) & mask; };
    if (distance(base) < (mask == ~0u ? shared_bytes_ : state->dynamic_shared_size))
        return base + distance(base);
    for (const auto& entry : shared_)
        if (distance(entry.first.low) < entry.first.high - entry.first.low)
            return entry.first.low + distance(entry.first.low);
    for (uint32_t rank = 0; cluster && rank < cluster->blocks; ++rank) {
        const SharedPlace& place = cluster->places[rank];
        if (!place.known)
            continue;
        if (uint32_t(low - uint32_t(place.dynamic)) < state->dynamic_shared_size)
            return place.dynamic + uint32_t(low - uint32_t(place.dynamic));
        for (size_t i = 0; i < place.variables.size(); ++i)
            if (uint32_t(low - uint32_t(place.variables[i])) < shared_[i].second->size)
                return place.variables[i] + uint32_t(low - uint32_t(place.variables[i]));
    }
    return low;
}

uintptr_t Worker::map_shared(uintptr_t address, uint32_t rank)
{
    const SharedPlace& place = cluster->places[rank];
    auto base = reinterpret_cast<uintptr_t>(state->dynamic_shared);
    if (address - base < std::max<size_t>(state->dynamic_shared_size, 1))
        return place.dynamic + (address - base);
    for (size_t i = 0; i < shared_.size(); ++i)
        if (address - shared_[i].first.low < shared_[i].first.high - shared_[i].first.low)
            return place.variables[i] + (address - shared_[i].first.low);
    return 0;
}

bool Worker::in_cluster(uintptr_t address, EmuRange* range, uint32_t* found, bool* ended) const
{
    for (uint32_t rank = 0; cluster && rank < cluster->blocks; ++rank) {
        const SharedPlace& place = cluster->places[rank];
        if (found)
            *found = rank;
        if (!place.known)
            continue;
        if (ended)
            *ended = place.ended;
        *range = {place.dynamic, place.dynamic + state->dynamic_shared_size};
        if (address >= range->low && address < range->high)
            return true;
        for (size_t i = 0; i < place.variables.size(); ++i) {
            *range = {place.variables[i], place.variables[i] + shared_[i].second->size};
            if (address >= range->low && address < range->high)
                return true;
        }
    }
    return false;
}

SharedAround Worker::shared_around(uintptr_t address)
{
    constexpr uintptr_t near = 256; // below the first variable
    locate_shared();
    SharedVariable before, after;
    for (const SharedVariable& entry : shared_) {
        if (address >= entry.first.low && address < entry.first.high)
            before = entry;
        if (entry.first.low > address && (!after.second || entry.first.low < after.first.low))
            after = entry;
    }
    if (!before.second)
        return {after.second && after.first.low - address <= near ? after : SharedVariable(), {}};
    uintptr_t end = before.first.low + before.second->size;
    bool adjacent = address >= end && after.second && after.first.low - before.first.high < 64;
    if (adjacent && after.first.low - address < address - end)
        return {after, before};
    return {before, adjacent ? after : SharedVariable()};
}

// Nothing in a new block's shared memory has been written.
void Worker::begin_checks(uint64_t number)
{
    races = nullptr;
    advice = nullptr;
    stored = MarkedStore();
    next = NextAccess(); // a thread that ended at a fault has left its own
    copies.begin(launch->threads);
    bulk_copies.begin();
    if (!(state->checks & ~emu_u32(EMU_CHECK_MEMORY)))
        return;
    locate_shared();
    size_t bytes = state->dynamic_shared_size;
    for (const SharedVariable& entry : shared_)
        bytes += entry.second->size;
    if (state->checks & EMU_CHECK_RACES) {
        all_races_.begin(launch->era(), number, launch->threads);
        races = &all_races_;
    }
    if (state->checks & EMU_CHECK_ADVICE) {
        all_advice_.begin(image ? image->id : 0, launch->threads);
        advice = &all_advice_;
    }
    shared_contents.clear(bytes);
    for (const SharedVariable& entry : shared_)
        if (entry.second->flags & EMU_SHARED_IS_OUTSIDE)
            shared_contents.note_written(shared_index(entry.first.low, entry.second->size), entry.second->size);
}

// A race with the module, which reads these ranges, is harmless: at worst it accepts an access to a range that was
// closed just now.
void Worker::forget_ranges()
{
    for (EmuRange& range : state->recent) {
        __atomic_store_n(&range.high, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&range.low, 0, __ATOMIC_RELAXED);
    }
}

} // namespace emu::exec

extern "C" EmuStart emu_thread_begin()
{
    return emu::exec::this_worker()->block.begin_thread();
}

extern "C" void emu_thread_end()
{
    emu::exec::this_worker()->block.end_thread();
}

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Copies of bytes between global and shared memory, and the mbarriers that signal their completion. The calls check a
// copy; its bytes move later (late_copies.hpp). tensor_copies.cpp has those of tiles.
#include <algorithm>
#include <cstring>

#include "device_include/emulator_bulk_copies.h"
#include "../config.hpp"
#include "bulk_copies.hpp"
#include "spin_state.hpp"

namespace emu::exec {

void fail(const Site& site, const std::string& text, FaultKind kind)
{
    Trouble trouble;
    trouble.kind = kind;
    trouble.at(site);
    trouble.text = text;
    raise_fault(std::move(trouble));
}

uintptr_t shared_address(emu_u64 address)
{
    return address >> 32 ? uintptr_t(address) : this_worker()->widen_shared(uint32_t(address));
}

void check(uintptr_t address, size_t size, bool store, const Site& site, emu_u32 kind)
{
    emu_u32 access = kind | (store ? EMU_ACCESS_STORE : EMU_ACCESS_LOAD);
    emu_check_slow(address, size, access, reinterpret_cast<void*>(site.pc));
    if (size && this_worker()->state->checks & ~emu_u32(EMU_CHECK_MEMORY))
        this_worker()->watch(address, size, access, site.pc);
}

uintptr_t aligned_shared(emu_u64 given, uint32_t alignment, const char* what, const Site& site)
{
    uintptr_t address = shared_address(given);
    if (address % alignment)
        fail(site, std::string(what) + " must begin at a multiple of " + std::to_string(alignment) + " bytes");
    return address;
}

namespace {

// Completes a cp.async (async_copies.hpp).
void complete_copy(const AsyncCopy& copy)
{
    check(copy.to, copy.size, true, copy.site);
    std::memcpy(reinterpret_cast<void*>(copy.to), copy.value, copy.size);
}

// ------------------------------------------------------------------------ mbarriers

// The layout in shared memory. Bytes may complete before the barrier expects them.
struct Mbarrier {
    uint64_t phase : 1, expected : 20, pending : 20, live : 1;
    int64_t bytes : 22;
};
static_assert(sizeof(Mbarrier) == 8, "an mbarrier has 8 bytes");

Mbarrier* mbarrier(emu_u64 given, const Site& site)
{
    uintptr_t address = aligned_shared(given, 8, "an mbarrier", site);
    check(address, 8, true, site, EMU_ACCESS_ATOMIC);
    return reinterpret_cast<Mbarrier*>(address);
}

Mbarrier* live_mbarrier(emu_u64 given, const Site& site)
{
    Mbarrier* found = mbarrier(given, site);
    if (!found->live)
        fail(site, "an mbarrier is used before it is initialized");
    return found;
}

// Changes an mbarrier atomically, because another block of the cluster may arrive at the same time, and returns its
// previous state. `change` may call fail().
template <class F> Mbarrier update(Mbarrier* barrier, F change)
{
    auto* word = reinterpret_cast<uint64_t*>(barrier);
    uint64_t bits = __atomic_load_n(word, __ATOMIC_ACQUIRE), next = 0;
    Mbarrier before, after;
    do {
        std::memcpy(&before, &bits, 8);
        after = before;
        change(after);
        if (!after.pending && !after.bytes && (before.pending || before.bytes)) { // the phase is complete
            after.pending = after.expected;
            after.phase ^= 1;
        }
        std::memcpy(&next, &after, 8);
    } while (!__atomic_compare_exchange_n(word, &bits, next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return before;
}

void tell(emu_u64 given, size_t bytes, const Site& site)
{
    update(live_mbarrier(given, site), [&](Mbarrier& barrier) { barrier.bytes -= int64_t(bytes); });
}

// ------------------------------------------------------------------------ completion

// Returns true for copies within the block: other blocks of a cluster do not know what is left to do here.
bool is_late(Worker& worker, const BulkCopy& copy)
{
    return worker.shared_index(copy.shared, copy.size) != Worker::not_shared &&
           (!copy.barrier || worker.shared_index(copy.barrier, 8) != Worker::not_shared);
}

// A seed chooses which copies are fast, unless a check reports those that are used too early.
bool is_fast()
{
    const Worker& worker = *this_worker();
    bool is_checked = worker.state->checks & ~emu_u32(EMU_CHECK_MEMORY);
    return worker.launch->request.seed && !is_checked && emu::next_choice() % 2;
}

// A thread waits at a barrier. With a seed, some copies take longer.
void finish_at(uintptr_t barrier)
{
    Worker& worker = *this_worker();
    bool varies = worker.launch->request.seed;
    auto is_done = [&](const BulkCopy& copy) { return copy.barrier == barrier && !(varies && is_fast()); };
    for (const BulkCopy& copy : worker.bulk_copies.take_if(is_done))
        finish(copy);
}

} // namespace

void finish(const BulkCopy& copy)
{
    copy.move();
    auto* barrier = reinterpret_cast<Mbarrier*>(copy.barrier);
    if (barrier)
        update(barrier, [&](Mbarrier& now) { now.bytes -= int64_t(copy.size); });
}

void start(BulkCopy copy)
{
    Worker& worker = *this_worker();
    copy.thread = worker.state->linear;
    if (copy.barrier) // before the copy moves, because the thread that waits there need not be the one that copies
        live_mbarrier(copy.barrier, copy.site);
    if (is_late(worker, copy) && !is_fast())
        worker.bulk_copies.add(std::move(copy));
    else
        finish(copy);
}

bool finish_bulk_copies(Carrier& carrier)
{
    auto copies = carrier.bulk_copies.take_if([](const BulkCopy&) { return true; });
    for (const BulkCopy& copy : copies)
        finish(copy);
    return !copies.empty();
}

std::string describe_mbarrier(uintptr_t address)
{
    Mbarrier now;
    std::memcpy(&now, reinterpret_cast<const void*>(address), sizeof now);
    std::string text = "an mbarrier in phase " + std::to_string(now.phase) + ", which expects ";
    if (now.pending)
        text += std::to_string(now.pending) + (now.pending == 1 ? " more arrival" : " more arrivals");
    if (now.bytes)
        text += std::string(now.pending ? " and " : "") + std::to_string(std::abs(int64_t(now.bytes))) +
                (now.bytes > 0 ? " more bytes" : " bytes fewer than were copied");
    return text;
}

} // namespace emu::exec

using namespace emu::exec;

extern "C" {

void emu_mbarrier_init(emu_u64 barrier, emu_u32 count, const char* file, emu_u32 line)
{
    Site site = EMU_SITE;
    if (!count || count >= 1u << 20)
        fail(site, "the arrival count of an mbarrier must be from 1 to 2**20 - 1");
    *mbarrier(barrier, site) = {0, count, count, 1, 0};
}

void emu_mbarrier_end(emu_u64 barrier, const char* file, emu_u32 line)
{
    live_mbarrier(barrier, EMU_SITE)->live = 0;
}

emu_u64 emu_mbarrier_arrive(emu_u64 given, emu_u32 count, emu_u32 bytes, const char* file, emu_u32 line)
{
    Site site = EMU_SITE;
    Mbarrier before = update(live_mbarrier(given, site), [&](Mbarrier& barrier) {
        if (count > barrier.pending)
            fail(site, "more threads arrive at an mbarrier than it was initialized for");
        barrier.bytes += bytes;
        barrier.pending -= count;
    });
    return before.phase | emu_u64(before.pending) << 1;
}

emu_u64 emu_mbarrier_drop(emu_u64 given, emu_u32 count, const char* file, emu_u32 line)
{
    Site site = EMU_SITE;
    update(live_mbarrier(given, site), [&](Mbarrier& barrier) {
        if (count > barrier.expected)
            fail(site, "more threads leave an mbarrier than it was initialized for");
        barrier.expected -= count;
    });
    return emu_mbarrier_arrive(given, count, 0, file, line);
}

int emu_mbarrier_test(emu_u64 barrier, emu_u64 parity, const char* file, emu_u32 line)
{
    SpinState state = EMU_SPIN_STATE;
    Site site = EMU_SITE;
    auto* word = reinterpret_cast<uint64_t*>(live_mbarrier(barrier, site));
    auto passed = [&] { return (__atomic_load_n(word, __ATOMIC_ACQUIRE) & 1) != (parity & 1); }; // the phase
    if (passed())
        return 1;
    if (this_worker()->bulk_copies.any()) {
        finish_at(reinterpret_cast<uintptr_t>(word));
        if (passed())
            return 1;
    }
    state.note(*this_worker()->current, reinterpret_cast<uintptr_t>(word));
    this_worker()->repeats.store(true, std::memory_order_relaxed);
    this_worker()->block.yield(this_worker()->current, site);
    return 0;
}

void emu_bulk_copy(emu_u64 to, emu_u64 from, emu_u32 bytes, emu_u64 barrier, int is_to_shared, const char* file,
                   emu_u32 line)
{
    Site site = EMU_SITE;
    const char* what = "each side of a bulk copy";
    uintptr_t target = is_to_shared ? aligned_shared(to, 16, what, site) : uintptr_t(to);
    uintptr_t source = is_to_shared ? uintptr_t(from) : aligned_shared(from, 16, what, site);
    if (target % 16 || source % 16 || bytes % 16)
        fail(site, "the size and both addresses of a bulk copy must be multiples of 16 bytes");
    check(source, bytes, false, site);
    check(target, bytes, true, site, EMU_ACCESS_LATER);
    BulkCopy copy;
    copy.shared = is_to_shared ? target : source;
    copy.size = bytes;
    copy.barrier = barrier ? aligned_shared(barrier, 8, "an mbarrier", site) : 0;
    copy.site = site;
    copy.move = [=] { std::memcpy(reinterpret_cast<void*>(target), reinterpret_cast<const void*>(source), bytes); };
    start(std::move(copy));
}

void emu_bulk_commit()
{
    this_worker()->bulk_copies.commit(this_worker()->state->linear);
}

void emu_bulk_wait(emu_u32 groups)
{
    Worker& worker = *this_worker();
    auto is_due = [&](const BulkCopy& copy) { return worker.bulk_copies.is_due(copy, worker.state->linear, groups); };
    for (const BulkCopy& copy : worker.bulk_copies.take_if(is_due))
        finish(copy);
}

void emu_mbarrier_complete(emu_u64 barrier, emu_u32 bytes, const char* file, emu_u32 line)
{
    tell(barrier, bytes, EMU_SITE);
}

emu_u64 emu_matrix_address(emu_u32 low)
{
    return this_worker()->widen_shared(low, (1u << 18) - 1);
}

void emu_async_copy(emu_u64 to, emu_u64 from, emu_u32 size, emu_u32 bytes, const char* file, emu_u32 line)
{
    Worker& worker = *this_worker();
    AsyncCopy copy;
    copy.site = EMU_SITE;
    copy.to = shared_address(to);
    copy.size = size;
    bytes = std::min(bytes, size);
    if (bytes) {
        check(uintptr_t(from), bytes, false, copy.site);
        std::memcpy(copy.value, reinterpret_cast<const void*>(from), bytes);
    }
    emu_check_slow(copy.to, size, EMU_ACCESS_STORE, reinterpret_cast<void*>(copy.site.pc));
    if (is_fast() || worker.shared_index(copy.to, size) == Worker::not_shared)
        complete_copy(copy);
    else
        worker.copies.add(worker.state->linear, copy);
}

void emu_async_commit()
{
    this_worker()->copies.commit(this_worker()->state->linear);
}

void emu_async_wait(emu_u32 groups, int all)
{
    Worker& worker = *this_worker();
    for (const AsyncCopy& copy : worker.copies.take(worker.state->linear, groups, all))
        complete_copy(copy);
}

void* emu_shared_address(emu_u64 low)
{
    return reinterpret_cast<void*>(shared_address(low));
}

} // extern "C"

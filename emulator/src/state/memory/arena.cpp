// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "arena.hpp"

#include <algorithm>
#include <deque>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "../../config.hpp"
#include "../../exec/checks/poison.hpp"
#include "../thread.hpp"
#include "virtual_space.hpp"

namespace emu::state {
namespace {

constexpr size_t least_red_zone = 64;                          // minimum bytes after an allocation
constexpr size_t usual_red_zone = 1024, most_red_zone = 64 << 10; // if the arena has spare addresses
constexpr size_t quarantine_bytes = 64 << 20;                  // freed bytes held back from reuse
constexpr size_t quarantine_least = 8, quarantine_most = 1024; // and the number of freed ranges
constexpr size_t punch_bytes = 32 << 20;                       // larger free ranges are returned to the system

std::atomic<uint64_t> next_allocation{1};

} // namespace

struct Arena::State {
    MemoryKind kind;
    int device;
    size_t limit, range;
    std::byte* window = nullptr; // in kernel addresses
    std::byte* host = nullptr;
    int descriptor = -1;

    mutable std::mutex mutex;
    std::map<size_t, size_t> free; // size by offset
    std::map<CUdeviceptr, std::shared_ptr<Allocation>> live;
    std::deque<std::pair<size_t, size_t>> quarantine;
    size_t quarantined = 0;
    std::atomic<size_t> used{0};

    // For HostAccess::idle.
    std::mutex gate;
    int kernels = 0;
    bool open = false;
    uint64_t uses = 0;
    void watch();

    size_t red_zone(size_t size) const;
    bool take(size_t size, size_t alignment, size_t* offset, size_t* room);
    void give(size_t offset, size_t size);
    void expire(bool all);
    CUresult make(size_t size, size_t alignment, MemoryKind as, std::shared_ptr<Allocation>* out);
    void poison(const Allocation& allocation);
};

Arena::Arena(MemoryKind kind, int device, size_t limit, size_t range) : state_(new State)
{
    state_->kind = kind;
    state_->device = device;
    state_->limit = limit;
    state_->range = range;
    state_->free[0] = range;
}

bool Arena::map(std::byte* window)
{
    State& s = *state_;
    s.window = window;
    const int fixed = MAP_FIXED | MAP_NORESERVE;
    if (s.kind != MemoryKind::device) {
        s.host = window;
        return mmap(window, s.range, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0) == window;
    }
    s.descriptor = memory_file_of("emulator-device", s.range);
    if (s.descriptor < 0)
        return false;
    void* host = mmap(nullptr, s.range, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, s.descriptor, 0);
    s.host = static_cast<std::byte*>(host);
    s.open = !config().checks.any();
    exec::poison_arena(reinterpret_cast<uintptr_t>(window), s.range, s.host, s.descriptor);
    int access = s.open ? PROT_READ | PROT_WRITE : PROT_NONE;
    return host != MAP_FAILED && mmap(window, s.range, access, MAP_SHARED | fixed, s.descriptor, 0) == window;
}

void Arena::place(std::byte* window, std::byte* host, int descriptor)
{
    state_->window = window;
    state_->host = host;
    state_->descriptor = descriptor;
}

// Ends the arena: nothing can be allocated from it afterwards.
void Arena::end()
{
    state_->expire(true);
    delete std::exchange(state_, nullptr);
}

void Arena::forget_descriptor()
{
    std::lock_guard lock(state_->mutex);
    state_->descriptor = -1;
}

// Grows with the allocation, because an index wrong by a row or a factor misses by more in a larger array.
size_t Arena::State::red_zone(size_t size) const
{
    if (!config().checks.any())
        return 0;
    return range > limit ? std::clamp(size / 2, usual_red_zone, most_red_zone) : least_red_zone;
}

// First fit. The range ends with the red zone.
bool Arena::State::take(size_t size, size_t alignment, size_t* offset, size_t* room)
{
    *room = round_up(size + red_zone(size), alignment);
    for (auto row = free.begin(); row != free.end(); ++row) {
        size_t begin = round_up(row->first, alignment), end = row->first + row->second;
        if (begin + *room > end || begin + *room < begin)
            continue;
        size_t head = begin - row->first;
        if (head)
            row->second = head;
        else
            free.erase(row);
        if (begin + *room < end)
            free[begin + *room] = end - begin - *room;
        *offset = begin;
        return true;
    }
    return false;
}

void Arena::State::give(size_t offset, size_t size)
{
    auto next = free.lower_bound(offset);
    if (next != free.begin()) {
        auto before = std::prev(next);
        if (before->first + before->second == offset) {
            offset = before->first;
            size += before->second;
            free.erase(before);
        }
    }
    if (next != free.end() && offset + size == next->first) {
        size += next->second;
        free.erase(next);
    }
    free[offset] = size;
}

void Arena::State::expire(bool all)
{
    while (!quarantine.empty() && (all || quarantine.size() > quarantine_most ||
                                   (quarantined > quarantine_bytes && quarantine.size() > quarantine_least))) {
        auto [offset, size] = quarantine.front();
        quarantine.pop_front();
        quarantined -= size;
        exec::forget_region(reinterpret_cast<uintptr_t>(window) + offset);
        give(offset, size);
    }
}

namespace {

exec::RegionKind region_kind(MemoryKind kind)
{
    switch (kind) {
    case MemoryKind::managed: return exec::RegionKind::managed;
    case MemoryKind::pinned: return exec::RegionKind::pinned;
    case MemoryKind::registered: return exec::RegionKind::registered;
    case MemoryKind::heap: return exec::RegionKind::heap;
    default: return exec::RegionKind::device;
    }
}

exec::Region region_of(const Allocation& allocation)
{
    exec::Region region;
    region.base = uintptr_t(allocation.base);
    region.size = allocation.size;
    region.room = allocation.room;
    region.allocation = allocation.id;
    region.kind = region_kind(allocation.kind);
    bool everywhere = allocation.kind == MemoryKind::managed || allocation.is_host();
    region.device = everywhere ? -1 : allocation.device;
    region.made_by = allocation.made_by.text();
    return region;
}

} // namespace

CUresult Arena::State::make(size_t size, size_t alignment, MemoryKind as, std::shared_ptr<Allocation>* out)
{
    auto allocation = std::make_shared<Allocation>();
    std::lock_guard lock(mutex);
    size_t offset = 0, room = 0;
    bool found = take(size, alignment, &offset, &room);
    if (!found) {
        expire(true);
        found = take(size, alignment, &offset, &room);
    }
    if (!found)
        return CUDA_ERROR_OUT_OF_MEMORY;
    allocation->id = next_allocation++;
    allocation->base = reinterpret_cast<CUdeviceptr>(window) + offset;
    allocation->size = size;
    allocation->room = room;
    allocation->kind = as;
    allocation->device = device;
    allocation->host = host + offset;
    allocation->made_by = origin;
    live[allocation->base] = allocation;
    *out = std::move(allocation);
    return CUDA_SUCCESS;
}

// A driver gives managed memory zeros, and what other processes may have written stays as it is.
void Arena::State::poison(const Allocation& allocation)
{
    if (allocation.kind == MemoryKind::pinned)
        return exec::poison_pinned(allocation.host, allocation.size);
    std::lock_guard lock(gate);
    if (allocation.kind == MemoryKind::device)
        exec::poison_device(uintptr_t(allocation.base), allocation.size, open);
}

CUresult Arena::allocate(size_t size, size_t alignment, MemoryKind kind, bool charged, std::shared_ptr<Allocation>* out)
{
    State& s = *state_;
    if (size == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (size > s.limit) {
        OverBudget::note(s.device, size - s.limit);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    size_t bytes = charged ? round_up(size, 512) : 0;
    if (!charge(bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    std::shared_ptr<Allocation> allocation;
    if (CUresult failed = s.make(size, std::max<size_t>(alignment, 512), kind, &allocation)) {
        discharge(bytes);
        return failed;
    }
    allocation->charged = bytes;
    s.poison(*allocation);
    exec::open_region(region_of(*allocation));
    AddressSpace::get().publish(allocation);
    *out = std::move(allocation);
    return CUDA_SUCCESS;
}

CUresult Arena::set_aside(size_t size, std::shared_ptr<Allocation>* out)
{
    if (size == 0 || size > state_->range)
        return CUDA_ERROR_OUT_OF_MEMORY;
    return state_->make(size, 512, state_->kind, out);
}

void Arena::show(const std::shared_ptr<Allocation>& allocation, bool is_fresh)
{
    exec::forget_region(uintptr_t(allocation->base));
    if (is_fresh)
        state_->poison(*allocation);
    exec::open_region(region_of(*allocation));
    AddressSpace::get().publish(allocation);
}

void Arena::hide(const Allocation& allocation)
{
    AddressSpace::get().withdraw(allocation.base);
    exec::close_region(uintptr_t(allocation.base));
}

bool Arena::place_of(const Allocation& allocation, int* file, uint64_t* offset) const
{
    *file = state_->descriptor;
    *offset = allocation.base - reinterpret_cast<CUdeviceptr>(state_->window);
    exec::fill_poisoned(allocation.base, allocation.size, false);
    return *file >= 0;
}

CUresult Arena::release(CUdeviceptr base)
{
    State& s = *state_;
    std::unique_lock lock(s.mutex);
    auto row = s.live.find(base);
    if (row == s.live.end())
        return CUDA_ERROR_INVALID_VALUE;
    auto allocation = std::move(row->second);
    s.live.erase(row);
    AddressSpace::get().withdraw(base);
    exec::close_region(uintptr_t(base));
    {
        std::lock_guard gate(s.gate);
        exec::forget_poisoned(uintptr_t(base), allocation->size, s.open);
    }
    if (int file = allocation->file.exchange(-1); file >= 0)
        close(file);
    size_t offset = size_t(base - reinterpret_cast<CUdeviceptr>(s.window));
    if (allocation->room >= punch_bytes) {
        if (s.descriptor >= 0)
            fallocate(s.descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, off_t(offset), off_t(allocation->room));
        else if (s.kind != MemoryKind::device)
            madvise(s.host + offset, allocation->room, MADV_DONTNEED);
    }
    s.quarantine.emplace_back(offset, allocation->room);
    s.quarantined += allocation->room;
    s.expire(!config().checks.any());
    lock.unlock();
    discharge(allocation->charged);
    return CUDA_SUCCESS;
}

namespace {

struct OverBudgetCalls {
    std::mutex mutex;
    uint64_t next = 1;
    std::map<std::pair<int, uint64_t>, std::function<void(uint64_t)>> rows;
};

OverBudgetCalls& over_budget_calls()
{
    static auto* all = new OverBudgetCalls;
    return *all;
}

} // namespace

uint64_t OverBudget::add(int device, std::function<void(uint64_t)> call)
{
    auto& all = over_budget_calls();
    std::lock_guard lock(all.mutex);
    all.rows[{device, all.next}] = std::move(call);
    return all.next++;
}

bool OverBudget::remove(int device, uint64_t number)
{
    auto& all = over_budget_calls();
    std::lock_guard lock(all.mutex);
    return all.rows.erase({device, number}) != 0;
}

void OverBudget::note(int device, uint64_t bytes)
{
    auto& all = over_budget_calls();
    std::lock_guard lock(all.mutex);
    for (const auto& row : all.rows)
        if (row.first.first == device)
            row.second(bytes);
}

bool Arena::charge(size_t bytes)
{
    size_t now = state_->used.load();
    do {
        if (bytes > state_->limit || now > state_->limit - bytes) {
            OverBudget::note(state_->device, now + bytes - state_->limit);
            return false;
        }
    } while (!state_->used.compare_exchange_weak(now, now + bytes));
    return true;
}

void Arena::discharge(size_t bytes)
{
    state_->used -= bytes;
}

bool Arena::contains(CUdeviceptr address) const
{
    return address - reinterpret_cast<CUdeviceptr>(state_->window) < state_->range;
}

size_t Arena::range() const
{
    return state_->range;
}
size_t Arena::used() const
{
    return state_->used;
}
size_t Arena::limit() const
{
    return state_->limit;
}

void Arena::begin_kernels()
{
    State& s = *state_;
    if (s.kind != MemoryKind::device)
        return;
    std::lock_guard lock(s.gate);
    ++s.kernels;
    ++s.uses;
    if (s.open)
        return;
    mprotect(s.window, s.range, PROT_READ | PROT_WRITE);
    exec::close_poisoned(reinterpret_cast<uintptr_t>(s.window));
    s.open = true;
    auto body = [](void* state) -> void* {
        static_cast<State*>(state)->watch();
        return nullptr;
    };
    start_thread("emu-memory", body, &s);
}

void Arena::end_kernels()
{
    if (state_->kind != MemoryKind::device)
        return;
    std::lock_guard lock(state_->gate);
    --state_->kernels;
}

// Closes the memory to host code once no kernel has used it for 2 ms. Runs only while it is open.
void Arena::State::watch()
{
    if (!config().checks.any())
        return;
    uint64_t seen = 0;
    for (;;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        std::lock_guard lock(gate);
        if (kernels == 0 && uses == seen) {
            mprotect(window, range, PROT_NONE);
            open = false;
            return;
        }
        seen = uses;
    }
}

// Registered memory and module variables are also regions of `exec`.
namespace arena_detail {
exec::Region region(const Allocation& allocation)
{
    return region_of(allocation);
}
uint64_t new_id()
{
    return next_allocation++;
}
} // namespace arena_detail

} // namespace emu::state

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <sys/mman.h>
#include <unistd.h>

#include "../../config.hpp"
#include "../../exec/checks/initialized.hpp"
#include "../../exec/checks/poison.hpp"
#include "../../exec/checks/shadow.hpp"
#include "arena.hpp"
#include "memory_sharing.hpp"
#include "virtual_space.hpp"

namespace emu::state {
namespace {

constexpr size_t gibibyte = size_t(1) << 30;

size_t whole_gibibytes(size_t bytes)
{
    return (bytes + gibibyte - 1) / gibibyte * gibibyte;
}

size_t host_memory()
{
    return size_t(sysconf(_SC_PHYS_PAGES)) * size_t(sysconf(_SC_PAGESIZE));
}

} // namespace

struct AddressSpace::State {
    std::vector<std::unique_ptr<Arena>> devices;
    std::unique_ptr<Arena> managed, pinned;
    std::byte* window = nullptr;
    size_t range = 0;
    bool tried = false, is_ready = false;
    std::mutex reserving;

    mutable std::shared_mutex mutex;
    std::map<CUdeviceptr, std::shared_ptr<Allocation>> live;

    bool reserve(size_t spare);
};

AddressSpace::AddressSpace() : state_(new State) {}

AddressSpace& AddressSpace::get()
{
    static auto* space = new AddressSpace;
    return *space;
}

// Reserves the window: `spare` times the memory of all devices, so freed addresses are not reused immediately.
bool AddressSpace::State::reserve(size_t spare)
{
    const Config& c = config();
    size_t ram = host_memory();
    size_t per_device = whole_gibibytes(c.memory * spare);
    if (c.devices && per_device > file_size_limit())
        return false;
    size_t pinned_range = whole_gibibytes(std::min(ram, 64 * gibibyte) * spare / 2 + gibibyte);
    size_t managed_range = whole_gibibytes(std::min(ram, 64 * gibibyte) * spare / 2 + gibibyte);
    size_t virtual_range = spare > 1 ? size_t(1) << 40 : 64 * gibibyte;
    range = per_device * size_t(c.devices) + pinned_range + managed_range + virtual_range;
    void* base = mmap(nullptr, range, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return false;
    window = static_cast<std::byte*>(base);
    exec::reserve_shadow(reinterpret_cast<uintptr_t>(base), range);
    if (c.checks.initialized)
        exec::reserve_contents(reinterpret_cast<uintptr_t>(base), per_device * size_t(c.devices));
    std::byte* next = window;
    auto place = [&](std::unique_ptr<Arena>& arena) {
        bool done = arena->map(next);
        next += arena->range();
        return done;
    };
    bool done = true;
    for (int i = 0; i < c.devices; ++i) {
        devices.push_back(std::make_unique<Arena>(MemoryKind::device, i, c.memory, per_device));
        done = done && place(devices.back());
    }
    managed = std::make_unique<Arena>(MemoryKind::managed, -1, std::min(ram, managed_range), managed_range);
    pinned = std::make_unique<Arena>(MemoryKind::pinned, -1, std::min(ram, pinned_range), pinned_range);
    done = done && place(managed) && place(pinned);
    if (!VirtualSpace::get().start(next, virtual_range))
        say("no address space is left for virtual memory");
    return done;
}

bool AddressSpace::reserve()
{
    State& s = *state_;
    std::lock_guard lock(s.reserving);
    if (!s.tried) {
        s.tried = true;
        s.is_ready = s.reserve(2) || (!s.window && s.reserve(1));
        size_t least = whole_gibibytes(config().memory);
        if (!s.is_ready && least > file_size_limit())
            say("the file size limit (ulimit -f) of " + std::to_string(file_size_limit()) +
                " bytes is too small for the memory of a device, a file of " + std::to_string(least) +
                " bytes; raise the limit, or set CUDA_EMULATOR_MEMORY (the file has whole gibibytes)");
        else if (!s.is_ready)
            say("no address space or memory is left for the memory of the devices");
    }
    return s.is_ready;
}

Arena& AddressSpace::device(int ordinal)
{
    return *state_->devices[size_t(ordinal)];
}
Arena& AddressSpace::managed()
{
    return *state_->managed;
}
Arena& AddressSpace::pinned()
{
    return *state_->pinned;
}

HostAccess AddressSpace::host_access() const
{
    return config().checks.any() ? HostAccess::idle : HostAccess::open;
}

bool AddressSpace::in_window(CUdeviceptr address) const
{
    return address - reinterpret_cast<CUdeviceptr>(state_->window) < state_->range;
}

void AddressSpace::publish(const std::shared_ptr<Allocation>& allocation)
{
    std::unique_lock lock(state_->mutex);
    state_->live[allocation->base] = allocation;
}

void AddressSpace::withdraw(CUdeviceptr base)
{
    std::unique_lock lock(state_->mutex);
    state_->live.erase(base);
}

std::shared_ptr<Allocation> AddressSpace::find(CUdeviceptr address) const
{
    std::shared_lock lock(state_->mutex);
    auto row = state_->live.upper_bound(address);
    if (row == state_->live.begin())
        return nullptr;
    --row;
    return address - row->first < row->second->size ? row->second : nullptr;
}

std::shared_ptr<Allocation> AddressSpace::find_range(CUdeviceptr address, size_t size) const
{
    auto found = find(address);
    return found && size <= extent(address) ? found : nullptr;
}

size_t AddressSpace::extent(CUdeviceptr address) const
{
    std::shared_lock lock(state_->mutex);
    auto row = state_->live.upper_bound(address);
    if (row == state_->live.begin() || address - std::prev(row)->first >= std::prev(row)->second->size)
        return 0;
    CUdeviceptr end = std::prev(row)->first + std::prev(row)->second->size;
    bool mapped = std::prev(row)->second->kind == MemoryKind::mapped;
    for (; mapped && row != state_->live.end() && row->first == end && row->second->kind == MemoryKind::mapped; ++row)
        end += row->second->size;
    return size_t(end - address);
}

std::byte* AddressSpace::reach(CUdeviceptr address, size_t size) const
{
    if (auto found = find(address)) {
        if (size > extent(address))
            return nullptr;
        exec::fill_poisoned(address, size, false);
        return found->at(address);
    }
    return in_window(address) ? nullptr : reinterpret_cast<std::byte*>(address);
}

CUresult AddressSpace::allocate(Arena& arena, size_t size, CUcontext context, unsigned flags, CUdeviceptr* out)
{
    std::shared_ptr<Allocation> allocation;
    bool device = &arena != &managed() && &arena != &pinned();
    MemoryKind kind = device ? MemoryKind::device : &arena == &managed() ? MemoryKind::managed : MemoryKind::pinned;
    if (CUresult failed = arena.allocate(size, device ? 512 : 4096, kind, true, &allocation))
        return failed;
    allocation->context = context;
    allocation->flags = flags;
    allocation->sync_memops = device;
    *out = allocation->base;
    return CUDA_SUCCESS;
}

CUresult AddressSpace::release(CUdeviceptr base)
{
    auto allocation = find(base);
    if (!allocation || allocation->base != base)
        return CUDA_ERROR_INVALID_VALUE;
    switch (allocation->kind) {
    case MemoryKind::device:
    case MemoryKind::heap: return device(allocation->device).release(base);
    case MemoryKind::managed: return managed().release(base);
    case MemoryKind::pinned: return pinned().release(base);
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

void AddressSpace::release_context(CUcontext context)
{
    for (auto& allocation : all()) {
        if (allocation->context != context || allocation->pool)
            continue;
        if (allocation->kind == MemoryKind::registered)
            unregister_host(reinterpret_cast<void*>(allocation->base));
        else if (allocation->kind == MemoryKind::opened || allocation->kind == MemoryKind::external)
            SharedMemory::close_all(allocation->base);
        else
            release(allocation->base);
    }
}

CUresult AddressSpace::register_host(void* base, size_t size, unsigned flags, CUcontext context)
{
    auto address = reinterpret_cast<CUdeviceptr>(base);
    if (!base || !size || address + size < address || in_window(address))
        return CUDA_ERROR_INVALID_VALUE;
    auto allocation = std::make_shared<Allocation>();
    allocation->id = arena_detail::new_id();
    allocation->base = address;
    allocation->size = allocation->room = size;
    allocation->kind = MemoryKind::registered;
    allocation->context = context;
    allocation->host = static_cast<std::byte*>(base);
    allocation->flags = flags;
    allocation->made_by = origin;
    {
        std::unique_lock lock(state_->mutex);
        auto next = state_->live.lower_bound(address);
        bool taken = next != state_->live.end() && next->first < address + size;
        if (next != state_->live.begin()) {
            auto before = std::prev(next);
            taken |= before->first + before->second->size > address;
        }
        if (taken)
            return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
        state_->live[address] = allocation;
    }
    exec::open_host_range(arena_detail::region(*allocation));
    return CUDA_SUCCESS;
}

CUresult AddressSpace::unregister_host(void* base)
{
    auto address = reinterpret_cast<CUdeviceptr>(base);
    auto found = find(address);
    if (!found || found->base != address || found->kind != MemoryKind::registered)
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    withdraw(address);
    exec::close_host_range(uintptr_t(address));
    return CUDA_SUCCESS;
}

// `exec` finds a loaded image's variables by their image; these records serve pointer attributes.
void AddressSpace::add_variable(void* address, size_t size, bool managed, int device, CUcontext context)
{
    auto allocation = std::make_shared<Allocation>();
    allocation->id = arena_detail::new_id();
    allocation->base = reinterpret_cast<CUdeviceptr>(address);
    allocation->size = allocation->room = size;
    allocation->kind = MemoryKind::variable;
    allocation->is_managed_variable = managed;
    allocation->device = device;
    allocation->context = context;
    allocation->host = static_cast<std::byte*>(address);
    allocation->made_by = origin;
    publish(allocation);
}

void AddressSpace::remove_variable(void* address)
{
    withdraw(reinterpret_cast<CUdeviceptr>(address));
}

std::vector<std::shared_ptr<Allocation>> AddressSpace::all() const
{
    std::shared_lock lock(state_->mutex);
    std::vector<std::shared_ptr<Allocation>> out;
    for (const auto& row : state_->live)
        out.push_back(row.second);
    return out;
}

} // namespace emu::state

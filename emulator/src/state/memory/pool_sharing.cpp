// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Pools shared between processes: their memory is in a file, whose descriptor is passed on.
#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../device.hpp"
#include "pool.hpp"
#include "pool_state.hpp"

namespace emu::state {

namespace {

constexpr uint64_t pointer_magic = 0x656d75706f696e74; // "emupoint"

struct PointerData {
    uint64_t magic, pool, offset, size;
};

bool is_on_host(const CUmemLocation& location)
{
    return location.type != CU_MEM_LOCATION_TYPE_DEVICE;
}

// Maps a pool's file into this process.
CUresult map_file(int file, const MemoryNote& note, CUdeviceptr* out)
{
    auto& space = VirtualSpace::get();
    if (!space.take(note.size, 0, 0, out))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (space.map(*out, note.size, file, 0, PROT_READ | PROT_WRITE, is_on_host(note.location)))
        return CUDA_SUCCESS;
    space.give(*out, note.size);
    *out = 0;
    return CUDA_ERROR_OUT_OF_MEMORY;
}

} // namespace

CUresult Pool::open_shared()
{
    PoolState& s = *state_;
    size_t most = s.properties.maxSize ? s.properties.maxSize : arena().limit();
    s.note.kind = MemoryNote::Kind::pool;
    s.note.location = s.properties.location;
    s.note.handle_types = s.properties.handleTypes;
    s.note.size = (most + VirtualSpace::unit - 1) / VirtualSpace::unit * VirtualSpace::unit;
    s.file = make_memory_file("emulator-pool", &s.note);
    if (s.file < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (CUresult failed = map_file(s.file, s.note, &s.base))
        return failed;
    bool host = is_on_host(s.note.location);
    auto& space = VirtualSpace::get();
    s.own = std::make_unique<Arena>(host ? MemoryKind::pinned : MemoryKind::device, host ? -1 : s.note.location.id,
                                    s.note.size, s.note.size);
    s.own->place(reinterpret_cast<std::byte*>(s.base), space.mirror(s.base), s.file);
    return CUDA_SUCCESS;
}

void Pool::close_shared()
{
    PoolState& s = *state_;
    close_file();
    if (s.own)
        s.own->end();
    if (s.base) {
        VirtualSpace::get().unmap(s.base);
        VirtualSpace::get().give(s.base, s.note.size);
    }
}

// Closes the descriptor; mapped memory does not need it.
void Pool::close_file()
{
    PoolState& s = *state_;
    if (s.file < 0)
        return;
    if (s.own)
        s.own->forget_descriptor();
    close(s.file);
    s.file = -1;
}

bool Pool::is_imported() const
{
    return state_->base && !state_->own;
}

bool Pool::has_imports() const
{
    std::lock_guard lock(state_->mutex);
    const auto& rows = state_->imports;
    return std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.second.live; });
}

CUresult Pool::export_file(int* out) const
{
    if (state_->file < 0)
        return CUDA_ERROR_INVALID_VALUE;
    int file = fcntl(state_->file, F_DUPFD_CLOEXEC, 3);
    if (file < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    *out = file;
    return CUDA_SUCCESS;
}

CUresult Pool::import_file(int file, CUmemoryPool* out)
{
    MemoryNote note;
    if (!read_memory_note(file, &note) || note.kind != MemoryNote::Kind::pool)
        return CUDA_ERROR_UNKNOWN; // like hardware drivers
    if (!is_on_host(note.location) && !device_at(note.location.id))
        return CUDA_ERROR_INVALID_DEVICE;
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = note.location;
    properties.handleTypes = CUmemAllocationHandleType(note.handle_types);
    auto pool = std::make_shared<Pool>(properties);
    PoolState& s = *pool->state_;
    s.note = note;
    if (CUresult failed = map_file(file, note, &s.base))
        return failed;
    *out = enter(std::move(pool));
    return CUDA_SUCCESS;
}

CUresult Pool::export_pointer(CUdeviceptr base, CUmemPoolPtrExportData* out)
{
    auto allocation = AddressSpace::get().find(base);
    auto pool = allocation && !allocation->released ? allocation->owner : nullptr;
    if (!pool || allocation->base != base || !pool->state_->own)
        return CUDA_ERROR_INVALID_VALUE;
    const PoolState& s = *pool->state_;
    PointerData data{pointer_magic, s.note.number, base - s.base, allocation->size};
    std::memset(out, 0, sizeof *out);
    std::memcpy(out, &data, sizeof data);
    return CUDA_SUCCESS;
}

// A process that imports the same allocation again gets the same address, and one free ends all these imports.
CUresult Pool::import_pointer(const CUmemPoolPtrExportData& given, CUdeviceptr* out)
{
    PoolState& s = *state_;
    PointerData data;
    std::memcpy(&data, &given, sizeof data);
    if (!is_imported() || data.magic != pointer_magic || data.pool != s.note.number || data.offset >= s.note.size ||
        data.size > s.note.size - data.offset)
        return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(s.mutex);
    PoolState::Import& row = s.imports[data.offset];
    if (!row.live) {
        row.live = make_import(data.offset, data.size);
        ++row.uses;
    }
    *out = row.live->base;
    return CUDA_SUCCESS;
}

// Called under the lock. If a free is queued, the memory stays mapped for the work before it.
std::shared_ptr<Allocation> Pool::make_import(uint64_t offset, size_t size)
{
    PoolState& s = *state_;
    auto allocation = std::make_shared<Allocation>();
    bool host = is_on_host(s.note.location);
    allocation->id = arena_detail::new_id();
    allocation->base = s.base + offset;
    allocation->size = allocation->room = size;
    allocation->kind = host ? MemoryKind::pinned : MemoryKind::device;
    allocation->device = host ? -1 : s.note.location.id;
    allocation->pool = s.handle;
    allocation->owner = shared_from_this();
    allocation->host = VirtualSpace::get().mirror(allocation->base);
    allocation->made_by = origin;
    exec::Region region = arena_detail::region(*allocation);
    region.shared_with = s.shared_with;
    exec::forget_region(region.base);
    exec::open_region(region);
    AddressSpace::get().publish(allocation);
    return allocation;
}

// Called on a free, after which an import creates a new mapping.
void Pool::drop_import(const Allocation& allocation)
{
    auto row = state_->imports.find(allocation.base - state_->base);
    if (row != state_->imports.end() && row->second.live.get() == &allocation)
        row->second.live.reset();
}

void Pool::close_import(const Allocation& allocation)
{
    std::lock_guard lock(state_->mutex);
    auto row = state_->imports.find(allocation.base - state_->base);
    if (row == state_->imports.end() || --row->second.uses > 0)
        return;
    state_->imports.erase(row);
    AddressSpace::get().withdraw(allocation.base);
    exec::close_region(uintptr_t(allocation.base));
}

} // namespace emu::state

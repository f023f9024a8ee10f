// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "pool.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "../../config.hpp"
#include "../../exec/checks/races.hpp"
#include "../device.hpp"
#include "../streams/capture_calls.hpp"
#include "graph_memory.hpp"
#include "pool_state.hpp"

namespace emu::state {
namespace {

constexpr size_t chunk = 32 << 20, small_chunk = 2 << 20;

HandleTable<Pool, CUmemoryPool>& pools()
{
    static auto* rows = new HandleTable<Pool, CUmemoryPool>;
    return *rows;
}

std::atomic<uint32_t> sharing[8]; // by device, as bits: devices whose pools it was ever granted access to

} // namespace

Pool::Pool(const CUmemPoolProps& properties) : state_(new PoolState)
{
    state_->properties = properties;
}

Pool::~Pool()
{
    close_shared();
}

CUresult Pool::create(const CUmemPoolProps& properties, CUmemoryPool* out)
{
    const CUmemLocation& at = properties.location;
    bool device = at.type == CU_MEM_LOCATION_TYPE_DEVICE;
    bool host = at.type == CU_MEM_LOCATION_TYPE_HOST || at.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
    bool managed = properties.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED;
    if (properties.allocType != CU_MEM_ALLOCATION_TYPE_PINNED && !managed)
        return CUDA_ERROR_INVALID_VALUE;
    bool numa = at.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
    if ((device || numa) && at.id < 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (device ? !device_at(at.id) : !host && !managed)
        return CUDA_ERROR_INVALID_VALUE;
    bool shared = properties.handleTypes != CU_MEM_HANDLE_TYPE_NONE;
    if (shared && properties.handleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_NOT_SUPPORTED; // consistent with CU_DEVICE_ATTRIBUTE_*
    if (shared && (managed || !(device || numa)))
        return CUDA_ERROR_INVALID_VALUE;
    auto pool = std::make_shared<Pool>(properties);
    if (shared)
        if (CUresult failed = pool->open_shared())
            return failed;
    *out = enter(std::move(pool));
    return CUDA_SUCCESS;
}

CUmemoryPool Pool::enter(std::shared_ptr<Pool> pool)
{
    Pool& made = *pool;
    return made.state_->handle = pools().add(std::move(pool));
}

std::shared_ptr<Pool> Pool::make_default(CUmemLocationType location, int id, CUmemAllocationType type)
{
    CUmemPoolProps properties{};
    properties.allocType = type;
    properties.location.type = location;
    properties.location.id = id;
    auto pool = std::make_shared<Pool>(properties);
    pool->state_->is_default = true;
    pool->state_->handle = pools().add(pool);
    return pool;
}

CUresult Pool::destroy(CUmemoryPool handle)
{
    auto pool = pools().find(handle);
    if (!pool || pool->is_default() || pool->has_imports())
        return CUDA_ERROR_INVALID_VALUE;
    forget_current(pool);
    pools().remove(handle);
    std::lock_guard lock(pool->state_->mutex);
    pool->close_file();
    if (pool->state_->used == 0)
        pool->shrink(0);
    return CUDA_SUCCESS;
}

std::shared_ptr<Pool> Pool::find(CUmemoryPool handle)
{
    return pools().find(handle);
}

std::vector<std::pair<std::shared_ptr<Pool>, Origin>> Pool::all()
{
    return pools().all();
}

CUmemoryPool Pool::handle() const
{
    return state_->handle;
}
bool Pool::is_default() const
{
    return state_->is_default;
}
const CUmemPoolProps& Pool::properties() const
{
    return state_->properties;
}

Arena& Pool::arena() const
{
    auto& space = AddressSpace::get();
    const CUmemPoolProps& p = state_->properties;
    if (p.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED)
        return space.managed();
    return p.location.type == CU_MEM_LOCATION_TYPE_DEVICE ? space.device(p.location.id) : space.pinned();
}

// Returns the arena for the pool's addresses. The bytes always count against arena().
Arena& Pool::memory() const
{
    return state_->own ? *state_->own : arena();
}

// Called under the lock, like the next three functions. Reserves `bytes` more, in the largest step that the device
// still has.
bool Pool::grow(size_t bytes)
{
    PoolState& s = *state_;
    uint64_t need = s.taken + bytes, limit = s.properties.maxSize;
    if (need <= s.reserved)
        return true;
    for (size_t step : {chunk, small_chunk, size_t(512)}) {
        uint64_t target = round_up(need, step);
        if (limit && target > round_up(limit, small_chunk))
            continue;
        if (!arena().charge(target - s.reserved))
            continue;
        s.reserved = target;
        s.reserved_high = std::max(s.reserved_high, s.reserved);
        return true;
    }
    return false;
}

void Pool::shrink(size_t keep)
{
    PoolState& s = *state_;
    uint64_t target = std::max<uint64_t>(round_up(s.taken, chunk), keep);
    if (target < s.taken || target >= s.reserved)
        return;
    arena().discharge(s.reserved - target);
    s.reserved = target;
}

void Pool::settle()
{
    PoolState& s = *state_;
    if (s.last_free < synchronizations()) {
        s.last_free = ~uint64_t(0);
        shrink(s.threshold);
    }
}

CUresult Pool::attribute(CUmemPool_attribute attribute, void* value)
{
    if (is_imported())
        return CUDA_ERROR_INVALID_VALUE;
    PoolState& s = *state_;
    std::lock_guard lock(s.mutex);
    settle();
    auto number = [&](uint64_t n) { *static_cast<cuuint64_t*>(value) = n; };
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        *static_cast<int*>(value) = s.reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES];
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: number(s.threshold); return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: number(s.reserved); return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: number(s.reserved_high); return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: number(s.used); return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: number(s.used_high); return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_ALLOCATION_TYPE: *static_cast<int*>(value) = s.properties.allocType; return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_EXPORT_HANDLE_TYPES: *static_cast<int*>(value) = s.properties.handleTypes; return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_LOCATION_ID: *static_cast<int*>(value) = s.properties.location.id; return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_LOCATION_TYPE: *static_cast<int*>(value) = s.properties.location.type; return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_MAX_POOL_SIZE: number(s.properties.maxSize); return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_LOCALITY_DOMAIN_ID: // a device has one domain, which counts as none
        if (config().driver_version < domains_since)
            return CUDA_ERROR_INVALID_VALUE;
        *static_cast<int*>(value) = -1;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_HW_DECOMPRESS_ENABLED: *static_cast<int*>(value) = 0; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult Pool::set_attribute(CUmemPool_attribute attribute, const void* value)
{
    if (is_imported())
        return CUDA_ERROR_INVALID_VALUE;
    PoolState& s = *state_;
    std::lock_guard lock(s.mutex);
    settle();
    auto number = *static_cast<const int*>(value);
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        s.reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] = number != 0;
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: s.threshold = *static_cast<const cuuint64_t*>(value); return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: // can only be reset
        if (*static_cast<const cuuint64_t*>(value) != 0)
            return CUDA_ERROR_INVALID_VALUE;
        if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH)
            s.used_high = s.used;
        else
            s.reserved_high = s.reserved;
        return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult Pool::access(const CUmemLocation& location, CUmemAccess_flags* flags) const
{
    const CUmemPoolProps& p = state_->properties;
    if (location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
        bool host = p.location.type != CU_MEM_LOCATION_TYPE_DEVICE;
        *flags = host ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
        return CUDA_SUCCESS;
    }
    if (!device_at(location.id))
        return CUDA_ERROR_INVALID_DEVICE;
    std::lock_guard lock(state_->mutex);
    auto row = state_->access.find(location.id);
    bool own = p.location.type == CU_MEM_LOCATION_TYPE_DEVICE && p.location.id == location.id;
    *flags = own                           ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
             : row == state_->access.end() ? CU_MEM_ACCESS_FLAGS_PROT_NONE
                                           : row->second;
    return CUDA_SUCCESS;
}

CUresult Pool::set_access(const CUmemAccessDesc* rows, size_t count)
{
    const CUmemPoolProps& p = state_->properties;
    int own = p.location.type == CU_MEM_LOCATION_TYPE_DEVICE ? p.location.id : -1;
    for (size_t i = 0; i < count; ++i) {
        if (rows[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE)
            return CUDA_ERROR_INVALID_VALUE;
        if (!device_at(rows[i].location.id))
            return CUDA_ERROR_INVALID_DEVICE;
        if (rows[i].location.id == own && rows[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            return CUDA_ERROR_INVALID_VALUE; // the owner always has access
        if (rows[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READ)
            return CUDA_ERROR_NOT_SUPPORTED; // like hardware drivers
    }
    std::lock_guard lock(state_->mutex);
    for (size_t i = 0; i < count; ++i)
        state_->access[rows[i].location.id] = rows[i].flags;
    state_->shared_with = 0;
    for (const auto& row : state_->access)
        if (row.first != own && row.second != CU_MEM_ACCESS_FLAGS_PROT_NONE) {
            state_->shared_with |= 1u << row.first;
            if (own >= 0)
                sharing[row.first] |= 1u << own;
        }
    for (auto& allocation : AddressSpace::get().all())
        if (allocation->owner.get() == this)
            exec::share_region(uintptr_t(allocation->base), state_->shared_with);
    return CUDA_SUCCESS;
}

bool Pool::allows_access(int device) const
{
    const CUmemPoolProps& p = state_->properties;
    bool is_own = p.location.type == CU_MEM_LOCATION_TYPE_DEVICE && p.location.id == device;
    if (is_own || p.allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
        return true;
    std::lock_guard lock(state_->mutex);
    return state_->shared_with >> device & 1;
}

uint32_t Pool::sharing_with(int device)
{
    return sharing[device].load(std::memory_order_relaxed);
}

CUresult Pool::trim(size_t keep)
{
    if (is_imported())
        return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(state_->mutex);
    shrink(keep);
    return CUDA_SUCCESS;
}

// Returns false if there is no room.
bool Pool::take(size_t size, CUdeviceptr* out)
{
    PoolState& s = *state_;
    const size_t rounded = round_up(size, 512);
    std::shared_ptr<Allocation> allocation;
    bool managed = s.properties.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED;
    MemoryKind kind = managed                                                     ? MemoryKind::managed
                      : s.properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE ? MemoryKind::device
                                                                                  : MemoryKind::pinned;
    std::lock_guard lock(s.mutex);
    settle();
    if (!grow(rounded) || memory().allocate(size, 512, kind, false, &allocation) != CUDA_SUCCESS)
        return false;
    if (s.shared_with)
        exec::share_region(uintptr_t(allocation->base), s.shared_with);
    s.taken += rounded;
    s.used += size;
    s.used_high = std::max(s.used_high, s.used);
    allocation->pool = s.handle;
    allocation->owner = shared_from_this();
    *out = allocation->base;
    return true;
}

CUresult Pool::allocate(size_t size, Stream& stream, CUdeviceptr* out)
{
    PoolState& s = *state_;
    if (is_imported())
        return CUDA_ERROR_INVALID_VALUE;
    if (size == 0) {
        *out = 0;
        return CUDA_SUCCESS;
    }
    if (round_up(size, 512) < size)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (stream.is_capturing()) {
        const CUmemLocation& at = s.properties.location;
        if (at.type != CU_MEM_LOCATION_TYPE_DEVICE)
            return CUDA_ERROR_NOT_SUPPORTED;
        return CaptureCalls::get().allocate(stream, at.id, size, s.handle, out);
    }
    for (int attempt = 0;; ++attempt) {
        if (take(size, out)) {
            if (config().checks.races)
                exec::order_allocation(uintptr_t(*out), stream.take_turn(origin.call));
            return CUDA_SUCCESS;
        }
        // Queued frees may return enough memory, so wait for this context once.
        auto context = stream.context();
        if (attempt || !context)
            return CUDA_ERROR_OUT_OF_MEMORY;
        context->wait_idle();
        for (auto& row : pools().all()) {
            std::lock_guard lock(row.first->state_->mutex);
            row.first->shrink(0);
        }
    }
}

// Called when the stream has reached the free, after which the memory can be reused.
void Pool::finish(const Allocation& allocation)
{
    if (is_imported())
        return close_import(allocation);
    memory().release(allocation.base);
    std::lock_guard lock(state_->mutex);
    state_->taken -= round_up(allocation.size, 512);
    state_->last_free = synchronizations();
    if (!pools().find(state_->handle) && state_->taken == 0)
        shrink(0);
}

// Marks an allocation as being freed, so that no other call frees it, and returns it.
CUresult Pool::claim(CUdeviceptr base, std::shared_ptr<Allocation>* out)
{
    auto allocation = AddressSpace::get().find(base);
    if (!allocation || allocation->base != base || allocation->kind == MemoryKind::variable ||
        allocation->kind == MemoryKind::registered || allocation->kind == MemoryKind::mapped)
        return CUDA_ERROR_INVALID_VALUE;
    if (auto memory = allocation->graph ? GraphMemory::find(base) : nullptr) {
        if (!memory->drop())
            return CUDA_ERROR_INVALID_VALUE;
        GraphReserve::of(memory->device()).change(-(long long)(memory->size()));
        *out = std::move(allocation);
        return CUDA_SUCCESS;
    }
    if (allocation->graph || allocation->released.exchange(true))
        return CUDA_ERROR_INVALID_VALUE;
    if (Pool* pool = allocation->owner.get()) {
        std::lock_guard lock(pool->state_->mutex);
        if (pool->is_imported())
            pool->drop_import(*allocation);
        else
            pool->state_->used -= allocation->size;
    }
    *out = std::move(allocation);
    return CUDA_SUCCESS;
}

// Returns claimed memory to its source.
CUresult Pool::return_memory(Allocation& allocation)
{
    if (auto memory = allocation.graph ? GraphMemory::find(allocation.base) : nullptr)
        memory->hide();
    else if (auto pool = std::atomic_exchange(&allocation.owner, {}))
        pool->finish(allocation);
    else
        return AddressSpace::get().release(allocation.base);
    return CUDA_SUCCESS;
}

CUresult Pool::release(CUdeviceptr base, Stream& stream)
{
    std::shared_ptr<Allocation> allocation;
    if (!base)
        return CUDA_SUCCESS;
    if (stream.is_capturing())
        return CaptureCalls::get().free(stream, base);
    if (CUresult failed = claim(base, &allocation))
        return failed;
    return stream.enqueue({Operation::Kind::release, "cuMemFreeAsync", [allocation] {
                               if (config().checks.races)
                                   exec::check_transfer(allocation->base, allocation->size, exec::Transfer::release);
                               return_memory(*allocation);
                               return CUDA_SUCCESS;
                           }});
}

CUresult Pool::release_now(CUdeviceptr base)
{
    std::shared_ptr<Allocation> allocation;
    if (CUresult failed = claim(base, &allocation))
        return failed;
    return return_memory(*allocation);
}

} // namespace emu::state

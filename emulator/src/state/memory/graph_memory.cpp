// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "graph_memory.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "../../config.hpp"
#include "../../exec/checks/races.hpp"
#include "../device.hpp"

namespace emu::state {
namespace {

constexpr size_t step = 32 << 20;

struct Registry {
    std::mutex mutex;
    std::map<CUdeviceptr, std::weak_ptr<GraphMemory>> rows;
};

Registry& registry()
{
    static auto* rows = new Registry;
    return *rows;
}

} // namespace

CUresult GraphMemory::make(int device, bool managed, size_t size, std::shared_ptr<GraphMemory>* out)
{
    auto memory = std::make_shared<GraphMemory>();
    memory->device_ = device;
    memory->managed_ = managed;
    if (CUresult failed = memory->arena().set_aside(size, &memory->allocation_))
        return failed;
    memory->allocation_->graph = memory.get();
    Registry& r = registry();
    std::lock_guard lock(r.mutex);
    r.rows[memory->allocation_->base] = memory;
    *out = std::move(memory);
    return CUDA_SUCCESS;
}

GraphMemory::~GraphMemory()
{
    if (!allocation_)
        return;
    Registry& r = registry();
    {
        std::lock_guard lock(r.mutex);
        auto row = r.rows.find(allocation_->base);
        if (row != r.rows.end() && row->second.expired())
            r.rows.erase(row);
    }
    arena().release(allocation_->base);
}

Arena& GraphMemory::arena() const
{
    return managed_ ? AddressSpace::get().managed() : AddressSpace::get().device(device_);
}

std::shared_ptr<GraphMemory> GraphMemory::find(CUdeviceptr base)
{
    Registry& r = registry();
    std::lock_guard lock(r.mutex);
    auto row = r.rows.find(base);
    return row == r.rows.end() ? nullptr : row->second.lock();
}

std::shared_ptr<Allocation> GraphMemory::find_allocation(CUdeviceptr address)
{
    std::shared_ptr<GraphMemory> found; // destroyed after the lock is released
    Registry& r = registry();
    {
        std::lock_guard lock(r.mutex);
        auto row = r.rows.upper_bound(address);
        if (row == r.rows.begin())
            return nullptr;
        found = std::prev(row)->second.lock();
    }
    if (!found || address - found->allocation_->base >= found->allocation_->size)
        return nullptr;
    return found->allocation_;
}

bool GraphMemory::is_live() const
{
    std::lock_guard lock(mutex_);
    return live_;
}

void GraphMemory::take(const exec::Turn& turn)
{
    std::lock_guard lock(mutex_);
    live_ = true;
    self_ = shared_from_this();
    if (shown_++ > 0) // by a launch that may still be running
        return;
    arena().show(allocation_, true);
    if (config().checks.races)
        exec::order_allocation(uintptr_t(allocation_->base), turn);
}

bool GraphMemory::drop()
{
    std::lock_guard lock(mutex_);
    return std::exchange(live_, false);
}

void GraphMemory::hide()
{
    std::shared_ptr<GraphMemory> self; // destroyed after the lock is released
    std::lock_guard lock(mutex_);
    if (--shown_ > 0)
        return;
    arena().hide(*allocation_);
    self = std::move(self_);
}

GraphReserve& GraphReserve::of(int device)
{
    static auto* rows = [] {
        auto* made = new GraphReserve[8];
        for (int i = 0; i < 8; ++i)
            made[i].device_ = i;
        return made;
    }();
    return rows[device];
}

bool GraphReserve::ensure(size_t more)
{
    std::lock_guard lock(mutex_);
    size_t wanted = (held_ + more + step - 1) / step * step;
    if (wanted <= reserved_)
        return true;
    if (!AddressSpace::get().device(device_).charge(wanted - reserved_))
        return false;
    reserved_ = wanted;
    reserved_high_ = std::max(reserved_high_, reserved_);
    used_high_ = std::max(used_high_, reserved_);
    return true;
}

void GraphReserve::change(long long bytes)
{
    std::lock_guard lock(mutex_);
    held_ += size_t(bytes);
}

void GraphReserve::trim()
{
    std::lock_guard lock(mutex_);
    size_t kept = (held_ + step - 1) / step * step;
    if (kept >= reserved_)
        return;
    AddressSpace::get().device(device_).discharge(reserved_ - kept);
    reserved_ = kept;
}

// Reserved memory counts as used until it is trimmed, as on a GPU.
CUresult GraphReserve::attribute(CUgraphMem_attribute attribute, cuuint64_t* value) const
{
    std::lock_guard lock(mutex_);
    switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT: *value = reserved_; break;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH: *value = used_high_; break;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH: *value = reserved_high_; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult GraphReserve::reset(CUgraphMem_attribute attribute)
{
    std::lock_guard lock(mutex_);
    switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH: used_high_ = reserved_; break;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH: reserved_high_ = reserved_; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

} // namespace emu::state

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The default and current pools of devices and other locations.
#include <array>
#include <map>
#include <mutex>

#include "../device.hpp"
#include "pool.hpp"
#include "pool_state.hpp"

namespace emu::state {
namespace {

struct DevicePools {
    std::mutex mutex;
    std::shared_ptr<Pool> default_one;
    std::shared_ptr<Pool> current; // null: the default pool
};

DevicePools& pools_of(int ordinal)
{
    static auto* all = new std::array<DevicePools, 8>;
    return (*all)[size_t(ordinal)];
}

} // namespace

std::shared_ptr<Pool> Pool::default_of(const Device& device)
{
    DevicePools& pools = pools_of(device.ordinal());
    std::lock_guard lock(pools.mutex);
    if (!pools.default_one)
        pools.default_one = make_default(CU_MEM_LOCATION_TYPE_DEVICE, device.ordinal(), CU_MEM_ALLOCATION_TYPE_PINNED);
    return pools.default_one;
}

std::shared_ptr<Pool> Pool::current_of(const Device& device)
{
    {
        DevicePools& pools = pools_of(device.ordinal());
        std::lock_guard lock(pools.mutex);
        if (pools.current)
            return pools.current;
    }
    return default_of(device);
}

void Pool::make_current(const Device& device, std::shared_ptr<Pool> pool)
{
    DevicePools& pools = pools_of(device.ordinal());
    std::lock_guard lock(pools.mutex);
    pools.current = std::move(pool);
}

// Restores the default pool wherever a destroyed pool was current.
void Pool::forget_current(const std::shared_ptr<Pool>& pool)
{
    for (int i = 0; i < device_count(); ++i) {
        DevicePools& pools = pools_of(i);
        std::lock_guard lock(pools.mutex);
        if (pools.current == pool)
            pools.current = nullptr;
    }
}

CUresult Pool::host_pool(const CUmemLocation& location, CUmemAllocationType type, std::shared_ptr<Pool>* out)
{
    static std::mutex mutex;
    static auto* pools = new std::map<std::pair<int, int>, std::shared_ptr<Pool>>;
    bool host = location.type == CU_MEM_LOCATION_TYPE_HOST || location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
    if (location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!host && type != CU_MEM_ALLOCATION_TYPE_MANAGED)
        return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(mutex);
    auto& pool = (*pools)[{int(location.type), int(type)}];
    if (!pool) {
        pool = make_default(location.type, location.id, type);
        for (int i = 0; i < device_count(); ++i) { // unlike a pool that the program creates
            pool->state_->access[i] = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
            pool->state_->shared_with |= 1u << i;
        }
    }
    *out = pool;
    return CUDA_SUCCESS;
}

} // namespace emu::state

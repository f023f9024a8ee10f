// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "device.hpp"

#include <cstdio>
#include <cstring>
#include <mutex>
#include <unistd.h>

#include "../config.hpp"
#include "context.hpp"
#include "pool.hpp"

namespace emu::state {

struct Device::State {
    mutable std::mutex mutex;
    CUcontext primary = nullptr; // kept when it has ended
    unsigned references = 0, flags = 0;
    bool active = false;
    std::shared_ptr<Pool> default_pool, current_pool;
};

Device::Device(int ordinal)
    : ordinal_(ordinal), name_("CUDA software device (cuda.emulator)"),
      state_(std::make_shared<State>())
{
}

CUuuid Device::uuid() const
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    std::string seed = std::string(host) + "/" + std::to_string(getuid()) + "/" +
                       std::to_string(ordinal_);
    CUuuid out;
    uint64_t hash = 0xcbf29ce484222325u; // FNV-1a, twice
    for (int half = 0; half < 2; ++half) {
        for (unsigned char byte : seed)
            hash = (hash ^ byte) * 0x100000001b3u;
        std::memcpy(out.bytes + 8 * half, &hash, 8);
    }
    out.bytes[6] = char((out.bytes[6] & 0x0f) | 0x40); // the form of a random UUID
    out.bytes[8] = char((out.bytes[8] & 0x3f) | 0x80);
    return out;
}

std::string Device::pci_bus_id() const
{
    char text[32];
    std::snprintf(text, sizeof text, "%04X:%02X:%02X.0",
                  number(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
                  number(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
                  number(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID));
    return text;
}

size_t Device::total_memory() const { return config().memory; }
Arena& Device::memory() const { return AddressSpace::get().device(ordinal_); }
int Device::major() const { return config().compute_major; }
int Device::minor() const { return config().compute_minor; }

int Device::number(CUdevice_attribute wanted) const
{
    int value = 0;
    attribute(wanted, &value);
    return value;
}

CUresult Device::retain_primary(CUcontext* out)
{
    std::lock_guard lock(state_->mutex);
    if (!state_->active) {
        CUresult failed = state_->primary
                              ? Context::revive(*this, state_->flags, state_->primary)
                              : Context::create(*this, state_->flags, true, &state_->primary);
        if (failed)
            return failed;
        state_->active = true;
    }
    ++state_->references;
    *out = state_->primary;
    return CUDA_SUCCESS;
}

CUresult Device::release_primary()
{
    std::lock_guard lock(state_->mutex);
    if (state_->references == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (--state_->references)
        return CUDA_SUCCESS;
    state_->flags = 0;
    if (!state_->active)
        return CUDA_SUCCESS;
    state_->active = false;
    return Context::destroy(state_->primary);
}

CUresult Device::reset_primary()
{
    std::lock_guard lock(state_->mutex);
    if (!state_->active)
        return CUDA_SUCCESS;
    state_->active = false;
    state_->flags = 0;
    return Context::destroy(state_->primary);
}

CUresult Device::set_primary_flags(unsigned flags)
{
    std::lock_guard lock(state_->mutex);
    state_->flags = flags;
    if (auto context = state_->active ? Context::find(state_->primary) : nullptr)
        context->set_flags(flags);
    return CUDA_SUCCESS;
}

void Device::primary_state(unsigned* flags, int* active) const
{
    std::lock_guard lock(state_->mutex);
    *flags = state_->flags;
    *active = state_->active;
}

std::shared_ptr<Pool> Device::default_pool()
{
    std::lock_guard lock(state_->mutex);
    if (!state_->default_pool)
        state_->default_pool = Pool::make_default(CU_MEM_LOCATION_TYPE_DEVICE, ordinal_,
                                                  CU_MEM_ALLOCATION_TYPE_PINNED);
    return state_->default_pool;
}

std::shared_ptr<Pool> Device::current_pool()
{
    {
        std::lock_guard lock(state_->mutex);
        if (state_->current_pool)
            return state_->current_pool;
    }
    return default_pool();
}

void Device::set_current_pool(std::shared_ptr<Pool> pool)
{
    std::lock_guard lock(state_->mutex);
    state_->current_pool = std::move(pool);
}

int device_count()
{
    return config().devices;
}

Device* device_at(int ordinal)
{
    static auto* devices = [] {
        auto* list = new std::vector<Device>;
        for (int i = 0; i < config().devices; ++i)
            list->emplace_back(i);
        return list;
    }();
    return ordinal >= 0 && ordinal < config().devices ? &(*devices)[size_t(ordinal)] : nullptr;
}

bool can_access_peer(int from, int to)
{
    return from != to;
}

} // namespace emu::state

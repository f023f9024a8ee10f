// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "multicast.hpp"

#include <sys/mman.h>

#include "virtual_space.hpp"

namespace emu::state {

Multicast::Multicast(const CUmulticastObjectProp_st& properties) : properties_(properties) {}

unsigned Multicast::find(size_t offset, size_t size, void** places) const
{
    unsigned count = 0;
    std::lock_guard lock(mutex_);
    for (const auto& device : bound_) {
        auto next = device.second.upper_bound(offset);
        if (next == device.second.begin())
            return 0;
        const auto& binding = *std::prev(next);
        if (offset - binding.first > binding.second.size || size > binding.second.size - (offset - binding.first))
            return 0;
        places[count++] = static_cast<std::byte*>(binding.second.host.get()) + (offset - binding.first);
    }
    return count;
}

CUresult Multicast::add_device(int device)
{
    std::lock_guard lock(mutex_);
    if (bound_.count(device) || bound_.size() == properties_.numDevices)
        return CUDA_ERROR_INVALID_VALUE;
    bound_[device];
    return CUDA_SUCCESS;
}

bool Multicast::is_complete() const
{
    std::lock_guard lock(mutex_);
    return bound_.size() == properties_.numDevices;
}

CUresult Multicast::bind(int device, size_t offset, size_t size, int file, std::shared_ptr<void> memory)
{
    constexpr size_t unit = VirtualSpace::unit;
    std::lock_guard lock(mutex_);
    auto row = bound_.find(device);
    if (row == bound_.end() || !size || offset % unit || size % unit || offset > properties_.size ||
        size > properties_.size - offset)
        return CUDA_ERROR_INVALID_VALUE;
    auto next = row->second.lower_bound(offset);
    bool overlaps = next != row->second.end() && next->first < offset + size;
    if (next != row->second.begin())
        overlaps |= std::prev(next)->first + std::prev(next)->second.size > offset;
    if (overlaps)
        return CUDA_ERROR_INVALID_VALUE;
    void* host = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (host == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    std::shared_ptr<void> mapped(host, [size](void* start) { munmap(start, size); });
    row->second[offset] = {size, std::move(memory), std::move(mapped)};
    return CUDA_SUCCESS;
}

CUresult Multicast::unbind(int device, size_t offset, size_t size)
{
    std::vector<std::shared_ptr<void>> ended; // destroyed after the lock is released
    std::lock_guard lock(mutex_);
    auto row = bound_.find(device);
    if (row == bound_.end())
        return CUDA_ERROR_INVALID_VALUE;
    auto& rows = row->second;
    size_t at = offset;
    for (auto next = rows.find(offset); next != rows.end() && next->first == at && at < offset + size; ++next)
        at += next->second.size;
    if (!size || at != offset + size)
        return CUDA_ERROR_INVALID_VALUE; // not whole bindings
    auto first = rows.find(offset), last = rows.lower_bound(offset + size);
    for (auto next = first; next != last; ++next)
        ended.push_back(std::move(next->second.memory));
    rows.erase(first, last);
    return CUDA_SUCCESS;
}

} // namespace emu::state

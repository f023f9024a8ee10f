// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "multicast.hpp"

#include "virtual_space.hpp"

namespace emu::state {

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

CUresult Multicast::bind(size_t offset, size_t size, const std::shared_ptr<Physical>& memory)
{
    constexpr size_t unit = VirtualSpace::unit;
    std::lock_guard lock(mutex_);
    auto row = bound_.find(memory->properties().location.id);
    if (memory->is_host() || memory->multicast() || row == bound_.end())
        return CUDA_ERROR_INVALID_VALUE; // memory of no device of the team
    if (!size || offset % unit || size % unit || size > memory->size() || offset > properties_.size ||
        size > properties_.size - offset)
        return CUDA_ERROR_INVALID_VALUE;
    auto next = row->second.lower_bound(offset);
    bool overlaps = next != row->second.end() && next->first < offset + size;
    if (next != row->second.begin())
        overlaps |= std::prev(next)->first + std::prev(next)->second.size > offset;
    if (overlaps)
        return CUDA_ERROR_INVALID_VALUE;
    row->second[offset] = {size, memory};
    return CUDA_SUCCESS;
}

CUresult Multicast::unbind(int device, size_t offset, size_t size)
{
    std::vector<std::shared_ptr<Physical>> ended; // destroyed after the lock is released
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

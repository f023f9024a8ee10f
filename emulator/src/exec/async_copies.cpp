// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "async_copies.hpp"

#include <algorithm>

namespace emu::exec {

void AsyncCopies::add(uint32_t thread, const AsyncCopy& copy)
{
    if (!used_)
        threads_.resize(most_);
    used_ = true;
    threads_[thread].copies.push_back(copy);
    threads_[thread].copies.back().group = threads_[thread].group;
    ++places_[copy.to / 16];
}

std::vector<AsyncCopy> AsyncCopies::take(uint32_t thread, uint32_t groups, bool all)
{
    std::vector<AsyncCopy> out;
    if (!used_)
        return out;
    Thread& self = threads_[thread];
    auto is_left = [&](const AsyncCopy& copy) { return !all && copy.group + groups >= self.group; };
    auto end = std::find_if(self.copies.begin(), self.copies.end(), is_left);
    out.assign(self.copies.begin(), end);
    self.copies.erase(self.copies.begin(), end);
    for (const AsyncCopy& copy : out)
        if (--places_[copy.to / 16] == 0)
            places_.erase(copy.to / 16);
    return out;
}

const AsyncCopy* AsyncCopies::find(uintptr_t address, size_t size, uint32_t* thread) const
{
    bool near = false;
    for (uintptr_t place = address / 16; place <= (address + size - 1) / 16; ++place)
        near |= places_.count(place) != 0;
    for (size_t i = 0; near && i < threads_.size(); ++i)
        for (const AsyncCopy& copy : threads_[i].copies)
            if (address < copy.to + copy.size && copy.to < address + size) {
                *thread = uint32_t(i);
                return &copy;
            }
    return nullptr;
}

} // namespace emu::exec

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Bulk copies (cp.async.bulk) that a block has issued. They move their bytes late: copies to shared memory when a thread
// waits at their mbarrier, copies to global memory when their thread waits for their group.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "fiber.hpp"

namespace emu::exec {

struct BulkCopy {
    uintptr_t shared = 0; // the side in shared memory
    size_t size = 0;
    uintptr_t barrier = 0; // 0: the copy reads shared memory, and belongs to a group of its thread
    uint32_t thread = 0, group = 0;
    Site site;
    std::function<void()> move;
};

// The copies of a running block.
class BulkCopies {
public:
    void begin() { rows_.clear(), groups_.clear(); }
    bool any() const { return !rows_.empty(); }
    void add(BulkCopy copy)
    {
        copy.group = groups_[copy.thread];
        rows_.push_back(std::move(copy));
    }
    void commit(uint32_t thread) { ++groups_[thread]; }
    // Returns true if the copy has to complete before at most `groups` of the thread's committed groups are left.
    bool is_due(const BulkCopy& copy, uint32_t thread, uint32_t groups) const
    {
        return !copy.barrier && copy.thread == thread && copy.group + groups < groups_.at(thread);
    }
    // Removes the copies for which the function returns true, in the order in which they were issued.
    template <class F> std::vector<BulkCopy> take_if(F is_wanted)
    {
        std::vector<BulkCopy> out, left;
        for (BulkCopy& copy : rows_)
            (is_wanted(copy) ? out : left).push_back(std::move(copy));
        rows_ = std::move(left);
        return out;
    }
    // Returns a copy that an access to shared memory comes too early for, or null.
    const BulkCopy* find(uintptr_t address, size_t size, bool store) const
    {
        auto meets = [&](const BulkCopy& copy) {
            return (copy.barrier || store) && address < copy.shared + copy.size && copy.shared < address + size;
        };
        auto found = std::find_if(rows_.begin(), rows_.end(), meets);
        return found == rows_.end() ? nullptr : &*found;
    }

private:
    std::vector<BulkCopy> rows_;
    std::map<uint32_t, uint32_t> groups_; // by thread: the number of its next group
};

} // namespace emu::exec

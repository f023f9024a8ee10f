// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Copies to shared memory that a thread has issued (cp.async). They complete when the thread waits for them, as late as
// they may on a GPU, so a program that does not wait finds the earlier contents.
#pragma once

#include <unordered_map>
#include <vector>

#include "fiber.hpp"

namespace emu::exec {

struct AsyncCopy {
    uintptr_t to = 0;
    uint32_t size = 0; // 4, 8 or 16, and `to` is a multiple of it
    uint32_t group = 0;
    Site site;
    unsigned char value[16] = {};
};

// The copies of a running block.
class AsyncCopies {
public:
    void begin(uint32_t threads)
    {
        if (used_)
            threads_.clear(), places_.clear();
        used_ = false;
        most_ = threads;
    }
    bool any() const { return used_ && !places_.empty(); }
    void add(uint32_t thread, const AsyncCopy& copy);
    void commit(uint32_t thread)
    {
        if (used_)
            ++threads_[thread].group;
    }
    // Removes the copies that have to complete before at most `groups` of the thread's committed groups are left, in
    // the order in which they were issued; with `all`, also those of no group.
    std::vector<AsyncCopy> take(uint32_t thread, uint32_t groups, bool all);
    // Returns a copy that has not completed and writes to the range, and its thread, or null.
    const AsyncCopy* find(uintptr_t address, size_t size, uint32_t* thread) const;

private:
    struct Thread {
        uint32_t group = 0; // the number of the next group
        std::vector<AsyncCopy> copies;
    };
    bool used_ = false;
    uint32_t most_ = 0;
    std::vector<Thread> threads_;
    std::unordered_map<uintptr_t, uint32_t> places_; // how many copies write to each 16 bytes
};

} // namespace emu::exec

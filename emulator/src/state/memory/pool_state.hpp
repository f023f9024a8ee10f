// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The state of a pool, protected by its lock.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "arena.hpp"
#include "virtual_space.hpp"

namespace emu::state {

struct PoolState {
    CUmemPoolProps properties;
    CUmemoryPool handle = nullptr;
    bool is_default = false;
    mutable std::mutex mutex;
    int reuse[3] = {1, 1, 1}; // the three CU_MEMPOOL_ATTR_REUSE_* attributes
    uint64_t threshold = 0;
    uint64_t used = 0, used_high = 0; // bytes requested by programs
    uint64_t taken = 0;               // `used`, rounded up
    uint64_t reserved = 0, reserved_high = 0;
    uint64_t last_free = ~uint64_t(0); // the value of synchronizations() at the last free
    std::map<int, CUmemAccess_flags> access;
    uint32_t shared_with = 0; // devices with access, as bits

    // For pools that other processes can open: their memory is in a file.
    int file = -1;
    MemoryNote note;
    CUdeviceptr base = 0;
    std::unique_ptr<Arena> own; // null: the memory belongs to another process
    struct Import {
        std::shared_ptr<Allocation> live; // null: a free is queued
        int uses = 0;                     // imports not yet freed, in program order
    };
    std::map<uint64_t, Import> imports; // by file offset
};

} // namespace emu::state

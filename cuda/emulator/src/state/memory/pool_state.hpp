// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// What a pool knows of itself.
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
    int reuse[3] = {1, 1, 1};             // the three CU_MEMPOOL_ATTR_REUSE_*
    uint64_t threshold = 0;
    uint64_t used = 0, used_high = 0;     // bytes asked for
    uint64_t taken = 0;                   // the same, rounded
    uint64_t reserved = 0, reserved_high = 0;
    uint64_t last_free = ~uint64_t(0);    // `synchronizations` at that time
    std::map<int, CUmemAccess_flags> access;
    uint32_t shared_with = 0;             // devices that have access, as bits

    // Of pools that other processes may open: memory in a file of its own.
    int file = -1;
    MemoryNote note;
    CUdeviceptr base = 0;
    std::unique_ptr<Arena> own;           // null: the memory is of another process
    struct Import {
        std::shared_ptr<Allocation> live; // null: a free is on its way
        int uses = 0;                     // until all frees have run
    };
    std::map<uint64_t, Import> imports;   // by offset
};

} // namespace emu::state

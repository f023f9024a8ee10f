// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Blocks that run together as a cluster, each on its own OS thread: their barrier, and the addresses of their shared
// memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "../common.hpp"
#include "checks/races.hpp"

namespace emu::exec {

constexpr uint32_t most_cluster_blocks = 16;

// The shared memory of one block, as kernel addresses.
struct SharedPlace {
    std::atomic<bool> known{false}, ended{false}; // the block has begun; has exited
    uintptr_t dynamic = 0;
    std::vector<uintptr_t> variables; // addresses, in the order of ImageRecord::shared
};

struct Cluster {
    explicit Cluster(uint32_t blocks) : blocks(blocks) {}
    const uint32_t blocks;
    uint32_t arrived = 0, ended = 0; // protected by the launch's lock, like the next two
    KnowledgePtr arriving, seen; // by the threads that arrive at the barrier, and by those that it has released
    std::atomic<uint32_t> generation{0};
    SharedPlace places[most_cluster_blocks];
};

} // namespace emu::exec

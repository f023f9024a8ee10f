// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The order of operations, for the races check: streams, events, graphs, and host waits determine which launches and
// copies come before others.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../../common.hpp"

namespace emu::exec {

struct ImageRecord;

// For each queue, how many of its items come before.
using Order = std::map<uint64_t, uint64_t>;
void join(Order& into, const Order& from);
extern const Order everything; // an unknown order, in which nothing counts as a race

// An item of a queue, or a node of the graph that it launches.
struct Turn {
    uint64_t queue = 0, number = 0;
    const char* name = ""; // the driver call
    std::shared_ptr<const Order> before;
    unsigned node = 0;           // from 1; 0: the whole item
    unsigned earlier_nodes = 0;  // of graphs that have ended within this item: all nodes up to this number
    std::vector<bool> ancestors; // other nodes before this one, by their numbers from there

    bool follows(const Turn& earlier) const;
};

// The turn that the calling thread executes.
std::shared_ptr<const Turn> current_turn();
class TurnScope {
public:
    explicit TurnScope(std::shared_ptr<const Turn> turn);
    ~TurnScope();
    TurnScope(const TurnScope&) = delete;
    TurnScope& operator=(const TurnScope&) = delete;

private:
    std::shared_ptr<const Turn> outer_;
};

// How a launch numbers its blocks.
struct BlockOrder {
    Dim3 grid, cluster;
    uint64_t blocks = 1, start = 0, step = 1, cluster_blocks = 1;
    Dim3 index(uint64_t number) const;
};

// Blocks that run between two barriers of their grid, or a host copy, which is one block. Their numbers are unique in
// the process.
struct Era {
    uint32_t first = 0, blocks = 0;
    uint64_t launch = 0; // the serial number of the launch
    std::string name;    // of the kernel, or of the driver call
    bool is_kernel = true;
    BlockOrder order;
    Dim3 block; // threads
    std::weak_ptr<const ImageRecord> image; // null: unloaded
    std::shared_ptr<const Turn> turn;
    Dim3 thread(uint32_t number) const;
};
// Numbers the blocks, and remembers the era. `runs`: as running, until end_run().
std::shared_ptr<const Era> begin_era(Era era, bool runs = false);
uint32_t begin_run(); // of a copy or fill, before its era begins; returns the number of the next block
void end_run(uint32_t first_block);
uint32_t first_running_block(); // of what has not ended; if there is nothing, the number of the next block
// Returns null for blocks from long ago.
std::shared_ptr<const Era> find_era(uint32_t block);

} // namespace emu::exec

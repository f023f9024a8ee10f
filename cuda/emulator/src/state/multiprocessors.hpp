// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Sets of multiprocessors, as device resources that are split and made into green contexts. What a
// resource holds beside its public figures stands in the bytes that the interface keeps for drivers.
#pragma once

#include <bitset>
#include <memory>
#include <vector>

#include "../common.hpp"
#include "../exec/exec.hpp"

namespace emu::state {

constexpr unsigned most_multiprocessors = 256;
using MultiprocessorSet = std::bitset<most_multiprocessors>;

// The multiprocessors of a resource. `split` numbers the split that it came from; 0: a query.
struct MultiprocessorResource {
    int device = 0;
    uint64_t split = 0;
    MultiprocessorSet members;
    unsigned least = 0, alignment = 0, flags = 0;

    void write(CUdevResource* out) const;
    // INVALID_RESOURCE_TYPE for another type, INVALID_VALUE for one that no call has made. The number of the
    // device is not checked.
    static CUresult read(const CUdevResource& resource, MultiprocessorResource* out);
};

// Of a whole device; `unit` of them at least, and at once, make a group.
MultiprocessorResource all_multiprocessors(int device, unsigned count, unsigned unit);
// For launches: the numbers of a set.
std::shared_ptr<const exec::Partition> partition_of(const MultiprocessorSet& members);

// Groups of one size, rounded up to what the architecture divides; `most` groups or fewer.
CUresult split_evenly(const MultiprocessorResource& from, unsigned flags, unsigned least, unsigned most,
                      std::vector<MultiprocessorResource>* groups, MultiprocessorResource* rest);
// Groups by their own parameters, whose sizes are filled in. `probing`: a group may stay empty.
CUresult split_by_groups(const MultiprocessorResource& from, CU_DEV_SM_RESOURCE_GROUP_PARAMS* parameters,
                         unsigned count, bool probing, std::vector<MultiprocessorResource>* groups,
                         MultiprocessorResource* rest);

// The work queues of a context: how many loads are expected beside each other.
CUdevWorkqueueConfigResource default_workqueues(int device);
bool are_valid(const CUdevWorkqueueConfigResource& queues);

} // namespace emu::state

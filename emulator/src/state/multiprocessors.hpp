// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Sets of multiprocessors: device resources that are split, and made into green contexts. What is not public is in the
// bytes that the structure reserves for drivers.
#pragma once

#include <bitset>
#include <memory>
#include <vector>

#include "../common.hpp"
#include "../exec/exec.hpp"

namespace emu::state {

constexpr unsigned most_multiprocessors = 256;
using MultiprocessorSet = std::bitset<most_multiprocessors>;

// The multiprocessors of a resource. `split` is the number of the split that made it; 0: a query did.
struct MultiprocessorResource {
    int device = 0;
    uint64_t split = 0;
    MultiprocessorSet members;
    unsigned least = 0, alignment = 0, flags = 0;

    void write(CUdevResource* out) const;
    // INVALID_RESOURCE_TYPE for a resource of another type, INVALID_VALUE for one that no call has made. The ordinal of
    // the device is not checked.
    static CUresult read(const CUdevResource& resource, MultiprocessorResource* out);
};

// All multiprocessors of a device; `unit` is both the smallest group and the alignment of group sizes.
MultiprocessorResource all_multiprocessors(int device, unsigned count, unsigned unit);
// The numbers of a set, as launches take them.
std::shared_ptr<const exec::Partition> partition_of(const MultiprocessorSet& members);

// Splits into groups of one size, which is rounded up as the architecture demands; at most `most` groups.
CUresult split_evenly(const MultiprocessorResource& from, unsigned flags, unsigned least, unsigned most,
                      std::vector<MultiprocessorResource>* groups, MultiprocessorResource* rest);
// Splits into groups with parameters of their own, and fills in their sizes. `probing`: a group may be empty.
CUresult split_by_groups(const MultiprocessorResource& from, CU_DEV_SM_RESOURCE_GROUP_PARAMS* parameters,
                         unsigned count, bool probing, std::vector<MultiprocessorResource>* groups,
                         MultiprocessorResource* rest);

// The work queues of a context: how many streams are expected to be busy at a time.
CUdevWorkqueueConfigResource default_workqueues(int device);
bool are_valid(const CUdevWorkqueueConfigResource& queues);

} // namespace emu::state

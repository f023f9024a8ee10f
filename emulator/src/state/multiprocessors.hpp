// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Sets of SMs: device resources that are split, and made into green contexts. Private data is in the bytes that the
// structure reserves for drivers.
#pragma once

#include <bitset>
#include <memory>
#include <vector>

#include "../common.hpp"
#include "../exec/exec.hpp"

namespace emu::state {

constexpr unsigned most_multiprocessors = 256;
using MultiprocessorSet = std::bitset<most_multiprocessors>;

// The SMs of a resource. `split` is the number of the split that produced it, or 0 for a query.
struct MultiprocessorResource {
    int device = 0;
    uint64_t split = 0;
    MultiprocessorSet members;
    unsigned least = 0, alignment = 0, flags = 0;
    unsigned domain = 0; // if flags contain CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID

    void write(CUdevResource* out) const;
    // Returns INVALID_RESOURCE_TYPE for a resource of another type, and INVALID_VALUE for one that no call has created.
    // Does not check the device ordinal.
    static CUresult read(const CUdevResource& resource, MultiprocessorResource* out);
};

// Returns all SMs of a device. `unit` is both the smallest group and the alignment of group sizes.
MultiprocessorResource all_multiprocessors(int device, unsigned count, unsigned unit);
// The numbers of a set, in the form that launches take.
std::shared_ptr<const exec::Partition> partition_of(const MultiprocessorSet& members);

// Splits into at most `most` groups of one size, which is rounded up as the architecture requires.
CUresult split_evenly(const MultiprocessorResource& from, unsigned flags, unsigned least, unsigned most,
                      std::vector<MultiprocessorResource>* groups, MultiprocessorResource* rest);
// Splits into groups with separate parameters, and fills in their sizes. `probing` means that a group may be empty.
CUresult split_by_groups(const MultiprocessorResource& from, CU_DEV_SM_RESOURCE_GROUP_PARAMS* parameters,
                         unsigned count, bool probing, std::vector<MultiprocessorResource>* groups,
                         MultiprocessorResource* rest);

// The work queues of a context: how many streams are expected to be busy at a time.
CUdevWorkqueueConfigResource default_workqueues(int device);
bool are_valid(const CUdevWorkqueueConfigResource& queues);

} // namespace emu::state

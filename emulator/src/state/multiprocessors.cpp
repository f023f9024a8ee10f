// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "multiprocessors.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "../config.hpp"
#include "device.hpp"

namespace emu::state {
namespace {

// The contents of a device resource's private bytes.
struct Hidden {
    uint64_t mark;
    uint64_t split;
    int32_t device;
    uint32_t reserved;
    uint64_t members[most_multiprocessors / 64];
};
static_assert(sizeof(Hidden) <= sizeof(CUdevResource::_internal_padding), "resources have no room for this");
constexpr uint64_t mark = 0x656d752d736d7331u;

std::atomic<uint64_t> next_split{1};

MultiprocessorSet take(MultiprocessorSet* left, unsigned count)
{
    MultiprocessorSet taken;
    for (unsigned i = 0; i < most_multiprocessors && taken.count() < count; ++i)
        if (left->test(i)) {
            taken.set(i);
            left->reset(i);
        }
    return taken;
}

// Finds the size of a group split from `left`, or returns the driver's error.
CUresult size_of_group(const MultiprocessorResource& from, const CU_DEV_SM_RESOURCE_GROUP_PARAMS& group, unsigned left,
                       bool probing, unsigned* out)
{
    constexpr unsigned domain_flags =
        CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID | CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_SUPPLEMENTAL_SMS;
    const unsigned known_flags =
        CU_DEV_SM_RESOURCE_GROUP_BACKFILL | (config().driver_version >= domains_since ? domain_flags : 0);
    const bool in_domain = group.flags & CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID;
    unsigned largest = from.alignment > 2 ? 32 : 2;
    unsigned together = group.coscheduledSmCount ? group.coscheduledSmCount : from.alignment;
    bool fills = group.flags & CU_DEV_SM_RESOURCE_GROUP_BACKFILL;
    if (group.flags & ~known_flags ||
        (group.flags & CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_SUPPLEMENTAL_SMS && !in_domain))
        return CUDA_ERROR_INVALID_VALUE;
    // All SMs of a device are in its domain 0.
    constexpr unsigned any = ~0u; // CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID_ANY
    if (in_domain && group.localityDomainId != 0 && group.localityDomainId != any)
        return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    if (together % 2 || together > largest || group.preferredCoscheduledSmCount % together)
        return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    unsigned wanted = group.smCount ? group.smCount : left - left % (fills ? 2 : together);
    bool fits = wanted % 2 == 0 && wanted <= left && (fills || !group.coscheduledSmCount || wanted % together == 0);
    if (!fits || (!probing && wanted < std::min(together, left)) || (!probing && wanted == 0))
        return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    *out = wanted;
    return CUDA_SUCCESS;
}

} // namespace

void MultiprocessorResource::write(CUdevResource* out) const
{
    *out = {};
    if (members.none())
        return; // the result is invalid, so nothing is left
    Hidden hidden{mark, split, device, 0, {}};
    for (unsigned i = 0; i < most_multiprocessors; ++i)
        hidden.members[i / 64] |= uint64_t(members.test(i)) << i % 64;
    out->type = CU_DEV_RESOURCE_TYPE_SM;
    std::memcpy(out->_internal_padding, &hidden, sizeof hidden);
    out->sm.smCount = unsigned(members.count());
    out->sm.minSmPartitionSize = least;
    out->sm.smCoscheduledAlignment = alignment;
    out->sm.flags = flags;
    out->sm.localityDomainId = domain;
}

CUresult MultiprocessorResource::read(const CUdevResource& resource, MultiprocessorResource* out)
{
    Hidden hidden;
    if (resource.type != CU_DEV_RESOURCE_TYPE_SM)
        return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    std::memcpy(&hidden, resource._internal_padding, sizeof hidden);
    if (hidden.mark != mark)
        return CUDA_ERROR_INVALID_VALUE;
    *out = {hidden.device,
            hidden.split,
            {},
            resource.sm.minSmPartitionSize,
            resource.sm.smCoscheduledAlignment,
            resource.sm.flags,
            resource.sm.localityDomainId};
    for (unsigned i = 0; i < most_multiprocessors; ++i)
        out->members.set(i, hidden.members[i / 64] >> i % 64 & 1);
    return CUDA_SUCCESS;
}

MultiprocessorResource all_multiprocessors(int device, unsigned count, unsigned unit)
{
    MultiprocessorResource all;
    all.device = device;
    for (unsigned i = 0; i < count; ++i)
        all.members.set(i);
    all.least = all.alignment = unit;
    return all;
}

std::shared_ptr<const exec::Partition> partition_of(const MultiprocessorSet& members)
{
    auto partition = std::make_shared<exec::Partition>();
    for (unsigned i = 0; i < most_multiprocessors; ++i)
        if (members.test(i))
            partition->push_back(i);
    return partition;
}

CUresult split_evenly(const MultiprocessorResource& from, unsigned flags, unsigned least, unsigned most,
                      std::vector<MultiprocessorResource>* groups, MultiprocessorResource* rest)
{
    constexpr unsigned known_flags =
        CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING | CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;
    if (flags & ~known_flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (from.split) // "the output results cannot be split again", according to the interface
        return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    bool alone = flags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING;
    MultiprocessorResource group = from;
    group.alignment = alone ? std::min(from.alignment, 2u) : from.alignment;
    group.least = alone ? std::min(from.least, 2u) : from.least;
    auto size = unsigned(round_up(std::max(least, group.least), group.alignment));
    unsigned fitting = unsigned(from.members.count()) / size;
    if (!fitting)
        return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    *rest = from;
    group.split = rest->split = next_split++;
    for (unsigned i = 0; i < std::min(fitting, most); ++i) {
        group.members = take(&rest->members, size);
        groups->push_back(group);
    }
    return CUDA_SUCCESS;
}

CUresult split_by_groups(const MultiprocessorResource& from, CU_DEV_SM_RESOURCE_GROUP_PARAMS* parameters,
                         unsigned count, bool probing, std::vector<MultiprocessorResource>* groups,
                         MultiprocessorResource* rest)
{
    *rest = from;
    rest->split = next_split++;
    std::vector<unsigned> sizes;
    for (unsigned i = 0; i < count; ++i) {
        unsigned size = 0;
        if (CUresult failed = size_of_group(from, parameters[i], unsigned(rest->members.count()), probing, &size))
            return failed;
        MultiprocessorResource group = *rest;
        group.members = take(&rest->members, size);
        if (parameters[i].coscheduledSmCount)
            group.alignment = parameters[i].coscheduledSmCount;
        group.flags = parameters[i].flags;
        group.domain = group.flags & CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID ? parameters[i].localityDomainId : 0;
        groups->push_back(group);
        sizes.push_back(size);
    }
    for (unsigned i = 0; i < count; ++i)
        parameters[i].smCount = sizes[i];
    return CUDA_SUCCESS;
}

CUdevWorkqueueConfigResource default_workqueues(int device)
{
    const char* text = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
    int most = text ? std::atoi(text) : 8;
    return {device, unsigned(most >= 1 && most <= 32 ? most : 8), CU_WORKQUEUE_SCOPE_DEVICE_CTX};
}

bool are_valid(const CUdevWorkqueueConfigResource& queues)
{
    bool known = queues.sharingScope == CU_WORKQUEUE_SCOPE_DEVICE_CTX ||
                 queues.sharingScope == CU_WORKQUEUE_SCOPE_GREEN_CTX_BALANCED;
    return known && queues.wqConcurrencyLimit;
}

} // namespace emu::state

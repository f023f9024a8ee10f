// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Kernel launches.
#include "../state/streams/capture.hpp"
#include "../state/streams/host_sources.hpp"
#include "../config.hpp"
#include "../state/code/module.hpp"
#include "calls.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

namespace {

CUresult launch_on(CUfunction f, LaunchParameters& parameters, CUstream handle)
{
    std::shared_ptr<Stream> stream;
    TRY(need_stream(handle, &stream));
    auto function = Function::find(f);
    auto context = stream->context();
    REQUIRE(function && context, CUDA_ERROR_INVALID_HANDLE);
    parameters.partition = stream->partition();
    if (stream->is_capturing()) {
        Work work;
        CUresult result = KernelWork::make(*function, parameters, context, &work);
        if (CUlaunchAttributeValue value{}; result == CUDA_SUCCESS && stream->priority()) {
            value.priority = stream->priority(); // the node keeps the priority of its capturing stream
            result = work_as<KernelWork>(work)->with(CU_LAUNCH_ATTRIBUTE_PRIORITY, value, &work);
        }
        if (result != CUDA_SUCCESS)
            Capture::spoil(*stream);
        return result ? result : Capture::add(*stream, std::move(work));
    }
    PreparedLaunch prepared;
    TRY(prepare_launch(*function, parameters, *context, &prepared));
    HostSource watched(*prepared.request);
    TRY(stream->enqueue({Operation::Kind::kernel, parameters.name, [prepared, weak = std::weak_ptr<Context>(context)] {
                             if (auto owner = weak.lock())
                                 run_launch(*prepared.request, *owner);
                             return CUDA_SUCCESS;
                         }}));
    watched.watch(*stream);
    return CUDA_SUCCESS;
}

// Events requested by launch attributes. They are recorded after the kernel, which may be later than on a GPU but never
// earlier.
struct Events {
    CUevent handles[2] = {nullptr, nullptr};
    int count = 0;
};

CUresult read_attribute(const CUlaunchAttribute& attribute, LaunchParameters* p, Events* events)
{
    const CUlaunchAttributeValue& value = attribute.value;
    TRY(need_attribute(attribute.id));
    switch (attribute.id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: p->cooperative = value.cooperative != 0; break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        p->cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
        REQUIRE(p->cluster.count(), CUDA_ERROR_INVALID_VALUE);
        break;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        events->handles[events->count++ & 1] = value.programmaticEvent.event;
        break;
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        events->handles[events->count++ & 1] = value.launchCompletionEvent.event;
        break;
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        REQUIRE(int(value.sharedMemCarveout) >= -1 && int(value.sharedMemCarveout) <= 100, CUDA_ERROR_INVALID_VALUE);
        break;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE: return CUDA_ERROR_NOT_SUPPORTED;
    // Permissions and preferences, which plain stream order satisfies.
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
    case CU_LAUNCH_ATTRIBUTE_PORTABLE_CLUSTER_SIZE_MODE:
    case CU_LAUNCH_ATTRIBUTE_SHARED_MEMORY_MODE: break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

} // namespace

CUresult emu::abi::need_attribute(CUlaunchAttributeID id)
{
    bool is_new = id == CU_LAUNCH_ATTRIBUTE_PORTABLE_CLUSTER_SIZE_MODE || id == CU_LAUNCH_ATTRIBUTE_SHARED_MEMORY_MODE;
    return is_new && config().driver_version < 13020 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

ENTRY(cuLaunchKernel, 4000)(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                            unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                            unsigned int sharedMemBytes, CUstream hStream, void** kernelParams, void** extra)
{
    LaunchParameters p;
    p.grid = {gridDimX, gridDimY, gridDimZ};
    p.block = {blockDimX, blockDimY, blockDimZ};
    p.dynamic_shared = sharedMemBytes;
    p.values = kernelParams;
    p.extra = extra;
    return launch_on(f, p, hStream);
}

ENTRY(cuLaunchCooperativeKernel, 9000)(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                       unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                                       unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                                       void** kernelParams)
{
    LaunchParameters p;
    p.grid = {gridDimX, gridDimY, gridDimZ};
    p.block = {blockDimX, blockDimY, blockDimZ};
    p.dynamic_shared = sharedMemBytes;
    p.values = kernelParams;
    p.cooperative = true;
    p.name = "cuLaunchCooperativeKernel";
    return launch_on(f, p, hStream);
}

ENTRY(cuLaunchKernelEx, 11060)(const CUlaunchConfig* config, CUfunction f, void** kernelParams, void** extra)
{
    REQUIRE(config && (config->attrs || !config->numAttrs), CUDA_ERROR_INVALID_VALUE);
    LaunchParameters p;
    p.grid = {config->gridDimX, config->gridDimY, config->gridDimZ};
    p.block = {config->blockDimX, config->blockDimY, config->blockDimZ};
    p.dynamic_shared = config->sharedMemBytes;
    p.values = kernelParams;
    p.extra = extra;
    p.name = "cuLaunchKernelEx";
    Events events;
    for (unsigned i = 0; i < config->numAttrs; ++i)
        TRY(read_attribute(config->attrs[i], &p, &events));
    TRY(launch_on(f, p, config->hStream));
    for (int i = 0; i < events.count && i < 2; ++i)
        TRY(entry_cuEventRecord_2000(events.handles[i], config->hStream));
    return CUDA_SUCCESS;
}

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Functions of older drivers, implemented by the newer ones with the same name. Bindings and programs for CUDA 12 look
// them up.
#include "abi.hpp"
#include "calls.hpp"

ENTRY(cuEventElapsedTime, 2000)(float* pMilliseconds, CUevent hStart, CUevent hEnd)
{
    return entry_cuEventElapsedTime_12080(pMilliseconds, hStart, hEnd);
}

ENTRY(cuGraphAddDependencies, 10000)(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                     size_t numDependencies)
{
    return entry_cuGraphAddDependencies_12030(hGraph, from, to, nullptr, numDependencies);
}

ENTRY(cuGraphAddNode, 12020)(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                             size_t numDependencies, CUgraphNodeParams* nodeParams)
{
    return entry_cuGraphAddNode_12030(phGraphNode, hGraph, dependencies, nullptr, numDependencies, nodeParams);
}

ENTRY(cuGraphGetEdges, 10000)(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to, size_t* numEdges)
{
    return entry_cuGraphGetEdges_12030(hGraph, from, to, nullptr, numEdges);
}

ENTRY(cuGraphNodeGetDependencies, 10000)(CUgraphNode hNode, CUgraphNode* dependencies, size_t* numDependencies)
{
    return entry_cuGraphNodeGetDependencies_12030(hNode, dependencies, nullptr, numDependencies);
}

ENTRY(cuGraphNodeGetDependentNodes, 10000)(CUgraphNode hNode, CUgraphNode* dependentNodes, size_t* numDependentNodes)
{
    return entry_cuGraphNodeGetDependentNodes_12030(hNode, dependentNodes, nullptr, numDependentNodes);
}

ENTRY(cuGraphRemoveDependencies, 10000)(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                        size_t numDependencies)
{
    return entry_cuGraphRemoveDependencies_12030(hGraph, from, to, nullptr, numDependencies);
}

namespace {

CUmemLocation location_of(CUdevice device)
{
    CUmemLocation out{};
    out.type = device < 0 ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE; // CU_DEVICE_CPU is -1
    out.id = device < 0 ? 0 : device;
    return out;
}

} // namespace

ENTRY(cuMemAdvise, 8000)(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device)
{
    return entry_cuMemAdvise_12020(devPtr, count, advice, location_of(device));
}

ENTRY(cuMemPrefetchAsync, 8000)(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream)
{
    return entry_cuMemPrefetchAsync_12020(devPtr, count, location_of(dstDevice), 0, hStream);
}

ENTRY(cuMemcpyBatchAsync, 12080)(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count,
                                 CUmemcpyAttributes* attrs, size_t* attrsIdxs, size_t numAttrs, size_t* failIdx,
                                 CUstream hStream)
{
    const CUresult result =
        entry_cuMemcpyBatchAsync_13000(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, hStream);
    if (result != CUDA_SUCCESS && failIdx)
        *failIdx = SIZE_MAX; // the failure cannot be attributed to a single copy
    return result;
}

ENTRY(cuStreamUpdateCaptureDependencies, 11030)(CUstream hStream, CUgraphNode* dependencies, size_t numDependencies,
                                                unsigned int flags)
{
    return entry_cuStreamUpdateCaptureDependencies_12030(hStream, dependencies, nullptr, numDependencies, flags);
}

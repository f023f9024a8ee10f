# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
#
# CUDA 12 signatures that cuda.bindings 12 looks up, but that cuda.bindings 13 does not declare.
cdef CUresult cuGraphAddDependencies_v10000(CUgraph hGraph, const CUgraphNode* from_, const CUgraphNode* to, size_t numDependencies)
cdef CUresult cuGraphAddNode_v12020(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies, size_t numDependencies, CUgraphNodeParams* nodeParams)
cdef CUresult cuGraphGetEdges_v10000(CUgraph hGraph, CUgraphNode* from_, CUgraphNode* to, size_t* numEdges)
cdef CUresult cuGraphNodeGetDependencies_v10000(CUgraphNode hNode, CUgraphNode* dependencies, size_t* numDependencies)
cdef CUresult cuGraphNodeGetDependentNodes_v10000(CUgraphNode hNode, CUgraphNode* dependentNodes, size_t* numDependentNodes)
cdef CUresult cuGraphRemoveDependencies_v10000(CUgraph hGraph, const CUgraphNode* from_, const CUgraphNode* to, size_t numDependencies)
cdef CUresult cuMemAdvise_v8000(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device)
cdef CUresult cuMemPrefetchAsync_v8000(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream)
cdef CUresult cuMemcpyBatchAsync_v12080(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count, CUmemcpyAttributes* attrs, size_t* attrsIdxs, size_t numAttrs, size_t* failIdx, CUstream hStream)
cdef CUresult cuStreamUpdateCaptureDependencies_v11030(CUstream hStream, CUgraphNode* dependencies, size_t numDependencies, unsigned int flags)

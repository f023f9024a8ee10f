// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Executable graphs: instantiation, launch, update.
#include "graph_calls.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

ENTRY(cuGraphInstantiateWithParams, 12000)(CUgraphExec* phGraphExec, CUgraph hGraph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS* instantiateParams)
{
    std::shared_ptr<Graph> graph;
    REQUIRE(phGraphExec && instantiateParams && instantiateParams->flags <= 15, CUDA_ERROR_INVALID_VALUE);
    instantiateParams->hErrNode_out = nullptr;
    instantiateParams->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    TRY(need_graph(hGraph, &graph));
    REQUIRE(!graph->is_owned(), CUDA_ERROR_INVALID_VALUE);
    TRY(GraphExec::create(*graph, instantiateParams->flags, instantiateParams, phGraphExec));
    instantiateParams->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    return CUDA_SUCCESS;
}

ENTRY(cuGraphInstantiateWithFlags, 11040)(CUgraphExec* phGraphExec, CUgraph hGraph, unsigned long long flags)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
    parameters.flags = flags;
    return entry_cuGraphInstantiateWithParams_12000(phGraphExec, hGraph, &parameters);
}

ENTRY(cuGraphExecDestroy, 10000)(CUgraphExec hGraphExec)
{
    return GraphExec::destroy(hGraphExec);
}

ENTRY(cuGraphExecGetFlags, 12000)(CUgraphExec hGraphExec, cuuint64_t* flags)
{
    std::shared_ptr<GraphExec> exec;
    REQUIRE(flags, CUDA_ERROR_INVALID_VALUE);
    TRY(need_exec(hGraphExec, &exec));
    *flags = exec->flags();
    return CUDA_SUCCESS;
}

ENTRY(cuGraphExecGetId, 13010)(CUgraphExec hGraphExec, unsigned int* graphId)
{
    std::shared_ptr<GraphExec> exec;
    REQUIRE(graphId, CUDA_ERROR_INVALID_VALUE);
    TRY(need_exec(hGraphExec, &exec));
    *graphId = exec->id();
    return CUDA_SUCCESS;
}

ENTRY(cuGraphLaunch, 10000)(CUgraphExec hGraphExec, CUstream hStream)
{
    std::shared_ptr<GraphExec> exec;
    std::shared_ptr<Stream> stream;
    TRY(need_exec(hGraphExec, &exec));
    TRY(need_stream(hStream, &stream));
    return exec->launch(*stream);
}

// Nothing has to be sent to the device before a launch, but kernels can only launch uploaded graphs.
ENTRY(cuGraphUpload, 11010)(CUgraphExec hGraphExec, CUstream hStream)
{
    std::shared_ptr<GraphExec> exec;
    std::shared_ptr<Stream> stream;
    TRY(need_exec(hGraphExec, &exec));
    TRY(need_stream(hStream, &stream));
    exec->upload();
    return CUDA_SUCCESS;
}

ENTRY(cuGraphExecUpdate, 12000)(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo* resultInfo)
{
    std::shared_ptr<GraphExec> exec;
    std::shared_ptr<Graph> graph;
    REQUIRE(resultInfo, CUDA_ERROR_INVALID_VALUE);
    *resultInfo = {};
    resultInfo->result = CU_GRAPH_EXEC_UPDATE_ERROR;
    TRY(need_exec(hGraphExec, &exec));
    TRY(need_graph(hGraph, &graph));
    return exec->update(*graph, resultInfo);
}

// -------------------------------------------------------------------------- single nodes

ENTRY(cuGraphExecNodeSetParams, 12020)(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams* nodeParams)
{
    std::shared_ptr<GraphExec> exec;
    std::shared_ptr<GraphNode> node;
    Work now, work;
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    TRY(need_exec(hGraphExec, &exec));
    TRY(need_node(hNode, &node));
    TRY(exec->work_of(hNode, &now));
    auto graph = node->graph.lock();
    REQUIRE(graph && nodeParams->type == now->type && is_changeable(now->type), CUDA_ERROR_INVALID_VALUE);
    TRY(make_work(*graph, nodeParams, now, &work));
    return exec->set_work(hNode, std::move(work));
}

ENTRY(cuGraphExecKernelNodeSetParams, 12000)(CUgraphExec hGraphExec, CUgraphNode hNode,
                                             const CUDA_KERNEL_NODE_PARAMS* nodeParams)
{
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    auto all = packed(*nodeParams);
    return entry_cuGraphExecNodeSetParams_12020(hGraphExec, hNode, &all);
}

ENTRY(cuGraphExecMemcpyNodeSetParams, 10020)(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMCPY3D* copyParams,
                                             CUcontext ctx)
{
    REQUIRE(copyParams, CUDA_ERROR_INVALID_VALUE);
    auto all = packed(*copyParams, ctx);
    return entry_cuGraphExecNodeSetParams_12020(hGraphExec, hNode, &all);
}

ENTRY(cuGraphExecMemsetNodeSetParams, 10020)(CUgraphExec hGraphExec, CUgraphNode hNode,
                                             const CUDA_MEMSET_NODE_PARAMS* memsetParams, CUcontext ctx)
{
    REQUIRE(memsetParams, CUDA_ERROR_INVALID_VALUE);
    auto all = packed(*memsetParams, ctx);
    return entry_cuGraphExecNodeSetParams_12020(hGraphExec, hNode, &all);
}

ENTRY(cuGraphExecHostNodeSetParams, 10020)(CUgraphExec hGraphExec, CUgraphNode hNode,
                                           const CUDA_HOST_NODE_PARAMS* nodeParams)
{
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    auto all = packed(*nodeParams);
    return entry_cuGraphExecNodeSetParams_12020(hGraphExec, hNode, &all);
}

ENTRY(cuGraphExecChildGraphNodeSetParams, 11010)(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraph childGraph)
{
    auto all = packed(childGraph);
    return entry_cuGraphExecNodeSetParams_12020(hGraphExec, hNode, &all);
}

ENTRY(cuGraphExecEventRecordNodeSetEvent, 11010)(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event)
{
    auto all = packed(event, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    return entry_cuGraphExecNodeSetParams_12020(hGraphExec, hNode, &all);
}

ENTRY(cuGraphExecEventWaitNodeSetEvent, 11010)(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event)
{
    auto all = packed(event, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
    return entry_cuGraphExecNodeSetParams_12020(hGraphExec, hNode, &all);
}

ENTRY(cuGraphNodeSetEnabled, 11060)(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled)
{
    std::shared_ptr<GraphExec> exec;
    TRY(need_exec(hGraphExec, &exec));
    return exec->set_enabled(hNode, isEnabled != 0);
}

ENTRY(cuGraphNodeGetEnabled, 11060)(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int* isEnabled)
{
    std::shared_ptr<GraphExec> exec;
    bool enabled = false;
    REQUIRE(isEnabled, CUDA_ERROR_INVALID_VALUE);
    TRY(need_exec(hGraphExec, &exec));
    TRY(exec->is_enabled(hNode, &enabled));
    *isEnabled = enabled;
    return CUDA_SUCCESS;
}

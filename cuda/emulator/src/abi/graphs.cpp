// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Graphs, their nodes and edges, executables, and the memory that graphs hold.
#include <algorithm>

#include "../state/capture.hpp"
#include "../state/graph.hpp"
#include "calls.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

namespace {

CUresult need_graph(CUgraph handle, std::shared_ptr<Graph>* out)
{
    *out = Graph::find(handle);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult need_node(CUgraphNode handle, std::shared_ptr<GraphNode>* out)
{
    *out = Graph::find_node(handle);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult need_exec(CUgraphExec handle, std::shared_ptr<GraphExec>* out)
{
    *out = GraphExec::find(handle);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// Without a list the number alone; with a longer one nulls behind, and the number.
CUresult give_list(const std::vector<CUgraphNode>& values, CUgraphNode* list, size_t* count)
{
    REQUIRE(count, CUDA_ERROR_INVALID_VALUE);
    if (!list) {
        *count = values.size();
        return CUDA_SUCCESS;
    }
    std::fill_n(list, *count, nullptr);
    std::copy_n(values.begin(), std::min(*count, values.size()), list);
    if (*count > values.size())
        *count = values.size();
    return CUDA_SUCCESS;
}

std::vector<CUgraphNode> dependents(const GraphNode& node)
{
    std::vector<CUgraphNode> out;
    if (auto graph = node.graph.lock())
        for (const auto& other : graph->nodes())
            if (std::find(other->from.begin(), other->from.end(), &node) != other->from.end())
                out.push_back(other->handle);
    return out;
}

CUresult need_device(CUdevice number)
{
    return device_at(number) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

} // namespace

ENTRY(cuGraphCreate, 10000)(CUgraph* phGraph, unsigned int flags)
{
    REQUIRE(phGraph && flags == 0, CUDA_ERROR_INVALID_VALUE);
    *phGraph = Graph::make()->handle();
    return CUDA_SUCCESS;
}

ENTRY(cuGraphDestroy, 10000)(CUgraph hGraph)
{
    return Graph::destroy(hGraph);
}

ENTRY(cuGraphGetId, 13010)(CUgraph hGraph, unsigned int* graphId)
{
    std::shared_ptr<Graph> graph;
    REQUIRE(graphId, CUDA_ERROR_INVALID_VALUE);
    TRY(need_graph(hGraph, &graph));
    *graphId = graph->id();
    return CUDA_SUCCESS;
}

ENTRY(cuGraphGetNodes, 10000)(CUgraph hGraph, CUgraphNode* nodes, size_t* numNodes)
{
    std::shared_ptr<Graph> graph;
    std::vector<CUgraphNode> all;
    TRY(need_graph(hGraph, &graph));
    for (const auto& node : graph->nodes())
        all.push_back(node->handle);
    return give_list(all, nodes, numNodes);
}

ENTRY(cuGraphGetRootNodes, 10000)(CUgraph hGraph, CUgraphNode* rootNodes, size_t* numRootNodes)
{
    std::shared_ptr<Graph> graph;
    std::vector<CUgraphNode> roots;
    TRY(need_graph(hGraph, &graph));
    for (const auto& node : graph->nodes())
        if (node->from.empty())
            roots.push_back(node->handle);
    return give_list(roots, rootNodes, numRootNodes);
}

ENTRY(cuGraphGetEdges, 12030)(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to,
                              CUgraphEdgeData* edgeData, size_t* numEdges)
{
    std::shared_ptr<Graph> graph;
    std::vector<CUgraphNode> begins, ends;
    REQUIRE(numEdges && !from == !to, CUDA_ERROR_INVALID_VALUE);
    TRY(need_graph(hGraph, &graph));
    for (const auto& node : graph->nodes())
        for (const GraphNode* before : node->from) {
            begins.push_back(before->handle);
            ends.push_back(node->handle);
        }
    size_t count = *numEdges;
    if (from && edgeData)
        std::fill_n(edgeData, std::min(count, begins.size()), CUgraphEdgeData{});
    TRY(give_list(begins, from, numEdges));
    return give_list(ends, to, &count);
}

ENTRY(cuGraphNodeGetType, 10000)(CUgraphNode hNode, CUgraphNodeType* type)
{
    std::shared_ptr<GraphNode> node;
    REQUIRE(type, CUDA_ERROR_INVALID_VALUE);
    TRY(need_node(hNode, &node));
    *type = node->type;
    return CUDA_SUCCESS;
}

ENTRY(cuGraphNodeGetContainingGraph, 13010)(CUgraphNode hNode, CUgraph* phGraph)
{
    std::shared_ptr<GraphNode> node;
    REQUIRE(phGraph, CUDA_ERROR_INVALID_VALUE);
    TRY(need_node(hNode, &node));
    auto graph = node->graph.lock();
    REQUIRE(graph, CUDA_ERROR_INVALID_VALUE);
    *phGraph = graph->handle();
    return CUDA_SUCCESS;
}

ENTRY(cuGraphNodeGetDependencies, 12030)(CUgraphNode hNode, CUgraphNode* dependencies,
                                         CUgraphEdgeData* edgeData, size_t* numDependencies)
{
    std::shared_ptr<GraphNode> node;
    std::vector<CUgraphNode> before;
    REQUIRE(numDependencies, CUDA_ERROR_INVALID_VALUE);
    TRY(need_node(hNode, &node));
    for (const GraphNode* other : node->from)
        before.push_back(other->handle);
    if (dependencies && edgeData)
        std::fill_n(edgeData, std::min(*numDependencies, before.size()), CUgraphEdgeData{});
    return give_list(before, dependencies, numDependencies);
}

ENTRY(cuGraphNodeGetDependentNodes, 12030)(CUgraphNode hNode, CUgraphNode* dependentNodes,
                                           CUgraphEdgeData* edgeData, size_t* numDependentNodes)
{
    std::shared_ptr<GraphNode> node;
    REQUIRE(numDependentNodes, CUDA_ERROR_INVALID_VALUE);
    TRY(need_node(hNode, &node));
    auto after = dependents(*node);
    if (dependentNodes && edgeData)
        std::fill_n(edgeData, std::min(*numDependentNodes, after.size()), CUgraphEdgeData{});
    return give_list(after, dependentNodes, numDependentNodes);
}

ENTRY(cuGraphMemAllocNodeGetParams, 11040)(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS* params_out)
{
    std::shared_ptr<GraphNode> node;
    REQUIRE(params_out, CUDA_ERROR_INVALID_VALUE);
    TRY(need_node(hNode, &node));
    REQUIRE(node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC, CUDA_ERROR_INVALID_VALUE);
    *params_out = {};
    params_out->poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params_out->poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params_out->poolProps.location.id = node->memory->device();
    params_out->bytesize = node->memory->size();
    params_out->dptr = node->memory->allocation()->base;
    return CUDA_SUCCESS;
}

ENTRY(cuGraphMemFreeNodeGetParams, 11040)(CUgraphNode hNode, CUdeviceptr* dptr_out)
{
    std::shared_ptr<GraphNode> node;
    REQUIRE(dptr_out, CUDA_ERROR_INVALID_VALUE);
    TRY(need_node(hNode, &node));
    REQUIRE(node->type == CU_GRAPH_NODE_TYPE_MEM_FREE, CUDA_ERROR_INVALID_VALUE);
    *dptr_out = node->memory->allocation()->base;
    return CUDA_SUCCESS;
}

// ------------------------------------------------------------------------- executables

ENTRY(cuGraphInstantiateWithFlags, 11040)(CUgraphExec* phGraphExec, CUgraph hGraph,
                                          unsigned long long flags)
{
    std::shared_ptr<Graph> graph;
    REQUIRE(phGraphExec && flags <= 15, CUDA_ERROR_INVALID_VALUE);
    TRY(need_graph(hGraph, &graph));
    REQUIRE(!(flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH), CUDA_ERROR_NOT_SUPPORTED);
    return GraphExec::create(*graph, flags, phGraphExec);
}

ENTRY(cuGraphInstantiateWithParams, 12000)(CUgraphExec* phGraphExec, CUgraph hGraph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS* instantiateParams)
{
    REQUIRE(instantiateParams, CUDA_ERROR_INVALID_VALUE);
    CUresult result = entry_cuGraphInstantiateWithFlags_11040(phGraphExec, hGraph,
                                                              instantiateParams->flags);
    instantiateParams->hErrNode_out = nullptr;
    instantiateParams->result_out = result ? CUDA_GRAPH_INSTANTIATE_ERROR
                                           : CUDA_GRAPH_INSTANTIATE_SUCCESS;
    return result;
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

// There is nothing to send to the device ahead of a launch.
ENTRY(cuGraphUpload, 11010)(CUgraphExec hGraphExec, CUstream hStream)
{
    std::shared_ptr<GraphExec> exec;
    std::shared_ptr<Stream> stream;
    TRY(need_exec(hGraphExec, &exec));
    return need_stream(hStream, &stream);
}

// ------------------------------------------------------------------- memory of graphs

ENTRY(cuDeviceGraphMemTrim, 11040)(CUdevice device)
{
    TRY(need_device(device));
    GraphReserve::of(device).trim();
    return CUDA_SUCCESS;
}

ENTRY(cuDeviceGetGraphMemAttribute, 11040)(CUdevice device, CUgraphMem_attribute attr, void* value)
{
    REQUIRE(value, CUDA_ERROR_INVALID_VALUE);
    TRY(need_device(device));
    return GraphReserve::of(device).attribute(attr, static_cast<cuuint64_t*>(value));
}

// A peak can be set to zero, which means to what is held now.
ENTRY(cuDeviceSetGraphMemAttribute, 11040)(CUdevice device, CUgraphMem_attribute attr, void* value)
{
    REQUIRE(value && *static_cast<cuuint64_t*>(value) == 0, CUDA_ERROR_INVALID_VALUE);
    TRY(need_device(device));
    return GraphReserve::of(device).reset(attr);
}

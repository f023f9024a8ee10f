// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Graphs, their nodes and edges, user objects, conditional handles, and the memory that graphs reserve.
#include "graph_calls.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

namespace {

// Returns a list, or only the count without an array. The rest of a longer array is filled with nulls.
CUresult return_list(const std::vector<CUgraphNode>& values, CUgraphNode* list, size_t* count)
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

CUresult check_device(CUdevice number)
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
    return return_list(all, nodes, numNodes);
}

ENTRY(cuGraphGetRootNodes, 10000)(CUgraph hGraph, CUgraphNode* rootNodes, size_t* numRootNodes)
{
    std::shared_ptr<Graph> graph;
    std::vector<CUgraphNode> roots;
    TRY(need_graph(hGraph, &graph));
    for (const auto& node : graph->nodes())
        if (node->from.empty())
            roots.push_back(node->handle);
    return return_list(roots, rootNodes, numRootNodes);
}

ENTRY(cuGraphGetEdges, 12030)(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edgeData,
                              size_t* numEdges)
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
    TRY(return_list(begins, from, numEdges));
    return return_list(ends, to, &count);
}

ENTRY(cuGraphNodeGetType, 10000)(CUgraphNode hNode, CUgraphNodeType* type)
{
    std::shared_ptr<GraphNode> node;
    REQUIRE(type, CUDA_ERROR_INVALID_VALUE);
    TRY(need_node(hNode, &node));
    *type = node->work->type;
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

ENTRY(cuGraphNodeGetDependencies, 12030)(CUgraphNode hNode, CUgraphNode* dependencies, CUgraphEdgeData* edgeData,
                                         size_t* numDependencies)
{
    std::shared_ptr<GraphNode> node;
    std::vector<CUgraphNode> before;
    REQUIRE(numDependencies, CUDA_ERROR_INVALID_VALUE);
    TRY(need_node(hNode, &node));
    for (const GraphNode* other : node->from)
        before.push_back(other->handle);
    if (dependencies && edgeData)
        std::fill_n(edgeData, std::min(*numDependencies, before.size()), CUgraphEdgeData{});
    return return_list(before, dependencies, numDependencies);
}

ENTRY(cuGraphNodeGetDependentNodes, 12030)(CUgraphNode hNode, CUgraphNode* dependentNodes, CUgraphEdgeData* edgeData,
                                           size_t* numDependentNodes)
{
    std::shared_ptr<GraphNode> node;
    REQUIRE(numDependentNodes, CUDA_ERROR_INVALID_VALUE);
    TRY(need_node(hNode, &node));
    std::vector<CUgraphNode> after;
    if (auto graph = node->graph.lock())
        for (GraphNode* other : graph->dependents(*node))
            after.push_back(other->handle);
    if (dependentNodes && edgeData)
        std::fill_n(edgeData, std::min(*numDependentNodes, after.size()), CUgraphEdgeData{});
    return return_list(after, dependentNodes, numDependentNodes);
}

ENTRY(cuGraphNodeGetLocalId, 13010)(CUgraphNode hNode, unsigned int* nodeId)
{
    std::shared_ptr<GraphNode> node;
    REQUIRE(nodeId, CUDA_ERROR_INVALID_VALUE);
    TRY(need_node(hNode, &node));
    *nodeId = node->id;
    return CUDA_SUCCESS;
}

ENTRY(cuGraphNodeGetToolsId, 13010)(CUgraphNode hNode, unsigned long long* toolsNodeId)
{
    std::shared_ptr<GraphNode> node;
    REQUIRE(toolsNodeId, CUDA_ERROR_INVALID_VALUE);
    TRY(need_node(hNode, &node));
    auto graph = node->graph.lock();
    REQUIRE(graph, CUDA_ERROR_INVALID_VALUE);
    *toolsNodeId = (static_cast<unsigned long long>(graph->id()) << 32) | node->id;
    return CUDA_SUCCESS;
}

namespace {

using Edges = std::vector<std::pair<GraphNode*, GraphNode*>>;

CUresult need_edges(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to, size_t count,
                    std::shared_ptr<Graph>* graph, Edges* out)
{
    TRY(need_graph(handle, graph));
    REQUIRE(!count || (from && to), CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < count; ++i) {
        std::shared_ptr<GraphNode> first, second;
        TRY(need_node_of(**graph, from[i], &first));
        TRY(need_node_of(**graph, to[i], &second));
        out->emplace_back(first.get(), second.get());
    }
    return CUDA_SUCCESS;
}

} // namespace

ENTRY(cuGraphAddDependencies, 12030)(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                     const CUgraphEdgeData*, size_t numDependencies)
{
    std::shared_ptr<Graph> graph;
    Edges edges;
    TRY(need_edges(hGraph, from, to, numDependencies, &graph, &edges));
    return graph->add_edges(edges);
}

ENTRY(cuGraphRemoveDependencies, 12030)(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                        const CUgraphEdgeData*, size_t numDependencies)
{
    std::shared_ptr<Graph> graph;
    Edges edges;
    TRY(need_edges(hGraph, from, to, numDependencies, &graph, &edges));
    return graph->remove_edges(edges);
}

ENTRY(cuGraphDestroyNode, 10000)(CUgraphNode hNode)
{
    std::shared_ptr<GraphNode> node;
    TRY(need_node(hNode, &node));
    auto graph = node->graph.lock();
    REQUIRE(graph, CUDA_ERROR_INVALID_VALUE);
    return graph->remove(*node);
}

ENTRY(cuGraphClone, 10000)(CUgraph* phGraphClone, CUgraph originalGraph)
{
    std::shared_ptr<Graph> graph;
    REQUIRE(phGraphClone, CUDA_ERROR_INVALID_VALUE);
    TRY(need_graph(originalGraph, &graph));
    REQUIRE(!graph->has_memory(), CUDA_ERROR_NOT_SUPPORTED);
    *phGraphClone = graph->clone()->handle();
    return CUDA_SUCCESS;
}

ENTRY(cuGraphNodeFindInClone, 10000)(CUgraphNode* phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph)
{
    std::shared_ptr<Graph> graph;
    REQUIRE(phNode, CUDA_ERROR_INVALID_VALUE);
    TRY(need_graph(hClonedGraph, &graph));
    auto found = graph->clone_of(hOriginalNode);
    REQUIRE(found, CUDA_ERROR_INVALID_VALUE);
    *phNode = found->handle;
    return CUDA_SUCCESS;
}

ENTRY(cuGraphDebugDotPrint, 11030)(CUgraph hGraph, const char* path, unsigned int flags)
{
    std::shared_ptr<Graph> graph;
    REQUIRE(path, CUDA_ERROR_INVALID_VALUE);
    TRY(need_graph(hGraph, &graph));
    return draw(*graph, flags, path) ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

// --------------------------------------------------------------- user objects, conditions

ENTRY(cuUserObjectCreate, 11030)(CUuserObject* object_out, void* ptr, CUhostFn destroy, unsigned int initialRefcount,
                                 unsigned int flags)
{
    REQUIRE(object_out && destroy && initialRefcount && initialRefcount <= 0x7fffffff &&
                flags == CU_USER_OBJECT_NO_DESTRUCTOR_SYNC,
            CUDA_ERROR_INVALID_VALUE);
    return UserObject::create(ptr, destroy, initialRefcount, object_out);
}

ENTRY(cuUserObjectRetain, 11030)(CUuserObject object, unsigned int count)
{
    auto found = UserObject::find(object);
    REQUIRE(found && count, CUDA_ERROR_INVALID_VALUE);
    found->retain(count);
    return CUDA_SUCCESS;
}

ENTRY(cuUserObjectRelease, 11030)(CUuserObject object, unsigned int count)
{
    auto found = UserObject::find(object);
    REQUIRE(found && count, CUDA_ERROR_INVALID_VALUE);
    return found->release(count);
}

ENTRY(cuGraphRetainUserObject, 11030)(CUgraph graph, CUuserObject object, unsigned int count, unsigned int flags)
{
    std::shared_ptr<Graph> owner;
    auto found = UserObject::find(object);
    REQUIRE(found && count && flags <= CU_GRAPH_USER_OBJECT_MOVE, CUDA_ERROR_INVALID_VALUE);
    TRY(need_graph(graph, &owner));
    return owner->retain(found, count, flags == CU_GRAPH_USER_OBJECT_MOVE);
}

ENTRY(cuGraphReleaseUserObject, 11030)(CUgraph graph, CUuserObject object, unsigned int count)
{
    std::shared_ptr<Graph> owner;
    auto found = UserObject::find(object);
    REQUIRE(found && count, CUDA_ERROR_INVALID_VALUE);
    TRY(need_graph(graph, &owner));
    return owner->release(found, count);
}

ENTRY(cuGraphConditionalHandleCreate, 12030)(CUgraphConditionalHandle* pHandle_out, CUgraph hGraph, CUcontext ctx,
                                             unsigned int defaultLaunchValue, unsigned int flags)
{
    std::shared_ptr<Graph> graph;
    std::shared_ptr<Context> context;
    REQUIRE(pHandle_out && flags <= 1, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(ctx, &context));
    TRY(need_graph(hGraph, &graph));
    *pHandle_out = graph->root()->add_condition(defaultLaunchValue, flags != 0);
    return CUDA_SUCCESS;
}

// ------------------------------------------------------------------- memory of graphs

ENTRY(cuDeviceGraphMemTrim, 11040)(CUdevice device)
{
    TRY(check_device(device));
    GraphReserve::of(device).trim();
    return CUDA_SUCCESS;
}

ENTRY(cuDeviceGetGraphMemAttribute, 11040)(CUdevice device, CUgraphMem_attribute attr, void* value)
{
    REQUIRE(value, CUDA_ERROR_INVALID_VALUE);
    TRY(check_device(device));
    return GraphReserve::of(device).attribute(attr, static_cast<cuuint64_t*>(value));
}

// Peaks can be set to 0, which resets them to the current value.
ENTRY(cuDeviceSetGraphMemAttribute, 11040)(CUdevice device, CUgraphMem_attribute attr, void* value)
{
    REQUIRE(value && *static_cast<cuuint64_t*>(value) == 0, CUDA_ERROR_INVALID_VALUE);
    TRY(check_device(device));
    return GraphReserve::of(device).reset(attr);
}

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Graph nodes: adding, reading and changing them. Calls for single node types are implemented by the calls for all
// types.
#include "graph_calls.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

namespace {

CUresult add_node(CUgraphNode* out, CUgraph handle, const CUgraphNode* dependencies, size_t count,
                  CUgraphNodeParams* parameters)
{
    std::shared_ptr<Graph> graph;
    std::vector<GraphNode*> from;
    Work work;
    REQUIRE(out && parameters && (dependencies || !count), CUDA_ERROR_INVALID_VALUE);
    TRY(need_graph(handle, &graph));
    for (size_t i = 0; i < count; ++i) {
        std::shared_ptr<GraphNode> node;
        TRY(need_node_of(*graph, dependencies[i], &node));
        REQUIRE(std::find(from.begin(), from.end(), node.get()) == from.end(), CUDA_ERROR_INVALID_VALUE);
        from.push_back(node.get());
    }
    TRY(make_work(*graph, parameters, nullptr, &work));
    *out = graph->add(std::move(work), std::move(from))->handle;
    return CUDA_SUCCESS;
}

CUresult set_node(CUgraphNode handle, CUgraphNodeParams* parameters)
{
    std::shared_ptr<GraphNode> node;
    Work work;
    REQUIRE(parameters, CUDA_ERROR_INVALID_VALUE);
    TRY(need_node(handle, &node));
    auto graph = node->graph.lock();
    REQUIRE(graph && parameters->type == node->work->type && is_changeable(parameters->type), CUDA_ERROR_INVALID_VALUE);
    TRY(make_work(*graph, parameters, node->work, &work));
    return graph->set_work(*node, std::move(work));
}

CUresult get_node(CUgraphNode handle, CUgraphNodeType type, CUgraphNodeParams* out)
{
    std::shared_ptr<GraphNode> node;
    TRY(need_node(handle, &node));
    REQUIRE(node->work->type == type, CUDA_ERROR_INVALID_VALUE);
    *out = parameters_of(*node->work);
    return CUDA_SUCCESS;
}

} // namespace

// --------------------------------------------------------------------------------- all kinds

ENTRY(cuGraphAddNode, 12030)(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                             const CUgraphEdgeData*, size_t numDependencies, CUgraphNodeParams* nodeParams)
{
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
}

ENTRY(cuGraphNodeSetParams, 12020)(CUgraphNode hNode, CUgraphNodeParams* nodeParams)
{
    return set_node(hNode, nodeParams);
}

ENTRY(cuGraphNodeGetParams, 13020)(CUgraphNode hNode, CUgraphNodeParams* nodeParams)
{
    std::shared_ptr<GraphNode> node;
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    TRY(need_node(hNode, &node));
    *nodeParams = parameters_of(*node->work);
    return CUDA_SUCCESS;
}

// ---------------------------------------------------------------------------------- kernels

ENTRY(cuGraphAddKernelNode, 12000)(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                   size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS* nodeParams)
{
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    auto all = packed(*nodeParams);
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, &all);
}

ENTRY(cuGraphKernelNodeGetParams, 12000)(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS* nodeParams)
{
    CUgraphNodeParams all;
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    TRY(get_node(hNode, CU_GRAPH_NODE_TYPE_KERNEL, &all));
    const auto& k = all.kernel;
    *nodeParams = {k.func,      k.gridDimX,       k.gridDimY,     k.gridDimZ, k.blockDimX, k.blockDimY,
                   k.blockDimZ, k.sharedMemBytes, k.kernelParams, k.extra,    k.kern,      k.ctx};
    return CUDA_SUCCESS;
}

ENTRY(cuGraphKernelNodeSetParams, 12000)(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS* nodeParams)
{
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    auto all = packed(*nodeParams);
    return set_node(hNode, &all);
}

namespace {

CUresult need_kernel(CUgraphNode handle, std::shared_ptr<GraphNode>* node, std::shared_ptr<const KernelWork>* work)
{
    TRY(need_node(handle, node));
    *work = work_as<KernelWork>((*node)->work);
    return *work ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult set_kernel(GraphNode& node, Work work)
{
    auto graph = node.graph.lock();
    REQUIRE(graph, CUDA_ERROR_INVALID_VALUE);
    return graph->set_work(node, std::move(work));
}

} // namespace

ENTRY(cuGraphKernelNodeGetAttribute, 11000)(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                            CUkernelNodeAttrValue* value_out)
{
    std::shared_ptr<GraphNode> node;
    std::shared_ptr<const KernelWork> kernel;
    REQUIRE(value_out, CUDA_ERROR_INVALID_VALUE);
    TRY(need_kernel(hNode, &node, &kernel));
    *value_out = kernel->attribute(attr);
    return CUDA_SUCCESS;
}

ENTRY(cuGraphKernelNodeSetAttribute, 11000)(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                            const CUkernelNodeAttrValue* value)
{
    std::shared_ptr<GraphNode> node;
    std::shared_ptr<const KernelWork> kernel;
    Work work;
    REQUIRE(value, CUDA_ERROR_INVALID_VALUE);
    TRY(need_attribute(attr));
    TRY(need_kernel(hNode, &node, &kernel));
    if (attr == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW) {
        const CUaccessPolicyWindow& window = value->accessPolicyWindow;
        int most = 0;
        auto owner = kernel->context.lock();
        REQUIRE(owner, CUDA_ERROR_CONTEXT_IS_DESTROYED);
        TRY(owner->device().attribute(CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, &most));
        REQUIRE(window.num_bytes <= size_t(most) && window.missProp != CU_ACCESS_PROPERTY_PERSISTING,
                CUDA_ERROR_INVALID_VALUE);
    }
    TRY(kernel->with(attr, *value, &work));
    return set_kernel(*node, std::move(work));
}

ENTRY(cuGraphKernelNodeCopyAttributes, 11000)(CUgraphNode dst, CUgraphNode src)
{
    std::shared_ptr<GraphNode> to, from;
    std::shared_ptr<const KernelWork> target, source;
    TRY(need_kernel(dst, &to, &target));
    TRY(need_kernel(src, &from, &source));
    for (const auto& row : source->attributes) {
        Work work;
        TRY(target->with(row.first, row.second, &work));
        target = work_as<KernelWork>(work);
    }
    return set_kernel(*to, target);
}

// ------------------------------------------------------------------------- copies and fills

ENTRY(cuGraphAddMemcpyNode, 10000)(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                   size_t numDependencies, const CUDA_MEMCPY3D* copyParams, CUcontext ctx)
{
    REQUIRE(copyParams, CUDA_ERROR_INVALID_VALUE);
    auto all = packed(*copyParams, ctx);
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, &all);
}

ENTRY(cuGraphMemcpyNodeGetParams, 10000)(CUgraphNode hNode, CUDA_MEMCPY3D* nodeParams)
{
    CUgraphNodeParams all;
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    TRY(get_node(hNode, CU_GRAPH_NODE_TYPE_MEMCPY, &all));
    *nodeParams = all.memcpy.copyParams;
    return CUDA_SUCCESS;
}

ENTRY(cuGraphMemcpyNodeSetParams, 10000)(CUgraphNode hNode, const CUDA_MEMCPY3D* nodeParams)
{
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    auto all = packed(*nodeParams, nullptr);
    return set_node(hNode, &all);
}

ENTRY(cuGraphAddMemsetNode, 10000)(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                   size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS* memsetParams, CUcontext ctx)
{
    REQUIRE(memsetParams, CUDA_ERROR_INVALID_VALUE);
    auto all = packed(*memsetParams, ctx);
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, &all);
}

ENTRY(cuGraphMemsetNodeGetParams, 10000)(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS* nodeParams)
{
    CUgraphNodeParams all;
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    TRY(get_node(hNode, CU_GRAPH_NODE_TYPE_MEMSET, &all));
    const auto& m = all.memset;
    *nodeParams = {m.dst, m.pitch, m.value, m.elementSize, m.width, m.height};
    return CUDA_SUCCESS;
}

ENTRY(cuGraphMemsetNodeSetParams, 10000)(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS* nodeParams)
{
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    auto all = packed(*nodeParams, nullptr);
    return set_node(hNode, &all);
}

// --------------------------------------------------------------------------------- the host

ENTRY(cuGraphAddHostNode, 10000)(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                 size_t numDependencies, const CUDA_HOST_NODE_PARAMS* nodeParams)
{
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    auto all = packed(*nodeParams);
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, &all);
}

ENTRY(cuGraphHostNodeGetParams, 10000)(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS* nodeParams)
{
    CUgraphNodeParams all;
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    TRY(get_node(hNode, CU_GRAPH_NODE_TYPE_HOST, &all));
    *nodeParams = {all.host.fn, all.host.userData};
    return CUDA_SUCCESS;
}

ENTRY(cuGraphHostNodeSetParams, 10000)(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS* nodeParams)
{
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    auto all = packed(*nodeParams);
    return set_node(hNode, &all);
}

// -------------------------------------------------------------------------- graphs, nothing

ENTRY(cuGraphAddChildGraphNode, 10000)(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                       size_t numDependencies, CUgraph childGraph)
{
    auto all = packed(childGraph);
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, &all);
}

ENTRY(cuGraphChildGraphNodeGetGraph, 10000)(CUgraphNode hNode, CUgraph* phGraph)
{
    CUgraphNodeParams all;
    REQUIRE(phGraph, CUDA_ERROR_INVALID_VALUE);
    TRY(get_node(hNode, CU_GRAPH_NODE_TYPE_GRAPH, &all));
    *phGraph = all.graph.graph;
    return CUDA_SUCCESS;
}

ENTRY(cuGraphAddEmptyNode, 10000)(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                  size_t numDependencies)
{
    CUgraphNodeParams all{};
    all.type = CU_GRAPH_NODE_TYPE_EMPTY;
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, &all);
}

// ----------------------------------------------------------------------------------- events

ENTRY(cuGraphAddEventRecordNode, 11010)(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                        size_t numDependencies, CUevent event)
{
    auto all = packed(event, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, &all);
}

ENTRY(cuGraphEventRecordNodeGetEvent, 11010)(CUgraphNode hNode, CUevent* event_out)
{
    CUgraphNodeParams all;
    REQUIRE(event_out, CUDA_ERROR_INVALID_VALUE);
    TRY(get_node(hNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &all));
    *event_out = all.eventRecord.event;
    return CUDA_SUCCESS;
}

ENTRY(cuGraphEventRecordNodeSetEvent, 11010)(CUgraphNode hNode, CUevent event)
{
    auto all = packed(event, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    return set_node(hNode, &all);
}

ENTRY(cuGraphAddEventWaitNode, 11010)(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                      size_t numDependencies, CUevent event)
{
    auto all = packed(event, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, &all);
}

ENTRY(cuGraphEventWaitNodeGetEvent, 11010)(CUgraphNode hNode, CUevent* event_out)
{
    CUgraphNodeParams all;
    REQUIRE(event_out, CUDA_ERROR_INVALID_VALUE);
    TRY(get_node(hNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &all));
    *event_out = all.eventWait.event;
    return CUDA_SUCCESS;
}

ENTRY(cuGraphEventWaitNodeSetEvent, 11010)(CUgraphNode hNode, CUevent event)
{
    auto all = packed(event, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
    return set_node(hNode, &all);
}

// ----------------------------------------------------------------------------------- memory

ENTRY(cuGraphAddMemAllocNode, 11040)(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                     size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS* nodeParams)
{
    REQUIRE(nodeParams, CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams all{};
    all.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    all.alloc = {nodeParams->poolProps, nodeParams->accessDescs, nodeParams->accessDescCount, nodeParams->bytesize, 0};
    TRY(add_node(phGraphNode, hGraph, dependencies, numDependencies, &all));
    nodeParams->dptr = all.alloc.dptr;
    return CUDA_SUCCESS;
}

ENTRY(cuGraphMemAllocNodeGetParams, 11040)(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS* params_out)
{
    CUgraphNodeParams all;
    REQUIRE(params_out, CUDA_ERROR_INVALID_VALUE);
    TRY(get_node(hNode, CU_GRAPH_NODE_TYPE_MEM_ALLOC, &all));
    const auto& a = all.alloc;
    *params_out = {a.poolProps, a.accessDescs, a.accessDescCount, a.bytesize, a.dptr};
    return CUDA_SUCCESS;
}

ENTRY(cuGraphAddMemFreeNode, 11040)(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                    size_t numDependencies, CUdeviceptr dptr)
{
    CUgraphNodeParams all{};
    all.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
    all.free.dptr = dptr;
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, &all);
}

ENTRY(cuGraphMemFreeNodeGetParams, 11040)(CUgraphNode hNode, CUdeviceptr* dptr_out)
{
    CUgraphNodeParams all;
    REQUIRE(dptr_out, CUDA_ERROR_INVALID_VALUE);
    TRY(get_node(hNode, CU_GRAPH_NODE_TYPE_MEM_FREE, &all));
    *dptr_out = all.free.dptr;
    return CUDA_SUCCESS;
}

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Node parameters: conversion between the driver's structures and records.
#include <cstring>

#include "../config.hpp"
#include "../state/graphs/node_work.hpp"
#include "../state/green_context.hpp"
#include "external.hpp"
#include "graph_calls.hpp"
#include "memory_operations.hpp"

namespace emu::abi {

using namespace state;

namespace {

CUgraphNodeParams of_type(CUgraphNodeType type)
{
    CUgraphNodeParams all{};
    all.type = type;
    return all;
}

// Finds a node's context: the given one, the one of the node it replaces, or the current one.
CUresult find_context(CUcontext given, const Work& now, std::shared_ptr<Context>* out)
{
    if (!given && now && (*out = now->context.lock()))
        return CUDA_SUCCESS;
    return need_context(given, out);
}

CUresult make_kernel(const CUDA_KERNEL_NODE_PARAMS_v3& p, const Work& now, Work* out)
{
    std::shared_ptr<Context> context;
    auto function = p.func ? Function::find(p.func) : Function::find(p.kern);
    REQUIRE(function && !(p.func && function->is_kernel()), CUDA_ERROR_INVALID_HANDLE); // launches take either, nodes not
    TRY(find_context(p.func ? nullptr : p.ctx, now, &context));
    LaunchParameters launch;
    launch.grid = {p.gridDimX, p.gridDimY, p.gridDimZ};
    launch.block = {p.blockDimX, p.blockDimY, p.blockDimZ};
    launch.dynamic_shared = p.sharedMemBytes;
    launch.values = p.kernelParams;
    launch.extra = p.extra;
    auto old = work_as<KernelWork>(now);
    auto green = p.func ? nullptr : GreenContext::of(p.ctx ? p.ctx : current_handle());
    launch.partition = green ? green->partition() : nullptr;
    if (!old)
        return KernelWork::make(*function, launch, context, out);
    if (!p.ctx)
        launch.partition = old->parameters.partition;
    launch.cooperative = old->parameters.cooperative; // attributes are kept
    launch.cluster = old->parameters.cluster;
    TRY(KernelWork::make(*function, launch, context, out));
    auto made = std::const_pointer_cast<KernelWork>(work_as<KernelWork>(*out));
    made->attributes = old->attributes;
    return CUDA_SUCCESS;
}

CUresult make_copy(const CUDA_MEMCPY_NODE_PARAMS& p, const Work& now, Work* out)
{
    std::shared_ptr<Context> context;
    TRY(find_context(p.copyCtx, now, &context));
    return CopyWork::make(p.copyParams, context, out);
}

CUresult make_copies(const CUDA_MEMCPY_BATCH_NODE_PARAMS_V1& p, const Work& now, Work* out)
{
    std::shared_ptr<Context> context;
    REQUIRE(config().driver_version >= 13050, CUDA_ERROR_INVALID_VALUE);
    TRY(find_context(p.ctx, now, &context));
    return CopyBatchWork::make(p, context, out);
}

CUresult make_fill(const CUDA_MEMSET_NODE_PARAMS_v2& p, const Work& now, Work* out)
{
    std::shared_ptr<Context> context;
    TRY(find_context(p.ctx, now, &context));
    return FillWork::make({p.dst, p.pitch, p.value, p.elementSize, p.width, p.height}, context, out);
}

CUresult make_child(Graph& graph, const CUDA_CHILD_GRAPH_NODE_PARAMS& p, Work* out)
{
    std::shared_ptr<Graph> child;
    TRY(need_graph(p.graph, &child));
    REQUIRE(child->root().get() != graph.root().get() || child.get() != &graph, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(p.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE, CUDA_ERROR_NOT_SUPPORTED);
    REQUIRE(!child->has_memory() && !child->has(CU_GRAPH_NODE_TYPE_CONDITIONAL), CUDA_ERROR_NOT_SUPPORTED);
    *out = std::make_shared<ChildWork>(child->clone(graph.shared_from_this()));
    return CUDA_SUCCESS;
}

CUresult make_event(CUevent handle, CUgraphNodeType type, Work* out)
{
    std::shared_ptr<Event> event;
    TRY(need_event(handle, &event));
    *out = std::make_shared<EventWork>(type, std::move(event));
    return CUDA_SUCCESS;
}

CUresult make_allocation(CUDA_MEM_ALLOC_NODE_PARAMS_v2& p, Work* out)
{
    CUDA_MEM_ALLOC_NODE_PARAMS_v1 old{};
    old.poolProps = p.poolProps;
    old.accessDescs = p.accessDescs;
    old.accessDescCount = p.accessDescCount;
    old.bytesize = p.bytesize;
    TRY(AllocationWork::make(old, out));
    p.dptr = old.dptr;
    return CUDA_SUCCESS;
}

CUresult make_free(const Graph& graph, CUdeviceptr address, Work* out)
{
    auto memory = GraphMemory::find(address);
    REQUIRE(memory && !graph.frees(*memory), CUDA_ERROR_INVALID_VALUE);
    *out = std::make_shared<FreeWork>(std::move(memory));
    return CUDA_SUCCESS;
}

CUresult make_conditional(Graph& graph, CUDA_CONDITIONAL_NODE_PARAMS& p, Work* out)
{
    std::shared_ptr<Context> context;
    unsigned most = p.type == CU_GRAPH_COND_TYPE_WHILE ? 1 : p.type == CU_GRAPH_COND_TYPE_IF ? 2 : ~0u;
    REQUIRE(p.type <= CU_GRAPH_COND_TYPE_SWITCH && p.size && p.size <= most, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(p.ctx, &context));
    const auto& known = graph.root()->conditions();
    REQUIRE(std::any_of(known.begin(), known.end(), [&](const auto& row) { return row.handle == p.handle; }),
            CUDA_ERROR_INVALID_VALUE);
    auto made = std::make_shared<ConditionalWork>(p.handle, p.type);
    made->context = context;
    for (unsigned i = 0; i < p.size; ++i) {
        made->bodies.push_back(Graph::make(graph.shared_from_this()));
        made->handles.push_back(made->bodies.back()->handle());
    }
    p.phGraph_out = made->handles.data();
    *out = std::move(made);
    return CUDA_SUCCESS;
}

CUresult make_memory_operations(const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2& p, const Work& now, Work* out)
{
    std::shared_ptr<Context> context;
    MemoryOperations made;
    TRY(find_context(p.ctx, now, &context));
    TRY(make_operations(context, p.count, p.paramArray, p.flags, &made));
    *out = std::make_shared<MemoryOperationWork>(std::move(made.work));
    return CUDA_SUCCESS;
}

template <class Parameters> CUresult make_semaphores(const Parameters& p, const Work& now, Work* out)
{
    std::shared_ptr<Context> context;
    std::shared_ptr<SemaphoreWork> made;
    TRY(find_context(p.ctx, now, &context));
    TRY(make_semaphore_work(context, p.extSemArray, p.paramsArray, p.numExtSems, &made));
    *out = std::move(made);
    return CUDA_SUCCESS;
}

} // namespace

CUgraphNodeParams packed(const CUDA_KERNEL_NODE_PARAMS& p)
{
    auto all = of_type(CU_GRAPH_NODE_TYPE_KERNEL);
    all.kernel = {p.func,      p.gridDimX,       p.gridDimY,     p.gridDimZ, p.blockDimX, p.blockDimY,
                  p.blockDimZ, p.sharedMemBytes, p.kernelParams, p.extra,    p.kern,      p.ctx};
    return all;
}

CUgraphNodeParams packed(const CUDA_MEMCPY3D& parameters, CUcontext context)
{
    auto all = of_type(CU_GRAPH_NODE_TYPE_MEMCPY);
    all.memcpy.copyCtx = context;
    all.memcpy.copyParams = parameters;
    return all;
}

CUgraphNodeParams packed(const CUDA_MEMSET_NODE_PARAMS& p, CUcontext context)
{
    auto all = of_type(CU_GRAPH_NODE_TYPE_MEMSET);
    all.memset = {p.dst, p.pitch, p.value, p.elementSize, p.width, p.height, context};
    return all;
}

CUgraphNodeParams packed(const CUDA_HOST_NODE_PARAMS& parameters)
{
    auto all = of_type(CU_GRAPH_NODE_TYPE_HOST);
    all.host.fn = parameters.fn;
    all.host.userData = parameters.userData;
    return all;
}

CUgraphNodeParams packed(CUgraph child)
{
    auto all = of_type(CU_GRAPH_NODE_TYPE_GRAPH);
    all.graph.graph = child;
    return all;
}

CUgraphNodeParams packed(CUevent event, CUgraphNodeType type)
{
    auto all = of_type(type);
    if (type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
        all.eventRecord.event = event;
    else
        all.eventWait.event = event;
    return all;
}

CUresult make_work(Graph& graph, CUgraphNodeParams* parameters, const Work& now, Work* out)
{
    CUgraphNodeParams& p = *parameters;
    switch (p.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return make_kernel(p.kernel, now, out);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return make_copy(p.memcpy, now, out);
    case CU_GRAPH_NODE_TYPE_MEMSET: return make_fill(p.memset, now, out);
    case CU_GRAPH_NODE_TYPE_MEMCPY_BATCH: return make_copies(p.memcpyBatch, now, out);
    case CU_GRAPH_NODE_TYPE_HOST:
        REQUIRE(p.host.fn, CUDA_ERROR_INVALID_VALUE);
        *out = std::make_shared<HostWork>(CUDA_HOST_NODE_PARAMS{p.host.fn, p.host.userData});
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_GRAPH: return make_child(graph, p.graph, out);
    case CU_GRAPH_NODE_TYPE_EMPTY: *out = std::make_shared<EmptyWork>(); return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return make_event(p.eventWait.event, p.type, out);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return make_event(p.eventRecord.event, p.type, out);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return make_allocation(p.alloc, out);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return make_free(graph, p.free.dptr, out);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return make_conditional(graph, p.conditional, out);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return make_memory_operations(p.memOp, now, out);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL: return make_semaphores(p.extSemSignal, now, out);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: return make_semaphores(p.extSemWait, now, out);
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUgraphNodeParams parameters_of(const NodeWork& work)
{
    auto context = work.context.lock();
    CUcontext owner = context ? context->handle() : nullptr;
    if (auto kernel = dynamic_cast<const KernelWork*>(&work))
        return packed(kernel->shown());
    if (auto copy = dynamic_cast<const CopyWork*>(&work))
        return packed(copy->parameters, owner);
    if (auto fill = dynamic_cast<const FillWork*>(&work))
        return packed(fill->parameters, owner);
    if (auto host = dynamic_cast<const HostWork*>(&work))
        return packed(host->parameters);
    if (auto event = dynamic_cast<const EventWork*>(&work))
        return packed(event->event->handle(), work.type);
    auto all = of_type(work.type);
    if (auto copies = dynamic_cast<const CopyBatchWork*>(&work)) {
        all.memcpyBatch = copies->shown();
    } else if (auto child = dynamic_cast<const ChildWork*>(&work)) {
        all.graph.graph = child->graph->handle();
        all.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_INVALID;
    } else if (auto allocation = dynamic_cast<const AllocationWork*>(&work)) {
        const auto& p = allocation->parameters;
        all.alloc = {p.poolProps, p.accessDescs, p.accessDescCount, p.bytesize, p.dptr};
    } else if (auto release = dynamic_cast<const FreeWork*>(&work)) {
        all.free.dptr = release->memory->allocation()->base;
    } else if (auto conditional = dynamic_cast<const ConditionalWork*>(&work)) {
        all.conditional = {conditional->condition, conditional->kind, unsigned(conditional->handles.size()),
                           conditional->handles.data(), owner};
    }
    return all;
}

namespace {

bool are_equal_sides(const Side& a, const Side& b, const Box& box)
{
    return a.at == b.at && a.array == b.array && a.host == b.host && a.x == b.x && a.y == b.y && a.z == b.z &&
           (box.height <= 1 || a.pitch == b.pitch) && (box.depth <= 1 || a.slice == b.slice);
}

bool are_equal_launches(const KernelWork& a, const KernelWork& b)
{
    auto same = [](const auto& x, const auto& y) {
        return x.first == y.first && !std::memcmp(&x.second, &y.second, sizeof x.second);
    };
    const auto &p = a.parameters, &q = b.parameters;
    return a.function == b.function && a.context.lock() == b.context.lock() && p.grid == q.grid && p.block == q.block &&
           p.dynamic_shared == q.dynamic_shared && a.launch.request->parameters == b.launch.request->parameters &&
           std::equal(a.attributes.begin(), a.attributes.end(), b.attributes.begin(), b.attributes.end(), same);
}

bool are_equal_fills(const CUDA_MEMSET_NODE_PARAMS& a, const CUDA_MEMSET_NODE_PARAMS& b)
{
    return a.dst == b.dst && a.value == b.value && a.elementSize == b.elementSize && a.width == b.width &&
           a.height == b.height && (a.height <= 1 || a.pitch == b.pitch);
}

} // namespace

bool are_equal(const NodeWork& a, const NodeWork& b)
{
    if (&a == &b || (a.type == b.type && (a.type == CU_GRAPH_NODE_TYPE_EMPTY || a.type == CU_GRAPH_NODE_TYPE_MEM_FREE)))
        return true;
    if (auto x = dynamic_cast<const KernelWork*>(&a), y = dynamic_cast<const KernelWork*>(&b); x && y)
        return are_equal_launches(*x, *y);
    if (auto x = dynamic_cast<const CopyWork*>(&a), y = dynamic_cast<const CopyWork*>(&b); x && y)
        return x->box.width == y->box.width && x->box.height == y->box.height && x->box.depth == y->box.depth &&
               are_equal_sides(x->target, y->target, x->box) && are_equal_sides(x->source, y->source, x->box);
    if (auto x = dynamic_cast<const FillWork*>(&a), y = dynamic_cast<const FillWork*>(&b); x && y)
        return are_equal_fills(x->parameters, y->parameters);
    if (auto x = dynamic_cast<const HostWork*>(&a), y = dynamic_cast<const HostWork*>(&b); x && y)
        return x->parameters.fn == y->parameters.fn && x->parameters.userData == y->parameters.userData;
    if (auto x = dynamic_cast<const EventWork*>(&a), y = dynamic_cast<const EventWork*>(&b); x && y)
        return x->event == y->event;
    return false;
}

bool is_changeable(CUgraphNodeType type)
{
    return type != CU_GRAPH_NODE_TYPE_CONDITIONAL && type != CU_GRAPH_NODE_TYPE_MEM_ALLOC &&
           type != CU_GRAPH_NODE_TYPE_MEM_FREE && type != CU_GRAPH_NODE_TYPE_EMPTY;
}

} // namespace emu::abi

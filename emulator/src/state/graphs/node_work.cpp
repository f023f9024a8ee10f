// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "node_work.hpp"

#include <algorithm>
#include <cstring>

#include "../../config.hpp"
#include "../../exec/checks/races.hpp"
#include "../device.hpp"
#include "../streams/queue.hpp"

namespace emu::state {

// --------------------------------------------------------------------------------- kernels

CUresult KernelWork::make(Function& function, const LaunchParameters& parameters,
                          const std::shared_ptr<Context>& context, Work* out)
{
    auto made = std::make_shared<KernelWork>();
    if (CUresult failed = prepare_launch(function, parameters, *context, &made->launch))
        return failed;
    made->context = context;
    made->function = Function::find(function.handle());
    made->parameters = parameters;
    made->parameters.values = made->parameters.extra = nullptr;
    CUlaunchAttributeValue value{};
    if (parameters.cooperative) {
        value.cooperative = 1;
        made->attributes[CU_LAUNCH_ATTRIBUTE_COOPERATIVE] = value;
    }
    if (parameters.cluster.x) {
        value = {};
        value.clusterDim.x = parameters.cluster.x;
        value.clusterDim.y = parameters.cluster.y;
        value.clusterDim.z = parameters.cluster.z;
        made->attributes[CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION] = value;
    }
    auto& bytes = made->launch.request->parameters;
    for (const auto& parameter : made->launch.request->layout)
        made->values_.push_back(bytes.data() + parameter.offset);
    *out = std::move(made);
    return CUDA_SUCCESS;
}

CUresult KernelWork::with(CUlaunchAttributeID id, const CUlaunchAttributeValue& value, Work* out) const
{
    LaunchParameters changed = parameters;
    auto owner = context.lock();
    if (!owner)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        changed.cooperative = value.cooperative != 0;
    else if (id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        changed.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
    changed.values = values_.data();
    Work made;
    if (CUresult failed = make(*function, changed, owner, &made))
        return failed;
    auto kernel = std::const_pointer_cast<KernelWork>(work_as<KernelWork>(made));
    for (const auto& row : attributes)
        kernel->attributes.insert(row);
    kernel->attributes[id] = value;
    *out = std::move(made);
    return CUDA_SUCCESS;
}

CUlaunchAttributeValue KernelWork::attribute(CUlaunchAttributeID id) const
{
    auto row = attributes.find(id);
    return row == attributes.end() ? CUlaunchAttributeValue{} : row->second;
}

CUDA_KERNEL_NODE_PARAMS KernelWork::shown() const
{
    CUDA_KERNEL_NODE_PARAMS out{};
    if (function->is_kernel())
        out.kern = reinterpret_cast<CUkernel>(function->handle());
    else
        out.func = function->handle();
    if (auto owner = context.lock())
        out.ctx = owner->handle();
    out.gridDimX = parameters.grid.x;
    out.gridDimY = parameters.grid.y;
    out.gridDimZ = parameters.grid.z;
    out.blockDimX = parameters.block.x;
    out.blockDimY = parameters.block.y;
    out.blockDimZ = parameters.block.z;
    out.sharedMemBytes = parameters.dynamic_shared;
    out.kernelParams = values_.empty() ? nullptr : values_.data();
    return out;
}

void KernelWork::run(const ExecNode&, NodeRunner& runner) const
{
    auto owner = context.lock();
    if (!owner || runner.is_stopped())
        return;
    exec::LaunchRequest request = *launch.request;
    request.conditions = &runner.conditions();
    request.launcher = &runner.launcher();
    run_launch(request, *owner);
}

// ------------------------------------------------------------------------- copies and fills

static CUmemorytype memory_type(const Side& side)
{
    return side.array ? CU_MEMORYTYPE_ARRAY : side.host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

Work CopyWork::captured(const Side& target, const Side& source, const Box& box)
{
    auto made = std::make_shared<CopyWork>();
    CUDA_MEMCPY3D& p = made->parameters;
    p.dstMemoryType = memory_type(target);
    p.srcMemoryType = memory_type(source);
    if (target.array) {
        p.dstArray = target.array->handle();
        p.dstXInBytes = target.x, p.dstY = target.y, p.dstZ = target.z;
    } else {
        p.dstHost = target.host ? reinterpret_cast<void*>(target.address()) : nullptr;
        p.dstDevice = target.host ? 0 : target.address();
        p.dstPitch = target.pitch;
        p.dstHeight = target.pitch ? target.slice / target.pitch : 0;
    }
    if (source.array) {
        p.srcArray = source.array->handle();
        p.srcXInBytes = source.x, p.srcY = source.y, p.srcZ = source.z;
    } else {
        p.srcHost = source.host ? reinterpret_cast<void*>(source.address()) : nullptr;
        p.srcDevice = source.host ? 0 : source.address();
        p.srcPitch = source.pitch;
        p.srcHeight = source.pitch ? source.slice / source.pitch : 0;
    }
    p.WidthInBytes = box.width;
    p.Height = box.height;
    p.Depth = box.depth;
    made->target = target;
    made->source = source;
    made->box = box;
    return made;
}

CUresult CopyWork::make(const CUDA_MEMCPY3D& parameters, const std::shared_ptr<Context>& context, Work* out)
{
    auto made = std::make_shared<CopyWork>();
    if (CUresult failed = find_sides(parameters, true, &made->target, &made->source, &made->box))
        return failed;
    if (made->target.allocation && made->target.allocation->read_only)
        return CUDA_ERROR_INVALID_VALUE;
    for (const Side* side : {&made->target, &made->source})
        if (CUresult failed = check_access(*side, context.get()))
            return failed;
    made->context = context;
    made->parameters = parameters;
    *out = std::move(made);
    return CUDA_SUCCESS;
}

void CopyWork::run(const ExecNode&, NodeRunner& runner) const
{
    if (!runner.is_stopped() && !box.empty())
        runner.fail(run_copy(target, source, box), "a copy");
}

CUresult CopyBatchWork::make(const CUDA_MEMCPY_BATCH_NODE_PARAMS_V1& p, const std::shared_ptr<Context>& context,
                             Work* out)
{
    if (!p.count || !p.dsts || !p.srcs || !p.sizes || !p.attrs || !p.attrsIdxs || !p.numAttrs || p.numAttrs > p.count)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < p.numAttrs; ++i)
        if (p.attrsIdxs[i] >= p.count || (i ? p.attrsIdxs[i] <= p.attrsIdxs[i - 1] : p.attrsIdxs[i] != 0) ||
            p.attrs[i].srcAccessOrder < CU_MEMCPY_SRC_ACCESS_ORDER_STREAM ||
            p.attrs[i].srcAccessOrder > CU_MEMCPY_SRC_ACCESS_ORDER_ANY)
            return CUDA_ERROR_INVALID_VALUE;
    auto made = std::make_shared<CopyBatchWork>();
    made->context = context;
    made->targets.assign(p.dsts, p.dsts + p.count);
    made->sources.assign(p.srcs, p.srcs + p.count);
    made->sizes.assign(p.sizes, p.sizes + p.count);
    made->attributes.assign(p.attrs, p.attrs + p.numAttrs);
    made->firsts.assign(p.attrsIdxs, p.attrsIdxs + p.numAttrs);
    made->sides_.resize(p.count);
    for (size_t i = 0; i < p.count; ++i) {
        const Box box{p.sizes[i], 1, 1};
        Side* sides[] = {&made->sides_[i].first, &made->sides_[i].second};
        for (int k = 0; box.width && k < 2; ++k) { // no bytes: the copy is disabled
            const CUdeviceptr address = k ? p.srcs[i] : p.dsts[i];
            if (CUresult failed = find_side(true, address, Kind::any, box, box.width, box.width, sides[k]))
                return failed;
            if (CUresult failed = check_access(*sides[k], context.get()))
                return failed;
        }
        if (box.width && sides[0]->allocation && sides[0]->allocation->read_only)
            return CUDA_ERROR_INVALID_VALUE;
    }
    *out = std::move(made);
    return CUDA_SUCCESS;
}

CUDA_MEMCPY_BATCH_NODE_PARAMS_V1 CopyBatchWork::shown() const
{
    CUDA_MEMCPY_BATCH_NODE_PARAMS_V1 out{};
    out.count = sizes.size();
    out.dsts = const_cast<CUdeviceptr*>(targets.data());
    out.srcs = const_cast<CUdeviceptr*>(sources.data());
    out.sizes = const_cast<size_t*>(sizes.data());
    out.attrs = const_cast<CUmemcpyAttributes*>(attributes.data());
    out.attrsIdxs = const_cast<size_t*>(firsts.data());
    out.numAttrs = attributes.size();
    if (auto owner = context.lock())
        out.ctx = owner->handle();
    return out;
}

void CopyBatchWork::run(const ExecNode&, NodeRunner& runner) const
{
    for (size_t i = 0; i < sizes.size(); ++i)
        if (sizes[i] && !runner.is_stopped())
            runner.fail(run_copy(sides_[i].first, sides_[i].second, {sizes[i], 1, 1}), "a copy");
}

CUresult FillWork::make(const CUDA_MEMSET_NODE_PARAMS& parameters, const std::shared_ptr<Context>& context, Work* out)
{
    auto made = std::make_shared<FillWork>();
    const auto& p = parameters;
    if ((p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4) || !p.width || !p.height)
        return CUDA_ERROR_INVALID_VALUE;
    if (CUresult failed =
            find_fill(p.dst, p.elementSize, p.width, p.height, p.pitch, true, context.get(), &made->target))
        return failed;
    made->context = context;
    made->parameters = parameters;
    *out = std::move(made);
    return CUDA_SUCCESS;
}

void FillWork::run(const ExecNode&, NodeRunner& runner) const
{
    if (!runner.is_stopped())
        run_fill(target, parameters.value, parameters.elementSize, parameters.width, parameters.height);
}

// ------------------------------------------------------------------- the host, and events

void HostWork::run(const ExecNode&, NodeRunner& runner) const
{
    if (runner.is_stopped())
        return;
    exec::flush_output();
    if (CallbackScope scope; scope)
        parameters.fn(parameters.userData);
}

void MemoryOperationWork::run(const ExecNode&, NodeRunner& runner) const
{
    if (!runner.is_stopped())
        runner.fail(operation_(), "an operation on memory");
}

void SemaphoreWork::run(const ExecNode&, NodeRunner& runner) const
{
    if (!runner.is_stopped())
        runner.fail(operation_(), "an operation on external semaphores");
}

void EventWork::run(const ExecNode& node, NodeRunner& runner) const
{
    if (type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
        runner.reach(node);
    else
        runner.wait(node);
}

// ---------------------------------------------------------------------------------- memory

CUresult AllocationWork::make(CUDA_MEM_ALLOC_NODE_PARAMS_v1& parameters, Work* out)
{
    const CUmemPoolProps& props = parameters.poolProps;
    const bool managed = props.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED;
    if (!parameters.bytesize || props.handleTypes != CU_MEM_HANDLE_TYPE_NONE ||
        (props.allocType != CU_MEM_ALLOCATION_TYPE_PINNED && !managed) ||
        (parameters.accessDescCount && !parameters.accessDescs))
        return CUDA_ERROR_INVALID_VALUE;
    if (props.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!device_at(props.location.id))
        return CUDA_ERROR_INVALID_DEVICE;
    auto made = std::make_shared<AllocationWork>();
    if (CUresult failed = GraphMemory::make(props.location.id, managed, parameters.bytesize, &made->memory))
        return failed;
    made->access.assign(parameters.accessDescs, parameters.accessDescs + parameters.accessDescCount);
    parameters.dptr = made->memory->allocation()->base;
    made->parameters = parameters;
    made->parameters.accessDescs = made->access.empty() ? nullptr : made->access.data();
    *out = std::move(made);
    return CUDA_SUCCESS;
}

void FreeWork::run(const ExecNode&, NodeRunner&) const
{
    if (config().checks.races)
        exec::check_transfer(memory->allocation()->base, memory->size(), exec::Transfer::release);
    memory->hide();
}

// ---------------------------------------------------------------------- graphs within nodes

void ChildWork::run(const ExecNode& node, NodeRunner& runner) const
{
    runner.run_inner(node, 0);
}

void ConditionalWork::run(const ExecNode& node, NodeRunner& runner) const
{
    if (kind == CU_GRAPH_COND_TYPE_WHILE) {
        while (!runner.is_stopped() && runner.condition(condition))
            runner.run_inner(node, 0);
        return;
    }
    unsigned value = runner.condition(condition);
    if (!runner.is_stopped())
        runner.run_inner(node, kind == CU_GRAPH_COND_TYPE_IF ? value == 0 : value);
}

} // namespace emu::state

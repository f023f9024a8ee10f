// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "graph_exec.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "../device.hpp"
#include "../streams/stream.hpp"

namespace emu::state {
namespace {

HandleTable<GraphExec, CUgraphExec>& graph_execs()
{
    static auto* rows = new HandleTable<GraphExec, CUgraphExec>;
    return *rows;
}

std::atomic<unsigned> next_graph_exec_id{1};

// Sorts nodes topologically. Returns fewer nodes than given if there is a cycle.
std::vector<GraphNode*> sorted(const GraphNodes& nodes)
{
    std::map<const GraphNode*, std::vector<GraphNode*>> next;
    std::map<const GraphNode*, size_t> left;
    std::vector<GraphNode*> out;
    for (const auto& node : nodes) {
        left[node.get()] = node->from.size();
        for (const GraphNode* before : node->from)
            next[before].push_back(node.get());
        if (node->from.empty())
            out.push_back(node.get());
    }
    for (size_t i = 0; i < out.size(); ++i)
        for (GraphNode* after : next[out[i]])
            if (--left[after] == 0)
                out.push_back(after);
    return out;
}

// Returns null if there is a cycle, with one of its nodes in `error`.
std::shared_ptr<ExecGraph> compile(const Graph& graph, CUgraphNode* error)
{
    auto made = std::make_shared<ExecGraph>();
    GraphNodes nodes = graph.nodes();
    auto order = sorted(nodes);
    if (order.size() < nodes.size()) {
        for (const auto& node : nodes)
            if (std::find(order.begin(), order.end(), node.get()) == order.end())
                *error = node->handle;
        return nullptr;
    }
    std::map<const GraphNode*, unsigned> places;
    for (GraphNode* node : order) {
        unsigned index = places[node] = unsigned(made->nodes.size());
        ExecNode one;
        one.source = node->handle;
        one.work = node->work;
        one.before = unsigned(node->from.size());
        for (const GraphNode* before : node->from)
            made->nodes[places[before]].next.push_back(index);
        for (const auto& inner : graphs_in(node->work)) {
            one.graphs.push_back(compile(*inner, error));
            if (!one.graphs.back())
                return nullptr;
        }
        made->nodes.push_back(std::move(one));
    }
    return made;
}

void each_node(const ExecGraph& graph, const std::function<void(const ExecNode&)>& look)
{
    for (const ExecNode& node : graph.nodes) {
        look(node);
        for (const auto& inner : node.graphs)
            each_node(*inner, look);
    }
}

// Returns true if a conditional node's body may contain such a node, by the documented list.
bool is_for_bodies(CUgraphNodeType type)
{
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return true;
    default: return false;
    }
}

// Finds a node that conditional bodies may not contain, in a body or in one of its child graphs.
const ExecNode* find_foreign(const ExecGraph& graph, bool in_body)
{
    for (const ExecNode& node : graph.nodes) {
        if (in_body && !is_for_bodies(node.work->type))
            return &node;
        bool is_inside = in_body || node.work->type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
        for (const auto& inner : node.graphs)
            if (const ExecNode* found = find_foreign(*inner, is_inside))
                return found;
    }
    return nullptr;
}

// Checks the documented rules for graphs launched by kernels, and fills in the reason.
CUresult check_for_kernels(const ExecGraph& root, uint64_t flags, CUDA_GRAPH_INSTANTIATE_PARAMS* report)
{
    CUgraphNode foreign = nullptr;
    std::set<Context*> contexts;
    bool has_work = false;
    each_node(root, [&](const ExecNode& node) {
        auto copy = work_as<CopyWork>(node.work);
        bool is_work = work_as<KernelWork>(node.work) || copy || work_as<FillWork>(node.work);
        if ((!is_work && !work_as<ChildWork>(node.work)) || (copy && (copy->target.array || copy->source.array)))
            foreign = node.source;
        has_work |= is_work;
        if (auto context = node.work->context.lock())
            contexts.insert(context.get());
    });
    if (foreign || contexts.size() > 1) {
        report->hErrNode_out = foreign;
        report->result_out = foreign ? CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED
                                     : CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED;
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return has_work && !(flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) ? CUDA_SUCCESS
                                                                                  : CUDA_ERROR_INVALID_VALUE;
}

std::shared_ptr<ExecGraph> copy_of(const ExecGraph& graph)
{
    auto copy = std::make_shared<ExecGraph>(graph);
    for (ExecNode& node : copy->nodes)
        for (auto& inner : node.graphs)
            inner = copy_of(*inner);
    return copy;
}

ExecNode* find_source(ExecGraph& graph, CUgraphNode source)
{
    for (ExecNode& node : graph.nodes) {
        if (node.source == source)
            return &node;
        for (auto& inner : node.graphs)
            if (ExecNode* found = find_source(*inner, source))
                return found;
    }
    return nullptr;
}

CUresult mismatch(CUgraphExecUpdateResultInfo* info, CUgraphExecUpdateResult result, CUgraphNode node)
{
    info->result = result;
    info->errorNode = node;
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

// Returns true if an executable can take over the parameters: the number of copies of a batch is fixed.
bool can_replace(const NodeWork& now, const NodeWork& next)
{
    auto before = dynamic_cast<const CopyBatchWork*>(&now), after = dynamic_cast<const CopyBatchWork*>(&next);
    return !before || !after || before->sizes.size() == after->sizes.size();
}

// Pairs nodes in creation order, like drivers.
CUresult match(const ExecGraph& now, const ExecGraph& then, CUgraphExecUpdateResultInfo* info)
{
    if (now.nodes.size() != then.nodes.size())
        return mismatch(info, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nullptr);
    for (size_t i = 0; i < now.nodes.size(); ++i) {
        const ExecNode &old = now.nodes[i], &other = then.nodes[i];
        if (old.work->type != other.work->type)
            return mismatch(info, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, other.source);
        if (old.next != other.next || old.graphs.size() != other.graphs.size())
            return mismatch(info, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, other.source);
        if (old.work->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || old.work->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
            return mismatch(info, CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED, other.source);
        if (!can_replace(*old.work, *other.work))
            return mismatch(info, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, other.source);
        for (size_t k = 0; k < old.graphs.size(); ++k)
            if (CUresult failed = match(*old.graphs[k], *other.graphs[k], info))
                return failed;
    }
    return CUDA_SUCCESS;
}

// A launch's effect on graph memory, computed before anything happens.
struct MemoryPlan {
    std::map<GraphMemory*, bool> live;  // state after the nodes so far
    std::map<int, long long> now, most; // bytes by device
    bool auto_free = false;

    CUresult look_at(const ExecNode& node)
    {
        auto allocation = work_as<AllocationWork>(node.work);
        auto release = work_as<FreeWork>(node.work);
        if (!allocation && !release)
            return CUDA_SUCCESS;
        GraphMemory& memory = allocation ? *allocation->memory : *release->memory;
        auto row = live.try_emplace(&memory, memory.is_live()).first;
        long long size = (long long)memory.size();
        int device = memory.device();
        if (allocation) {
            if (row->second && !auto_free)
                return CUDA_ERROR_INVALID_VALUE;
            if (!row->second)
                now[device] += size;
            most[device] = std::max(most[device], now[device]);
            row->second = true;
            return CUDA_SUCCESS;
        }
        if (!row->second)
            return CUDA_ERROR_INVALID_VALUE;
        now[device] -= size;
        row->second = false;
        return CUDA_SUCCESS;
    }
};

} // namespace

// ------------------------------------------------------------------------- making one

CUresult GraphExec::create(Graph& graph, uint64_t flags, CUDA_GRAPH_INSTANTIATE_PARAMS* report, CUgraphExec* out)
{
    auto made = std::make_shared<GraphExec>();
    CUgraphNode error = nullptr;
    if (!(made->root_ = compile(graph, &error))) {
        report->hErrNode_out = error;
        report->result_out = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (const ExecNode* foreign = find_foreign(*made->root_, false)) {
        report->hErrNode_out = foreign->source;
        report->result_out = CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
        if (CUresult failed = check_for_kernels(*made->root_, flags, report))
            return failed;
    std::set<CUgraphConditionalHandle> used;
    each_node(*made->root_, [&](const ExecNode& node) {
        if (auto conditional = work_as<ConditionalWork>(node.work))
            used.insert(conditional->condition);
    });
    made->conditions_ = std::make_shared<ConditionValues>();
    for (const auto& condition : graph.conditions()) {
        if (!used.count(condition.handle)) {
            report->result_out = CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED;
            return CUDA_ERROR_INVALID_VALUE;
        }
        made->conditions_->define(condition.handle, condition.value, condition.assign);
    }
    made->has_memory_ = graph.has_memory();
    made->is_only_one_ = made->has_memory_ || !used.empty(); // addresses and conditions cannot be in use twice
    if (made->is_only_one_ && graph.executables.exchange(1))
        return CUDA_ERROR_NOT_SUPPORTED;
    made->id_ = next_graph_exec_id++;
    made->flags_ = flags;
    made->is_uploaded_ = flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    made->graph_ = graph.weak_from_this();
    graph.collect_objects(&made->objects_);
    *out = made->handle_ = graph_execs().add(made);
    return CUDA_SUCCESS;
}

std::shared_ptr<GraphExec> GraphExec::find(CUgraphExec handle)
{
    return graph_execs().find(handle);
}

CUresult GraphExec::destroy(CUgraphExec handle)
{
    auto found = graph_execs().remove(handle);
    if (!found)
        return CUDA_ERROR_INVALID_VALUE;
    if (auto graph = found->graph_.lock(); graph && found->is_only_one_)
        graph->executables = 0;
    return CUDA_SUCCESS;
}

GraphExec::~GraphExec() = default;

std::vector<std::pair<std::shared_ptr<GraphExec>, Origin>> GraphExec::all()
{
    return graph_execs().all();
}

// ---------------------------------------------------------------------------- changing it

// Called under the lock. A run that has started keeps its own copy.
std::shared_ptr<ExecGraph> GraphExec::writable()
{
    if (root_.use_count() > 1)
        root_ = copy_of(*root_);
    is_uploaded_ = false;
    return root_;
}

CUresult GraphExec::set_work(CUgraphNode node, Work work)
{
    std::lock_guard lock(mutex_);
    ExecNode* found = find_source(*writable(), node);
    if (!found || found->work->type != work->type || !can_replace(*found->work, *work))
        return CUDA_ERROR_INVALID_VALUE;
    if (auto child = work_as<ChildWork>(work)) {
        CUgraphNode error = nullptr;
        CUgraphExecUpdateResultInfo reason{};
        auto inner = compile(*child->graph, &error);
        Graph::forget_graphs(work); // no handle of this clone was passed to the program
        if (!inner || match(*found->graphs[0], *inner, &reason))
            return CUDA_ERROR_INVALID_VALUE;
        found->graphs = {inner};
        child->graph->collect_objects(&objects_);
    }
    found->work = std::move(work);
    return CUDA_SUCCESS;
}

CUresult GraphExec::work_of(CUgraphNode node, Work* out)
{
    std::lock_guard lock(mutex_);
    const ExecNode* found = find_source(*root_, node);
    if (!found)
        return CUDA_ERROR_INVALID_VALUE;
    *out = found->work;
    return CUDA_SUCCESS;
}

CUresult GraphExec::set_enabled(CUgraphNode node, bool enabled)
{
    std::lock_guard lock(mutex_);
    ExecNode* found = find_source(*writable(), node);
    if (!found || (found->work->type != CU_GRAPH_NODE_TYPE_KERNEL && found->work->type != CU_GRAPH_NODE_TYPE_MEMCPY &&
                   found->work->type != CU_GRAPH_NODE_TYPE_MEMSET))
        return CUDA_ERROR_INVALID_VALUE;
    found->enabled = enabled;
    return CUDA_SUCCESS;
}

CUresult GraphExec::is_enabled(CUgraphNode node, bool* enabled)
{
    std::lock_guard lock(mutex_);
    const ExecNode* found = find_source(*root_, node);
    if (!found)
        return CUDA_ERROR_INVALID_VALUE;
    *enabled = found->enabled;
    return CUDA_SUCCESS;
}

namespace {

// Takes over the parameters of `from`, with the conditional handles that its kernels set. Nodes keep the handles that
// the program has.
void take_over(ExecGraph& to, const ExecGraph& from)
{
    for (size_t i = 0; i < to.nodes.size(); ++i) {
        to.nodes[i].work = from.nodes[i].work;
        for (size_t k = 0; k < to.nodes[i].graphs.size(); ++k)
            take_over(*to.nodes[i].graphs[k], *from.nodes[i].graphs[k]);
    }
}

} // namespace

CUresult GraphExec::update(Graph& graph, CUgraphExecUpdateResultInfo* info)
{
    CUgraphNode error = nullptr;
    auto other = compile(graph, &error);
    if (!other)
        return mismatch(info, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, error);
    UserObjects objects;
    graph.collect_objects(&objects);
    std::lock_guard lock(mutex_);
    if (CUresult failed = match(*root_, *other, info))
        return failed;
    take_over(*writable(), *other);
    for (const auto& condition : graph.conditions())
        conditions_->define(condition.handle, condition.value, condition.assign);
    objects_ = objects;
    info->result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    return CUDA_SUCCESS;
}

// --------------------------------------------------------------------------------- launches

CUresult GraphExec::plan_memory(Stream& stream)
{
    MemoryPlan plan;
    plan.auto_free = flags_ & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    for (const ExecNode& node : root_->nodes)
        if (CUresult failed = plan.look_at(node))
            return failed;
    for (auto& row : plan.most)
        if (!GraphReserve::of(row.first).ensure(size_t(row.second)))
            return CUDA_ERROR_OUT_OF_MEMORY;
    for (const ExecNode& node : root_->nodes) // freed in stream order, before the nodes
        if (auto allocation = work_as<AllocationWork>(node.work); allocation && allocation->memory->drop())
            stream.enqueue({Operation::Kind::release, "cuGraphLaunch", [memory = allocation->memory] {
                                memory->hide();
                                return CUDA_SUCCESS;
                            }});
    exec::Turn turn; // of the node in the launch, which is about to be enqueued
    turn.queue = stream.queue()->id(), turn.number = stream.queue()->submitted() + 1;
    turn.name = "cuGraphLaunch";
    for (const ExecNode& node : root_->nodes) {
        ++turn.node;
        if (auto allocation = work_as<AllocationWork>(node.work))
            allocation->memory->take(turn);
    }
    for (const ExecNode& node : root_->nodes)
        if (auto release = work_as<FreeWork>(node.work))
            release->memory->drop();
    for (auto& row : plan.now)
        GraphReserve::of(row.first).change(row.second);
    return CUDA_SUCCESS;
}

CUresult GraphExec::launch(Stream& stream)
{
    std::lock_guard turn(launch_mutex_);
    if (!last_.can_be_ignored())
        if (CUresult failed = stream.follow(last_))
            return failed;
    std::shared_ptr<GraphRun> run;
    {
        std::lock_guard lock(mutex_);
        if (has_memory_)
            if (CUresult failed = plan_memory(stream))
                return failed;
        run = std::make_shared<GraphRun>(root_, objects_, conditions_, stream.context(), stream.priority());
    }
    run->allow_launches(reinterpret_cast<uint64_t>(handle_), &run_for_kernel);
    is_uploaded_ = true;
    run->announce();
    CUresult result = stream.enqueue({Operation::Kind::graph, "cuGraphLaunch", [run] { return run->run(); }});
    last_ = {stream.queue(), stream.queue()->submitted()};
    return result;
}

std::shared_ptr<GraphRun> GraphExec::run_for_kernel(uint64_t executable, const GraphRun& from, bool is_tail)
{
    auto exec = find(reinterpret_cast<CUgraphExec>(executable));
    if (!exec || !(exec->flags_ & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) || !exec->is_uploaded_)
        return nullptr;
    auto place = is_tail ? exec->tail_ : exec->beside_;
    if (place->exchange(true))
        return nullptr;
    std::lock_guard lock(exec->mutex_);
    auto run =
        std::make_shared<GraphRun>(exec->root_, exec->objects_, exec->conditions_, from.context(), from.priority());
    run->allow_launches(executable, &run_for_kernel);
    run->occupy(std::move(place));
    return run;
}

} // namespace emu::state

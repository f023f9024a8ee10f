// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "graph.hpp"

#include <algorithm>
#include <map>

#include "capture.hpp"
#include "device.hpp"
#include "event.hpp"

namespace emu::state {
namespace {

HandleTable<Graph, CUgraph>& table()
{
    static auto* rows = new HandleTable<Graph, CUgraph>;
    return *rows;
}

HandleTable<GraphNode, CUgraphNode>& node_table()
{
    static auto* rows = new HandleTable<GraphNode, CUgraphNode>;
    return *rows;
}

HandleTable<GraphExec, CUgraphExec>& exec_table()
{
    static auto* rows = new HandleTable<GraphExec, CUgraphExec>;
    return *rows;
}

std::atomic<unsigned> next_id{1};

bool has_memory_in(const GraphNodes& nodes)
{
    return std::any_of(nodes.begin(), nodes.end(), [](const auto& node) { return node->memory; });
}

// What a launch does to memory of graphs, worked out before anything happens.
struct MemoryPlan {
    std::map<GraphMemory*, bool> live;          // after the nodes looked at so far
    std::map<int, long long> now, most, before; // bytes by device
    bool auto_free = false;

    CUresult look_at(const GraphNode& node)
    {
        GraphMemory& memory = *node.memory;
        auto row = live.try_emplace(&memory, memory.is_live()).first;
        long long size = (long long)memory.size();
        int device = memory.device();
        if (node.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
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

std::shared_ptr<Graph> Graph::make()
{
    auto graph = std::make_shared<Graph>();
    graph->id_ = next_id++;
    graph->handle_ = table().add(graph);
    return graph;
}

std::shared_ptr<Graph> Graph::find(CUgraph handle)
{
    return table().find(handle);
}

CUresult Graph::destroy(CUgraph handle)
{
    return table().remove(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

Graph::~Graph()
{
    for (auto& node : nodes_)
        node_table().remove(node->handle);
}

std::shared_ptr<GraphNode> Graph::find_node(CUgraphNode handle)
{
    return node_table().find(handle);
}

std::vector<std::pair<std::shared_ptr<Graph>, Origin>> Graph::all()
{
    return table().all();
}

std::shared_ptr<GraphNode> Graph::add(std::shared_ptr<GraphNode> node)
{
    node->graph = weak_from_this();
    node->handle = node_table().add(node);
    std::lock_guard lock(mutex_);
    nodes_.push_back(node);
    return node;
}

GraphNodes Graph::nodes() const
{
    std::lock_guard lock(mutex_);
    return nodes_;
}

bool Graph::has_memory() const
{
    return has_memory_in(nodes());
}

// ------------------------------------------------------------------------- executables

CUresult GraphExec::create(Graph& graph, uint64_t flags, CUgraphExec* out)
{
    if (graph.has_memory() && graph.instantiated_.exchange(true))
        return CUDA_ERROR_NOT_SUPPORTED; // its addresses cannot be used twice
    auto made = std::make_shared<GraphExec>();
    made->id_ = next_id++;
    made->flags_ = flags;
    made->nodes_ = graph.nodes();
    made->graph_ = graph.weak_from_this();
    *out = made->handle_ = exec_table().add(made);
    return CUDA_SUCCESS;
}

std::shared_ptr<GraphExec> GraphExec::find(CUgraphExec handle)
{
    return exec_table().find(handle);
}

CUresult GraphExec::destroy(CUgraphExec handle)
{
    auto found = exec_table().remove(handle);
    if (!found)
        return CUDA_ERROR_INVALID_VALUE;
    if (auto graph = found->graph_.lock())
        graph->instantiated_ = false;
    return CUDA_SUCCESS;
}

GraphExec::~GraphExec() = default;

std::vector<std::pair<std::shared_ptr<GraphExec>, Origin>> GraphExec::all()
{
    return exec_table().all();
}

// Node after node in an order that fits: what has no order between it may run like that.
CUresult GraphExec::submit(Stream& stream, const GraphNodes& nodes)
{
    for (const auto& node : nodes) {
        CUresult result = CUDA_SUCCESS;
        switch (node->type) {
        case CU_GRAPH_NODE_TYPE_EMPTY: break;
        case CU_GRAPH_NODE_TYPE_GRAPH: result = submit(stream, node->children); break;
        case CU_GRAPH_NODE_TYPE_EVENT_RECORD: result = stream.record(node->event); break;
        case CU_GRAPH_NODE_TYPE_WAIT_EVENT: result = stream.wait(node->event); break;
        case CU_GRAPH_NODE_TYPE_MEM_ALLOC: node->memory->take(); break;
        case CU_GRAPH_NODE_TYPE_MEM_FREE:
            node->memory->drop();
            result = stream.enqueue({Operation::Kind::release, "cuMemFreeAsync",
                                     [memory = node->memory] {
                                         memory->hide();
                                         return CUDA_SUCCESS;
                                     }});
            break;
        default: result = stream.enqueue(node->operation);
        }
        if (result)
            return result;
    }
    return CUDA_SUCCESS;
}

// A launch that is captured becomes a child graph.
CUresult GraphExec::capture(Stream& stream)
{
    if (has_memory_in(nodes_))
        return CUDA_ERROR_NOT_SUPPORTED;
    auto node = std::make_shared<GraphNode>();
    node->type = CU_GRAPH_NODE_TYPE_GRAPH;
    node->children = nodes_;
    return Capture::add(stream, std::move(node));
}

CUresult GraphExec::launch(Stream& stream)
{
    if (stream.is_capturing())
        return capture(stream);
    std::lock_guard lock(mutex_);
    MemoryPlan plan;
    plan.auto_free = flags_ & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    for (const auto& node : nodes_)
        if (node->memory)
            if (CUresult failed = plan.look_at(*node))
                return failed;
    for (auto& row : plan.most)
        if (!GraphReserve::of(row.first).ensure(size_t(row.second)))
            return CUDA_ERROR_OUT_OF_MEMORY;
    if (!last_.reached())
        if (CUresult failed = stream.follow(last_))
            return failed;
    for (const auto& node : nodes_) // freed in stream order, before the nodes
        if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC && node->memory->drop())
            stream.enqueue({Operation::Kind::release, "cuGraphLaunch", [memory = node->memory] {
                                memory->hide();
                                return CUDA_SUCCESS;
                            }});
    CUresult result = submit(stream, nodes_);
    for (auto& row : plan.now)
        GraphReserve::of(row.first).change(row.second);
    last_ = {stream.queue(), stream.queue()->submitted()};
    return result;
}

} // namespace emu::state

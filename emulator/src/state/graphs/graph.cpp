// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "graph.hpp"

#include <algorithm>
#include <map>

namespace emu::state {
namespace {

HandleTable<Graph, CUgraph>& graphs()
{
    static auto* rows = new HandleTable<Graph, CUgraph>;
    return *rows;
}

HandleTable<GraphNode, CUgraphNode>& node_table()
{
    static auto* rows = new HandleTable<GraphNode, CUgraphNode>;
    return *rows;
}

std::atomic<unsigned> next_graph_id{1};
std::atomic<CUgraphConditionalHandle> next_condition{1};

bool follows(const GraphNode& node, const GraphNode* before)
{
    return node.from.count(const_cast<GraphNode*>(before)) != 0;
}

// Copies a node's record for a clone: graphs inside are cloned, everything else is shared.
Work copy_work(const Work& work, const std::shared_ptr<Graph>& owner)
{
    if (auto child = work_as<ChildWork>(work))
        return std::make_shared<ChildWork>(child->graph->clone(owner));
    auto conditional = work_as<ConditionalWork>(work);
    if (!conditional)
        return work;
    auto copy = std::make_shared<ConditionalWork>(conditional->condition, conditional->kind);
    copy->context = conditional->context;
    for (const auto& body : conditional->bodies) {
        copy->bodies.push_back(body->clone(owner));
        copy->handles.push_back(copy->bodies.back()->handle());
    }
    return copy;
}

} // namespace

std::vector<std::shared_ptr<Graph>> graphs_in(const Work& work)
{
    if (auto child = work_as<ChildWork>(work))
        return {child->graph};
    if (auto conditional = work_as<ConditionalWork>(work))
        return conditional->bodies;
    return {};
}

std::shared_ptr<Graph> Graph::make(const std::shared_ptr<Graph>& owner)
{
    auto graph = std::make_shared<Graph>();
    graph->id_ = next_graph_id++;
    graph->owned_ = owner != nullptr;
    graph->owner_ = owner;
    graph->handle_ = graphs().add(graph);
    return graph;
}

std::shared_ptr<Graph> Graph::find(CUgraph handle)
{
    return graphs().find(handle);
}

CUresult Graph::destroy(CUgraph handle)
{
    auto graph = graphs().find(handle);
    if (!graph || graph->owned_)
        return CUDA_ERROR_INVALID_VALUE;
    graphs().remove(handle);
    return CUDA_SUCCESS;
}

Graph::~Graph()
{
    for (auto& row : nodes_)
        forget(*row.second);
}

// Invalidates the handles of a node, and of all nodes inside it.
void Graph::forget(const GraphNode& node)
{
    node_table().remove(node.handle);
    forget_graphs(node.work);
}

void Graph::forget_graphs(const Work& work)
{
    for (auto& graph : graphs_in(work)) {
        if (graph->forgotten_.exchange(true)) // by an enclosing graph: the destructor of each would visit all inside
            continue;
        graphs().remove(graph->handle());
        for (auto& inner : graph->nodes())
            forget(*inner);
    }
}

std::shared_ptr<GraphNode> Graph::find_node(CUgraphNode handle)
{
    return node_table().find(handle);
}

std::vector<std::pair<std::shared_ptr<Graph>, Origin>> Graph::all()
{
    auto rows = graphs().all();
    rows.erase(std::remove_if(rows.begin(), rows.end(), [](auto& row) { return row.first->owned_; }), rows.end());
    return rows;
}

std::shared_ptr<Graph> Graph::root()
{
    auto owner = owner_.lock();
    return owner ? owner->root() : shared_from_this();
}

// ------------------------------------------------------------------------- nodes and edges

void Graph::connect(GraphNode& from, GraphNode& to)
{
    to.from.insert(&from);
    from.to.insert(&to);
}

void Graph::disconnect(GraphNode& from, GraphNode& to)
{
    to.from.erase(&from);
    from.to.erase(&to);
}

std::shared_ptr<GraphNode> Graph::add(Work work, const std::vector<GraphNode*>& from)
{
    auto node = std::make_shared<GraphNode>();
    node->graph = weak_from_this();
    node->work = std::move(work);
    node->handle = node_table().add(node);
    std::lock_guard lock(mutex_);
    node->id = next_node_++;
    for (GraphNode* before : from)
        connect(*before, *node);
    ++counts_[node->work->type];
    nodes_.emplace(node->id, node);
    return node;
}

CUresult Graph::remove(GraphNode& node)
{
    if (has_memory())
        return CUDA_ERROR_NOT_SUPPORTED;
    std::shared_ptr<GraphNode> found; // destroyed after the lock is released
    {
        std::lock_guard lock(mutex_);
        auto place = nodes_.find(node.id);
        if (place == nodes_.end())
            return CUDA_ERROR_INVALID_VALUE;
        found = std::move(place->second);
        nodes_.erase(place);
        --counts_[node.work->type];
        while (!node.from.empty())
            disconnect(**node.from.begin(), node);
        while (!node.to.empty())
            disconnect(node, **node.to.begin());
    }
    forget(*found);
    return CUDA_SUCCESS;
}

CUresult Graph::set_work(GraphNode& node, Work work)
{
    {
        std::lock_guard lock(mutex_);
        std::swap(node.work, work);
    }
    forget_graphs(work);
    return CUDA_SUCCESS;
}

GraphNodes Graph::nodes() const
{
    std::lock_guard lock(mutex_);
    GraphNodes out;
    out.reserve(nodes_.size());
    for (const auto& row : nodes_)
        out.push_back(row.second);
    return out;
}

CUresult Graph::add_edges(const std::vector<std::pair<GraphNode*, GraphNode*>>& edges)
{
    std::lock_guard lock(mutex_);
    std::set<std::pair<GraphNode*, GraphNode*>> added;
    for (const auto& edge : edges)
        if (edge.first == edge.second || follows(*edge.second, edge.first) || !added.insert(edge).second)
            return CUDA_ERROR_INVALID_VALUE;
    for (const auto& edge : edges)
        connect(*edge.first, *edge.second);
    return CUDA_SUCCESS;
}

CUresult Graph::remove_edges(const std::vector<std::pair<GraphNode*, GraphNode*>>& edges)
{
    if (has_memory())
        return CUDA_ERROR_NOT_SUPPORTED;
    std::lock_guard lock(mutex_);
    for (auto& edge : edges)
        if (!follows(*edge.second, edge.first))
            return CUDA_ERROR_INVALID_VALUE;
    for (auto& edge : edges)
        disconnect(*edge.first, *edge.second);
    return CUDA_SUCCESS;
}

std::vector<GraphNode*> Graph::dependents(const GraphNode& node) const
{
    std::lock_guard lock(mutex_);
    return {node.to.begin(), node.to.end()};
}

bool Graph::has(CUgraphNodeType type) const
{
    std::lock_guard lock(mutex_);
    auto count = counts_.find(type);
    return count != counts_.end() && count->second != 0;
}

bool Graph::has_memory() const
{
    return has(CU_GRAPH_NODE_TYPE_MEM_ALLOC) || has(CU_GRAPH_NODE_TYPE_MEM_FREE);
}

bool Graph::frees(const GraphMemory& memory) const
{
    for (const auto& node : nodes())
        if (auto release = work_as<FreeWork>(node->work); release && release->memory.get() == &memory)
            return true;
    return false;
}

// --------------------------------------------------------------------------------- clones

std::shared_ptr<Graph> Graph::clone(const std::shared_ptr<Graph>& owner) const
{
    auto copy = make(owner);
    std::map<const GraphNode*, GraphNode*> made;
    GraphNodes mine;
    {
        std::lock_guard lock(mutex_);
        for (const auto& row : nodes_)
            mine.push_back(row.second);
        copy->objects_ = objects_;
        copy->conditions_ = conditions_;
    }
    for (const auto& node : mine) {
        auto other = copy->add(copy_work(node->work, copy), {});
        other->original = node->handle;
        made[node.get()] = other.get();
    }
    for (const auto& node : mine)
        for (GraphNode* before : node->from)
            connect(*made[before], *made[node.get()]);
    return copy;
}

std::shared_ptr<GraphNode> Graph::clone_of(CUgraphNode original) const
{
    for (const auto& node : nodes()) {
        if (node->original == original)
            return node;
        for (const auto& graph : graphs_in(node->work))
            if (auto found = graph->clone_of(original))
                return found;
    }
    return nullptr;
}

// -------------------------------------------------------------- user objects, conditions

CUresult Graph::retain(const std::shared_ptr<UserObject>& object, unsigned count, bool move)
{
    std::lock_guard lock(mutex_);
    objects_.add(object, count, move);
    return CUDA_SUCCESS;
}

CUresult Graph::release(const std::shared_ptr<UserObject>& object, unsigned count)
{
    std::lock_guard lock(mutex_);
    return objects_.remove(object, count);
}

void Graph::drop_objects()
{
    UserObjects dropped; // released after the lock
    std::lock_guard lock(mutex_);
    std::swap(objects_, dropped);
}

void Graph::collect_objects(UserObjects* out) const
{
    {
        std::lock_guard lock(mutex_);
        out->add(objects_);
    }
    for (const auto& node : nodes())
        for (const auto& graph : graphs_in(node->work))
            graph->collect_objects(out);
}

CUgraphConditionalHandle Graph::add_condition(unsigned value, bool assign)
{
    std::lock_guard lock(mutex_);
    conditions_.push_back({next_condition++, value, assign});
    return conditions_.back().handle;
}

} // namespace emu::state

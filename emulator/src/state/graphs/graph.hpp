// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Graphs: nodes and the edges between them, built by capture or by hand. A graph is a template; an executable
// instantiated from it (graph_exec.hpp) runs.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "../../common.hpp"
#include "../handles.hpp"
#include "node_work.hpp"
#include "user_object.hpp"

namespace emu::state {

struct GraphNode;
struct ById {
    bool operator()(const GraphNode* a, const GraphNode* b) const;
};
using NodeSet = std::set<GraphNode*, ById>; // in creation order

struct GraphNode {
    CUgraphNode handle = nullptr;
    unsigned id = 0; // unique in its graph
    std::weak_ptr<Graph> graph;
    NodeSet from, to; // predecessors and successors, nodes of the same graph
    Work work;
    CUgraphNode original = nullptr; // in a clone: the original node
};

inline bool ById::operator()(const GraphNode* a, const GraphNode* b) const
{
    return a->id < b->id;
}

using GraphNodes = std::vector<std::shared_ptr<GraphNode>>;

class Graph : public std::enable_shared_from_this<Graph> {
public:
    // `owner` is the graph that contains this one as a child graph, or as the body of a conditional node.
    static std::shared_ptr<Graph> make(const std::shared_ptr<Graph>& owner = nullptr);
    static std::shared_ptr<Graph> find(CUgraph handle);
    static CUresult destroy(CUgraph handle);
    static std::shared_ptr<GraphNode> find_node(CUgraphNode handle);
    static std::vector<std::pair<std::shared_ptr<Graph>, Origin>> all(); // except those contained in other graphs
    ~Graph();

    CUgraph handle() const { return handle_; }
    unsigned id() const { return id_; }
    bool is_owned() const { return owned_; }
    std::shared_ptr<Graph> root();

    // Adds a node after its predecessors.
    std::shared_ptr<GraphNode> add(Work work, const std::vector<GraphNode*>& from);
    CUresult remove(GraphNode& node);
    CUresult set_work(GraphNode& node, Work work);
    GraphNodes nodes() const;
    // Adds all edges or none. Returns INVALID_VALUE if one already exists, or would connect a node to itself.
    // remove_edges() likewise returns it if one does not exist.
    CUresult add_edges(const std::vector<std::pair<GraphNode*, GraphNode*>>& edges);
    CUresult remove_edges(const std::vector<std::pair<GraphNode*, GraphNode*>>& edges);
    std::vector<GraphNode*> dependents(const GraphNode& node) const;
    // Finds the node of this clone that was copied from `original`.
    std::shared_ptr<GraphNode> clone_of(CUgraphNode original) const;
    bool has(CUgraphNodeType type) const;
    bool has_memory() const; // such a graph can no longer be changed, and has one executable at a time
    bool frees(const GraphMemory& memory) const;
    std::shared_ptr<Graph> clone(const std::shared_ptr<Graph>& owner = nullptr) const;

    // Adds references that this graph, its clones and their executables keep.
    CUresult retain(const std::shared_ptr<UserObject>& object, unsigned count, bool move);
    CUresult release(const std::shared_ptr<UserObject>& object, unsigned count);
    void drop_objects(); // releases all of them
    void collect_objects(UserObjects* out) const; // including those of child graphs and bodies

    CUgraphConditionalHandle add_condition(unsigned value, bool assign);
    struct Condition {
        CUgraphConditionalHandle handle;
        unsigned value;
        bool assign; // assign the default value on each launch
    };
    const std::vector<Condition>& conditions() const { return conditions_; }

    std::atomic<int> executables{0};

    // Invalidates the handles of the graphs inside a node, and of their nodes.
    static void forget_graphs(const Work& work);

private:
    static void forget(const GraphNode& node);
    static void connect(GraphNode& from, GraphNode& to);
    static void disconnect(GraphNode& from, GraphNode& to);
    CUgraph handle_ = nullptr;
    unsigned id_ = 0, next_node_ = 0;
    bool owned_ = false;
    std::atomic<bool> forgotten_{false}; // the handles inside are invalid
    std::weak_ptr<Graph> owner_;
    mutable std::mutex mutex_;
    std::map<unsigned, std::shared_ptr<GraphNode>> nodes_; // by id
    std::map<CUgraphNodeType, unsigned> counts_;           // node counts by type
    UserObjects objects_;
    std::vector<Condition> conditions_; // kept by the outermost graph
};

// Returns the graphs inside a node: the child graph, or the bodies of a conditional node.
std::vector<std::shared_ptr<Graph>> graphs_in(const Work& work);

} // namespace emu::state

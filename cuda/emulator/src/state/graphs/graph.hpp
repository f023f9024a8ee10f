// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Graphs: nodes with an order between them, made by capture or by hand. They are templates:
// what runs is an executable made of one (graph_exec.hpp).
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "../../common.hpp"
#include "../handles.hpp"
#include "node_work.hpp"
#include "user_object.hpp"

namespace emu::state {

struct GraphNode {
    CUgraphNode handle = nullptr;
    unsigned id = 0;                           // within its graph
    std::weak_ptr<Graph> graph;
    std::vector<GraphNode*> from;              // what it follows; nodes of the same graph
    Work work;
    CUgraphNode original = nullptr;            // of a node of a clone: what it was made from
};

using GraphNodes = std::vector<std::shared_ptr<GraphNode>>;

class Graph : public std::enable_shared_from_this<Graph> {
public:
    // `owner`: of a child graph or the body of a conditional node.
    static std::shared_ptr<Graph> make(const std::shared_ptr<Graph>& owner = nullptr);
    static std::shared_ptr<Graph> find(CUgraph handle);
    static CUresult destroy(CUgraph handle);
    static std::shared_ptr<GraphNode> find_node(CUgraphNode handle);
    static std::vector<std::pair<std::shared_ptr<Graph>, Origin>> all(); // without owned ones
    ~Graph();

    CUgraph handle() const { return handle_; }
    unsigned id() const { return id_; }
    bool is_owned() const { return owned_; }
    std::shared_ptr<Graph> root();

    // Behind those that it follows.
    std::shared_ptr<GraphNode> add(Work work, std::vector<GraphNode*> from);
    CUresult remove(GraphNode& node);
    CUresult set_work(GraphNode& node, Work work);
    GraphNodes nodes() const;
    // All or none: INVALID_VALUE for an edge that is there (not there), or to itself.
    CUresult add_edges(const std::vector<std::pair<GraphNode*, GraphNode*>>& edges);
    CUresult remove_edges(const std::vector<std::pair<GraphNode*, GraphNode*>>& edges);
    std::vector<GraphNode*> dependents(const GraphNode& node) const;
    // The node of this clone that was made from `original`.
    std::shared_ptr<GraphNode> clone_of(CUgraphNode original) const;
    bool has(CUgraphNodeType type) const;
    bool has_memory() const;                   // fixes nodes and edges, and the number of executables
    bool frees(const GraphMemory& memory) const;
    std::shared_ptr<Graph> clone(const std::shared_ptr<Graph>& owner = nullptr) const;

    // Kept by this graph, its clones and their executables.
    CUresult retain(const std::shared_ptr<UserObject>& object, unsigned count, bool move);
    CUresult release(const std::shared_ptr<UserObject>& object, unsigned count);
    void collect_objects(UserObjects* out) const; // with those of child graphs and bodies

    CUgraphConditionalHandle add_condition(unsigned value, bool assign);
    struct Condition {
        CUgraphConditionalHandle handle;
        unsigned value;
        bool assign;                           // at each launch
    };
    const std::vector<Condition>& conditions() const { return conditions_; }

    std::atomic<int> executables{0};

    // The handles of the graphs in a node, and of their nodes, mean nothing any more.
    static void forget_graphs(const Work& work);

private:
    static void forget(const std::shared_ptr<GraphNode>& node);
    CUgraph handle_ = nullptr;
    unsigned id_ = 0, next_node_ = 0;
    bool owned_ = false;
    std::weak_ptr<Graph> owner_;
    mutable std::mutex mutex_;
    GraphNodes nodes_;
    UserObjects objects_;
    std::vector<Condition> conditions_;        // of a root
};

// The graphs inside a node: of a child graph node or a conditional one.
std::vector<std::shared_ptr<Graph>> graphs_in(const Work& work);

} // namespace emu::state

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Graphs: operations with an order between them, put together by capture and run as often
// as wanted.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "../common.hpp"
#include "context.hpp"
#include "graph_memory.hpp"
#include "queue.hpp"

namespace emu::state {

class Event;
class Graph;
class Stream;

// Does not change once it is part of a graph, so executables share it with the graph.
struct GraphNode {
    CUgraphNode handle = nullptr;
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    std::weak_ptr<Graph> graph;
    std::vector<GraphNode*> from;              // what it follows; earlier nodes of the graph
    Operation operation;                       // run anew by every launch
    std::weak_ptr<Context> context;            // where it was captured
    std::shared_ptr<Event> event;              // recorded or waited for
    std::shared_ptr<GraphMemory> memory;       // allocated or freed
    std::vector<std::shared_ptr<GraphNode>> children; // of a child graph
};

using GraphNodes = std::vector<std::shared_ptr<GraphNode>>;

class Graph : public std::enable_shared_from_this<Graph> {
public:
    static std::shared_ptr<Graph> make();
    static std::shared_ptr<Graph> find(CUgraph handle);
    static CUresult destroy(CUgraph handle);
    static std::shared_ptr<GraphNode> find_node(CUgraphNode handle);
    static std::vector<std::pair<std::shared_ptr<Graph>, Origin>> all();
    ~Graph();

    CUgraph handle() const { return handle_; }
    unsigned id() const { return id_; }
    // Behind those that it follows.
    std::shared_ptr<GraphNode> add(std::shared_ptr<GraphNode> node);
    GraphNodes nodes() const;
    bool has_memory() const;

private:
    friend class GraphExec;
    CUgraph handle_ = nullptr;
    unsigned id_ = 0;
    mutable std::mutex mutex_;
    GraphNodes nodes_;
    std::atomic<bool> instantiated_{false};    // of graphs that allocate: once at a time
};

class GraphExec {
public:
    static CUresult create(Graph& graph, uint64_t flags, CUgraphExec* out);
    static std::shared_ptr<GraphExec> find(CUgraphExec handle);
    static CUresult destroy(CUgraphExec handle);
    static std::vector<std::pair<std::shared_ptr<GraphExec>, Origin>> all();
    ~GraphExec();

    CUgraphExec handle() const { return handle_; }
    uint64_t flags() const { return flags_; }
    unsigned id() const { return id_; }
    CUresult launch(Stream& stream);

private:
    CUresult submit(Stream& stream, const GraphNodes& nodes);
    CUresult capture(Stream& stream);
    CUgraphExec handle_ = nullptr;
    unsigned id_ = 0;
    uint64_t flags_ = 0;
    GraphNodes nodes_;
    std::weak_ptr<Graph> graph_;
    std::mutex mutex_;
    Place last_;                               // launches of one executable follow each other
};

} // namespace emu::state

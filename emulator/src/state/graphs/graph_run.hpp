// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// One run of an executable graph. The next node is chosen at run time: a node is ready as soon as all its predecessors
// have completed, ready nodes run on helper threads, and a body runs as often as its condition demands.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "../../exec/exec.hpp"
#include "../streams/event.hpp"
#include "node_work.hpp"
#include "user_object.hpp"

namespace emu::state {

struct ExecGraph;

struct ExecNode {
    CUgraphNode source = nullptr; // the node of the instantiated graph
    Work work;
    bool enabled = true;
    unsigned before = 0;                            // number of predecessors
    std::vector<unsigned> next;                     // successors
    std::vector<std::shared_ptr<ExecGraph>> graphs; // the child graph, or the bodies
};

struct ExecGraph {
    std::vector<ExecNode> nodes; // sorted topologically
};

// The values of conditional handles, which kernels set. They persist from run to run.
class ConditionValues : public exec::ConditionSink {
public:
    void define(CUgraphConditionalHandle handle, unsigned value, bool assign);
    void begin_run();
    void set(uint64_t handle, uint32_t value) override; // unknown handles are ignored
    unsigned get(CUgraphConditionalHandle handle) const;

private:
    struct Row {
        unsigned value, initial;
        bool assign;
    };
    mutable std::mutex mutex_;
    std::map<CUgraphConditionalHandle, Row> rows_;
};

// Creates the run of a graph launched by a kernel. Returns null if there is no such executable, or if the kernel may
// not launch it.
class GraphRun;
using MakeRun = std::shared_ptr<GraphRun> (*)(uint64_t executable, const GraphRun& from, bool is_tail);

class GraphRun : public NodeRunner, public exec::GraphLauncher {
public:
    GraphRun(std::shared_ptr<const ExecGraph> graph, const UserObjects& objects,
             std::shared_ptr<ConditionValues> conditions, std::shared_ptr<Context> context, int priority);
    // Lets the graph's kernels launch graphs. `executable` is the graph's own handle.
    void allow_launches(uint64_t executable, MakeRun make);
    // Sets the flag while a run launched by a kernel is pending. It is cleared when a tail starts, or when any other
    // run ends.
    void occupy(std::shared_ptr<std::atomic<bool>> place) { place_ = std::move(place); }
    // Marks the events that the graph records as pending, and takes the last records of the events it waits for.
    void announce();
    CUresult run();
    int priority() const { return priority_; }
    const std::shared_ptr<Context>& context() const { return context_; }
    uint32_t generation() const { return generation_; }

    bool is_stopped() const override;
    void fail(CUresult result, const char* what) override;
    void fail(const std::string& race); // of a copy or fill; empty: none
    void reach(const ExecNode& node) override;
    void wait(const ExecNode& node) override;
    unsigned condition(CUgraphConditionalHandle handle) const override;
    exec::ConditionSink& conditions() override { return *conditions_; }
    void run_inner(const ExecNode& node, size_t index) override;
    exec::GraphLauncher& launcher() override { return *this; }
    int launch(uint64_t graph, uint64_t way) override;
    uint64_t current() const override { return executable_; }

private:
    using Runs = std::deque<std::shared_ptr<GraphRun>>;
    struct Launched {
        std::shared_ptr<GraphRun> run;
        std::shared_ptr<Queue> queue; // null: not yet running
    };

    void run_alone();
    int start(uint64_t graph);
    void wait_for_launched();
    Runs take_tails();
    void vacate();

    void announce(const ExecGraph& graph);
    void run_graph(const ExecGraph& graph);

    std::shared_ptr<const ExecGraph> graph_;
    UserObjects objects_; // kept until the run has completed
    std::shared_ptr<ConditionValues> conditions_;
    std::shared_ptr<Context> context_;
    int priority_;
    uint32_t generation_; // of the context at submission
    std::map<const ExecNode*, std::shared_ptr<Event::Point>> points_;
    std::map<const ExecNode*, Place> places_;

    uint64_t executable_ = 0;
    MakeRun make_ = nullptr;
    GraphRun* parent_ = nullptr; // the run that waits for this one
    std::shared_ptr<std::atomic<bool>> place_;
    std::mutex mutex_;
    std::vector<Launched> launched_; // launched by kernels, to run alongside this one
    size_t started_ = 0;
    Runs tails_; // launched by kernels, to run after this one
};

} // namespace emu::state

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// One run of an executable. What comes next is decided while it runs: a node as soon as all
// before it are done, on as many threads as there are nodes to run, a body as often as its
// condition says.
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
    CUgraphNode source = nullptr;              // the node of the graph that it was made from
    Work work;
    bool enabled = true;
    unsigned before = 0;                       // how many nodes it follows
    std::vector<unsigned> next;                // those that follow it
    std::vector<std::shared_ptr<ExecGraph>> graphs; // a child graph, or bodies
};

struct ExecGraph {
    std::vector<ExecNode> nodes;               // none before what it follows
};

// The values of conditional handles, as kernels set them; they outlast a run.
class ConditionValues : public exec::ConditionSink {
public:
    void define(CUgraphConditionalHandle handle, unsigned value, bool assign);
    void begin_run();
    void set(uint64_t handle, uint32_t value) override; // unknown ones are ignored
    unsigned get(CUgraphConditionalHandle handle) const;

private:
    struct Row {
        unsigned value, initial;
        bool assign;
    };
    mutable std::mutex mutex_;
    std::map<CUgraphConditionalHandle, Row> rows_;
};

// Makes the run of an executable that a kernel launches; null: there is none, or the kernel may not.
class GraphRun;
using MakeRun = std::shared_ptr<GraphRun> (*)(uint64_t executable, const GraphRun& from, bool is_tail);

class GraphRun : public NodeRunner, public exec::GraphLauncher {
public:
    GraphRun(std::shared_ptr<const ExecGraph> graph, const UserObjects& objects,
             std::shared_ptr<ConditionValues> conditions, std::shared_ptr<Context> context, int priority);
    // What its kernels launch: `executable` is its own handle.
    void allow_launches(uint64_t executable, MakeRun make);
    // Set while a run that a kernel launched is pending; cleared when a tail launch begins, or another one ends.
    void occupy(std::shared_ptr<std::atomic<bool>> place) { place_ = std::move(place); }
    // The events that it records are pending from now on; those that it waits for are looked at.
    void announce();
    CUresult run();
    int priority() const { return priority_; }
    const std::shared_ptr<Context>& context() const { return context_; }
    uint32_t generation() const { return generation_; }

    bool is_stopped() const override;
    void fail(CUresult result, const char* what) override;
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
        std::shared_ptr<Queue> queue;          // null: nobody runs it yet
    };

    void run_alone();
    int start(uint64_t graph);
    void wait_for_launched();
    Runs take_tails();
    void vacate();

    void announce(const ExecGraph& graph);
    void run_graph(const ExecGraph& graph);

    std::shared_ptr<const ExecGraph> graph_;
    UserObjects objects_;                      // until the run is done
    std::shared_ptr<ConditionValues> conditions_;
    std::shared_ptr<Context> context_;
    int priority_;
    uint32_t generation_;                      // of the context at submission
    std::map<const ExecNode*, std::shared_ptr<Event::Point>> points_;
    std::map<const ExecNode*, Place> places_;

    uint64_t executable_ = 0;
    MakeRun make_ = nullptr;
    GraphRun* parent_ = nullptr;               // which waits for this one
    std::shared_ptr<std::atomic<bool>> place_;
    std::mutex mutex_;
    std::vector<Launched> launched_;           // to run beside this one
    size_t started_ = 0;
    Runs tails_;                               // to run after it
};

} // namespace emu::state

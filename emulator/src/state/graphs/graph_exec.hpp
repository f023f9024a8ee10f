// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Executable graphs: a graph as it was when instantiated, with its own parameters. A launch keeps the parameters it
// started with, so they can be changed while it runs.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "graph.hpp"
#include "graph_run.hpp"

namespace emu::state {

class Stream;

class GraphExec {
public:
    static CUresult create(Graph& graph, uint64_t flags, CUDA_GRAPH_INSTANTIATE_PARAMS* report, CUgraphExec* out);
    static std::shared_ptr<GraphExec> find(CUgraphExec handle);
    static CUresult destroy(CUgraphExec handle);
    static std::vector<std::pair<std::shared_ptr<GraphExec>, Origin>> all();
    ~GraphExec();

    CUgraphExec handle() const { return handle_; }
    uint64_t flags() const { return flags_; }
    unsigned id() const { return id_; }
    CUresult launch(Stream& stream);
    void upload() { is_uploaded_ = true; }
    CUresult update(Graph& graph, CUgraphExecUpdateResultInfo* info);
    // `node` belongs to the graph that was instantiated. The new record must have the same type.
    CUresult set_work(CUgraphNode node, Work work);
    CUresult work_of(CUgraphNode node, Work* out);
    CUresult set_enabled(CUgraphNode node, bool enabled);
    CUresult is_enabled(CUgraphNode node, bool* enabled);

private:
    static std::shared_ptr<GraphRun> run_for_kernel(uint64_t executable, const GraphRun& from, bool is_tail);
    CUresult plan_memory(Stream& stream);
    std::shared_ptr<ExecGraph> writable();

    CUgraphExec handle_ = nullptr;
    unsigned id_ = 0;
    uint64_t flags_ = 0;
    bool has_memory_ = false;
    bool is_only_one_ = false; // one executable per graph at a time
    std::weak_ptr<Graph> graph_;
    std::mutex launch_mutex_; // taken before the other lock; held while the graph runs in deterministic mode
    std::mutex mutex_;
    std::shared_ptr<ExecGraph> root_;
    std::shared_ptr<ConditionValues> conditions_;
    UserObjects objects_;
    Place last_;                           // launches of one executable run sequentially
    std::atomic<bool> is_uploaded_{false}; // kernels can only launch uploaded graphs
    // True while a launch by a kernel is pending: as a sibling or child, or as a tail.
    std::shared_ptr<std::atomic<bool>> beside_ = std::make_shared<std::atomic<bool>>(false);
    std::shared_ptr<std::atomic<bool>> tail_ = std::make_shared<std::atomic<bool>>(false);
};

} // namespace emu::state

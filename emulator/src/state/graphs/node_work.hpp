// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The work of graph nodes: one record per node type, with the parameters that a program can read and change. A record
// does not change once it is part of a graph; new parameters create a new record.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "../../exec/exec.hpp"
#include "../code/module.hpp"
#include "../memory/copy.hpp"
#include "../memory/graph_memory.hpp"

namespace emu::state {

class Event;
class Graph;
struct ExecNode;

// The part of a run that its records use.
class NodeRunner {
public:
    virtual bool is_stopped() const = 0; // the context has an error, or was interrupted
    virtual void fail(CUresult result, const char* what) = 0;
    virtual void reach(const ExecNode& node) = 0; // completes the node's event
    virtual void wait(const ExecNode& node) = 0;  // waits for the node's event
    virtual unsigned condition(CUgraphConditionalHandle handle) const = 0;
    virtual exec::ConditionSink& conditions() = 0;
    virtual exec::GraphLauncher& launcher() = 0;
    // Runs a graph inside the node to its end, if the node has one with that index.
    virtual void run_inner(const ExecNode& node, size_t index) = 0;

protected:
    ~NodeRunner() = default;
};

class NodeWork {
public:
    explicit NodeWork(CUgraphNodeType type) : type(type) {}
    virtual ~NodeWork() = default;
    // Called on a worker when all predecessors have completed.
    virtual void run(const ExecNode& node, NodeRunner& runner) const = 0;

    const CUgraphNodeType type;
    std::weak_ptr<Context> context; // empty: any context
};

using Work = std::shared_ptr<const NodeWork>;

template <class T> std::shared_ptr<const T> work_as(const Work& work)
{
    return std::dynamic_pointer_cast<const T>(work);
}

class EmptyWork : public NodeWork {
public:
    EmptyWork() : NodeWork(CU_GRAPH_NODE_TYPE_EMPTY) {}
    void run(const ExecNode&, NodeRunner&) const override {}
};

class KernelWork : public NodeWork {
public:
    KernelWork() : NodeWork(CU_GRAPH_NODE_TYPE_KERNEL) {}
    static CUresult make(Function& function, const LaunchParameters& parameters,
                         const std::shared_ptr<Context>& context, Work* out);
    // Returns the same kernel with one attribute changed.
    CUresult with(CUlaunchAttributeID id, const CUlaunchAttributeValue& value, Work* out) const;
    CUlaunchAttributeValue attribute(CUlaunchAttributeID id) const;
    CUDA_KERNEL_NODE_PARAMS shown() const; // its pointers are valid as long as this record
    void run(const ExecNode& node, NodeRunner& runner) const override;

    std::shared_ptr<Function> function; // a function or a kernel, as passed by the program
    LaunchParameters parameters;        // without parameter values, which are in the request
    PreparedLaunch launch;
    std::map<CUlaunchAttributeID, CUlaunchAttributeValue> attributes;

private:
    mutable std::vector<void*> values_;
};

class CopyWork : public NodeWork {
public:
    CopyWork() : NodeWork(CU_GRAPH_NODE_TYPE_MEMCPY) {}
    // A copy captured from a stream: both sides are already resolved.
    static Work captured(const Side& target, const Side& source, const Box& box);
    static CUresult make(const CUDA_MEMCPY3D& parameters, const std::shared_ptr<Context>& context, Work* out);
    void run(const ExecNode& node, NodeRunner& runner) const override;

    CUDA_MEMCPY3D parameters{};
    Side target, source;
    Box box;
};

// Copies many ranges of memory. They are independent, and run one after another.
class CopyBatchWork : public NodeWork {
public:
    CopyBatchWork() : NodeWork(CU_GRAPH_NODE_TYPE_MEMCPY_BATCH) {}
    static CUresult make(const CUDA_MEMCPY_BATCH_NODE_PARAMS_V1& parameters, const std::shared_ptr<Context>& context,
                         Work* out);
    CUDA_MEMCPY_BATCH_NODE_PARAMS_V1 shown() const; // its pointers are valid as long as this record
    void run(const ExecNode& node, NodeRunner& runner) const override;

    std::vector<CUdeviceptr> targets, sources;
    std::vector<size_t> sizes;
    std::vector<CUmemcpyAttributes> attributes;
    std::vector<size_t> firsts; // the first copy of each attribute

private:
    std::vector<std::pair<Side, Side>> sides_;
};

class FillWork : public NodeWork {
public:
    FillWork() : NodeWork(CU_GRAPH_NODE_TYPE_MEMSET) {}
    static CUresult make(const CUDA_MEMSET_NODE_PARAMS& parameters, const std::shared_ptr<Context>& context, Work* out);
    void run(const ExecNode& node, NodeRunner& runner) const override;

    CUDA_MEMSET_NODE_PARAMS parameters{};
    Side target;
};

class HostWork : public NodeWork {
public:
    explicit HostWork(const CUDA_HOST_NODE_PARAMS& parameters)
        : NodeWork(CU_GRAPH_NODE_TYPE_HOST), parameters(parameters)
    {
    }
    void run(const ExecNode& node, NodeRunner& runner) const override;

    const CUDA_HOST_NODE_PARAMS parameters;
};

// Waits for values in memory, and writes values.
class MemoryOperationWork : public NodeWork {
public:
    explicit MemoryOperationWork(std::function<CUresult()> operation)
        : NodeWork(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP), operation_(std::move(operation))
    {
    }
    void run(const ExecNode& node, NodeRunner& runner) const override;

private:
    std::function<CUresult()> operation_;
};

// Signals external semaphores, or waits for them.
class SemaphoreWork : public NodeWork {
public:
    SemaphoreWork(CUgraphNodeType type, std::function<CUresult()> operation) // EXT_SEMAS_SIGNAL or EXT_SEMAS_WAIT
        : NodeWork(type), operation_(std::move(operation))
    {
    }
    void run(const ExecNode& node, NodeRunner& runner) const override;
    const std::function<CUresult()>& operation() const { return operation_; }

private:
    std::function<CUresult()> operation_;
};

class EventWork : public NodeWork {
public:
    EventWork(CUgraphNodeType type, std::shared_ptr<Event> event) // EVENT_RECORD or WAIT_EVENT
        : NodeWork(type), event(std::move(event))
    {
    }
    void run(const ExecNode& node, NodeRunner& runner) const override;

    const std::shared_ptr<Event> event;
};

class AllocationWork : public NodeWork {
public:
    AllocationWork() : NodeWork(CU_GRAPH_NODE_TYPE_MEM_ALLOC) {}
    static CUresult make(CUDA_MEM_ALLOC_NODE_PARAMS_v1& parameters, Work* out);
    void run(const ExecNode&, NodeRunner&) const override {} // the launch has already allocated it

    std::shared_ptr<GraphMemory> memory;
    CUDA_MEM_ALLOC_NODE_PARAMS_v1 parameters{};
    std::vector<CUmemAccessDesc> access;
};

class FreeWork : public NodeWork {
public:
    explicit FreeWork(std::shared_ptr<GraphMemory> memory)
        : NodeWork(CU_GRAPH_NODE_TYPE_MEM_FREE), memory(std::move(memory))
    {
    }
    void run(const ExecNode& node, NodeRunner& runner) const override;

    const std::shared_ptr<GraphMemory> memory;
};

class ChildWork : public NodeWork {
public:
    explicit ChildWork(std::shared_ptr<Graph> graph) : NodeWork(CU_GRAPH_NODE_TYPE_GRAPH), graph(std::move(graph)) {}
    void run(const ExecNode& node, NodeRunner& runner) const override;

    const std::shared_ptr<Graph> graph; // a copy of the given graph, owned by this node alone
};

class ConditionalWork : public NodeWork {
public:
    ConditionalWork(CUgraphConditionalHandle condition, CUgraphConditionalNodeType kind)
        : NodeWork(CU_GRAPH_NODE_TYPE_CONDITIONAL), condition(condition), kind(kind)
    {
    }
    void run(const ExecNode& node, NodeRunner& runner) const override;

    const CUgraphConditionalHandle condition;
    const CUgraphConditionalNodeType kind;
    std::vector<std::shared_ptr<Graph>> bodies;
    mutable std::vector<CUgraph> handles; // the array that phGraph_out points to
};

} // namespace emu::state

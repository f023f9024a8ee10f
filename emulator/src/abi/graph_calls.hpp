// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Functions shared by the chapters on graphs.
#pragma once

#include <algorithm>

#include "../state/graphs/drawing.hpp"
#include "../state/graphs/graph_exec.hpp"
#include "calls.hpp"

namespace emu::abi {

inline CUresult need_graph(CUgraph handle, std::shared_ptr<state::Graph>* out)
{
    *out = state::Graph::find(handle);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

inline CUresult need_node(CUgraphNode handle, std::shared_ptr<state::GraphNode>* out)
{
    *out = state::Graph::find_node(handle);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

inline CUresult need_node_of(const state::Graph& graph, CUgraphNode handle, std::shared_ptr<state::GraphNode>* out)
{
    TRY(need_node(handle, out));
    return (*out)->graph.lock().get() == &graph ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

inline CUresult need_exec(CUgraphExec handle, std::shared_ptr<state::GraphExec>* out)
{
    *out = state::GraphExec::find(handle);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// Convert the parameters of calls for one node type to the structure for all types.
CUgraphNodeParams packed(const CUDA_KERNEL_NODE_PARAMS& parameters);
CUgraphNodeParams packed(const CUDA_MEMCPY3D& parameters, CUcontext context);
CUgraphNodeParams packed(const CUDA_MEMSET_NODE_PARAMS& parameters, CUcontext context);
CUgraphNodeParams packed(const CUDA_HOST_NODE_PARAMS& parameters);
CUgraphNodeParams packed(CUgraph child);
CUgraphNodeParams packed(CUevent event, CUgraphNodeType type);

// Creates a node's record from its parameters. `now` is the record that it replaces, if any. Values returned by the
// driver are written to `parameters`.
CUresult make_work(state::Graph& graph, CUgraphNodeParams* parameters, const state::Work& now, state::Work* out);
// Returns a record's parameters. Their pointers are valid as long as the record.
CUgraphNodeParams parameters_of(const state::NodeWork& work);
bool is_changeable(CUgraphNodeType type);
// Returns true if two records have the same parameters. Records whose parameters are not kept differ.
bool are_equal(const state::NodeWork& a, const state::NodeWork& b);

} // namespace emu::abi

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Definitions of graphs, their nodes and executables, and captures. Each of the parts uses those above it."""

from __future__ import annotations

from cuda.core._utils._cpython cimport check_self_in_methods

from cuda.core._native._cuda_core import explain_other_names

__all__ = [
    "AdjacencySetProxy",
    "AllocNode",
    "CaptureStatistics",
    "CapturedFunction",
    "ChildGraphNode",
    "ConditionalNode",
    "EmptyNode",
    "EventRecordNode",
    "EventWaitNode",
    "ExecutableChildGraphNode",
    "ExecutableEventRecordNode",
    "ExecutableEventWaitNode",
    "ExecutableGraphNode",
    "ExecutableHostCallbackNode",
    "ExecutableKernelNode",
    "ExecutableMemcpyNode",
    "ExecutableMemsetNode",
    "FreeNode",
    "Graph",
    "GraphBuilder",
    "GraphCondition",
    "GraphDefinition",
    "GraphNode",
    "HostCallbackNode",
    "IfElseNode",
    "IfNode",
    "KernelNode",
    "MemcpyNode",
    "MemsetNode",
    "SwitchNode",
    "WhileNode",
    "capture",
]

include "_state.pxi"
include "_graph_condition.pxi"
include "_parameters.pxi"
include "_graph_node.pxi"
include "_nodes.pxi"
include "_executable.pxi"
include "_graph_definition.pxi"
include "_recapture.pxi"
include "_capture.pxi"
include "_graph_builder.pxi"
include "_call_keys.pxi"
include "_observed_state.pxi"
include "_captured_function.pxi"

explain_other_names(GraphBuilder)
check_self_in_methods(globals())

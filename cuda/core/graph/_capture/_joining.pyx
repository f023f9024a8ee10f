# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Forks that were not joined before their capture ends.

The driver reports forks whose last nodes were captured, but not those whose last nodes were added to the graph
explicitly, as host callbacks are. If the body of a conditional node has an unjoined fork, the driver for CUDA 13.0
crashes in cuStreamEndCapture. So this library checks itself, and joins the forks of a body before its capture ends.
"""

from __future__ import annotations

from libc.stdint cimport uintptr_t
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from cuda.core._utils cimport cydriver

from cuda.core._utils.cuda_utils cimport WARN_RETURN

__all__ = []

ctypedef vector[uintptr_t] Addresses


# The last nodes of a stream in a capture; false if there is no valid capture.
cdef bint read_point(
    cydriver.CUstream c_stream, cydriver.CUgraph* c_graph, vector[cydriver.CUgraphNode]& c_nodes
) noexcept nogil:
    cdef cydriver.CUstreamCaptureStatus c_status = cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    cdef const cydriver.CUgraphNode* dependencies = NULL
    cdef const cydriver.CUgraphEdgeData* edges = NULL
    cdef size_t count = 0
    cdef cydriver.CUresult err = cydriver.cuStreamGetCaptureInfo(
        c_stream, &c_status, NULL, c_graph, &dependencies, &edges, &count
    )
    if err != cydriver.CUresult.CUDA_SUCCESS or (
        c_status != cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
    ):
        return False
    # The array of dependencies is valid until the next call only.
    c_nodes.assign(dependencies, dependencies + count)
    return True


# The nodes in `next` and all their ancestors.
cdef bint find_ancestors(cydriver.CUgraph c_graph, vector[cydriver.CUgraphNode] next, NodeSet& found) noexcept nogil:
    cdef unordered_map[uintptr_t, Addresses] before
    cdef vector[cydriver.CUgraphNode] c_from
    cdef vector[cydriver.CUgraphNode] c_to
    cdef vector[cydriver.CUgraphEdgeData] c_data
    cdef uintptr_t address
    cdef size_t count = 0
    cdef size_t i
    if cydriver.cuGraphGetEdges(c_graph, NULL, NULL, NULL, &count) != cydriver.CUresult.CUDA_SUCCESS:
        return False
    c_from.resize(count)
    c_to.resize(count)
    c_data.resize(count)
    if count and cydriver.cuGraphGetEdges(c_graph, c_from.data(), c_to.data(), c_data.data(), &count) != (
        cydriver.CUresult.CUDA_SUCCESS
    ):
        return False
    for i in range(count):
        before[<uintptr_t>c_to[i]].push_back(<uintptr_t>c_from[i])
    while not next.empty():
        address = <uintptr_t>next.back()
        next.pop_back()
        if found.insert(address).second:
            for i in range(before[address].size()):
                next.push_back(<cydriver.CUgraphNode>before[address][i])
    return True


cdef bint has_unjoined_work(cydriver.CUstream c_origin, vector[cydriver.CUstream]& c_forks) noexcept nogil:
    cdef vector[cydriver.CUgraphNode] c_nodes
    cdef cydriver.CUgraph c_graph = NULL
    cdef NodeSet joined
    cdef size_t i
    cdef size_t k
    if c_forks.empty() or not read_point(c_origin, &c_graph, c_nodes) or not find_ancestors(c_graph, c_nodes, joined):
        return False
    for i in range(c_forks.size()):
        if read_point(c_forks[i], &c_graph, c_nodes):
            for k in range(c_nodes.size()):
                if joined.count(<uintptr_t>c_nodes[k]) == 0:
                    return True
    return False


cdef bint join_unjoined_work(
    cydriver.CUstream c_origin, vector[cydriver.CUstream]& c_forks, const NodeSet& before
) noexcept nogil:
    cdef vector[cydriver.CUgraphNode] c_nodes
    cdef vector[cydriver.CUgraphNode] c_unjoined
    cdef cydriver.CUgraph c_graph = NULL
    cdef NodeSet joined
    cdef size_t count = 0
    cdef size_t i
    if not read_point(c_origin, &c_graph, c_nodes) or not find_ancestors(c_graph, c_nodes, joined):
        return False
    if cydriver.cuGraphGetNodes(c_graph, NULL, &count) != cydriver.CUresult.CUDA_SUCCESS or count == joined.size():
        return False
    c_nodes.resize(count)
    if cydriver.cuGraphGetNodes(c_graph, c_nodes.data(), &count) != cydriver.CUresult.CUDA_SUCCESS:
        return False
    for i in range(count):
        if joined.count(<uintptr_t>c_nodes[i]) == 0 and before.count(<uintptr_t>c_nodes[i]) == 0:
            c_unjoined.push_back(c_nodes[i])
    if c_unjoined.empty():
        return False
    # Forks of this library are joined by events, as usual. Of other streams only the nodes are known.
    for i in range(c_forks.size()):
        join_stream(c_origin, c_forks[i])
    WARN_RETURN(
        cydriver.cuStreamUpdateCaptureDependencies(
            c_origin,
            c_unjoined.data(),
            NULL,
            c_unjoined.size(),
            cydriver.CUstreamUpdateCaptureDependencies_flags.CU_STREAM_ADD_CAPTURE_DEPENDENCIES,
        ),
        b"cuStreamUpdateCaptureDependencies",
    )
    return True


cdef void join_stream(cydriver.CUstream c_origin, cydriver.CUstream c_fork) noexcept nogil:
    cdef cydriver.CUevent c_event = NULL
    cdef cydriver.CUresult err = cydriver.cuEventCreate(
        &c_event, cydriver.CUevent_flags.CU_EVENT_DISABLE_TIMING
    )
    if err == cydriver.CUresult.CUDA_SUCCESS:
        err = cydriver.cuEventRecord(c_event, c_fork)
        if err == cydriver.CUresult.CUDA_SUCCESS:
            err = cydriver.cuStreamWaitEvent(c_origin, c_event, 0)
        WARN_RETURN(cydriver.cuEventDestroy(c_event), b"cuEventDestroy")
    WARN_RETURN(err, b"cuEventRecord")

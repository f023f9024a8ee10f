# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Edges of graphs, as the driver reads and writes them."""

from __future__ import annotations

from libcpp.vector cimport vector

from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN

__all__ = []


cdef int read_neighbours(
    cydriver.CUgraphNode c_node, bint is_pred, vector[cydriver.CUgraphNode]& c_nodes
) except -1:
    cdef vector[cydriver.CUgraphEdgeData] c_edges
    cdef size_t count = 0
    with nogil:
        if is_pred:
            HANDLE_RETURN(
                cydriver.cuGraphNodeGetDependencies(c_node, NULL, NULL, &count), b"cuGraphNodeGetDependencies"
            )
        else:
            HANDLE_RETURN(
                cydriver.cuGraphNodeGetDependentNodes(c_node, NULL, NULL, &count), b"cuGraphNodeGetDependentNodes"
            )
        c_nodes.resize(count)
        # The driver returns an error for edges with data if no array for the data is passed.
        c_edges.resize(count)
        if count and is_pred:
            HANDLE_RETURN(
                cydriver.cuGraphNodeGetDependencies(c_node, c_nodes.data(), c_edges.data(), &count),
                b"cuGraphNodeGetDependencies",
            )
        elif count:
            HANDLE_RETURN(
                cydriver.cuGraphNodeGetDependentNodes(c_node, c_nodes.data(), c_edges.data(), &count),
                b"cuGraphNodeGetDependentNodes",
            )
    return 0


cdef int write_edges(
    cydriver.CUgraph c_graph,
    vector[cydriver.CUgraphNode]& c_from,
    vector[cydriver.CUgraphNode]& c_to,
    bint is_added,
) except -1:
    with nogil:
        if is_added:
            HANDLE_RETURN(
                cydriver.cuGraphAddDependencies(c_graph, c_from.data(), c_to.data(), NULL, c_from.size()),
                b"cuGraphAddDependencies",
            )
        else:
            HANDLE_RETURN(
                cydriver.cuGraphRemoveDependencies(c_graph, c_from.data(), c_to.data(), NULL, c_from.size()),
                b"cuGraphRemoveDependencies",
            )
    return 0


cdef int read_edges(
    cydriver.CUgraph c_graph, vector[cydriver.CUgraphNode]& c_from, vector[cydriver.CUgraphNode]& c_to
) except -1:
    cdef vector[cydriver.CUgraphEdgeData] c_data
    cdef size_t count = 0
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphGetEdges(c_graph, NULL, NULL, NULL, &count), b"cuGraphGetEdges")
        c_from.resize(count)
        c_to.resize(count)
        # The driver returns an error for edges with data if no array for the data is passed.
        c_data.resize(count)
        if count:
            HANDLE_RETURN(
                cydriver.cuGraphGetEdges(c_graph, c_from.data(), c_to.data(), c_data.data(), &count),
                b"cuGraphGetEdges",
            )
    return 0

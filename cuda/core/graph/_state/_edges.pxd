# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libcpp.vector cimport vector
from cuda.core._utils cimport cydriver


# The nodes that a node depends on, or that depend on it.
cdef int read_neighbours(
    cydriver.CUgraphNode c_node, bint is_pred, vector[cydriver.CUgraphNode]& c_nodes
) except -1

# Adds or removes the edges from c_from[i] to c_to[i].
cdef int write_edges(
    cydriver.CUgraph c_graph,
    vector[cydriver.CUgraphNode]& c_from,
    vector[cydriver.CUgraphNode]& c_to,
    bint is_added,
) except -1

# All edges of a graph.
cdef int read_edges(
    cydriver.CUgraph c_graph, vector[cydriver.CUgraphNode]& c_from, vector[cydriver.CUgraphNode]& c_to
) except -1

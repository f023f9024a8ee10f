# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Nodes of graph definitions, and the sets of their neighbors."""

from libc.stdint cimport uintptr_t

from cuda.core.graph._parameters cimport NodeValues
from cuda.core.graph._state cimport GraphRecord, GraphTree, NodeRecord


cdef class GraphNode:
    cdef:
        object __weakref__
        GraphTree _tree         # None if the node was constructed directly and belongs to no graph
        GraphRecord _graph
        NodeRecord _record      # None for an entry node

    # Reads the parameters of a captured or cloned node from the driver.
    cdef NodeValues _read(self)


# The Python object of a node; there is at most one at a time.
cdef GraphNode GraphNode_wrap(GraphTree tree, GraphRecord graph, NodeRecord record)

# The entry node of a graph: nodes added after it have no dependencies.
cdef GraphNode GraphNode_entry(GraphTree tree, GraphRecord graph)

# The parameters of a node, read from the driver on first use. They stay readable after it is destroyed.
cdef NodeValues GraphNode_values(GraphNode self)
cdef int GraphNode_check(GraphNode self) except -1
cdef int GraphNode_change(GraphNode self, NodeValues values) except -1
cdef inline uintptr_t node_address(GraphNode self) noexcept:
    return <uintptr_t>self._record.c_node if self is not None and self._record is not None else 0

# Registers the class of nodes of a type: `choose(record)` returns it.
cdef int register_node_class(int c_type, object choose) except -1

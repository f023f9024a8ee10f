# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from libc.stdint cimport uintptr_t
from cuda.core.graph._parameters._node_values cimport NodeValues
from cuda.core.graph._state._graph_state cimport GraphRecord, GraphTree, NodeRecord


cdef class GraphNode:
    cdef:
        object __weakref__
        GraphTree _tree         # None of a node that nobody made
        GraphRecord _graph
        NodeRecord _record      # None of an entry node

    # What the driver tells of a node that was not made here.
    cdef NodeValues _read(self)


# The one wrapper of a node.
cdef GraphNode GraphNode_wrap(GraphTree tree, GraphRecord graph, NodeRecord record)

# What nodes without dependencies are added after.
cdef GraphNode GraphNode_entry(GraphTree tree, GraphRecord graph)

# The values of a node, read back if need be; those that it had, once it is destroyed.
cdef NodeValues GraphNode_values(GraphNode self)
cdef int GraphNode_check(GraphNode self) except -1
cdef int GraphNode_change(GraphNode self, NodeValues values) except -1
cdef inline uintptr_t node_address(GraphNode self) noexcept:
    return <uintptr_t>self._record.c_node if self is not None and self._record is not None else 0

# Lets nodes of a kind be of a class: `choose` returns it for the values of one.
cdef int register_node_class(int c_type, object choose) except -1

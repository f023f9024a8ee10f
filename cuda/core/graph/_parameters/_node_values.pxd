# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Node parameters: one class per node type, which adds nodes and gets and sets their parameters."""

from cuda.core._handles._handles cimport Keep, KeepList
from cuda.core._utils cimport cydriver
from cuda.core.graph._state._graph_state cimport GraphRecord, NodeRecord


cdef class NodeValues:
    cdef KeepList* keeps        # the operands that a node keeps alive; NULL for none, and once a graph retains them

    # Does everything that may run Python code, which could destroy nodes. Called before raw handles are read.
    cdef int prepare(self) except -1
    # Adds a node with these parameters, sets them for a node, or for a node of an executable.
    cdef int add(
        self, cydriver.CUgraph c_graph, const cydriver.CUgraphNode* c_from, size_t count, cydriver.CUgraphNode* c_node
    ) except -1
    # Raises if adding the node to this graph would crash the driver.
    cdef int check_place(self, GraphRecord graph) except -1
    cdef int change(self, cydriver.CUgraphNode c_node) except -1
    cdef int change_in(self, cydriver.CUgraphExec c_exec, cydriver.CUgraphNode c_node) except -1
    # Updates the record of a new or changed node, such as the list of its child graphs.
    cdef int update_record(self, GraphRecord graph, NodeRecord record) except -1


cdef class EmptyValues(NodeValues):
    pass


cdef int add_keep(NodeValues self, Keep keep) except -1
cdef int add_object(NodeValues self, object thing) except -1

# Adds a node after others, and lets the graph retain its operands.
cdef NodeRecord add_node(GraphRecord graph, const cydriver.CUgraphNode* c_from, size_t count, NodeValues values)

# Sets the parameters of a node. On an exception the node is unchanged.
cdef int change_node(GraphRecord graph, NodeRecord record, NodeValues values) except -1

# Convert an argument that is an address, or a size; TypeError and OverflowError name it.
cdef unsigned long long address_of(str name, object value) except? 0
cdef size_t size_of(str name, object value) except? <size_t>-1

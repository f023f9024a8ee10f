# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What a node does: its parameters, as one object for each kind that adds, changes and reads them."""

from cuda.core._handles._handles cimport Keep, KeepList
from cuda.core._utils cimport cydriver
from cuda.core.graph._state._graph_state cimport GraphRecord, NodeRecord


cdef class NodeValues:
    cdef KeepList* keeps        # what a node with these values keeps; NULL for nothing, and once a graph has it

    # Does what may call into Python, which can destroy nodes. The caller does it before it reads raw values.
    cdef int prepare(self) except -1
    # Adds a node, changes one, or changes what an executable does for it.
    cdef int add(
        self, cydriver.CUgraph c_graph, const cydriver.CUgraphNode* c_from, size_t count, cydriver.CUgraphNode* c_node
    ) except -1
    # Refuses a graph that the driver must not be asked to add this to.
    cdef int check_place(self, GraphRecord graph) except -1
    cdef int change(self, cydriver.CUgraphNode c_node) except -1
    cdef int change_in(self, cydriver.CUgraphExec c_exec, cydriver.CUgraphNode c_node) except -1
    # Tells the record of a new or changed node what lies below it, or what it calls.
    cdef int settle(self, GraphRecord graph, NodeRecord record) except -1


cdef class EmptyValues(NodeValues):
    pass


cdef int add_keep(NodeValues self, Keep keep) except -1
cdef int add_object(NodeValues self, object thing) except -1

# Adds a node after some others, and gives what it keeps to the graph.
cdef NodeRecord add_node(GraphRecord graph, const cydriver.CUgraphNode* c_from, size_t count, NodeValues values)

# Exchanges the values of a node; on an exception it keeps those that it has.
cdef int change_node(GraphRecord graph, NodeRecord record, NodeValues values) except -1

# An argument that is an address, or the size of something.
cdef unsigned long long address_of(str name, object value) except? 0
cdef size_t size_of(str name, object value) except? <size_t>-1

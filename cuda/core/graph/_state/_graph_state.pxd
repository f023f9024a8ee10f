# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The shared state of all Python objects of one graph: a tree of graphs, and a record of each graph and node."""

cimport cython
from libcpp.vector cimport vector

from cuda.core._handles._handles cimport GraphHandle
from cuda.core._utils cimport cydriver


cdef extern from "graph_lock.hpp" namespace "cuda_core" nogil:
    cppclass GraphLock:
        GraphLock() noexcept


# Prevents other threads from changing graphs until the function with the lock as a local variable returns or raises.
# Acquired before the handle of a node or a graph is read.
cdef int lock_graphs(GraphLock& lock) except -1

# A CUgraphNode and what this library knows about it.
cdef class NodeRecord:
    cdef:
        cydriver.CUgraphNode c_node             # NULL when destroyed
        cydriver.CUgraphNodeType c_type
        cydriver.CUuserObject _user_object      # retains the operands; NULL if there are none
        object values                           # NodeValues; None until read, for nodes that were not added here
        list children                           # records of its child graph or bodies


# A CUgraph: the root of a tree, a child graph, or a body of a conditional node. No record refers to its parent, so that
# dropping the tree releases all records without reference cycles.
cdef class GraphRecord:
    cdef:
        object __weakref__
        cydriver.CUgraph c_graph                # NULL when destroyed
        cydriver.CUgraph c_holder               # the graph that retains the user objects of its nodes
        dict nodes                              # address -> NodeRecord, for nodes seen so far


# Owns the root graph. Every Python object of a graph or node in the tree refers to it.
cdef class GraphTree:
    cdef:
        GraphHandle h_graph     # set once; borrowed while a capture owns the graph
        GraphRecord root


# The base class of GraphDefinition: a view of one graph of a tree.
cdef class GraphView:
    cdef:
        object __weakref__
        GraphTree _tree
        GraphRecord _graph


# The tree of a graph that this library owns. If this raises, the graph is destroyed.
cdef GraphTree GraphTree_own(cydriver.CUgraph c_graph)

# The tree of a graph that a capture still owns. After the capture, GraphTree_adopt makes this tree its owner.
cdef GraphTree GraphTree_borrow(cydriver.CUgraph c_graph)
cdef int GraphTree_adopt(GraphTree self) except -1

# The record of a child graph, or of a body of a conditional node.
cdef GraphRecord GraphRecord_of_child(GraphRecord parent, cydriver.CUgraph c_graph, bint is_body)

# The record of a node of the graph; created at the first call.
cdef NodeRecord GraphRecord_node(GraphRecord self, cydriver.CUgraphNode c_node)

# Reads all nodes of a graph (cuGraphGetNodes).
cdef int read_nodes(GraphRecord self, vector[cydriver.CUgraphNode]& c_nodes) except -1

# Marks a node that the driver has destroyed, and the graphs below it, as destroyed.
cdef int NodeRecord_mark_destroyed(GraphRecord graph, NodeRecord self, bint is_holder_destroyed=*) except -1

cdef int NodeRecord_mark_children_destroyed(GraphRecord graph, NodeRecord self, bint is_holder_destroyed=*) except -1

# Get and set the parameters of a node, which another thread may change.
cdef inline object NodeRecord_values(NodeRecord self):
    with cython.critical_section(self):
        return self.values

cdef inline int NodeRecord_set_values(NodeRecord self, object values) except -1:
    with cython.critical_section(self):
        self.values = values
    return 0

# Replaces the user object that retains the operands of a node, and releases the one before; `c_object` may be NULL.
cdef int NodeRecord_retain(GraphRecord graph, NodeRecord self, cydriver.CUuserObject c_object) except -1

cdef int check_alive(GraphRecord self) except -1

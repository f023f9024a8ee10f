# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What all wrappers of one graph share: a tree of graphs, and a record of each graph and node."""

cimport cython
from libcpp.vector cimport vector

from cuda.core._handles._handles cimport GraphHandle
from cuda.core._utils cimport cydriver


cdef extern from "graph_lock.hpp" namespace "cuda_core" nogil:
    cppclass GraphLock:
        GraphLock() noexcept


# Keeps other threads from changing graphs until the function that has the lock as a local variable returns or raises:
# taken before an address of a node or a graph is read.
cdef int lock_graphs(GraphLock& lock) except -1

# A node of the driver, as one graph has it.
cdef class NodeRecord:
    cdef:
        cydriver.CUgraphNode c_node             # NULL when destroyed
        cydriver.CUgraphNodeType c_type
        cydriver.CUuserObject _user_object      # NULL where nothing is kept
        object values                           # what the node was made with, by kind; None when read back
        list children                           # records of the graphs below it


# A graph of the driver: the root of a tree, an embedded clone, or a body of a conditional node. No record
# refers to the one above, so that dropping the tree ends everything at once.
cdef class GraphRecord:
    cdef:
        object __weakref__
        cydriver.CUgraph c_graph                # NULL when it is gone
        cydriver.CUgraph c_holder               # the graph that retains the operands of its nodes
        dict nodes                              # address -> NodeRecord, for nodes met so far


# Owns the root graph; every wrapper of something below holds it.
cdef class GraphTree:
    cdef:
        GraphHandle h_graph     # set once, but for who owns it
        GraphRecord root


# What shows one graph of a tree.
cdef class GraphView:
    cdef:
        object __weakref__
        GraphTree _tree
        GraphRecord _graph


# The tree of a graph that this library owns, such as one that a capture has ended with; it is destroyed when
# this fails.
cdef GraphTree GraphTree_own(cydriver.CUgraph c_graph)

# The tree of a graph that a capture still owns. After the capture, GraphTree_adopt makes this tree its owner.
cdef GraphTree GraphTree_borrow(cydriver.CUgraph c_graph)
cdef int GraphTree_adopt(GraphTree self) except -1

# The record of a graph below another: the clone in a child node, or the body of a conditional one.
cdef GraphRecord GraphRecord_below(GraphRecord parent, cydriver.CUgraph c_graph, bint is_body)

# The record of a node of the graph, made where there is none.
cdef NodeRecord GraphRecord_node(GraphRecord self, cydriver.CUgraphNode c_node)

# The nodes of a graph, as the driver has them.
cdef int read_nodes(GraphRecord self, vector[cydriver.CUgraphNode]& c_nodes) except -1

# Marks a node that the driver has destroyed, and everything below, as gone.
cdef int NodeRecord_end(GraphRecord graph, NodeRecord self, bint is_holder_gone=*) except -1

cdef int NodeRecord_end_children(GraphRecord graph, NodeRecord self, bint is_holder_gone=*) except -1

# What a node was made with is read and replaced by these: another thread may change the node.
cdef inline object NodeRecord_values(NodeRecord self):
    with cython.critical_section(self):
        return self.values

cdef inline int NodeRecord_set_values(NodeRecord self, object values) except -1:
    with cython.critical_section(self):
        self.values = values
    return 0

# Makes `c_object`, which may be NULL, what the node keeps, and releases what it kept before.
cdef int NodeRecord_retain(GraphRecord graph, NodeRecord self, cydriver.CUuserObject c_object) except -1

cdef int check_alive(GraphRecord self) except -1

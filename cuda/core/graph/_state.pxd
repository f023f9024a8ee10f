# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Records of graphs and nodes, the operands that they keep alive, and edges."""

cimport cython
from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from cuda.core._native._cuda_core cimport AnchorList, ContextField, GraphHandle, StreamField, StreamPin
from cuda.core._utils cimport cydriver


cdef extern from "locks.hpp" namespace "cuda_core" nogil:
    cppclass GraphLock:
        GraphLock() noexcept


# Prevents other threads from changing graphs until the function with the lock as a local variable returns or raises.
# Acquired before the handle of a node or a graph is read.
cdef int lock_graphs(GraphLock& lock) except -1

# A CUgraphNode, its parameters and its operands.
cdef class NodeRecord:
    cdef:
        cydriver.CUgraphNode c_node             # NULL when destroyed
        cydriver.CUgraphNodeType c_type
        cydriver.CUuserObject _user_object      # retains the operands; NULL if there are none
        object values                           # NodeValues; None until read, for nodes that were not added here
        list children                           # records of its child graph or bodies
        object node                             # a weak reference to the GraphNode; None before the first


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
        int64_t change_count    # of the parameters of nodes


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

# The record of a node of the graph; created on first use.
cdef NodeRecord GraphRecord_node(GraphRecord self, cydriver.CUgraphNode c_node)
cdef NodeRecord GraphRecord_add(GraphRecord self, cydriver.CUgraphNode c_node, cydriver.CUgraphNodeType c_type)

# Reads all nodes of a graph (cuGraphGetNodes).
cdef int read_nodes(GraphRecord self, vector[cydriver.CUgraphNode]& c_nodes) except -1

# Marks a node that the driver has destroyed, and the graphs below it, as destroyed.
cdef int NodeRecord_mark_destroyed(GraphRecord graph, NodeRecord self, bint is_holder_destroyed=*) except -1

cdef int NodeRecord_mark_children_destroyed(GraphRecord graph, NodeRecord self, bint is_holder_destroyed=*) except -1

# Returns true if a graph is `other` or one of its descendants.
cdef bint is_within(GraphRecord graph, GraphRecord other) except -1

# Reads the child graph of a node from the driver, if the record does not have it.
cdef int find_child(GraphRecord graph, NodeRecord record) except -1

# Copies the records of nodes to a clone of their graph that the driver has created.
cdef int copy_records(GraphRecord source, GraphRecord clone) except -1

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


# A new list with one reference.
cdef AnchorList* new_anchors() except NULL

cdef int anchor_object(AnchorList* anchors, object thing) except -1

# Lets a graph, and its clones and executables, retain a list; takes over the caller's reference. Returns the user
# object, for `release`. On an exception the reference is dropped.
cdef cydriver.CUuserObject retain(cydriver.CUgraph c_graph, AnchorList* anchors) except NULL

# Lets another graph retain the same user object.
cdef int share(cydriver.CUgraph c_graph, cydriver.CUuserObject c_object) except -1

# Releases the graph's reference; clones and executables created before still retain the user object.
cdef void release(cydriver.CUgraph c_graph, cydriver.CUuserObject c_object) noexcept nogil


# The nodes that a node depends on, or that depend on it.
cdef int read_neighbors(
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


ctypedef AnchorList* AnchorListPointer


# The operands of nodes changed in one executable. The driver keeps the operands of unchanged nodes.
cdef class ExecutableOperands:
    cdef:
        unordered_map[uintptr_t, AnchorListPointer] _current    # by the address of the node
        StreamField _h_last         # the stream of the last launch that may use them; empty before it
        ContextField _h_context     # the context of that stream, if it is a default stream
        readonly bint is_used       # ExecutableOperands_launch must be called
        uint64_t change_count       # incremented by every change
        dict launches               # of changed kernel nodes, (config, kernel) by the address of the node
        uintptr_t source            # the graph that this was instantiated from
        int64_t source_changes      # its `change_count` then; -1 if another graph has changed nodes


# Replaces the operands of a node, and takes over the caller's reference to the new ones; NULL for none.
cdef int ExecutableOperands_exchange(ExecutableOperands self, uintptr_t node, AnchorList* anchors) except -1

# Removes the operands of all nodes.
cdef int ExecutableOperands_clear(ExecutableOperands self) except -1

# Must be called before each launch while `is_used` is set.
cdef int ExecutableOperands_launch(ExecutableOperands self, const StreamPin& stream) except -1

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The shared state of all Python objects of one graph: a tree of graphs, and a record of each graph and node.

A definition refers to a tree and to the record of its graph; a node also to its own record. So equal objects see the
same state, a node destroyed through one of them is destroyed for all, and each of them keeps the whole tree alive.
"""

from __future__ import annotations

cimport cython
from libc.stdint cimport uintptr_t
from libcpp.vector cimport vector

from cuda.core._handles._handles cimport GraphHandle, Keep
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, WARN_RETURN
from cuda.core.graph._state._retention cimport release

import weakref

__all__ = []


cdef extern from "graph_lock.hpp" namespace "cuda_core" nogil:
    cppclass LockOfGraphs "cuda_core::GraphLock":
        bint try_take() except +
        void take() except +


# The Python object of each node, by the address of the node.
node_registry = weakref.WeakValueDictionary()


cdef class NodeRecord:
    pass


cdef class GraphRecord:
    pass


cdef class GraphTree:
    pass


cdef class GraphView:
    pass


# A thread that waits for the lock releases the interpreter lock, because the holder may need it.
cdef int lock_graphs(GraphLock& lock) except -1:
    cdef LockOfGraphs* taken = <LockOfGraphs*>&lock
    if not taken.try_take():
        with nogil:
            taken.take()
    return 0


cdef GraphTree GraphTree_own(cydriver.CUgraph c_graph):
    cdef GraphTree self = GraphTree.__new__(GraphTree)
    self.h_graph = GraphHandle.own(c_graph, &destroy_graph, Keep())
    self.root = GraphRecord_create(c_graph, c_graph)
    return self


cdef GraphTree GraphTree_borrow(cydriver.CUgraph c_graph):
    cdef GraphTree self = GraphTree.__new__(GraphTree)
    self.h_graph = GraphHandle.borrow(c_graph, Keep())
    self.root = GraphRecord_create(c_graph, c_graph)
    return self


cdef int GraphTree_adopt(GraphTree self) except -1:
    if not self.h_graph.is_owner():
        self.h_graph = GraphHandle.own(self.root.c_graph, &destroy_graph, Keep())
    return 0


cdef void destroy_graph(cydriver.CUgraph c_graph) noexcept nogil:
    WARN_RETURN(cydriver.cuGraphDestroy(c_graph), b"cuGraphDestroy")


cdef GraphRecord GraphRecord_create(cydriver.CUgraph c_graph, cydriver.CUgraph c_holder):
    cdef GraphRecord self = GraphRecord.__new__(GraphRecord)
    self.c_graph = c_graph
    self.c_holder = c_holder
    self.nodes = {}
    return self


cdef GraphRecord GraphRecord_of_child(GraphRecord parent, cydriver.CUgraph c_graph, bint is_body):
    # A child graph retains the user objects of its nodes itself; those of a body are retained by the containing graph.
    return GraphRecord_create(c_graph, parent.c_holder if is_body else c_graph)


cdef NodeRecord GraphRecord_node(GraphRecord self, cydriver.CUgraphNode c_node):
    cdef NodeRecord record
    cdef cydriver.CUgraphNodeType c_type
    key = <uintptr_t>c_node
    record = self.nodes.get(key)
    if record is not None:
        return record
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphNodeGetType(c_node, &c_type), b"cuGraphNodeGetType")
    record = NodeRecord.__new__(NodeRecord)
    record.c_node = c_node
    record.c_type = c_type
    return self.nodes.setdefault(key, record)


cdef int read_nodes(GraphRecord self, vector[cydriver.CUgraphNode]& c_nodes) except -1:
    cdef size_t count = 0
    check_alive(self)
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphGetNodes(self.c_graph, NULL, &count), b"cuGraphGetNodes")
        c_nodes.resize(count)
        if count:
            HANDLE_RETURN(cydriver.cuGraphGetNodes(self.c_graph, c_nodes.data(), &count), b"cuGraphGetNodes")
            c_nodes.resize(count)
    return 0


cdef int NodeRecord_mark_destroyed(GraphRecord graph, NodeRecord self, bint is_holder_destroyed=False) except -1:
    key = <uintptr_t>self.c_node
    graph.nodes.pop(key, None)
    node_registry.pop(key, None)
    cdef cydriver.CUuserObject c_object = exchange_user_object(self, NULL)
    if c_object != NULL and not is_holder_destroyed:
        release(graph.c_holder, c_object)
    self.c_node = NULL
    values = NodeRecord_values(self)
    if values is not None:
        NodeRecord_set_values(self, values._without_owners())
    NodeRecord_mark_children_destroyed(graph, self, is_holder_destroyed)
    return 0


cdef int NodeRecord_mark_children_destroyed(
    GraphRecord graph, NodeRecord self, bint is_holder_destroyed=False
) except -1:
    cdef GraphRecord child
    cdef NodeRecord node
    for child in self.children or ():
        for node in list(child.nodes.values()):
            # A child graph is destroyed together with its references.
            NodeRecord_mark_destroyed(child, node, is_holder_destroyed or child.c_holder == child.c_graph)
        child.c_graph = NULL
    # `children` stays, so that views of the destroyed graphs can be read; ChildValues replaces it.
    return 0


cdef int NodeRecord_retain(GraphRecord graph, NodeRecord self, cydriver.CUuserObject c_object) except -1:
    cdef cydriver.CUuserObject c_previous = exchange_user_object(self, c_object)
    if c_previous != NULL:
        release(graph.c_holder, c_previous)
    return 0


# Atomic, so that two threads that change or destroy the node release the user object once.
cdef cydriver.CUuserObject exchange_user_object(NodeRecord self, cydriver.CUuserObject c_object) noexcept:
    cdef cydriver.CUuserObject c_previous
    with cython.critical_section(self):
        c_previous = self._user_object
        self._user_object = c_object
    return c_previous


cdef int check_alive(GraphRecord self) except -1:
    if self.c_graph == NULL:
        raise RuntimeError("this graph is destroyed, together with the node to which it belonged")
    return 0

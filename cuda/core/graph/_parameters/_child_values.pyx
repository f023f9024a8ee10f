# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Parameters of child graph nodes: the driver clones the graph, and this module copies the records of its nodes."""

from __future__ import annotations

from libc.stdint cimport uintptr_t
from libc.string cimport memset
from libcpp.vector cimport vector

from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN
from cuda.core.graph._parameters._node_values cimport NodeValues, add_keep
from cuda.core.graph._state._graph_state cimport (
    GraphRecord,
    GraphRecord_of_child,
    GraphRecord_node,
    GraphTree,
    GraphTree_own,
    GraphView,
    NodeRecord,
    NodeRecord_mark_children_destroyed,
    NodeRecord_set_values,
    NodeRecord_values,
    check_alive,
    read_nodes,
)
from cuda.core.graph._state._retention cimport share

from cuda.core._code._loading import explain
from cuda.core._utils.cuda_utils import CUDAError

__all__ = []


IN_CHILDREN = "a graph cannot be embedded in itself, and a child graph cannot have memory or conditional nodes"


cdef class ChildValues(NodeValues):
    cdef int add(
        self, cydriver.CUgraph c_graph, const cydriver.CUgraphNode* c_from, size_t count, cydriver.CUgraphNode* c_node
    ) except -1:
        check_alive(self.source)
        try:
            with nogil:
                HANDLE_RETURN(
                    cydriver.cuGraphAddChildGraphNode(c_node, c_graph, c_from, count, self.source.c_graph),
                    b"cuGraphAddChildGraphNode",
                )
        except CUDAError as error:
            explain(error, IN_CHILDREN)
            raise
        return 0

    cdef int check_place(self, GraphRecord graph) except -1:
        # The driver for CUDA 13.0 terminates the process.
        if is_within(graph, self.source):
            refuse_itself()
        return 0

    cdef int change(self, cydriver.CUgraphNode c_node) except -1:
        cdef cydriver.CUgraphNodeParams params = child_params(self)
        with nogil:
            HANDLE_RETURN(cydriver.cuGraphNodeSetParams(c_node, &params), b"cuGraphNodeSetParams")
        return 0

    cdef int change_in(self, cydriver.CUgraphExec c_exec, cydriver.CUgraphNode c_node) except -1:
        cdef cydriver.CUgraph c_clone = NULL
        check_alive(self.source)
        # The executable needs the operands of these nodes as they are now; a clone keeps them, even if nodes change.
        with nogil:
            HANDLE_RETURN(cydriver.cuGraphClone(&c_clone, self.source.c_graph), b"cuGraphClone")
        add_keep(self, GraphTree_own(c_clone).h_graph.keep())
        with nogil:
            HANDLE_RETURN(
                cydriver.cuGraphExecChildGraphNodeSetParams(c_exec, c_node, self.source.c_graph),
                b"cuGraphExecChildGraphNodeSetParams",
            )
        return 0

    cdef int update_record(self, GraphRecord graph, NodeRecord record) except -1:
        cdef GraphRecord source = self.source
        NodeRecord_mark_children_destroyed(graph, record)
        record.children = None
        find_child(graph, record)
        copy_records(source, <GraphRecord>record.children[0])
        self.source = None
        self.tree = None
        return 0


cdef ChildValues ChildValues_create(object child, GraphTree outside):
    cdef ChildValues self = ChildValues.__new__(ChildValues)
    if not isinstance(child, GraphView):
        raise TypeError(f"child must be a GraphDefinition, not {type(child).__name__}")
    self.tree = (<GraphView>child)._tree
    self.source = (<GraphView>child)._graph
    check_alive(self.source)
    if outside is not None and self.tree is outside:
        refuse_itself()
    return self


# Whether a graph is `other` or one of its descendants.
cdef bint is_within(GraphRecord graph, GraphRecord other) except -1:
    cdef NodeRecord node
    if graph is other:
        return True
    for node in list(other.nodes.values()):
        for child in node.children or ():
            if is_within(graph, child):
                return True
    return False


# Raises what drivers return that detect it.
cdef int refuse_itself() except -1:
    try:
        return HANDLE_RETURN(cydriver.CUresult.CUDA_ERROR_INVALID_VALUE, b"cuGraphAddChildGraphNode")
    except CUDAError as error:
        explain(error, IN_CHILDREN)
        raise


cdef cydriver.CUgraphNodeParams child_params(ChildValues self) except *:
    cdef cydriver.CUgraphNodeParams params
    memset(&params, 0, sizeof(params))
    check_alive(self.source)
    params.type = cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_GRAPH
    params.graph.graph = self.source.c_graph
    return params


cdef int find_child(GraphRecord graph, NodeRecord record) except -1:
    cdef cydriver.CUgraph c_child = NULL
    if record.children:
        return 0
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphChildGraphNodeGetGraph(record.c_node, &c_child), b"cuGraphChildGraphNodeGetGraph")
    record.children = [GraphRecord_of_child(graph, c_child, False)]
    return 0


# The clone has the same nodes in the same order, and references to the same user objects.
cdef int copy_records(GraphRecord source, GraphRecord clone) except -1:
    cdef vector[cydriver.CUgraphNode] c_old
    cdef vector[cydriver.CUgraphNode] c_new
    cdef NodeRecord old
    cdef NodeRecord new
    cdef size_t index
    if not source.nodes:
        return 0
    read_nodes(source, c_old)
    read_nodes(clone, c_new)
    if c_old.size() != c_new.size():
        return 0
    for index in range(c_old.size()):
        old = source.nodes.get(<uintptr_t>c_old[index])
        if old is None:
            continue
        new = GraphRecord_node(clone, c_new[index])
        if new.c_type != old.c_type:
            continue
        NodeRecord_set_values(new, NodeRecord_values(old))
        # The user objects of a body are retained by the graph that contains it: here the clone.
        new._user_object = old._user_object
        if new._user_object != NULL and source.c_holder != source.c_graph:
            # Retained by the graph that contains the source, so cuGraphClone did not copy the reference.
            share(clone.c_graph, new._user_object)
        if old.children:
            copy_child_records(clone, old, new)
    return 0


cdef int copy_child_records(GraphRecord clone, NodeRecord old, NodeRecord new) except -1:
    if old.c_type != cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_GRAPH:
        return 0    # graphs with conditional nodes cannot be embedded
    find_child(clone, new)
    copy_records(<GraphRecord>old.children[0], <GraphRecord>new.children[0])
    return 0

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Recaptures: captures that change the parameters of an existing graph."""

from libc.stdint cimport uintptr_t
from libcpp.mutex cimport mutex
from libcpp.vector cimport vector

from cuda.core._native._cuda_core cimport StreamHandle, capture_lock, note_capture
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, WARN_RETURN

RECAPTURING = "this graph is being recaptured; end or close the GraphBuilder first"
RECAPTURE_FAILED = "the recapture of this graph failed, which left it unusable; build a new graph"


cdef struct NodeChange:
    cydriver.CUgraphNode c_node
    bint is_updatable


cdef mutex changes_lock     # threads may capture into forks of one recapture at the same time


# The graph of a recapture, which nothing else may use until the recapture has ended.
cdef class Recapture:
    cdef:
        GraphTree tree
        cydriver.CUgraph c_graph
        vector[NodeChange] c_changes
        # Operands of the nodes as they were. If these were freed, other callbacks could get their addresses, and a
        # changed node would seem unchanged.
        vector[cydriver.CUuserObject] c_kept

    def __dealloc__(self):
        release_kept(self)


# Begins to capture into the graph of a tree. If the driver rejects it, the graph is unusable.
cdef Recapture Recapture_begin(
    const StreamHandle& h_stream, cydriver.CUstreamCaptureMode c_mode, GraphTree tree
):
    cdef Recapture self = Recapture.__new__(Recapture)
    cdef StreamHandle h_begun = h_stream
    cdef cydriver.CUresult err
    self.tree = tree
    hide_graph(self)
    with nogil:
        capture_lock().lock()
        err = cydriver.cuStreamBeginRecaptureToGraph(
            h_begun.get(), c_mode, self.c_graph, &note_change, <void*>&self.c_changes
        )
        if err == cydriver.CUresult.CUDA_SUCCESS:
            note_capture(h_begun.get())
        capture_lock().unlock()
    if err != cydriver.CUresult.CUDA_SUCCESS:
        Recapture_end(self, False)
    HANDLE_RETURN(err, b"cuStreamBeginRecaptureToGraph")
    return self


# Shows the graph again after the recapture has ended, or marks it as unusable.
cdef int Recapture_end(Recapture self, bint is_complete) except -1:
    cdef GraphRecord graph = self.tree.root
    cdef NodeRecord node
    cdef GraphLock lock
    lock_graphs(lock)
    if is_complete:
        for address, node in graph.nodes.items():
            node.c_node = <cydriver.CUgraphNode><uintptr_t>address
        graph.c_graph = self.c_graph
        graph.unusable = None
    else:
        graph.nodes.clear()
        graph.unusable = RECAPTURE_FAILED
    release_kept(self)
    return 0


cdef void release_kept(Recapture self) noexcept nogil:
    cdef size_t index
    for index in range(self.c_kept.size()):
        WARN_RETURN(
            cydriver.cuUserObjectRelease(self.c_kept[index], 1), b"cuUserObjectRelease", self.c_kept[index]
        )
    self.c_kept.clear()


# The changed nodes, each with whether executables of the graph can be updated with it.
cdef dict Recapture_changes(Recapture self):
    cdef size_t index
    cdef NodeChange change
    cdef dict changes = {}
    cdef GraphLock lock
    lock_graphs(lock)
    check_alive(self.tree.root)
    for index in range(self.c_changes.size()):
        change = self.c_changes[index]
        record = GraphRecord_node(self.tree.root, change.c_node)
        changes[GraphNode_wrap(self.tree, self.tree.root, record)] = change.is_updatable
    return changes


# Takes the graph away from its views. The driver releases the operands of all nodes, and changes their parameters.
cdef int hide_graph(Recapture self) except -1:
    cdef GraphRecord graph = self.tree.root
    cdef NodeRecord node
    cdef cydriver.CUuserObject c_object
    cdef GraphLock lock
    lock_graphs(lock)
    check_alive(graph)
    self.c_graph = graph.c_graph
    self.tree.change_count += 1
    for node in graph.nodes.values():
        c_object = exchange_user_object(node, NULL)
        if c_object != NULL:
            HANDLE_RETURN(cydriver.cuUserObjectRetain(c_object, 1), b"cuUserObjectRetain")
            self.c_kept.push_back(c_object)
        NodeRecord_set_values(node, None)
        NodeRecord_mark_children_destroyed(graph, node, True)
        node.children = None
        node.c_node = NULL
    graph.c_graph = NULL
    graph.unusable = RECAPTURING
    return 0


# Called by the driver inside captured calls, where Python must not run: it might call the driver again.
cdef cydriver.CUresult note_change(
    void* c_changes,
    cydriver.CUgraphNode c_node,
    const cydriver.CUgraphNodeParams* original,
    const cydriver.CUgraphNodeParams* recaptured,
    cydriver.CUgraphRecaptureStatus status,
) noexcept nogil:
    cdef NodeChange change
    change.c_node = c_node
    change.is_updatable = status == cydriver.CUgraphRecaptureStatus.CU_GRAPH_RECAPTURE_ELIGIBLE_FOR_UPDATE
    changes_lock.lock()
    (<vector[NodeChange]*>c_changes).push_back(change)
    changes_lock.unlock()
    return cydriver.CUresult.CUDA_SUCCESS

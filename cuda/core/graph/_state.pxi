# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Records of graphs and nodes, the operands that they keep alive, and edges."""

cimport cython
from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from cpython.object cimport PyObject
from cython.operator cimport dereference, preincrement

from cuda.core._context cimport Context_current
from cuda.core._native._cuda_core cimport (
    Anchor,
    AnchorList,
    CaptureModeScope,
    ContextField,
    ContextHandle,
    GraphHandle,
    Handle,
    NO_WORK,
    QueriedStream,
    Retired,
    StreamField,
    StreamPin,
    Work,
    destroy_idle,
    relax_capture_mode,
    retire_entry,
    work_of,
)
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport is_interpreter_exiting
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, WARN_RETURN

from cuda.core._utils.cuda_utils import UnavailableError


cdef extern from "locks.hpp" namespace "cuda_core" nogil:
    cppclass GraphLock:
        GraphLock() noexcept
        bint try_take() except +
        void take() except +
        bint take_to_destroy() noexcept


# A CUgraphNode, its parameters and its operands.
cdef class NodeRecord:
    cdef:
        cydriver.CUgraphNode c_node             # NULL when destroyed
        cydriver.CUgraphNodeType c_type
        cydriver.CUuserObject _user_object      # retains the operands; NULL if there are none
        object values                           # NodeValues; None until read, for nodes that were not added here
        list children                           # records of its child graph or bodies
        object node                             # a weak reference to the GraphNode; None before the first


# Get and set the parameters of a node, which another thread may change.
cdef inline object NodeRecord_values(NodeRecord self):
    with cython.critical_section(self):
        return self.values


cdef inline int NodeRecord_set_values(NodeRecord self, object values) except -1:
    with cython.critical_section(self):
        self.values = values
    return 0


# A CUgraph: the root of a tree, a child graph, or a body of a conditional node. No record refers to its parent, so that
# dropping the tree releases all records without reference cycles.
cdef class GraphRecord:
    cdef:
        object __weakref__
        cydriver.CUgraph c_graph                # NULL when destroyed
        cydriver.CUgraph c_holder               # the graph that retains the user objects of its nodes
        dict nodes                              # address -> NodeRecord, for nodes seen so far
        str unusable                            # why there is no c_graph, if its node was not destroyed


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


# Prevents other threads from changing graphs until the function with the lock as a local variable returns or raises.
# Acquired before the handle of a node or a graph is read. A thread that waits for the lock releases the GIL, because
# the holder may need it.
cdef int lock_graphs(GraphLock& lock) except -1:
    if not lock.try_take():
        with nogil:
            lock.take()
    return 0


# The tree of a graph that this library owns. If this raises, the graph is destroyed.
cdef GraphTree GraphTree_own(cydriver.CUgraph c_graph):
    cdef GraphTree self = GraphTree.__new__(GraphTree)
    self.h_graph = GraphHandle.own(c_graph, &destroy_graph, Anchor())
    self.root = GraphRecord_create(c_graph, c_graph)
    return self


# The tree of a graph that a capture still owns. After the capture, GraphTree_adopt makes this tree its owner.
cdef GraphTree GraphTree_borrow(cydriver.CUgraph c_graph):
    cdef GraphTree self = GraphTree.__new__(GraphTree)
    self.h_graph = GraphHandle.borrow(c_graph, Anchor())
    self.root = GraphRecord_create(c_graph, c_graph)
    return self


cdef int GraphTree_adopt(GraphTree self) except -1:
    if not self.h_graph.is_owner():
        self.h_graph = GraphHandle.own(self.root.c_graph, &destroy_graph, Anchor())
    return 0


cdef void destroy_graph(cydriver.CUgraph c_graph) noexcept nogil:
    cdef GraphLock lock
    if lock.take_to_destroy():
        WARN_RETURN(cydriver.cuGraphDestroy(c_graph), b"cuGraphDestroy", c_graph)


cdef GraphRecord GraphRecord_create(cydriver.CUgraph c_graph, cydriver.CUgraph c_holder):
    cdef GraphRecord self = GraphRecord.__new__(GraphRecord)
    self.c_graph = c_graph
    self.c_holder = c_holder
    self.nodes = {}
    return self


# The record of a child graph, or of a body of a conditional node.
cdef GraphRecord GraphRecord_of_child(GraphRecord parent, cydriver.CUgraph c_graph, bint is_body):
    # A child graph retains the user objects of its nodes itself; for a body, the containing graph does.
    return GraphRecord_create(c_graph, parent.c_holder if is_body else c_graph)


# The record of a node of the graph; created on first use.
cdef NodeRecord GraphRecord_node(GraphRecord self, cydriver.CUgraphNode c_node):
    cdef cydriver.CUgraphNodeType c_type
    record = self.nodes.get(<uintptr_t>c_node)
    if record is not None:
        return record
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphNodeGetType(c_node, &c_type), b"cuGraphNodeGetType")
    return GraphRecord_add(self, c_node, c_type)


cdef NodeRecord GraphRecord_add(GraphRecord self, cydriver.CUgraphNode c_node, cydriver.CUgraphNodeType c_type):
    cdef NodeRecord record = NodeRecord.__new__(NodeRecord)
    record.c_node = c_node
    record.c_type = c_type
    return self.nodes.setdefault(<uintptr_t>c_node, record)


# Reads all nodes of a graph (cuGraphGetNodes).
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


# Marks a node that the driver has destroyed, and the graphs below it, as destroyed.
cdef int NodeRecord_mark_destroyed(GraphRecord graph, NodeRecord self, bint is_holder_destroyed=False) except -1:
    graph.nodes.pop(<uintptr_t>self.c_node, None)
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


# Returns true if a graph is `other` or one of its descendants.
cdef bint is_within(GraphRecord graph, GraphRecord other) except -1:
    cdef NodeRecord node
    if graph is other:
        return True
    for node in list(other.nodes.values()):
        for child in node.children or ():
            if is_within(graph, child):
                return True
    return False


# Reads the child graph of a node from the driver, if the record does not have it.
cdef int find_child(GraphRecord graph, NodeRecord record) except -1:
    cdef cydriver.CUgraph c_child = NULL
    if record.children:
        return 0
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphChildGraphNodeGetGraph(record.c_node, &c_child), b"cuGraphChildGraphNodeGetGraph")
    record.children = [GraphRecord_of_child(graph, c_child, False)]
    return 0


# Copies the records of nodes to a clone of their graph that the driver has created. The clone has the same nodes in the
# same order, and references to the same user objects.
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


# Replaces the user object that retains the operands of a node, and releases the one before; `c_object` may be NULL.
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
        raise UnavailableError(
            self.unusable or "this graph is destroyed, together with the node that contained it"
        )
    return 0


# Raises if a recapture uses the graph, which may be None, or has left it unusable.
cdef int check_usable(GraphRecord self) except -1:
    return 0 if self is None or self.unusable is None else check_alive(self)


# --- Operands that graphs retain ------------------------------------------------------------------

# A new list with one reference.
cdef AnchorList* new_anchors() except NULL:
    return AnchorList.make()


cdef int anchor_object(AnchorList* anchors, object thing) except -1:
    anchors.add(Anchor.of_object(<PyObject*>thing))
    return 0


# Lets a graph, and its clones and executables, retain a list; takes over the caller's reference. Returns the user
# object, for `release`. On an exception the reference is dropped.
cdef cydriver.CUuserObject retain(cydriver.CUgraph c_graph, AnchorList* anchors) except NULL:
    cdef cydriver.CUuserObject c_object = NULL
    cdef cydriver.CUresult err
    with nogil:
        err = cydriver.cuUserObjectCreate(
            &c_object,
            anchors,
            &drop_anchors,
            1,
            cydriver.CUuserObject_flags.CU_USER_OBJECT_NO_DESTRUCTOR_SYNC,
        )
    if err != cydriver.CUresult.CUDA_SUCCESS:
        anchors.drop_reference()
        HANDLE_RETURN(err, b"cuUserObjectCreate")
    with nogil:
        err = cydriver.cuGraphRetainUserObject(
            c_graph, c_object, 1, cydriver.CUuserObjectRetain_flags.CU_GRAPH_USER_OBJECT_MOVE
        )
        if err != cydriver.CUresult.CUDA_SUCCESS:
            WARN_RETURN(cydriver.cuUserObjectRelease(c_object, 1), b"cuUserObjectRelease", c_object)
    HANDLE_RETURN(err, b"cuGraphRetainUserObject")
    return c_object


# Lets another graph retain the same user object.
cdef int share(cydriver.CUgraph c_graph, cydriver.CUuserObject c_object) except -1:
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphRetainUserObject(c_graph, c_object, 1, 0), b"cuGraphRetainUserObject")
    return 0


# Releases the graph's reference; clones and executables created before still retain the user object.
cdef void release(cydriver.CUgraph c_graph, cydriver.CUuserObject c_object) noexcept nogil:
    WARN_RETURN(cydriver.cuGraphReleaseUserObject(c_graph, c_object, 1), b"cuGraphReleaseUserObject", c_object)


# The destructor of a user object, called on a thread of the driver.
cdef void drop_anchors(void* anchors) noexcept nogil:
    (<AnchorList*>anchors).drop_reference()


# --- Edges ----------------------------------------------------------------------------------------

# The nodes that a node depends on, or that depend on it.
cdef int read_neighbors(
    cydriver.CUgraphNode c_node, bint is_pred, vector[cydriver.CUgraphNode]& c_nodes
) except -1:
    cdef vector[cydriver.CUgraphEdgeData] c_edges
    cdef size_t count = 0
    with nogil:
        if is_pred:
            HANDLE_RETURN(
                cydriver.cuGraphNodeGetDependencies(c_node, NULL, NULL, &count), b"cuGraphNodeGetDependencies"
            )
        else:
            HANDLE_RETURN(
                cydriver.cuGraphNodeGetDependentNodes(c_node, NULL, NULL, &count), b"cuGraphNodeGetDependentNodes"
            )
        c_nodes.resize(count)
        # The driver returns an error for edges with data if no array for the data is passed.
        c_edges.resize(count)
        if count and is_pred:
            HANDLE_RETURN(
                cydriver.cuGraphNodeGetDependencies(c_node, c_nodes.data(), c_edges.data(), &count),
                b"cuGraphNodeGetDependencies",
            )
        elif count:
            HANDLE_RETURN(
                cydriver.cuGraphNodeGetDependentNodes(c_node, c_nodes.data(), c_edges.data(), &count),
                b"cuGraphNodeGetDependentNodes",
            )
    return 0


# Adds or removes the edges from c_from[i] to c_to[i].
cdef int write_edges(
    cydriver.CUgraph c_graph,
    vector[cydriver.CUgraphNode]& c_from,
    vector[cydriver.CUgraphNode]& c_to,
    bint is_added,
) except -1:
    with nogil:
        if is_added:
            HANDLE_RETURN(
                cydriver.cuGraphAddDependencies(c_graph, c_from.data(), c_to.data(), NULL, c_from.size()),
                b"cuGraphAddDependencies",
            )
        else:
            HANDLE_RETURN(
                cydriver.cuGraphRemoveDependencies(c_graph, c_from.data(), c_to.data(), NULL, c_from.size()),
                b"cuGraphRemoveDependencies",
            )
    return 0


# All edges of a graph.
cdef int read_edges(
    cydriver.CUgraph c_graph, vector[cydriver.CUgraphNode]& c_from, vector[cydriver.CUgraphNode]& c_to
) except -1:
    cdef vector[cydriver.CUgraphEdgeData] c_data
    cdef size_t count = 0
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphGetEdges(c_graph, NULL, NULL, NULL, &count), b"cuGraphGetEdges")
        c_from.resize(count)
        c_to.resize(count)
        # The driver returns an error for edges with data if no array for the data is passed.
        c_data.resize(count)
        if count:
            HANDLE_RETURN(
                cydriver.cuGraphGetEdges(c_graph, c_from.data(), c_to.data(), c_data.data(), &count),
                b"cuGraphGetEdges",
            )
    return 0


# --- Operands of executables ----------------------------------------------------------------------

cdef enum:
    LAST_DEFAULT_STREAM = 2     # CU_STREAM_PER_THREAD; CU_STREAM_LEGACY and NULL are less
    CHANGES_PER_QUERY = 16


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

    def __cinit__(self):
        self.launches = {}

    def __dealloc__(self):
        if not is_interpreter_exiting():
            retire_all(self)


# Replaces the operands of a node, and takes over the caller's reference to the new ones; NULL for none.
cdef int ExecutableOperands_exchange(ExecutableOperands self, uintptr_t node, AnchorList* anchors) except -1:
    cdef AnchorList* previous = NULL
    with cython.critical_section(self):
        self.is_used = True
        self.change_count += 1
        previous = self._current[node]
        self._current[node] = anchors
    if previous != NULL:
        retire_anchors(self, previous)
    return 0


# Removes the operands of all nodes.
cdef int ExecutableOperands_clear(ExecutableOperands self) except -1:
    self.launches = {}
    retire_all(self)
    return 0


# Must be called before each launch while `is_used` is set.
cdef int ExecutableOperands_launch(ExecutableOperands self, const StreamPin& stream) except -1:
    cdef ContextHandle h_context
    if <uintptr_t>stream.get() <= LAST_DEFAULT_STREAM:
        Context_current(&h_context)
    with cython.critical_section(self):
        # Launches of one executable never overlap, so when the last has completed, all have.
        self._h_last.set(stream.handle())
        self._h_context.set(h_context)
    return 0


cdef void retire_all(ExecutableOperands self) noexcept:
    cdef unordered_map[uintptr_t, AnchorListPointer] rows
    cdef unordered_map[uintptr_t, AnchorListPointer].iterator row
    with cython.critical_section(self):
        self.is_used = False
        self.change_count += 1
        rows.swap(self._current)
    row = rows.begin()
    while row != rows.end():
        if dereference(row).second != NULL:
            retire_anchors(self, dereference(row).second)
        preincrement(row)


# Drops operands once the last launch that may use them has completed.
cdef void retire_anchors(ExecutableOperands self, AnchorList* anchors) noexcept:
    cdef QueriedStream last
    cdef Retired entry
    cdef CaptureModeScope mode
    cdef Work work = NO_WORK
    with cython.critical_section(self):
        last.h_stream = self._h_last.copy()
        last.h_context = self._h_context.copy()
    if last.h_stream:
        with nogil:
            relax_capture_mode(mode)
            work = work_of(last)
            mode.end()
    if work == NO_WORK:
        anchors.drop_reference()
        return
    entry.resource = Handle[AnchorListPointer].own(anchors, &drop_operands, Anchor()).anchor()
    # The list queries the stream again, and records an event if it is still busy.
    entry.captured.push_back(last)
    retire_entry(entry)
    # Not on every change, because each one may add an entry to query.
    if self.change_count % CHANGES_PER_QUERY == 0:
        with nogil:
            destroy_idle()


cdef void drop_operands(AnchorListPointer anchors) noexcept nogil:
    anchors.drop_reference()

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Stream captures: how they begin and end, forks and joins."""

from libc.stdint cimport uintptr_t
from libcpp.unordered_map cimport unordered_map
from libcpp.unordered_set cimport unordered_set
from libcpp.vector cimport vector

from cuda.core._context cimport Context_enter, Context_leave
from cuda.core._native._cuda_core cimport (
    Anchor,
    AnchorList,
    CaptureModeScope,
    ContextHandle,
    StreamField,
    StreamHandle,
    StreamPin,
    capture_lock,
    forget_capture,
    note_capture,
    relax_capture_mode,
)
from cuda.core._stream cimport CapturedOperands, Stream, Stream_context, Stream_create
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, LEAVE_RETURN, WARN_RETURN, note_left_context, require_driver

import weakref

from cuda.core._utils import slots
from cuda.core._utils.cuda_utils import UnavailableError


ctypedef unordered_set[uintptr_t] NodeSet


# The graph that a stream captures into, and the dependencies of its next node. Valid until the next driver call.
cdef struct CapturePoint:
    cydriver.CUgraph c_graph
    const cydriver.CUgraphNode* dependencies
    const cydriver.CUgraphEdgeData* edges
    size_t count


ctypedef vector[uintptr_t] Addresses


# Reads the last nodes of a capturing stream; returns false if there is no valid capture.
cdef bint read_point(
    cydriver.CUstream c_stream, cydriver.CUgraph* c_graph, vector[cydriver.CUgraphNode]& c_nodes
) noexcept nogil:
    cdef cydriver.CUstreamCaptureStatus c_status = cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    cdef const cydriver.CUgraphNode* dependencies = NULL
    cdef const cydriver.CUgraphEdgeData* edges = NULL
    cdef size_t count = 0
    cdef cydriver.CUresult err = cydriver.cuStreamGetCaptureInfo(
        c_stream, &c_status, NULL, c_graph, &dependencies, &edges, &count
    )
    if err != cydriver.CUresult.CUDA_SUCCESS or (
        c_status != cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
    ):
        return False
    # The array of dependencies is only valid until the next call.
    c_nodes.assign(dependencies, dependencies + count)
    return True


# Finds the nodes in `next` and all their ancestors.
cdef bint find_ancestors(cydriver.CUgraph c_graph, vector[cydriver.CUgraphNode] next, NodeSet& found) noexcept nogil:
    cdef unordered_map[uintptr_t, Addresses] before
    cdef vector[cydriver.CUgraphNode] c_from
    cdef vector[cydriver.CUgraphNode] c_to
    cdef vector[cydriver.CUgraphEdgeData] c_data
    cdef uintptr_t address
    cdef size_t count = 0
    cdef size_t i
    if cydriver.cuGraphGetEdges(c_graph, NULL, NULL, NULL, &count) != cydriver.CUresult.CUDA_SUCCESS:
        return False
    c_from.resize(count)
    c_to.resize(count)
    c_data.resize(count)
    if count and cydriver.cuGraphGetEdges(c_graph, c_from.data(), c_to.data(), c_data.data(), &count) != (
        cydriver.CUresult.CUDA_SUCCESS
    ):
        return False
    for i in range(count):
        before[<uintptr_t>c_to[i]].push_back(<uintptr_t>c_from[i])
    while not next.empty():
        address = <uintptr_t>next.back()
        next.pop_back()
        if found.insert(address).second:
            for i in range(before[address].size()):
                next.push_back(<cydriver.CUgraphNode>before[address][i])
    return True


# Returns true if a fork was not joined: its last nodes are not ancestors of the last nodes of `c_origin`. Called before
# the capture ends; returns false if the capture has ended or is invalid.
cdef bint has_unjoined_work(cydriver.CUstream c_origin, vector[cydriver.CUstream]& c_forks) noexcept nogil:
    cdef vector[cydriver.CUgraphNode] c_nodes
    cdef cydriver.CUgraph c_graph = NULL
    cdef NodeSet joined
    cdef size_t i
    cdef size_t k
    if c_forks.empty() or not read_point(c_origin, &c_graph, c_nodes) or not find_ancestors(c_graph, c_nodes, joined):
        return False
    for i in range(c_forks.size()):
        if read_point(c_forks[i], &c_graph, c_nodes):
            for k in range(c_nodes.size()):
                if joined.count(<uintptr_t>c_nodes[k]) == 0:
                    return True
    return False


# Returns true if a capture into a body has unjoined work, apart from the nodes in `before`; joins it to `c_origin`.
cdef bint join_unjoined_work(
    cydriver.CUstream c_origin, vector[cydriver.CUstream]& c_forks, const NodeSet& before
) noexcept nogil:
    cdef vector[cydriver.CUgraphNode] c_nodes
    cdef vector[cydriver.CUgraphNode] c_unjoined
    cdef cydriver.CUgraph c_graph = NULL
    cdef NodeSet joined
    cdef size_t count = 0
    cdef size_t i
    if not read_point(c_origin, &c_graph, c_nodes) or not find_ancestors(c_graph, c_nodes, joined):
        return False
    if cydriver.cuGraphGetNodes(c_graph, NULL, &count) != cydriver.CUresult.CUDA_SUCCESS or count == joined.size():
        return False
    c_nodes.resize(count)
    if cydriver.cuGraphGetNodes(c_graph, c_nodes.data(), &count) != cydriver.CUresult.CUDA_SUCCESS:
        return False
    for i in range(count):
        if joined.count(<uintptr_t>c_nodes[i]) == 0 and before.count(<uintptr_t>c_nodes[i]) == 0:
            c_unjoined.push_back(c_nodes[i])
    if c_unjoined.empty():
        return False
    # Events join the forks of this library, as usual. Of other streams, only the nodes are known.
    for i in range(c_forks.size()):
        join_stream(c_origin, c_forks[i])
    WARN_RETURN(
        cydriver.cuStreamUpdateCaptureDependencies(
            c_origin,
            c_unjoined.data(),
            NULL,
            c_unjoined.size(),
            cydriver.CUstreamUpdateCaptureDependencies_flags.CU_STREAM_ADD_CAPTURE_DEPENDENCIES,
        ),
        b"cuStreamUpdateCaptureDependencies",
        c_origin,
    )
    return True


cdef void join_stream(cydriver.CUstream c_origin, cydriver.CUstream c_fork) noexcept nogil:
    cdef cydriver.CUevent c_event = NULL
    cdef cydriver.CUresult err = cydriver.cuEventCreate(
        &c_event, cydriver.CUevent_flags.CU_EVENT_DISABLE_TIMING
    )
    if err == cydriver.CUresult.CUDA_SUCCESS:
        err = cydriver.cuEventRecord(c_event, c_fork)
        if err == cydriver.CUresult.CUDA_SUCCESS:
            err = cydriver.cuStreamWaitEvent(c_origin, c_event, 0)
        WARN_RETURN(cydriver.cuEventDestroy(c_event), b"cuEventDestroy", c_event)
    WARN_RETURN(err, b"cuEventRecord", c_fork)


# A capture, shared by a builder and its forks.
cdef class StreamCapture:
    cdef:
        StreamField h_running      # its last reference ends the capture; empty once the capture has ended
        GraphTree tree              # None before its first use or the end of the capture, and after a failure
        GraphRecord graph
        list streams                # the streams of forks, which must live as long as the capture
        list forks                  # the streams of forks that were not joined yet
        NodeSet before              # the nodes that a body had before the capture
        list bodies                 # captures into the bodies of conditional nodes of this capture
        bint is_body
        Recapture recapture         # None if this capture adds nodes


# Callers of these functions keep the handles that they pass.

# Begins a capture on a stream; into `graph`, the body of a conditional node, unless it is None.
cdef StreamCapture StreamCapture_begin(
    const StreamHandle& h_stream, cydriver.CUstreamCaptureMode c_mode, GraphTree tree, GraphRecord graph
):
    cdef StreamCapture self = StreamCapture.__new__(StreamCapture)
    cdef StreamHandle h_begun = h_stream
    cdef cydriver.CUgraph c_graph = NULL
    cdef cydriver.CUresult err
    self.streams = []
    self.forks = []
    self.bodies = []
    if graph is None:
        with nogil:
            capture_lock().lock()
            err = cydriver.cuStreamBeginCapture(h_begun.get(), c_mode)
            if err == cydriver.CUresult.CUDA_SUCCESS:
                note_capture(h_begun.get())
            capture_lock().unlock()
            HANDLE_RETURN(err, b"cuStreamBeginCapture")
        self.h_running.set(StreamHandle.own(h_begun.get(), &end_and_destroy, h_begun.anchor()))
        return self
    collect_nodes(graph, self.before)
    self.is_body = True
    self.tree = tree
    self.graph = graph
    c_graph = graph.c_graph
    bodies_by_address[<uintptr_t>c_graph] = graph
    with nogil:
        capture_lock().lock()
        err = cydriver.cuStreamBeginCaptureToGraph(h_begun.get(), c_graph, NULL, NULL, 0, c_mode)
        if err == cydriver.CUresult.CUDA_SUCCESS:
            note_capture(h_begun.get())
        capture_lock().unlock()
        HANDLE_RETURN(err, b"cuStreamBeginCaptureToGraph")
    self.h_running.set(StreamHandle.own(h_begun.get(), &end_in_body, h_begun.anchor()))
    return self


# Begins a capture that changes the parameters of an existing graph.
cdef StreamCapture StreamCapture_recapture(
    const StreamHandle& h_stream, cydriver.CUstreamCaptureMode c_mode, GraphTree tree
):
    cdef StreamCapture self = StreamCapture.__new__(StreamCapture)
    cdef StreamHandle h_begun = h_stream
    self.streams = []
    self.forks = []
    self.bodies = []
    self.tree = tree
    self.graph = tree.root
    self.recapture = Recapture_begin(h_begun, c_mode, tree)
    self.h_running.set(StreamHandle.own(h_begun.get(), &end_recapture, h_begun.anchor()))
    return self


# Ends a recapture that was not ended explicitly. The graph belongs to its tree.
cdef void end_recapture(cydriver.CUstream c_stream) noexcept nogil:
    end_silently(c_stream)


# Ends a capture that was not ended explicitly, and destroys its graph.
cdef void end_and_destroy(cydriver.CUstream c_stream) noexcept nogil:
    cdef cydriver.CUgraph c_graph = end_silently(c_stream)
    if c_graph != NULL:
        destroy_graph(c_graph)


# Ends the capture into a body that was not ended explicitly. The graph belongs to the conditional node.
cdef void end_in_body(cydriver.CUstream c_stream) noexcept nogil:
    cdef vector[cydriver.CUstream] c_forks
    cdef NodeSet before
    join_unjoined_work(c_stream, c_forks, before)
    end_silently(c_stream)


cdef int collect_nodes(GraphRecord graph, NodeSet& found) except -1:
    cdef vector[cydriver.CUgraphNode] c_nodes
    cdef size_t i
    read_nodes(graph, c_nodes)
    for i in range(c_nodes.size()):
        found.insert(<uintptr_t>c_nodes[i])
    return 0


# Collects the streams of forks that were not joined.
cdef int collect_forks(StreamCapture self, vector[cydriver.CUstream]& c_forks) except -1:
    cdef Stream stream
    cdef StreamHandle h_stream
    for stream in self.forks:
        h_stream = stream._h_stream.copy()
        c_forks.push_back(h_stream.get())
    return 0


# Ends the capture, and frees memory whose release was deferred until then.
cdef cydriver.CUgraph end_silently(cydriver.CUstream c_stream) noexcept nogil:
    cdef cydriver.CUgraph c_graph = NULL
    cdef cydriver.CUstreamCaptureStatus c_status = cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    cdef cydriver.CUresult err
    WARN_RETURN(cydriver.cuStreamIsCapturing(c_stream, &c_status), b"cuStreamIsCapturing", c_stream)
    capture_lock().lock()
    forget_capture(c_stream)
    if c_status == cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE:
        capture_lock().unlock()
        return NULL
    err = cydriver.cuStreamEndCapture(c_stream, &c_graph)
    capture_lock().unlock()
    # These errors end the capture.
    if err != cydriver.CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED and (
        err != cydriver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNJOINED
    ):
        WARN_RETURN(err, b"cuStreamEndCapture", c_stream)
    destroy_idle()
    return c_graph


# Ends the capture and takes ownership of its graph. The stream has stopped capturing even if this raises.
cdef int StreamCapture_end(StreamCapture self) except -1:
    # If cuStreamEndCapture does not end the capture, dropping this last reference does.
    cdef StreamHandle h_ending = self.h_running.copy()
    cdef vector[cydriver.CUstream] c_forks
    cdef cydriver.CUgraph c_graph = NULL
    cdef cydriver.CUresult err
    cdef bint is_unjoined
    if not h_ending:
        raise RuntimeError("this GraphBuilder is not building")
    collect_forks(self, c_forks)
    self.h_running.reset()
    with nogil:
        is_unjoined = (
            join_unjoined_work(h_ending.get(), c_forks, self.before)
            if self.is_body
            else has_unjoined_work(h_ending.get(), c_forks)
        )
        capture_lock().lock()
        err = cydriver.cuStreamEndCapture(h_ending.get(), &c_graph)
        capture_lock().unlock()
        destroy_idle()
    self.streams = []
    self.forks = []
    if err == cydriver.CUresult.CUDA_SUCCESS and is_unjoined:
        # The error that the driver returns for unjoined work that its streams captured.
        err = cydriver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNJOINED
        if not self.is_body and self.recapture is None:
            with nogil:
                destroy_graph(c_graph)
    if self.recapture is not None:
        Recapture_end(self.recapture, err == cydriver.CUresult.CUDA_SUCCESS)
    if err == cydriver.CUresult.CUDA_SUCCESS:
        if self.tree is None:
            self.tree = GraphTree_own(c_graph)
            self.graph = self.tree.root
        elif not self.is_body:
            GraphTree_adopt(self.tree)
        return 0
    abandon_bodies(self)
    if not self.is_body and self.tree is not None and self.recapture is None:
        # The driver has destroyed the graph, but views of it might be alive.
        mark_destroyed(self.tree)
    self.tree = None
    self.graph = None
    return HANDLE_RETURN(err, b"cuStreamEndCapture")


# Ends the capture and drops its graph. Views of the graph might stay alive.
cdef void StreamCapture_abandon(StreamCapture self) noexcept:
    cdef StreamHandle h_running
    cdef vector[cydriver.CUstream] c_forks
    abandon_bodies(self)
    if self.is_body and self.h_running:
        h_running = self.h_running.copy()
        collect_forks(self, c_forks)
        with nogil:
            join_unjoined_work(h_running.get(), c_forks, self.before)
    if self.tree is None or self.is_body:
        self.h_running.reset()
        self.streams = []
    elif self.h_running:
        try:
            StreamCapture_end(self)
        except Exception:  # the capture has ended even if it failed
            self.streams = []


cdef int abandon_bodies(StreamCapture self) noexcept:
    cdef StreamCapture body
    for body in self.bodies:
        StreamCapture_abandon(body)
    self.bodies = []
    return 0


cdef int mark_destroyed(GraphTree tree) except -1:
    cdef NodeRecord node
    for node in list(tree.root.nodes.values()):
        NodeRecord_mark_destroyed(tree.root, node, True)
    tree.root.c_graph = NULL
    return 0


# The record of the captured graph, during and after the capture.
cdef GraphRecord StreamCapture_graph(StreamCapture self):
    cdef CapturePoint point
    cdef StreamPin running
    if self.graph is None:
        if not running.hold(self.h_running):
            raise RuntimeError("this GraphBuilder is not building")
        find_point(running.handle(), &point)
        self.tree = GraphTree_borrow(point.c_graph)
        self.graph = self.tree.root
    return self.graph


# --- Streams in a capture -------------------------------------------------------------------------

# Returns whether a stream captures. RuntimeError if the capture is invalidated.
cdef bint is_capturing(const StreamHandle& h_stream) except -1:
    cdef cydriver.CUstreamCaptureStatus c_status = cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    HANDLE_RETURN(cydriver.cuStreamIsCapturing(h_stream.get(), &c_status), b"cuStreamIsCapturing")
    check_valid(c_status)
    return c_status == cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE


# Finds where a stream captures. RuntimeError if it does not, or if the capture is invalidated.
cdef int find_point(const StreamHandle& h_stream, CapturePoint* point) except -1:
    cdef cydriver.CUstreamCaptureStatus c_status = cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    HANDLE_RETURN(
        cydriver.cuStreamGetCaptureInfo(
            h_stream.get(), &c_status, NULL, &point.c_graph, &point.dependencies, &point.edges, &point.count
        ),
        b"cuStreamGetCaptureInfo",
    )
    check_valid(c_status)
    if c_status != cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE:
        raise RuntimeError("the capture of this GraphBuilder was ended outside the builder, by a call on its stream")
    return 0


cdef int check_valid(cydriver.CUstreamCaptureStatus c_status) except -1:
    if c_status == cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_INVALIDATED:
        raise UnavailableError("an earlier error invalidated the capture; close the GraphBuilder and create a new one")
    return 0


# Adds a node that depends on all pending work of the stream. Later work of the stream depends on the node.
cdef NodeRecord StreamCapture_add(StreamCapture self, const StreamHandle& h_stream, NodeValues values):
    cdef CapturePoint point
    cdef StreamHandle h_captured = h_stream
    cdef GraphRecord graph = StreamCapture_graph(self)
    cdef vector[cydriver.CUgraphNode] c_dependencies
    cdef NodeRecord record
    cdef cydriver.CUgraphNode c_node
    find_point(h_captured, &point)
    # The array of dependencies is only valid until the next call.
    c_dependencies.assign(point.dependencies, point.dependencies + point.count)
    record = add_node(graph, c_dependencies.data(), c_dependencies.size(), values)
    c_node = record.c_node
    try:
        with nogil:
            HANDLE_RETURN(
                cydriver.cuStreamUpdateCaptureDependencies(
                    h_captured.get(),
                    &c_node,
                    NULL,
                    1,
                    cydriver.CUstreamUpdateCaptureDependencies_flags.CU_STREAM_SET_CAPTURE_DEPENDENCIES,
                ),
                b"cuStreamUpdateCaptureDependencies",
            )
    except BaseException as error:
        take_back_node(graph, record, error)
        raise
    return record


# Recaptures a call of a host function. The graph keeps its operands alive.
cdef int StreamCapture_call(StreamCapture self, const StreamHandle& h_stream, NodeValues values) except -1:
    cdef CapturePoint point
    cdef StreamHandle h_captured = h_stream
    cdef cydriver.CUuserObject c_object = retain_for(self.graph, values)
    cdef NodeRecord record
    with nogil:
        HANDLE_RETURN(
            cydriver.cuLaunchHostFunc(h_captured.get(), values.params.host.fn, values.params.host.userData),
            b"cuLaunchHostFunc",
        )
    find_point(h_captured, &point)
    record = GraphRecord_node(self.graph, point.dependencies[0])
    exchange_user_object(record, c_object)
    record.c_node = NULL    # until the recapture has ended
    return 0


# The bodies into which a capture has begun, by their CUgraph.
cdef object bodies_by_address = weakref.WeakValueDictionary()


cdef class CaptureOperands(CapturedOperands):
    """Lets captured graphs keep operands, registered as the slot *captured operands*."""

    cdef int keep(self, const StreamHandle& h_stream, Anchor thing) except -1:
        cdef CapturePoint point
        cdef GraphRecord body
        cdef cydriver.CUgraph c_holder
        cdef AnchorList* anchors
        find_point(h_stream, &point)
        body = bodies_by_address.get(<uintptr_t>point.c_graph)
        c_holder = body.c_holder if body is not None and body.c_graph == point.c_graph else point.c_graph
        anchors = new_anchors()
        try:
            anchors.add(thing)
        except BaseException:
            anchors.drop_reference()
            raise
        retain(c_holder, anchors)
        return 0


# A new stream of the same context.
cdef Stream new_stream(Stream stream):
    cdef ContextHandle h_context
    cdef int device_id = -1
    cdef CaptureModeScope mode
    Stream_context(stream, &h_context, &device_id)
    relax_capture_mode(mode)
    return Stream_create(h_context, device_id, None)


# A new stream that joins the capture: its work depends on the pending work of `stream`.
cdef Stream fork_stream(StreamCapture capture, Stream stream):
    cdef Stream result = new_stream(stream)
    # Destroying a stream that takes part can invalidate the capture.
    capture.streams.append(result)
    result.wait(stream)
    capture.forks.append(result)
    return result


# Adds a conditional node after the work of `stream`, whose handle the caller keeps. The record of the node has the
# bodies; for each of them a new stream is appended to `streams`.
cdef NodeRecord add_conditional(
    StreamCapture capture,
    Stream stream,
    const StreamHandle& h_stream,
    object condition,
    cydriver.CUgraphConditionalNodeType c_type,
    object count,
    list streams,
):
    cdef ConditionalValues values
    cdef ContextHandle h_context
    cdef int device_id = -1
    cdef int is_entered = 0
    require_driver(12030, "a conditional node")
    Stream_context(stream, &h_context, &device_id)
    is_entered = Context_enter(h_context.get())
    try:
        values = ConditionalValues_create(condition, c_type, count)     # refers to the current context
    except BaseException as error:
        note_left_context(error, Context_leave(is_entered))
        raise
    LEAVE_RETURN(cydriver.CUresult.CUDA_SUCCESS, NULL, Context_leave(is_entered))
    for _ in range(values.params.conditional.size):
        streams.append(new_stream(stream))
    return StreamCapture_add(capture, h_stream, values)


slots.register("captured operands", CaptureOperands())

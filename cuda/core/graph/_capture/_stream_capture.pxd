# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._handles cimport StreamHandle, StreamMember
from cuda.core._utils cimport cydriver
from cuda.core.graph._capture._joining cimport NodeSet
from cuda.core.graph._parameters._node_values cimport NodeValues
from cuda.core.graph._state._graph_state cimport GraphRecord, GraphTree, NodeRecord


# A capture, shared by a builder and its forks.
cdef class StreamCapture:
    cdef:
        StreamMember h_running      # its last reference ends the capture; empty once the capture has ended
        GraphTree tree              # None before its first use or the end of the capture, and after a failure
        GraphRecord graph
        list streams                # the streams of forks, which must live as long as the capture
        list forks                  # the streams of forks that were not joined yet
        NodeSet before              # the nodes that a body had before the capture
        list bodies                 # captures into the bodies of conditional nodes of this capture
        bint is_body


# The graph that a stream captures into, and the dependencies of its next node. Valid until the next driver call.
cdef struct CapturePoint:
    cydriver.CUgraph c_graph
    const cydriver.CUgraphNode* dependencies
    const cydriver.CUgraphEdgeData* edges
    size_t count


# Callers keep the handles that they pass.

# Begins a capture on a stream; into `graph`, the body of a conditional node, if that is given.
cdef StreamCapture StreamCapture_begin(
    const StreamHandle& h_stream, cydriver.CUstreamCaptureMode c_mode, GraphTree tree, GraphRecord graph
)

# Ends the capture and takes ownership of its graph. The stream has stopped capturing also if this raises.
cdef int StreamCapture_end(StreamCapture self) except -1
# Ends the capture and drops its graph, of which views may be alive.
cdef void StreamCapture_abandon(StreamCapture self) noexcept

# The record of the captured graph, during and after the capture.
cdef GraphRecord StreamCapture_graph(StreamCapture self)

# Whether and where a stream captures; RuntimeError if the capture is invalidated.
cdef bint is_capturing(const StreamHandle& h_stream) except -1
cdef int find_point(const StreamHandle& h_stream, CapturePoint* point) except -1

# Adds a node that depends on all work of the stream so far, and on which later work of the stream depends.
cdef NodeRecord StreamCapture_add(StreamCapture self, const StreamHandle& h_stream, NodeValues values)

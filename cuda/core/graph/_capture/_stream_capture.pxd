# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._handles cimport StreamHandle, StreamMember
from cuda.core._utils cimport cydriver
from cuda.core.graph._capture._joining cimport NodeSet
from cuda.core.graph._parameters._node_values cimport NodeValues
from cuda.core.graph._state._graph_state cimport GraphRecord, GraphTree, NodeRecord


# A capture, which all builders that fork from one share.
cdef class StreamCapture:
    cdef:
        StreamMember h_running      # ends the capture when its last copy goes; empty once it has ended
        GraphTree tree              # None until somebody asks, or the capture has ended; None when it failed
        GraphRecord graph
        list streams                # of forks, which live as long as the capture
        list forks                  # those of them that nobody has joined
        NodeSet before              # what a body had before the capture
        list bodies                 # captures into the bodies of conditional nodes of this one
        bint is_body


# Where a stream is in a capture: the graph, and what its next node depends on. Valid until the next call.
cdef struct CapturePoint:
    cydriver.CUgraph c_graph
    const cydriver.CUgraphNode* dependencies
    const cydriver.CUgraphEdgeData* edges
    size_t count


# What is given as a handle, the caller keeps.

# A new capture on a stream; into `graph`, the body of a conditional node, where that is given.
cdef StreamCapture StreamCapture_begin(
    const StreamHandle& h_stream, cydriver.CUstreamCaptureMode c_mode, GraphTree tree, GraphRecord graph
)

# Ends it and takes its graph over. Whatever happens, the stream does not capture any more.
cdef int StreamCapture_end(StreamCapture self) except -1
# The same where nobody wants the graph, but views of it may be alive.
cdef void StreamCapture_abandon(StreamCapture self) noexcept

# The record of the graph, during and after the capture.
cdef GraphRecord StreamCapture_graph(StreamCapture self)

# How a stream takes part; an invalidated capture is a RuntimeError.
cdef bint is_capturing(const StreamHandle& h_stream) except -1
cdef int find_point(const StreamHandle& h_stream, CapturePoint* point) except -1

# Adds a node after all work of the stream so far, which then is what later work depends on.
cdef NodeRecord StreamCapture_add(StreamCapture self, const StreamHandle& h_stream, NodeValues values)

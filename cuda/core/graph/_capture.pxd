# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Stream captures: how they begin and end, forks and joins."""

from libc.stdint cimport uintptr_t
from libcpp.unordered_set cimport unordered_set
from libcpp.vector cimport vector

from cuda.core._native._cuda_core cimport StreamHandle, StreamField
from cuda.core._stream cimport Stream
from cuda.core._utils cimport cydriver
from cuda.core.graph._parameters cimport NodeValues
from cuda.core.graph._state cimport GraphRecord, GraphTree, NodeRecord


ctypedef unordered_set[uintptr_t] NodeSet


# Returns true if a fork was not joined: its last nodes are not ancestors of the last nodes of `c_origin`. Called before
# the capture ends; returns false if the capture has ended or is invalid.
cdef bint has_unjoined_work(cydriver.CUstream c_origin, vector[cydriver.CUstream]& c_forks) noexcept nogil

# Returns true if a capture into a body has unjoined work, apart from the nodes in `before`; joins it to `c_origin`.
cdef bint join_unjoined_work(
    cydriver.CUstream c_origin, vector[cydriver.CUstream]& c_forks, const NodeSet& before
) noexcept nogil


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


# The graph that a stream captures into, and the dependencies of its next node. Valid until the next driver call.
cdef struct CapturePoint:
    cydriver.CUgraph c_graph
    const cydriver.CUgraphNode* dependencies
    const cydriver.CUgraphEdgeData* edges
    size_t count


# Callers keep the handles that they pass.

# Begins a capture on a stream; into `graph`, the body of a conditional node, unless it is None.
cdef StreamCapture StreamCapture_begin(
    const StreamHandle& h_stream, cydriver.CUstreamCaptureMode c_mode, GraphTree tree, GraphRecord graph
)

# Ends the capture and takes ownership of its graph. The stream has stopped capturing even if this raises.
cdef int StreamCapture_end(StreamCapture self) except -1
# Ends the capture and drops its graph. Views of the graph might stay alive.
cdef void StreamCapture_abandon(StreamCapture self) noexcept

# The record of the captured graph, during and after the capture.
cdef GraphRecord StreamCapture_graph(StreamCapture self)

# Return whether, and find where, a stream captures. RuntimeError if the capture is invalidated.
cdef bint is_capturing(const StreamHandle& h_stream) except -1
cdef int find_point(const StreamHandle& h_stream, CapturePoint* point) except -1

# Adds a node that depends on all pending work of the stream. Later work of the stream depends on the node.
cdef NodeRecord StreamCapture_add(StreamCapture self, const StreamHandle& h_stream, NodeValues values)


# A new stream of the same context.
cdef Stream new_stream(Stream stream)

# A new stream that joins the capture: its work depends on the pending work of `stream`.
cdef Stream fork_stream(StreamCapture capture, Stream stream)

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
)

# RuntimeError if the driver is older than CUDA 12.`minor`.
cdef int check_version(int minor, str what) except -1

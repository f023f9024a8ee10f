# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0

from cuda.core._handles._handles cimport StreamHandle
from cuda.core._stream cimport Stream
from cuda.core._utils cimport cydriver
from cuda.core.graph._capture._stream_capture cimport StreamCapture
from cuda.core.graph._state._graph_state cimport NodeRecord


# A new stream of the same context.
cdef Stream new_stream(Stream stream)

# A new stream that joins the capture: its work depends on the work of `stream` so far.
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

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Further streams of a capture: for forks and for the bodies of conditional nodes."""

from __future__ import annotations

from cuda.core._context cimport Context_enter, Context_leave
from cuda.core._handles._capture_mode cimport CaptureModeScope, relax_capture_mode
from cuda.core._handles._handles cimport ContextHandle, StreamHandle
from cuda.core._stream cimport Stream, Stream_context, Stream_create
from cuda.core._utils cimport cydriver
from cuda.core.graph._capture._stream_capture cimport StreamCapture, StreamCapture_add
from cuda.core.graph._parameters._conditional_values cimport ConditionalValues, ConditionalValues_create
from cuda.core.graph._state._graph_state cimport NodeRecord

from cuda.core._utils.version import driver_version

__all__ = []


cdef Stream new_stream(Stream stream):
    cdef ContextHandle h_context
    cdef int device_id = -1
    cdef CaptureModeScope mode
    Stream_context(stream, &h_context, &device_id)
    relax_capture_mode(mode)
    return Stream_create(h_context, device_id, None)


cdef Stream fork_stream(StreamCapture capture, Stream stream):
    cdef Stream result = new_stream(stream)
    # Destroying a stream that takes part invalidates the capture, even after the stream was joined.
    capture.streams.append(result)
    result.wait(stream)
    capture.forks.append(result)
    return result


cdef NodeRecord add_conditional(
    StreamCapture capture,
    Stream stream,
    const StreamHandle& h_stream,
    object condition,
    cydriver.CUgraphConditionalNodeType c_type,
    object count,
    list streams,
):
    cdef ConditionalValues values = ConditionalValues_create(condition, c_type, count)
    cdef StreamHandle h_captured = h_stream
    cdef ContextHandle h_context
    cdef int device_id = -1
    cdef int is_entered = 0
    check_version(3, "conditional nodes")
    Stream_context(stream, &h_context, &device_id)
    for _ in range(values.count):
        streams.append(new_stream(stream))
    is_entered = Context_enter(h_context.get())
    try:
        return StreamCapture_add(capture, h_captured, values)
    finally:
        Context_leave(is_entered)


cdef int check_version(int minor, str what) except -1:
    if driver_version() < (12, minor):
        raise RuntimeError(f"{what} need a driver for CUDA 12.{minor} or later")
    return 0

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Calls that captures in strict modes forbid, although they do not concern the capture."""

from libcpp.atomic cimport atomic

from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, WARN_RETURN

# How many captures this library has begun and not ended.
cdef atomic[int]* captures_in_progress


# Sets this thread to relaxed mode, always: captures of other libraries are not known here. Returns the argument
# of restore_capture_mode().
cdef inline int relax_capture_mode() noexcept nogil:
    cdef cydriver.CUstreamCaptureMode c_mode = cydriver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    cdef cydriver.CUresult err
    err = cydriver.cuThreadExchangeStreamCaptureMode(&c_mode)
    WARN_RETURN(err, b"cuThreadExchangeStreamCaptureMode")
    return <int>c_mode if err == cydriver.CUresult.CUDA_SUCCESS else -1


cdef inline void restore_capture_mode(int mode) noexcept nogil:
    cdef cydriver.CUstreamCaptureMode c_mode = <cydriver.CUstreamCaptureMode>mode
    cdef cydriver.CUresult err
    if mode < 0:
        return
    err = cydriver.cuThreadExchangeStreamCaptureMode(&c_mode)
    if err != cydriver.CUresult.CUDA_SUCCESS:
        WARN_RETURN(err, b"cuThreadExchangeStreamCaptureMode")
        # Once more, because the thread would stay relaxed for good.
        WARN_RETURN(cydriver.cuThreadExchangeStreamCaptureMode(&c_mode), b"cuThreadExchangeStreamCaptureMode")


cdef inline bint stream_captures(cydriver.CUstream c_stream) except -1 nogil:
    cdef cydriver.CUstreamCaptureStatus c_status = cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    HANDLE_RETURN(cydriver.cuStreamIsCapturing(c_stream, &c_status), b"cuStreamIsCapturing")
    return c_status != cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE


# The result of cuStreamQuery; CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED if a query would invalidate a capture.
cdef inline cydriver.CUresult work_of_stream(cydriver.CUstream c_stream) noexcept nogil:
    cdef cydriver.CUstreamCaptureStatus c_status = cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    cdef cydriver.CUresult err = cydriver.cuStreamIsCapturing(c_stream, &c_status)
    if err != cydriver.CUresult.CUDA_SUCCESS:
        return err
    if c_status != cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE:
        return cydriver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
    return cydriver.cuStreamQuery(c_stream)

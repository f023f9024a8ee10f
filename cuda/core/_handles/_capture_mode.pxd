# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Calls that captures in strict modes forbid, although they do not concern the capture."""

from libcpp cimport bool as cpp_bool
from libcpp.atomic cimport atomic

from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, WARN_RETURN

# The number of captures that this library has begun and not ended.
cdef atomic[int]* captures_in_progress


cdef extern from "capture_mode.hpp" namespace "cuda_core" nogil:
    cppclass CaptureModeScope:
        CaptureModeScope() noexcept
        cpp_bool has_begun() noexcept
        void begin(int mode, void (*restore)(int) noexcept nogil) noexcept
        void end() noexcept


# Sets this thread to relaxed mode, even if this library captures nothing: another library may. The mode is restored
# when the function that has the scope as a local variable returns or raises, or by `scope.end()`.
# Returns false, after a warning, if the driver refuses.
cdef inline bint relax_capture_mode(CaptureModeScope& scope) noexcept nogil:
    cdef cydriver.CUstreamCaptureMode c_mode = cydriver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    cdef cydriver.CUresult err
    if scope.has_begun():
        return True
    err = cydriver.cuThreadExchangeStreamCaptureMode(&c_mode)
    WARN_RETURN(err, b"cuThreadExchangeStreamCaptureMode")
    if err != cydriver.CUresult.CUDA_SUCCESS:
        return False
    scope.begin(<int>c_mode, &restore_capture_mode)
    return True


cdef inline void restore_capture_mode(int mode) noexcept nogil:
    cdef cydriver.CUstreamCaptureMode c_mode = <cydriver.CUstreamCaptureMode>mode
    cdef cydriver.CUresult err = cydriver.cuThreadExchangeStreamCaptureMode(&c_mode)
    if err != cydriver.CUresult.CUDA_SUCCESS:
        WARN_RETURN(err, b"cuThreadExchangeStreamCaptureMode")
        # Try once more, because otherwise the thread would stay in relaxed mode.
        WARN_RETURN(cydriver.cuThreadExchangeStreamCaptureMode(&c_mode), b"cuThreadExchangeStreamCaptureMode")


cdef inline bint stream_captures(cydriver.CUstream c_stream) except -1 nogil:
    cdef cydriver.CUstreamCaptureStatus c_status = cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    HANDLE_RETURN(cydriver.cuStreamIsCapturing(c_stream, &c_status), b"cuStreamIsCapturing")
    return c_status != cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE


# The result of cuStreamQuery. For a capturing stream, whose capture the query would invalidate, no query is made, and
# the result is CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED.
cdef inline cydriver.CUresult query_stream(cydriver.CUstream c_stream) noexcept nogil:
    cdef cydriver.CUstreamCaptureStatus c_status = cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    cdef cydriver.CUresult err = cydriver.cuStreamIsCapturing(c_stream, &c_status)
    if err != cydriver.CUresult.CUDA_SUCCESS:
        return err
    if c_status != cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE:
        return cydriver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
    return cydriver.cuStreamQuery(c_stream)

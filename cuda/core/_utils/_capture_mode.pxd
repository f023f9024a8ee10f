# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Calls beside captures that forbid them, although they have nothing to do with one."""

from libcpp.atomic cimport atomic

from cuda.bindings cimport cydriver

from cuda.core._utils.cuda_utils cimport WARN_RETURN

# How many captures this library has begun and not ended. While there are none, nobody pays for them.
cdef atomic[int]* captures_in_progress


# Lets this thread make such calls; the answer is what restore_capture_mode() takes.
cdef inline int relax_capture_mode() noexcept nogil:
    cdef cydriver.CUstreamCaptureMode c_mode = cydriver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    cdef cydriver.CUresult err
    if captures_in_progress.load() == 0:
        return -1
    err = cydriver.cuThreadExchangeStreamCaptureMode(&c_mode)
    WARN_RETURN(err, b"cuThreadExchangeStreamCaptureMode")
    return <int>c_mode if err == cydriver.CUresult.CUDA_SUCCESS else -1


cdef inline void restore_capture_mode(int mode) noexcept nogil:
    cdef cydriver.CUstreamCaptureMode c_mode = <cydriver.CUstreamCaptureMode>mode
    if mode >= 0:
        WARN_RETURN(cydriver.cuThreadExchangeStreamCaptureMode(&c_mode), b"cuThreadExchangeStreamCaptureMode")

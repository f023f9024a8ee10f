# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""How far the work of streams is: of one, or of all that this library knows."""

from __future__ import annotations

from libc.stdint cimport uintptr_t
from libcpp.vector cimport vector

from cuda.core._handles._capture_mode cimport CaptureModeScope, relax_capture_mode, work_of_stream
from cuda.core._handles._handles cimport ContextHandle, Keep, StreamHandle, context_registry, stream_registry
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport WARN_RETURN, warn_driver_error

__all__ = ["count_streams"]

cdef extern from "work.hpp" namespace "cuda_core" nogil:
    Work work_said(cydriver.CUresult answer) noexcept


# Handles of the driver that mean the default streams of the current context.
cdef uintptr_t LEGACY = 1
cdef uintptr_t PER_THREAD = 2


def count_streams() -> int:
    """Return of how many streams the library asks for work."""
    cdef vector[AskedStream] streams
    find_streams(streams)
    return streams.size()


cdef void find_streams(vector[AskedStream]& streams) noexcept nogil:
    cdef vector[StreamHandle] own = stream_registry().living()
    cdef vector[ContextHandle] contexts = context_registry().living()
    cdef cydriver.CUcontext c_current = NULL
    cdef AskedStream stream
    cdef bint is_known = False
    cdef size_t i
    for i in range(own.size()):
        if <uintptr_t>own[i].get() > PER_THREAD:
            stream.h_stream = own[i]
            streams.push_back(stream)
    WARN_RETURN(cydriver.cuCtxGetCurrent(&c_current), b"cuCtxGetCurrent")
    for i in range(contexts.size()):
        is_known = is_known or contexts[i].get() == c_current
    if c_current != NULL and not is_known:
        contexts.push_back(ContextHandle.borrow(c_current, Keep()))
    for i in range(contexts.size()):
        stream.h_context = contexts[i]
        stream.h_stream = StreamHandle.borrow(<cydriver.CUstream>LEGACY, Keep())
        streams.push_back(stream)
        stream.h_stream = StreamHandle.borrow(<cydriver.CUstream>PER_THREAD, Keep())
        streams.push_back(stream)


cdef void ask_streams() noexcept nogil:
    cdef vector[AskedStream] streams
    cdef CaptureModeScope mode
    cdef bint is_entered
    cdef size_t i
    relax_capture_mode(mode)
    find_streams(streams)
    for i in range(streams.size()):
        is_entered = False
        if enter(streams[i], &is_entered, NULL):
            if work_here(streams[i].h_stream.get(), NULL) == NO_WORK:
                tell(cydriver.cuStreamSynchronize(streams[i].h_stream.get()), b"cuStreamSynchronize", NULL)  # at once
            leave(is_entered, NULL)


cdef Work work_of(const AskedStream& stream, OddAnswer* odd) noexcept nogil:
    cdef Work work
    cdef bint is_entered = False
    if not enter(stream, &is_entered, odd):
        return NO_WORK  # of a context that is no more
    work = work_here(stream.h_stream.get(), odd)
    leave(is_entered, odd)
    return work


cdef Work work_here(cydriver.CUstream c_stream, OddAnswer* odd) noexcept nogil:
    cdef cydriver.CUresult answer = work_of_stream(c_stream)
    tell(answer, b"cuStreamQuery", odd)
    return work_said(answer)


cdef bint enter(const AskedStream& stream, bint* is_entered, OddAnswer* odd) noexcept nogil:
    cdef cydriver.CUcontext c_current = NULL
    cdef cydriver.CUcontext c_context = stream.h_context.get()
    cdef cydriver.CUresult err
    if c_context == NULL:
        return True
    err = cydriver.cuCtxGetCurrent(&c_current)
    tell(err, b"cuCtxGetCurrent", odd)
    if err == cydriver.CUresult.CUDA_SUCCESS and c_current == c_context:
        return True
    err = cydriver.cuCtxPushCurrent(c_context)
    tell(err, b"cuCtxPushCurrent", odd)
    is_entered[0] = err == cydriver.CUresult.CUDA_SUCCESS
    return is_entered[0]


cdef void leave(bint is_entered, OddAnswer* odd) noexcept nogil:
    cdef cydriver.CUcontext c_context = NULL
    if is_entered:
        tell(cydriver.cuCtxPopCurrent(&c_context), b"cuCtxPopCurrent", odd)


cdef void tell(cydriver.CUresult answer, const char* api, OddAnswer* odd) noexcept nogil:
    if not is_odd(answer):
        return
    if odd != NULL:
        odd.answer, odd.api = answer, api
    else:
        warn_driver_error(answer, api, NULL)

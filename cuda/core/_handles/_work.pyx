# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Whether streams have work in flight: one stream, or all that this library knows."""

from __future__ import annotations

from libc.stdint cimport uintptr_t
from libcpp.vector cimport vector

from cuda.core._handles._capture_mode cimport CaptureModeScope, query_stream, relax_capture_mode
from cuda.core._handles._handles cimport ContextHandle, Keep, StreamHandle, context_registry, stream_registry
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport WARN_RETURN, warn_driver_error

__all__ = ["count_streams"]

cdef extern from "work.hpp" namespace "cuda_core" nogil:
    Work work_of_result(cydriver.CUresult err) noexcept


# CU_STREAM_LEGACY and CU_STREAM_PER_THREAD: the default streams of the current context.
cdef uintptr_t LEGACY = 1
cdef uintptr_t PER_THREAD = 2


def count_streams() -> int:
    """Return how many streams the library queries before it destroys a resource."""
    cdef vector[QueriedStream] streams
    find_streams(streams)
    return streams.size()


cdef void find_streams(vector[QueriedStream]& streams) noexcept nogil:
    cdef vector[StreamHandle] own = stream_registry().living()
    cdef vector[ContextHandle] contexts = context_registry().living()
    cdef cydriver.CUcontext c_current = NULL
    cdef QueriedStream stream
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


cdef void query_streams() noexcept nogil:
    cdef vector[QueriedStream] streams
    cdef CaptureModeScope mode
    cdef bint is_entered
    cdef size_t i
    relax_capture_mode(mode)
    find_streams(streams)
    for i in range(streams.size()):
        is_entered = False
        if enter_context(streams[i], &is_entered, NULL):
            if work_in_current_context(streams[i].h_stream.get(), NULL) == NO_WORK:
                # Returns at once, because the stream is idle.
                report(cydriver.cuStreamSynchronize(streams[i].h_stream.get()), b"cuStreamSynchronize", NULL)
            leave_context(is_entered, NULL)


cdef Work work_of(const QueriedStream& stream, UnexpectedError* error) noexcept nogil:
    cdef Work work
    cdef bint is_entered = False
    if not enter_context(stream, &is_entered, error):
        return NO_WORK  # its context was destroyed
    work = work_in_current_context(stream.h_stream.get(), error)
    leave_context(is_entered, error)
    return work


cdef Work work_in_current_context(cydriver.CUstream c_stream, UnexpectedError* error) noexcept nogil:
    cdef cydriver.CUresult err = query_stream(c_stream)
    report(err, b"cuStreamQuery", error)
    return work_of_result(err)


cdef bint enter_context(const QueriedStream& stream, bint* is_entered, UnexpectedError* error) noexcept nogil:
    cdef cydriver.CUcontext c_current = NULL
    cdef cydriver.CUcontext c_context = stream.h_context.get()
    cdef cydriver.CUresult err
    if c_context == NULL:
        return True
    err = cydriver.cuCtxGetCurrent(&c_current)
    report(err, b"cuCtxGetCurrent", error)
    if err == cydriver.CUresult.CUDA_SUCCESS and c_current == c_context:
        return True
    err = cydriver.cuCtxPushCurrent(c_context)
    report(err, b"cuCtxPushCurrent", error)
    is_entered[0] = err == cydriver.CUresult.CUDA_SUCCESS
    return is_entered[0]


cdef void leave_context(bint is_entered, UnexpectedError* error) noexcept nogil:
    cdef cydriver.CUcontext c_context = NULL
    if is_entered:
        report(cydriver.cuCtxPopCurrent(&c_context), b"cuCtxPopCurrent", error)


cdef void report(cydriver.CUresult err, const char* api, UnexpectedError* error) noexcept nogil:
    if not is_unexpected(err):
        return
    if error != NULL:
        error.code, error.api = err, api
    else:
        warn_driver_error(err, api, NULL)

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Deferred destruction of textures, surfaces and arrays: after the work that may use them.

The driver frees memory in stream order, but destroys these at once, and kernels take them as plain numbers. So when
one is closed, an event is recorded behind the work of each busy stream, and it is destroyed after these events.
"""

from __future__ import annotations

from libc.stdint cimport uintptr_t
from libcpp cimport bool as cpp_bool
from libcpp.atomic cimport atomic
from libcpp.utility cimport move
from libcpp.vector cimport vector
from posix.unistd cimport usleep

from cuda.core._handles._handles cimport ContextHandle, EventHandle, Keep, StreamHandle, stream_registry
from cuda.core._utils cimport cydriver
from cuda.core._utils._capture_mode cimport CaptureModeScope, relax_capture_mode, work_of_stream
from cuda.core._utils.cuda_utils cimport WARN_RETURN

import atexit

__all__ = ["has_waiting_ends"]


cdef extern from "idle_ends.hpp" namespace "cuda_core" nogil:
    cppclass IdleEnds:
        @staticmethod
        IdleEnds& current()
        cpp_bool is_empty() noexcept
        cpp_bool has_tails() noexcept
        void add(WaitingEnd end) except +
        void add_tail(EventHandle mark) except +
        void add_tails_to(
            WaitingEnd& end, cpp_bool (*is_done)(cydriver.CUevent) noexcept, vector[EventHandle]& done
        ) except +
        void take_idle(
            cpp_bool (*is_done)(cydriver.CUevent) noexcept,
            cydriver.CUresult (*state)(cydriver.CUstream) noexcept,
            EventHandle (*mark)(cydriver.CUstream) noexcept,
            vector[WaitingEnd]& idle, vector[EventHandle]& done
        ) except +


cdef atomic[int]* deferrable_resources = new atomic[int](0)

# Handles of the driver that mean the default streams of the current context.
cdef uintptr_t LEGACY = 1
cdef uintptr_t PER_THREAD = 2


def has_waiting_ends() -> bool:
    """Return whether the end of a resource waits for work."""
    return not IdleEnds.current().is_empty()


cdef bint has_work_for(const ContextHandle& h_context, WaitingEnd* end) noexcept nogil:
    cdef vector[ContextHandle] contexts
    if h_context:
        contexts.push_back(h_context)
    return has_work_in(contexts, end)


cdef bint has_work_in(const vector[ContextHandle]& contexts, WaitingEnd* end) noexcept nogil:
    cdef vector[StreamHandle] streams = stream_registry().living()
    cdef vector[EventHandle] done
    cdef cydriver.CUcontext c_previous = NULL
    cdef cydriver.CUresult err
    cdef CaptureModeScope mode
    cdef size_t i
    relax_capture_mode(mode)
    end_what_is_idle()
    for i in range(streams.size()):
        if <uintptr_t>streams[i].get() > PER_THREAD:
            note_work(streams[i], end)
    for i in range(contexts.size()):
        err = cydriver.cuCtxPushCurrent(contexts[i].get())
        WARN_RETURN(err, b"cuCtxPushCurrent")
        if err == cydriver.CUresult.CUDA_SUCCESS:
            note_default(<cydriver.CUstream>LEGACY, end)
            note_default(<cydriver.CUstream>PER_THREAD, end)
            WARN_RETURN(cydriver.cuCtxPopCurrent(&c_previous), b"cuCtxPopCurrent")
    IdleEnds.current().add_tails_to(end[0], &is_done, done)
    return end.marks.size() + end.unmarked.size() != 0


cdef void end_later(WaitingEnd& end) noexcept nogil:
    IdleEnds.current().add(move(end))


cdef void end_what_is_idle() noexcept nogil:
    cdef vector[WaitingEnd] idle
    cdef vector[EventHandle] done
    cdef CaptureModeScope mode
    if IdleEnds.current().is_empty() and not IdleEnds.current().has_tails():
        return
    relax_capture_mode(mode)
    IdleEnds.current().take_idle(&is_done, &work_of_any_stream, &mark_work, idle, done)


cdef bint wait_for_ends() noexcept nogil:
    cdef int times = 0
    if IdleEnds.current().is_empty():
        return False
    while not IdleEnds.current().is_empty() and times < TIMES_TO_ASK:
        usleep(100)
        times += 1
        end_what_is_idle()
    return True


# A fifth of a second, about.
cdef int TIMES_TO_ASK = 2000


cdef void note_tail(cydriver.CUstream c_stream) noexcept nogil:
    cdef cydriver.CUresult state
    cdef EventHandle mark
    cdef CaptureModeScope mode
    end_what_is_idle()
    if deferrable_resources.load() == 0:
        return
    relax_capture_mode(mode)
    state = work_of_stream(c_stream)
    if state == cydriver.CUresult.CUDA_ERROR_NOT_READY:
        mark = mark_work(c_stream)
        if mark:
            IdleEnds.current().add_tail(mark)
    else:
        tell_of(state)


cdef void note_work(const StreamHandle& h_stream, WaitingEnd* end) noexcept nogil:
    cdef cydriver.CUresult state = work_of_stream(h_stream.get())
    cdef EventHandle mark
    if state == cydriver.CUresult.CUDA_ERROR_NOT_READY:
        mark = mark_work(h_stream.get())
        if mark:
            end.marks.push_back(mark)
            return
    elif state != cydriver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
        tell_of(state)
        return
    end.unmarked.push_back(h_stream)


cdef void note_default(cydriver.CUstream c_stream, WaitingEnd* end) noexcept nogil:
    cdef cydriver.CUresult state = work_of_stream(c_stream)
    cdef EventHandle mark
    if state == cydriver.CUresult.CUDA_ERROR_NOT_READY:
        mark = mark_now(c_stream)
        if mark:
            end.marks.push_back(mark)
    else:
        tell_of(state)


# The codes of failed kernels, which lose the context.
cdef int FIRST_OF_KERNELS = cydriver.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
cdef int BEYOND_KERNELS = cydriver.CUresult.CUDA_ERROR_NOT_PERMITTED


# Errors of queries. Streams of lost contexts have no work left, green contexts have no default streams, and
# captures beside them forbid the question.
cdef void tell_of(cydriver.CUresult state) noexcept nogil:
    if (
        state == cydriver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
        or state == cydriver.CUresult.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
        or state == cydriver.CUresult.CUDA_ERROR_INVALID_HANDLE
        or FIRST_OF_KERNELS <= <int>state < BEYOND_KERNELS
    ):
        return
    WARN_RETURN(state, b"cuStreamQuery")


# An event behind the work of a stream; empty if none can be recorded.
cdef EventHandle mark_work(cydriver.CUstream c_stream) noexcept nogil:
    cdef cydriver.CUcontext c_context = NULL
    cdef EventHandle mark
    if cydriver.cuStreamGetCtx(c_stream, &c_context) != cydriver.CUresult.CUDA_SUCCESS:
        return mark
    if cydriver.cuCtxPushCurrent(c_context) != cydriver.CUresult.CUDA_SUCCESS:
        return mark
    mark = mark_now(c_stream)
    cydriver.cuCtxPopCurrent(&c_context)
    return mark


# The same where the context of the stream is current.
cdef EventHandle mark_now(cydriver.CUstream c_stream) noexcept nogil:
    cdef cydriver.CUevent c_event = NULL
    cdef EventHandle mark
    cdef unsigned int flags = cydriver.CUevent_flags.CU_EVENT_DISABLE_TIMING
    if cydriver.cuEventCreate(&c_event, flags) != cydriver.CUresult.CUDA_SUCCESS:
        return mark
    if cydriver.cuEventRecord(c_event, c_stream) != cydriver.CUresult.CUDA_SUCCESS:
        cydriver.cuEventDestroy(c_event)
        return mark
    return EventHandle.own(c_event, &destroy_mark, Keep())


# Also called with the lock of the list, where no warning could be given.
cdef void destroy_mark(cydriver.CUevent c_event) noexcept nogil:
    cydriver.cuEventDestroy(c_event)


# A lost context has no work to wait for.
cdef cpp_bool is_done(cydriver.CUevent c_event) noexcept nogil:
    return cydriver.cuEventQuery(c_event) != cydriver.CUresult.CUDA_ERROR_NOT_READY


cdef cydriver.CUresult work_of_any_stream(cydriver.CUstream c_stream) noexcept nogil:
    return work_of_stream(c_stream)


@atexit.register
def _end_what_is_idle():
    with nogil:
        end_what_is_idle()

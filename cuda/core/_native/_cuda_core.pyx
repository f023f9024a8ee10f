# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The native core: the base of all resources (a part), registries, stream queries, and retirement.

No thread waits for work to end before it destroys a resource: docs/design/handles.md draws what happens instead.
"""

from __future__ import annotations

from libc.stdint cimport int64_t, intptr_t, uintptr_t
from libcpp cimport bool as cpp_bool
from libcpp.atomic cimport atomic
from libcpp.utility cimport move
from libcpp.vector cimport vector

from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport check_self_in_methods
from cuda.core._utils.cuda_utils cimport WARN_RETURN, warn_driver_error

import atexit


__all__ = [
    "DriverObject",
    "PinnedHandle",
    "WeakHandle",
    "count_streams",
    "has_pending_destructions",
    "wait_for_pending_destructions",
    "weak_handle",
]


cdef extern from "wait.hpp" namespace "cuda_core" nogil:
    cydriver.CUresult poll(
        cydriver.CUresult (*query)(void*) noexcept, void* what, cpp_bool can_spin, int64_t longest, void* on_signal
    ) noexcept


cdef extern from "retire.hpp" namespace "cuda_core" nogil:
    Work work_of_result(cydriver.CUresult err) noexcept

    cppclass RetirementList:
        @staticmethod
        RetirementList& current()
        @staticmethod
        cpp_bool has_any() noexcept
        size_t count() noexcept
        void add(Retired entry) except +
        vector[Retired] take() except +
        void put_back(vector[Retired]& waiting, size_t ended) except +

    cppclass ForeignFrees:
        @staticmethod
        ForeignFrees& current()
        void add(unsigned long long stream, EventHandle& event) except +
        vector[EventHandle] events() except +
        void forget(const EventHandle& event) noexcept

    cppclass ThreadState:
        cpp_bool is_destroying

        @staticmethod
        ThreadState& current() noexcept


include "_driver_object.pxi"


# --- Captures and counts --------------------------------------------------------------------------

cdef atomic[int]* captures_in_progress = new atomic[int](0)
cdef vector[cydriver.CUstream]* _capturing = new vector[cydriver.CUstream]()


cdef void note_capture(cydriver.CUstream c_stream) noexcept nogil:
    _capturing.push_back(c_stream)
    captures_in_progress.fetch_add(1)


cdef void forget_capture(cydriver.CUstream c_stream) noexcept nogil:
    cdef size_t i
    for i in range(_capturing.size()):
        if _capturing[0][i] == c_stream:
            _capturing[0][i] = _capturing.back()
            _capturing.pop_back()
            break
    captures_in_progress.fetch_sub(1)


cdef bint is_context_capturing(cydriver.CUcontext c_context) noexcept nogil:
    cdef cydriver.CUstreamCaptureStatus c_status = cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    cdef cydriver.CUcontext c_own = NULL
    cdef cydriver.CUstream c_stream
    cdef bint has_green = green_registry().size() != 0
    cdef size_t i
    for i in range(_capturing.size()):
        c_stream = _capturing[0][i]
        if cydriver.cuStreamGetCtx(c_stream, &c_own) != cydriver.CUresult.CUDA_SUCCESS:
            continue
        cydriver.cuStreamIsCapturing(c_stream, &c_status)
        if c_status != cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE and (
            c_own == c_context or has_green
        ):
            return True
    return False


def capture_count() -> int:
    """Return the number of captures that this library has begun and not ended."""
    return captures_in_progress.load()


def registry_sizes():
    """Return the number of entries of each registry, for tests that detect leaks."""
    return {
        "context": context_registry().size(),
        "green": green_registry().size(),
        "stream": stream_registry().size(),
        "kernel": kernel_registry().size(),
    }


# --- Streams and their work -----------------------------------------------------------------------

# CU_STREAM_LEGACY and CU_STREAM_PER_THREAD, the default streams of the current context.
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
    if not is_driver_loaded():
        return  # nor are there contexts
    WARN_RETURN(cydriver.cuCtxGetCurrent(&c_current), b"cuCtxGetCurrent")
    for i in range(contexts.size()):
        is_known = is_known or contexts[i].get() == c_current
    if c_current != NULL and not is_known:
        contexts.push_back(ContextHandle.borrow(c_current, Anchor()))
    for i in range(contexts.size()):
        stream.h_context = contexts[i]
        stream.h_stream = StreamHandle.borrow(<cydriver.CUstream>LEGACY, Anchor())
        streams.push_back(stream)
        stream.h_stream = StreamHandle.borrow(<cydriver.CUstream>PER_THREAD, Anchor())
        streams.push_back(stream)


cdef void query_streams() noexcept nogil:
    cdef vector[QueriedStream] streams
    cdef CaptureModeScope mode
    cdef bint is_entered
    cdef size_t i
    relax_capture_mode(mode)
    find_streams(streams)
    for i in range(streams.size()):
        if enter_context(streams[i].h_context, &is_entered):
            note_unexpected(
                unless_capturing(streams[i].h_stream.get(), &synchronize_if_idle, NULL), b"cuStreamSynchronize"
            )
            leave_context(is_entered)


cdef cydriver.CUresult synchronize_if_idle(cydriver.CUstream c_stream, cydriver.CUevent c_event) noexcept nogil:
    cdef cydriver.CUresult err = cydriver.cuStreamQuery(c_stream)
    return cydriver.cuStreamSynchronize(c_stream) if err == cydriver.CUresult.CUDA_SUCCESS else err


cdef Work work_of(const QueriedStream& stream) noexcept nogil:
    cdef Work work
    cdef bint is_entered
    if not enter_context(stream.h_context, &is_entered):
        return NO_WORK  # its context was destroyed
    work = work_in_current_context(stream.h_stream.get())
    leave_context(is_entered)
    return work


cdef Work work_in_current_context(cydriver.CUstream c_stream) noexcept nogil:
    cdef cydriver.CUresult err = unless_capturing(c_stream, &query_stream, NULL)
    note_unexpected(err, b"cuStreamQuery")
    return work_of_result(err)


ctypedef cydriver.CUresult (*StreamCall)(cydriver.CUstream c_stream, cydriver.CUevent c_event) noexcept nogil


# Makes a call that would invalidate a capture of the stream. Returns CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED instead if
# the stream is capturing. No capture can begin in between.
cdef cydriver.CUresult unless_capturing(
    cydriver.CUstream c_stream, StreamCall call, cydriver.CUevent c_event
) noexcept nogil:
    cdef cydriver.CUstreamCaptureStatus c_status = cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    cdef cydriver.CUresult err
    capture_lock().lock()
    err = cydriver.cuStreamIsCapturing(c_stream, &c_status)
    if c_status != cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE:
        err = cydriver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
    elif err == cydriver.CUresult.CUDA_SUCCESS:
        err = call(c_stream, c_event)
    capture_lock().unlock()
    return err


cdef cydriver.CUresult query_stream(cydriver.CUstream c_stream, cydriver.CUevent c_event) noexcept nogil:
    return cydriver.cuStreamQuery(c_stream)


cdef cydriver.CUresult record_on_stream(cydriver.CUstream c_stream, cydriver.CUevent c_event) noexcept nogil:
    return cydriver.cuEventRecord(c_event, c_stream)


cdef EventHandle event_after(const QueriedStream& stream) noexcept nogil:
    cdef ContextHandle h_context = stream.h_context if stream.h_context else context_of_stream(stream.h_stream.get())
    cdef cydriver.CUevent c_event = NULL
    cdef EventHandle event
    cdef CaptureModeScope mode
    cdef bint is_entered
    relax_capture_mode(mode)
    if not h_context or not enter_context(h_context, &is_entered):
        return event
    if has_succeeded(
        cydriver.cuEventCreate(&c_event, cydriver.CUevent_flags.CU_EVENT_DISABLE_TIMING), b"cuEventCreate"
    ):
        # The event anchors the context, which would destroy it.
        event = EventHandle.own(c_event, &destroy_event, h_context.anchor())
        if not has_succeeded(unless_capturing(stream.h_stream.get(), &record_on_stream, c_event), b"cuEventRecord"):
            event.reset()
    leave_context(is_entered)
    return event


# The context of a stream, or empty if the driver does not tell.
cdef ContextHandle context_of_stream(cydriver.CUstream c_stream) noexcept nogil:
    cdef cydriver.CUcontext c_context = NULL
    cdef ContextHandle h_context
    if has_succeeded(cydriver.cuStreamGetCtx(c_stream, &c_context), b"cuStreamGetCtx"):
        h_context = context_handle(c_context)
    return h_context


cdef ContextHandle context_handle(cydriver.CUcontext c_context) noexcept nogil:
    cdef ContextHandle h_context = context_registry().find(c_context)
    return h_context if h_context else ContextHandle.borrow(c_context, Anchor())


# Makes a context current unless it is, or is empty. Returns false if that fails. leave_context() undoes it.
cdef bint enter_context(const ContextHandle& h_context, bint* is_entered) noexcept nogil:
    cdef cydriver.CUcontext c_current = NULL
    is_entered[0] = False
    if not h_context:
        return True
    if has_succeeded(cydriver.cuCtxGetCurrent(&c_current), b"cuCtxGetCurrent") and c_current == h_context.get():
        return True
    is_entered[0] = has_succeeded(cydriver.cuCtxPushCurrent(h_context.get()), b"cuCtxPushCurrent")
    return is_entered[0]


cdef void leave_context(bint is_entered) noexcept nogil:
    cdef cydriver.CUcontext c_context = NULL
    if is_entered:
        note_unexpected(cydriver.cuCtxPopCurrent(&c_context), b"cuCtxPopCurrent")


cdef bint has_succeeded(cydriver.CUresult err, const char* api) noexcept nogil:
    note_unexpected(err, api)
    return err == cydriver.CUresult.CUDA_SUCCESS


cdef void note_unexpected(cydriver.CUresult err, const char* api) noexcept nogil:
    if is_unexpected(err):
        warn_driver_error(err, api, NULL)


# --- Retirement -----------------------------------------------------------------------------------

# The number of retired resources above which the creation of another one waits for them.
cdef size_t BACKLOG_LIMIT = 256
cdef int64_t BACKLOG_TIME = 200_000_000  # nanoseconds that this wait takes at most


def has_pending_destructions() -> bool:
    """Return whether a retired resource waits for work."""
    return count_retired() != 0


def wait_for_pending_destructions() -> bool:
    """Wait up to 200 ms for retired resources, and return False if there were none."""
    cdef bint is_waiting
    with nogil:
        is_waiting = wait_for_retired()
    return is_waiting


cdef public int cuda_core_find_work(Retired* entry) noexcept nogil:
    return find_work(entry)


cdef public void cuda_core_destroy_idle() noexcept nogil:
    destroy_idle()


cdef bint find_work(Retired* pending) noexcept nogil:
    cdef vector[QueriedStream] streams
    cdef CaptureModeScope mode
    cdef size_t i
    destroy_idle()
    relax_capture_mode(mode)
    find_streams(streams)
    for i in range(streams.size()):
        find_work_of(streams[i], pending)
    return pending.events.size() + pending.captured.size() != 0


# Adds the work of a stream to what `pending` waits for.
cdef void find_work_of(const QueriedStream& stream, Retired* pending) noexcept nogil:
    cdef EventHandle event
    cdef Work work = work_of(stream)
    if work == SOME_WORK:
        event = event_after(stream)
    if event:
        pending.events.push_back(move(event))
    elif work != NO_WORK:
        pending.captured.push_back(stream)


# Whether the work that a resource waits for has completed. Streams that were capturing are asked again.
cdef bint is_over(Retired& entry) noexcept nogil:
    cdef vector[QueriedStream] captured
    cdef size_t i
    captured.swap(entry.captured)
    for i in range(captured.size()):
        find_work_of(captured[i], &entry)
    while not entry.events.empty() and is_done(entry.events.back().get()):
        entry.events.pop_back()
    return entry.events.empty() and entry.captured.empty()


cdef void retire_entry(Retired& pending) noexcept nogil:
    RetirementList.current().add(move(pending))


cdef void destroy_idle() noexcept nogil:
    if RetirementList.has_any() and not ThreadState.current().is_destroying:
        process_list()


cdef void process_list() noexcept nogil:
    cdef vector[Retired] entries, waiting, idle
    cdef CaptureModeScope mode
    cdef size_t i
    (&ThreadState.current()).is_destroying = True
    relax_capture_mode(mode)
    entries = RetirementList.current().take()
    for i in range(entries.size()):
        if is_over(entries[i]):
            idle.push_back(move(entries[i]))
        else:
            waiting.push_back(move(entries[i]))
    RetirementList.current().put_back(waiting, idle.size())
    idle.clear()
    mode.end()
    (&ThreadState.current()).is_destroying = False


cdef bint wait_for_retired() noexcept nogil:
    cdef bint is_any = count_retired() != 0
    wait_until_at_most(0, BACKLOG_TIME)
    return is_any


cdef void limit_backlog() noexcept nogil:
    if count_retired() > BACKLOG_LIMIT:
        wait_until_at_most(BACKLOG_LIMIT, BACKLOG_TIME)


cdef void wait_until_at_most(size_t count, int64_t nanoseconds) noexcept nogil:
    poll(&backlog_state, &count, False, nanoseconds, NULL)


cdef size_t count_retired() noexcept nogil:
    return RetirementList.current().count()


cdef cydriver.CUresult backlog_state(void* most) noexcept nogil:
    destroy_idle()
    if count_retired() <= (<size_t*>most)[0]:
        return cydriver.CUresult.CUDA_SUCCESS
    return cydriver.CUresult.CUDA_ERROR_NOT_READY


cdef bint has_pending_streams() noexcept nogil:
    return _pending_streams.load() != 0


cdef atomic[int]* _pending_streams = new atomic[int](0)


# A closed stream stays in the registry while it has work, so that its work counts for other resources.
cdef void retire_stream(cydriver.CUstream c_stream) noexcept nogil:
    cdef Retired pending
    cdef QueriedStream stream
    cdef StreamHandle h_stream
    cdef CaptureModeScope mode
    relax_capture_mode(mode)
    destroy_idle()
    _pending_streams.fetch_add(1)
    stream.h_stream = StreamHandle.borrow(c_stream, Anchor())
    find_work_of(stream, &pending)
    if pending.events.empty():
        destroy_stream(c_stream)
        return
    h_stream = StreamHandle.own(c_stream, &destroy_retired_stream, pending.events.back().anchor())
    h_stream = stream_registry().add(h_stream)
    pending.resource = h_stream.anchor()
    retire_entry(pending)


# Only after a query does the driver know that frees on the stream were executed.
cdef void destroy_retired_stream(cydriver.CUstream c_stream) noexcept nogil:
    cdef CaptureModeScope mode
    stream_registry().remove(c_stream)
    relax_capture_mode(mode)
    work_in_current_context(c_stream)
    destroy_stream(c_stream)


cdef void destroy_stream(cydriver.CUstream c_stream) noexcept nogil:
    cdef CaptureModeScope mode
    relax_capture_mode(mode)
    WARN_RETURN(cydriver.cuStreamDestroy(c_stream), b"cuStreamDestroy", c_stream)
    _pending_streams.fetch_sub(1)


cdef void note_foreign_free(cydriver.CUstream c_stream) noexcept nogil:
    cdef QueriedStream stream
    cdef EventHandle event
    cdef unsigned long long number = 0
    cdef CaptureModeScope mode
    relax_capture_mode(mode)
    stream.h_stream = StreamHandle.borrow(c_stream, Anchor())
    if work_of(stream) == SOME_WORK:
        event = event_after(stream)
    if event and has_succeeded(cydriver.cuStreamGetId(c_stream, &number), b"cuStreamGetId"):
        ForeignFrees.current().add(number, event)


cdef void find_foreign_frees(Retired* pending) noexcept nogil:
    cdef vector[EventHandle] events = ForeignFrees.current().events()
    cdef size_t i
    for i in range(events.size()):
        if is_done(events[i].get()):
            ForeignFrees.current().forget(events[i])
        else:
            pending.events.push_back(events[i])


cdef bint retire_until_capture_ends(const Allocation& value, void (*free)(Allocation) noexcept nogil) noexcept nogil:
    cdef Retired entry
    cdef QueriedStream stream
    stream.h_stream, stream.h_context = value.h_stream, value.h_context
    entry.captured.push_back(stream)
    entry.resource = AllocationHandle.own(value, free, Anchor()).anchor()
    retire_entry(entry)
    return True


# A lost context has no work that anyone could wait for.
cdef bint is_done(cydriver.CUevent c_event) noexcept nogil:
    cdef cydriver.CUresult err = cydriver.cuEventQuery(c_event)
    note_unexpected(err, b"cuEventQuery")
    return err != cydriver.CUresult.CUDA_ERROR_NOT_READY


@atexit.register
def _destroy_idle_at_exit():
    with nogil:
        destroy_idle()


check_self_in_methods(globals())

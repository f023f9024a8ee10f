# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Deferred destruction: resources that work may use are destroyed after that work.

The driver frees memory of pools in stream order. It destroys textures and arrays at once, which kernels take as plain
numbers, and it waits for the device before it unloads code or frees page-locked memory; the device may in turn wait
for the thread that dropped the last reference. So no thread waits there: an event is recorded behind the work of each
busy stream, and the resource is destroyed after these events.
"""

from __future__ import annotations

from libcpp cimport bool as cpp_bool
from libcpp.atomic cimport atomic
from libcpp.utility cimport move
from libcpp.vector cimport vector
from posix.unistd cimport usleep

from cuda.core._handles._capture_mode cimport CaptureModeScope, relax_capture_mode
from cuda.core._handles._handles cimport ContextHandle, EventHandle, Keep, StreamHandle, context_registry
from cuda.core._handles._work cimport (
    NO_WORK,
    SOME_WORK,
    QueriedStream,
    UnexpectedError,
    Work,
    enter_context,
    find_streams,
    leave_context,
    report,
    work_in_current_context,
    work_of,
)
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport WARN_RETURN, warn_driver_error

import atexit

__all__ = ["has_pending_destructions", "wait_for_pending_destructions"]


cdef extern from "deferred_destruction.hpp" namespace "cuda_core" nogil:
    cppclass DestructionList:
        @staticmethod
        DestructionList& current()
        @staticmethod
        cpp_bool has_any() noexcept
        size_t count() noexcept
        size_t batch_size() noexcept
        void add_to_batch(Keep resource) except +
        void take_batch(vector[Keep]& taken) except +
        cpp_bool has_tails() noexcept
        void add(PendingDestruction pending) except +
        void add_tail(unsigned long long stream, EventHandle& event) except +
        void add_tails_to(
            PendingDestruction& pending, cpp_bool (*is_done)(cydriver.CUevent, UnexpectedError*) noexcept,
            vector[EventHandle]& done, UnexpectedError* error
        ) except +
        void take_idle(
            cpp_bool (*is_done)(cydriver.CUevent, UnexpectedError*) noexcept,
            Work (*query)(const QueriedStream&, UnexpectedError*) noexcept,
            EventHandle (*record)(const QueriedStream&, UnexpectedError*) noexcept,
            vector[PendingDestruction]& idle, vector[EventHandle]& done, UnexpectedError* error
        ) except +

    cppclass ThreadState:
        cpp_bool is_closing
        cpp_bool is_destroying
        cpp_bool are_streams_idle

        @staticmethod
        ThreadState& current() noexcept


# How many resources may be deferred before the creation of another one waits for them, and how often that wait looks:
# about a fifth of a second.
cdef size_t BACKLOG_LIMIT = 256
cdef int MAX_QUERIES = 2000
# For so many small resources the streams are queried once.
cdef size_t BATCH_SIZE = 32


def has_pending_destructions() -> bool:
    """Return whether the destruction of a resource waits for work."""
    return is_any_pending()


def wait_for_pending_destructions() -> bool:
    """Wait up to a fifth of a second for deferred resources; return False if there were none."""
    cdef bint is_waiting = is_any_pending()
    with nogil:
        wait_until_at_most(0)  # also for the work of streams that are destroyed
    return is_waiting


cdef bint is_any_pending() noexcept nogil:
    return DestructionList.current().count() + DestructionList.current().batch_size() != 0


cdef bint find_work(PendingDestruction* pending) noexcept nogil:
    cdef vector[QueriedStream] streams
    cdef vector[Keep] batch
    cdef vector[EventHandle] done
    cdef EventHandle event
    cdef UnexpectedError error
    cdef Work work
    cdef CaptureModeScope mode
    cdef size_t i
    destroy_idle()
    if DestructionList.current().batch_size() != 0:
        DestructionList.current().take_batch(batch)
    find_streams(streams)
    relax_capture_mode(mode)
    for i in range(streams.size()):
        work = work_of(streams[i], NULL)
        if work == NO_WORK:
            continue
        if work == SOME_WORK:
            event = record_event(streams[i], NULL)
            if event:
                pending.events.push_back(event)
                continue
        pending.unrecorded.push_back(streams[i])
    DestructionList.current().add_tails_to(pending[0], &is_done, done, &error)
    mode.end()
    warn_of(error)
    if batch.size() != 0:
        destroy_or_defer(batch, pending[0])
    return pending.events.size() + pending.unrecorded.size() != 0


# Destroys a batch now, or after the events that `other` waits for.
cdef void destroy_or_defer(vector[Keep]& batch, const PendingDestruction& other) noexcept nogil:
    cdef PendingDestruction pending
    cdef bint were_idle = ThreadState.current().are_streams_idle
    if other.events.size() + other.unrecorded.size() == 0:
        (&ThreadState.current()).are_streams_idle = True
        batch.clear()
        (&ThreadState.current()).are_streams_idle = were_idle
        return
    while not batch.empty():
        pending = other
        pending.resource = move(batch.back())
        batch.pop_back()
        destroy_later(pending)


cdef bint can_batch(bint is_small, const ContextHandle& h_context) noexcept nogil:
    cdef ContextHandle h_found
    # Primary contexts stay. Other contexts of users are destroyed with the last reference, those of other libraries at
    # any time.
    if not is_small or h_context.is_owner():
        return False
    h_found = context_registry().find(h_context.get())
    return True if h_found else False


cdef void add_to_batch(Keep& resource) noexcept nogil:
    DestructionList.current().add_to_batch(move(resource))
    if DestructionList.current().batch_size() >= BATCH_SIZE:
        destroy_batch()


cdef void destroy_batch() noexcept nogil:
    cdef PendingDestruction pending
    if DestructionList.current().batch_size() != 0:
        find_work(&pending)


cdef bint are_streams_idle() noexcept nogil:
    return ThreadState.current().are_streams_idle


cdef void destroy_later(PendingDestruction& pending) noexcept nogil:
    DestructionList.current().add(move(pending))


cdef void destroy_idle() noexcept nogil:
    if DestructionList.has_any() and not ThreadState.current().is_destroying:
        process_list()


cdef void process_list() noexcept nogil:
    cdef vector[PendingDestruction] idle
    cdef vector[EventHandle] done
    cdef UnexpectedError error
    cdef CaptureModeScope mode
    (&ThreadState.current()).is_destroying = True
    relax_capture_mode(mode)
    DestructionList.current().take_idle(&is_done, &query, &record_event, idle, done, &error)
    idle.clear()
    done.clear()
    mode.end()
    (&ThreadState.current()).is_destroying = False
    warn_of(error)


cdef bint wait_for_destructions() noexcept nogil:
    if not is_any_pending():
        return False
    wait_until_at_most(0)
    return True


cdef void limit_backlog() noexcept nogil:
    if DestructionList.current().count() > BACKLOG_LIMIT:
        wait_until_at_most(BACKLOG_LIMIT)


cdef void wait_until_at_most(size_t count) noexcept nogil:
    cdef int _time
    for _time in range(MAX_QUERIES):
        destroy_idle()
        if count == 0:
            destroy_batch()
        if DestructionList.current().count() <= count and (
            count != 0 or DestructionList.current().batch_size() == 0 and not DestructionList.current().has_tails()
        ):
            return
        usleep(100)


cdef void record_tail(cydriver.CUstream c_stream) noexcept nogil:
    cdef EventHandle event
    record_tail_event(c_stream, &event)


cdef bint has_pending_streams() noexcept nogil:
    return _pending_streams.load() != 0


cdef atomic[int]* _pending_streams = new atomic[int](0)


cdef void destroy_stream_later(cydriver.CUstream c_stream) noexcept nogil:
    cdef PendingDestruction pending
    cdef EventHandle event
    _pending_streams.fetch_add(1)
    if not record_tail_event(c_stream, &event):
        destroy_stream(c_stream)
        return
    pending.resource = StreamHandle.own(c_stream, &destroy_stream, event.keep()).keep()
    pending.events.push_back(move(event))
    destroy_later(pending)


cdef void destroy_stream(cydriver.CUstream c_stream) noexcept nogil:
    cdef CaptureModeScope mode
    relax_capture_mode(mode)
    # Only after a query does the driver know that frees on the stream were executed.
    work_in_current_context(c_stream, NULL)
    WARN_RETURN(cydriver.cuStreamDestroy(c_stream), b"cuStreamDestroy")
    _pending_streams.fetch_sub(1)


# Whether the stream has work; an event behind it is then stored as its tail, and in `event`.
cdef bint record_tail_event(cydriver.CUstream c_stream, EventHandle* event) noexcept nogil:
    cdef QueriedStream stream
    cdef EventHandle previous
    cdef unsigned long long number = 0
    cdef CaptureModeScope mode
    relax_capture_mode(mode)
    destroy_idle()
    if work_in_current_context(c_stream, NULL) != SOME_WORK:
        return False
    stream.h_stream = StreamHandle.borrow(c_stream, Keep())
    event[0] = record_event(stream, NULL)
    if not event[0] or not has_succeeded(cydriver.cuStreamGetId(c_stream, &number), b"cuStreamGetId", NULL):
        return False
    previous = event[0]
    DestructionList.current().add_tail(number, previous)
    return True


cdef void set_closing(bint is_closing) noexcept nogil:
    (&ThreadState.current()).is_closing = is_closing


cdef bint take_closing() noexcept nogil:
    cdef bint is_closing = ThreadState.current().is_closing
    (&ThreadState.current()).is_closing = False
    return is_closing


# An event behind the work of a stream, recorded in its context; empty if none can be. An unexpected error is a warning,
# or is returned in `error`.
cdef EventHandle record_event(const QueriedStream& stream, UnexpectedError* error) noexcept nogil:
    cdef QueriedStream where = stream
    cdef cydriver.CUcontext c_context = NULL
    cdef EventHandle event
    cdef bint is_entered = False
    if not where.h_context:
        if not has_succeeded(cydriver.cuStreamGetCtx(stream.h_stream.get(), &c_context), b"cuStreamGetCtx", error):
            return event
        where.h_context = context_registry().find(c_context)
        if not where.h_context:
            where.h_context = ContextHandle.borrow(c_context, Keep())
    if enter_context(where, &is_entered, error):
        event = record_event_here(stream.h_stream.get(), where.h_context.keep(), error)
        leave_context(is_entered, error)
    return event


# The same where the context of the stream is current. The event keeps the context, with which it would be destroyed.
cdef EventHandle record_event_here(cydriver.CUstream c_stream, Keep context, UnexpectedError* error) noexcept nogil:
    cdef cydriver.CUevent c_event = NULL
    cdef EventHandle event
    cdef unsigned int flags = cydriver.CUevent_flags.CU_EVENT_DISABLE_TIMING
    if not has_succeeded(cydriver.cuEventCreate(&c_event, flags), b"cuEventCreate", error):
        return event
    if not has_succeeded(cydriver.cuEventRecord(c_event, c_stream), b"cuEventRecord", error):
        cydriver.cuEventDestroy(c_event)
        return event
    return EventHandle.own(c_event, &destroy_event, context)


cdef void warn_of(const UnexpectedError& error) noexcept nogil:
    if error.code != cydriver.CUresult.CUDA_SUCCESS:
        warn_driver_error(error.code, error.api, NULL)


cdef bint has_succeeded(cydriver.CUresult err, const char* api, UnexpectedError* error) noexcept nogil:
    report(err, api, error)
    return err == cydriver.CUresult.CUDA_SUCCESS


# Without a warning, because the caller may hold the lock of the list.
cdef void destroy_event(cydriver.CUevent c_event) noexcept nogil:
    cydriver.cuEventDestroy(c_event)


cdef Work query(const QueriedStream& stream, UnexpectedError* error) noexcept nogil:
    return work_of(stream, error)


# A lost context has no work to wait for.
cdef cpp_bool is_done(cydriver.CUevent c_event, UnexpectedError* error) noexcept nogil:
    cdef cydriver.CUresult err = cydriver.cuEventQuery(c_event)
    report(err, b"cuEventQuery", error)
    return err != cydriver.CUresult.CUDA_ERROR_NOT_READY


@atexit.register
def _destroy_idle_at_exit():
    with nogil:
        destroy_idle()
        destroy_batch()

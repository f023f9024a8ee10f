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
    AskedStream,
    OddAnswer,
    Work,
    enter,
    find_streams,
    leave,
    tell,
    work_here,
    work_of,
)
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport WARN_RETURN, warn_driver_error

import atexit

__all__ = ["has_waiting_ends", "wait_for_waiting_ends"]


cdef extern from "idle_ends.hpp" namespace "cuda_core" nogil:
    cppclass IdleEnds:
        @staticmethod
        IdleEnds& current()
        @staticmethod
        cpp_bool has_any() noexcept
        size_t count() noexcept
        size_t gathered() noexcept
        void gather(Keep resource) except +
        void take_gathered(vector[Keep]& taken) except +
        cpp_bool has_tails() noexcept
        void add(WaitingEnd end) except +
        void add_tail(unsigned long long stream, EventHandle& mark) except +
        void add_tails_to(
            WaitingEnd& end, cpp_bool (*is_done)(cydriver.CUevent, OddAnswer*) noexcept, vector[EventHandle]& done,
            OddAnswer* odd
        ) except +
        void take_idle(
            cpp_bool (*is_done)(cydriver.CUevent, OddAnswer*) noexcept,
            Work (*ask)(const AskedStream&, OddAnswer*) noexcept,
            EventHandle (*mark)(const AskedStream&, OddAnswer*) noexcept,
            vector[WaitingEnd]& idle, vector[EventHandle]& done, OddAnswer* odd
        ) except +

    cppclass ThreadState:
        cpp_bool is_closing
        cpp_bool is_ending
        cpp_bool is_idle

        @staticmethod
        ThreadState& current() noexcept


# How much may wait before what is made next waits for it, and how often that asks: a fifth of a second, about.
cdef size_t MUCH = 256
cdef int TIMES_TO_ASK = 2000
# How many small resources are gathered before the streams are queried for them.
cdef size_t FEW = 32


def has_waiting_ends() -> bool:
    """Return whether the end of a resource waits for work."""
    return is_any_waiting()


def wait_for_waiting_ends() -> bool:
    """Give what waits for work a moment, where memory is short; False if nothing waits."""
    cdef bint is_waiting = is_any_waiting()
    with nogil:
        wait_until_at_most(0)  # also for the work of streams that are gone
    return is_waiting


cdef bint is_any_waiting() noexcept nogil:
    return IdleEnds.current().count() + IdleEnds.current().gathered() != 0


cdef bint has_work(WaitingEnd* end) noexcept nogil:
    cdef vector[AskedStream] streams
    cdef vector[Keep] gathered
    cdef vector[EventHandle] done
    cdef EventHandle mark
    cdef OddAnswer odd
    cdef Work work
    cdef CaptureModeScope mode
    cdef size_t i
    end_what_is_idle()
    if IdleEnds.current().gathered() != 0:
        IdleEnds.current().take_gathered(gathered)
    find_streams(streams)
    relax_capture_mode(mode)
    for i in range(streams.size()):
        work = work_of(streams[i], NULL)
        if work == NO_WORK:
            continue
        if work == SOME_WORK:
            mark = mark_work(streams[i], NULL)
            if mark:
                end.marks.push_back(mark)
                continue
        end.unmarked.push_back(streams[i])
    IdleEnds.current().add_tails_to(end[0], &is_done, done, &odd)
    mode.end()
    warn_of(odd)
    if gathered.size() != 0:
        settle(gathered, end[0])
    return end.marks.size() + end.unmarked.size() != 0


# Gathered resources end now, or after the events that another one waits for.
cdef void settle(vector[Keep]& gathered, const WaitingEnd& other) noexcept nogil:
    cdef WaitingEnd end
    cdef bint was_idle = ThreadState.current().is_idle
    if other.marks.size() + other.unmarked.size() == 0:
        (&ThreadState.current()).is_idle = True
        gathered.clear()
        (&ThreadState.current()).is_idle = was_idle
        return
    while not gathered.empty():
        end = other
        end.resource = move(gathered.back())
        gathered.pop_back()
        end_later(end)


cdef bint can_gather(bint is_small, const ContextHandle& h_context) noexcept nogil:
    cdef ContextHandle h_found
    # Primary contexts stay; those of users end with the last reference, those of other libraries at any time.
    if not is_small or h_context.is_owner():
        return False
    h_found = context_registry().find(h_context.get())
    return True if h_found else False


cdef void gather_end(Keep& resource) noexcept nogil:
    IdleEnds.current().gather(move(resource))
    if IdleEnds.current().gathered() >= FEW:
        end_gathered()


cdef void end_gathered() noexcept nogil:
    cdef WaitingEnd end
    if IdleEnds.current().gathered() != 0:
        has_work(&end)


cdef bint is_found_idle() noexcept nogil:
    return ThreadState.current().is_idle


cdef void end_later(WaitingEnd& end) noexcept nogil:
    IdleEnds.current().add(move(end))


cdef void end_what_is_idle() noexcept nogil:
    if IdleEnds.has_any() and not ThreadState.current().is_ending:
        end_idle()


cdef void end_idle() noexcept nogil:
    cdef vector[WaitingEnd] idle
    cdef vector[EventHandle] done
    cdef OddAnswer odd
    cdef CaptureModeScope mode
    (&ThreadState.current()).is_ending = True
    relax_capture_mode(mode)
    IdleEnds.current().take_idle(&is_done, &ask, &mark_work, idle, done, &odd)
    idle.clear()
    done.clear()
    mode.end()
    (&ThreadState.current()).is_ending = False
    warn_of(odd)


cdef bint wait_for_ends() noexcept nogil:
    if not is_any_waiting():
        return False
    wait_until_at_most(0)
    return True


cdef void make_room() noexcept nogil:
    if IdleEnds.current().count() > MUCH:
        wait_until_at_most(MUCH)


cdef void wait_until_at_most(size_t count) noexcept nogil:
    cdef int _time
    for _time in range(TIMES_TO_ASK):
        end_what_is_idle()
        if count == 0:
            end_gathered()
        if IdleEnds.current().count() <= count and (
            count != 0 or IdleEnds.current().gathered() == 0 and not IdleEnds.current().has_tails()
        ):
            return
        usleep(100)


cdef void note_tail(cydriver.CUstream c_stream) noexcept nogil:
    cdef EventHandle mark
    take_tail(c_stream, &mark)


cdef bint has_waiting_streams() noexcept nogil:
    return _ending_streams.load() != 0


cdef atomic[int]* _ending_streams = new atomic[int](0)


cdef void end_stream(cydriver.CUstream c_stream) noexcept nogil:
    cdef WaitingEnd end
    cdef EventHandle mark
    _ending_streams.fetch_add(1)
    if not take_tail(c_stream, &mark):
        destroy_stream(c_stream)
        return
    end.resource = StreamHandle.own(c_stream, &destroy_stream, mark.keep()).keep()
    end.marks.push_back(move(mark))
    end_later(end)


cdef void destroy_stream(cydriver.CUstream c_stream) noexcept nogil:
    cdef CaptureModeScope mode
    relax_capture_mode(mode)
    work_here(c_stream, NULL)  # only then the driver has what was freed on it
    WARN_RETURN(cydriver.cuStreamDestroy(c_stream), b"cuStreamDestroy")
    _ending_streams.fetch_sub(1)


# Whether the stream has work; an event behind it is then a tail, and in `mark`.
cdef bint take_tail(cydriver.CUstream c_stream, EventHandle* mark) noexcept nogil:
    cdef AskedStream stream
    cdef EventHandle before
    cdef unsigned long long number = 0
    cdef CaptureModeScope mode
    relax_capture_mode(mode)
    end_what_is_idle()
    if work_here(c_stream, NULL) != SOME_WORK:
        return False
    stream.h_stream = StreamHandle.borrow(c_stream, Keep())
    mark[0] = mark_work(stream, NULL)
    if not mark[0] or not has_done(cydriver.cuStreamGetId(c_stream, &number), b"cuStreamGetId", NULL):
        return False
    before = mark[0]
    IdleEnds.current().add_tail(number, before)
    return True


cdef void set_closing(bint is_closing) noexcept nogil:
    (&ThreadState.current()).is_closing = is_closing


cdef bint take_closing() noexcept nogil:
    cdef bint is_closing = ThreadState.current().is_closing
    (&ThreadState.current()).is_closing = False
    return is_closing


# An event behind the work of a stream, recorded in its context; empty if none can be. An unexpected error is a warning,
# or is returned in `odd`.
cdef EventHandle mark_work(const AskedStream& stream, OddAnswer* odd) noexcept nogil:
    cdef AskedStream where = stream
    cdef cydriver.CUcontext c_context = NULL
    cdef EventHandle mark
    cdef bint is_entered = False
    if not where.h_context:
        if not has_done(cydriver.cuStreamGetCtx(stream.h_stream.get(), &c_context), b"cuStreamGetCtx", odd):
            return mark
        where.h_context = context_registry().find(c_context)
        if not where.h_context:
            where.h_context = ContextHandle.borrow(c_context, Keep())
    if enter(where, &is_entered, odd):
        mark = mark_now(stream.h_stream.get(), where.h_context.keep(), odd)
        leave(is_entered, odd)
    return mark


# The same where the context of the stream is current, which the event keeps: it would end with it.
cdef EventHandle mark_now(cydriver.CUstream c_stream, Keep context, OddAnswer* odd) noexcept nogil:
    cdef cydriver.CUevent c_event = NULL
    cdef EventHandle mark
    cdef unsigned int flags = cydriver.CUevent_flags.CU_EVENT_DISABLE_TIMING
    if not has_done(cydriver.cuEventCreate(&c_event, flags), b"cuEventCreate", odd):
        return mark
    if not has_done(cydriver.cuEventRecord(c_event, c_stream), b"cuEventRecord", odd):
        cydriver.cuEventDestroy(c_event)
        return mark
    return EventHandle.own(c_event, &destroy_mark, context)


cdef void warn_of(const OddAnswer& odd) noexcept nogil:
    if odd.answer != cydriver.CUresult.CUDA_SUCCESS:
        warn_driver_error(odd.answer, odd.api, NULL)


cdef bint has_done(cydriver.CUresult answer, const char* api, OddAnswer* odd) noexcept nogil:
    tell(answer, api, odd)
    return answer == cydriver.CUresult.CUDA_SUCCESS


# Also called with the lock of the list, where no warning could be given.
cdef void destroy_mark(cydriver.CUevent c_event) noexcept nogil:
    cydriver.cuEventDestroy(c_event)


cdef Work ask(const AskedStream& stream, OddAnswer* odd) noexcept nogil:
    return work_of(stream, odd)


# A lost context has no work to wait for.
cdef cpp_bool is_done(cydriver.CUevent c_event, OddAnswer* odd) noexcept nogil:
    cdef cydriver.CUresult answer = cydriver.cuEventQuery(c_event)
    tell(answer, b"cuEventQuery", odd)
    return answer != cydriver.CUresult.CUDA_ERROR_NOT_READY


@atexit.register
def _end_what_is_idle():
    with nogil:
        end_what_is_idle()
        end_gathered()

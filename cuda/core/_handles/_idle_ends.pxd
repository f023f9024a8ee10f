# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Ends of textures, surfaces and arrays, which wait for the work that may use them."""

from libcpp cimport bool as cpp_bool
from libcpp.atomic cimport atomic
from libcpp.vector cimport vector

from cuda.core._handles._handles cimport ContextHandle, EventHandle, InContext, Keep, StreamHandle
from cuda.core._utils cimport cydriver


cdef extern from "idle_ends.hpp" namespace "cuda_core" nogil:
    # What waits, and for what. Made by has_work_for().
    cppclass WaitingEnd:
        Keep resource
        vector[EventHandle] marks
        vector[StreamHandle] unmarked

    # Called with `has_work_for` and `end_later`.
    void end_when_idle[T](
        const InContext[T]& value, void (*destroy)(InContext[T]) noexcept,
        bint (*has_work)(const ContextHandle&, WaitingEnd*) noexcept, void (*end_later)(WaitingEnd&) noexcept
    ) noexcept

    # A context that keeps, too, what a value in it needs: the value's handle ends before the value may.
    ContextHandle context_with(const ContextHandle& h_context, Keep needs) except +


# How many resources there are whose end may have to wait. While there are none, nobody pays for them.
cdef atomic[int]* resources_of_images

# Whether work in flight may use a resource of a context; then `end` has what to wait for.
cdef bint has_work_for(const ContextHandle& h_context, WaitingEnd* end) noexcept nogil
# Keeps `end.resource` until that work is done.
cdef void end_later(WaitingEnd& end) noexcept nogil
# Called where the end of work shows: ends what waits for no work any more.
cdef void end_what_is_idle() noexcept nogil
# Gives what waits a moment, where memory is short; false if nothing waits.
cdef bint wait_for_ends() noexcept nogil

# Called before a stream is destroyed: its last work counts as that of a stream until it is done.
cdef void note_tail(cydriver.CUstream c_stream) noexcept nogil

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Deferred destruction of textures, surfaces and arrays: after the work that may use them."""

from libcpp cimport bool as cpp_bool
from libcpp.atomic cimport atomic
from libcpp.vector cimport vector

from cuda.core._handles._handles cimport ContextHandle, EventHandle, Keep, StreamHandle
from cuda.core._utils cimport cydriver


cdef extern from "idle_ends.hpp" namespace "cuda_core" nogil:
    # A resource to destroy, and the events to wait for; filled by has_work_for().
    cppclass WaitingEnd:
        Keep resource
        vector[EventHandle] marks
        vector[StreamHandle] unmarked

    # Called with `has_work_for` and `end_later`.
    void end_when_idle[T](
        const T& value, void (*destroy)(T) noexcept,
        bint (*has_work)(const ContextHandle&, WaitingEnd*) noexcept, void (*end_later)(WaitingEnd&) noexcept
    ) noexcept


# The number of resources whose destruction may be deferred. While there are none, streams skip the checks.
cdef atomic[int]* deferrable_resources

# Whether work in flight may use a resource of a context; then `end` has the events to wait for.
cdef bint has_work_for(const ContextHandle& h_context, WaitingEnd* end) noexcept nogil
# The same of a resource that several contexts use.
cdef bint has_work_in(const vector[ContextHandle]& contexts, WaitingEnd* end) noexcept nogil
# Keeps `end.resource` until that work is done.
cdef void end_later(WaitingEnd& end) noexcept nogil
# Called after synchronisations: destroys the resources whose events have completed.
cdef void end_what_is_idle() noexcept nogil
# Waits a moment for deferred resources, if memory is short; false if there are none.
cdef bint wait_for_ends() noexcept nogil

# Called before a stream is destroyed: an event stands for its remaining work.
cdef void note_tail(cydriver.CUstream c_stream) noexcept nogil

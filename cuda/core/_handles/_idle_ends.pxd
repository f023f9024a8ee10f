# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Deferred destruction: resources that work may use are destroyed after that work."""

from libcpp cimport bool as cpp_bool
from libcpp.vector cimport vector

from cuda.core._handles._handles cimport ContextHandle, EventHandle, Keep
from cuda.core._handles._work cimport AskedStream
from cuda.core._utils cimport cydriver


cdef extern from "idle_ends.hpp" namespace "cuda_core" nogil:
    # A resource to destroy, and the events to wait for; filled by has_work().
    cppclass WaitingEnd:
        Keep resource
        vector[EventHandle] marks
        vector[AskedStream] unmarked

    # Whether the value has to wait; if so, it is moved away, and `destroy` is called when the work in flight is done.
    # Called with `has_work` and `end_later`.
    cpp_bool postpone[T](
        T& value, void (*destroy)(T) noexcept, Keep keep, bint (*has_work)(WaitingEnd*) noexcept,
        void (*end_later)(WaitingEnd&) noexcept
    ) noexcept

    # The same where the streams may be queried for several values at once; also called with `gather_end`.
    cpp_bool gather_or_postpone[T](
        T& value, void (*destroy)(T) noexcept, bint can_gather, void (*gather)(Keep&) noexcept,
        bint (*has_work)(WaitingEnd*) noexcept, void (*end_later)(WaitingEnd&) noexcept
    ) noexcept


# The bytes of a small array, of which a few may wait until they are gathered.
cdef enum:
    SMALL = 1 << 20

# Whether ends may be gathered: of what is small, in a context that stays.
cdef bint can_gather(bint is_small, const ContextHandle& h_context) noexcept nogil
cdef void gather_end(Keep& resource) noexcept nogil
# Destroys what was gathered, after the work in flight.
cdef void end_gathered() noexcept nogil
# Whether this thread destroys what was gathered, and has found no work.
cdef bint is_found_idle() noexcept nogil

# Whether work is in flight; then `end` has the events to wait for.
cdef bint has_work(WaitingEnd* end) noexcept nogil
# Keeps `end.resource` until that work is done.
cdef void end_later(WaitingEnd& end) noexcept nogil
# Called after synchronisations: destroys the resources whose events have completed.
cdef void end_what_is_idle() noexcept nogil
# Waits a moment for deferred resources, if memory is short; false if there are none.
cdef bint wait_for_ends() noexcept nogil
# The same before something new is made, where so much waits that it might pile up.
cdef void make_room() noexcept nogil

# For a stream that will not be asked: an event stands for its work.
cdef void note_tail(cydriver.CUstream c_stream) noexcept nogil
# Whether a stream is still to be destroyed: pools that were used on it have to outlive it.
cdef bint has_waiting_streams() noexcept nogil
# Destroys a stream, after its work.
cdef void end_stream(cydriver.CUstream c_stream) noexcept nogil

# Around the end of a resource that a user closes, who may wait for the device; the end takes that note.
cdef void set_closing(bint is_closing) noexcept nogil
cdef bint take_closing() noexcept nogil

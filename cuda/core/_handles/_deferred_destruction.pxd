# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Deferred destruction: resources that work may use are destroyed after that work."""

from libcpp cimport bool as cpp_bool
from libcpp.vector cimport vector

from cuda.core._handles._handles cimport ContextHandle, EventHandle, Keep
from cuda.core._handles._work cimport QueriedStream
from cuda.core._utils cimport cydriver


cdef extern from "deferred_destruction.hpp" namespace "cuda_core" nogil:
    # A resource to destroy, and what to wait for: events, and streams that capture; find_work() fills the latter two.
    cppclass PendingDestruction:
        Keep resource
        vector[EventHandle] events
        vector[QueriedStream] unrecorded

    # Whether the value has to wait; if so, it is moved away, and `destroy` is called when the work in flight is done.
    # Called with `find_work` and `destroy_later`.
    cpp_bool postpone[T](
        T& value, void (*destroy)(T) noexcept, Keep keep, bint (*find_work)(PendingDestruction*) noexcept,
        void (*destroy_later)(PendingDestruction&) noexcept
    ) noexcept

    # The same, but with `can_batch` the streams are queried once for several values; also called with `add_to_batch`.
    cpp_bool batch_or_postpone[T](
        T& value, void (*destroy)(T) noexcept, bint can_batch, void (*add_to_batch)(Keep&) noexcept,
        bint (*find_work)(PendingDestruction*) noexcept, void (*destroy_later)(PendingDestruction&) noexcept
    ) noexcept


cdef enum:
    SMALL_ARRAY = 1 << 20  # bytes; arrays up to this size are destroyed in batches

# Whether a resource may wait in a batch: it is small, and its context is one that users cannot destroy.
cdef bint can_batch(bint is_small, const ContextHandle& h_context) noexcept nogil
cdef void add_to_batch(Keep& resource) noexcept nogil
# Destroys the batch, or defers that if work is in flight.
cdef void destroy_batch() noexcept nogil
# Whether this thread is destroying a batch, and has found that no stream is busy.
cdef bint are_streams_idle() noexcept nogil

# Records an event behind the work of each busy stream, in `pending`; false if no stream is busy.
cdef bint find_work(PendingDestruction* pending) noexcept nogil
# Destroys `pending.resource` after its events; empties `pending`.
cdef void destroy_later(PendingDestruction& pending) noexcept nogil
# Destroys the deferred resources whose events have completed; called after synchronizations.
cdef void destroy_idle() noexcept nogil
# Waits up to a fifth of a second for deferred resources, where memory is short; false if there are none.
cdef bint wait_for_destructions() noexcept nogil
# The same before a new resource is created, if so many are deferred that they might accumulate.
cdef void limit_backlog() noexcept nogil

# Records an event behind the work of a stream that this library will not query.
cdef void record_tail(cydriver.CUstream c_stream) noexcept nogil
# Whether a closed stream is still to be destroyed: pools that were used on it have to outlive it.
cdef bint has_pending_streams() noexcept nogil
# Destroys a stream after its work.
cdef void destroy_stream_later(cydriver.CUstream c_stream) noexcept nogil

# Called before and after a user closes a resource, for which the destructor may wait; take_closing() reads and clears
# the flag.
cdef void set_closing(bint is_closing) noexcept nogil
cdef bint take_closing() noexcept nogil

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""How far the work of streams is: of one, or of all that this library knows."""

from libcpp.vector cimport vector

from cuda.core._handles._handles cimport ContextHandle, StreamHandle
from cuda.core._utils cimport cydriver


cdef extern from "work.hpp" namespace "cuda_core" nogil:
    enum Work:
        NO_WORK
        SOME_WORK
        UNKNOWN_WORK  # a capture forbids the query

    bint is_unexpected(cydriver.CUresult err) noexcept

    # An unexpected error, returned by functions that must not run Python code, as a warning would.
    cppclass UnexpectedError:
        cydriver.CUresult code
        const char* api

    # A stream to query: a default stream with its context, all others without.
    cppclass QueriedStream:
        QueriedStream() noexcept
        StreamHandle h_stream
        ContextHandle h_context


# All streams of this library, and the default streams of the current context and of all that the library knows.
cdef void find_streams(vector[QueriedStream]& streams) noexcept nogil
# Queries all of these, and synchronizes the idle ones. Until then the driver counts frees on them as queued,
# although the work is done.
cdef void query_streams() noexcept nogil
# The work of a stream; the caller has relaxed the capture mode of its thread. An unexpected error is a warning, or is
# returned in `error`.
cdef Work work_of(const QueriedStream& stream, UnexpectedError* error) noexcept nogil
# The same for a raw handle; a default stream is that of the current context.
cdef Work work_in_current_context(cydriver.CUstream c_stream, UnexpectedError* error) noexcept nogil
# Makes the context of a default stream current; false if that fails. leave_context() undoes it.
cdef bint enter_context(const QueriedStream& stream, bint* is_entered, UnexpectedError* error) noexcept nogil
cdef void leave_context(bint is_entered, UnexpectedError* error) noexcept nogil
# Warns of an unexpected error, or returns it in `error`.
cdef void report(cydriver.CUresult err, const char* api, UnexpectedError* error) noexcept nogil

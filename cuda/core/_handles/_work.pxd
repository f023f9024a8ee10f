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

    bint is_odd(cydriver.CUresult answer) noexcept

    # An unexpected error, where no warning can be given, which would run Python code.
    cppclass OddAnswer:
        cydriver.CUresult answer
        const char* api

    # A stream to query: a default stream with its context, all others without.
    cppclass AskedStream:
        AskedStream() noexcept
        StreamHandle h_stream
        ContextHandle h_context


# All streams of this library, and the default streams of the current context and of all that the library knows.
cdef void find_streams(vector[AskedStream]& streams) noexcept nogil
# Asks all of these, and synchronises what is idle: only then a pool has what was freed, although the work is done.
cdef void ask_streams() noexcept nogil
# The work of a stream; the caller has relaxed the capture mode of its thread. An unexpected error is a warning, or is
# returned in `odd`.
cdef Work work_of(const AskedStream& stream, OddAnswer* odd) noexcept nogil
# The same of a stream by its handle; a default stream is that of the current context.
cdef Work work_here(cydriver.CUstream c_stream, OddAnswer* odd) noexcept nogil
# Makes the context of a default stream current; false if that fails. leave() undoes it.
cdef bint enter(const AskedStream& stream, bint* is_entered, OddAnswer* odd) noexcept nogil
cdef void leave(bint is_entered, OddAnswer* odd) noexcept nogil
# Warns of an unexpected error, or returns it in `odd`.
cdef void tell(cydriver.CUresult answer, const char* api, OddAnswer* odd) noexcept nogil

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Functions that a Python thread calls when work in a stream has completed."""

from cuda.core._native._cuda_core cimport StreamField, StreamHandle


cdef class StreamCallback:
    cdef:
        object _function        # None once it was called or canceled
        StreamField _h_stream   # keeps the stream, whose state explains an error


# An iterator for __await__. It ends when the pending work in a stream has completed, or raises the error of that work.
# The stream does not capture. RuntimeError if this thread runs no event loop.
cdef object await_stream(const StreamHandle& h_stream)
# Calls `function(error)` when the pending work in a stream has completed: in the event loop that this thread runs, or
# on a thread of this library.
cdef StreamCallback call_after_stream(const StreamHandle& h_stream, object function)
# Raises RuntimeError if the stream captures.
cdef int reject_capture(const StreamHandle& h_stream, str what) except -1

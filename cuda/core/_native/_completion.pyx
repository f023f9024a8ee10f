# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Functions that a Python thread calls when work in a stream has completed (reasons: docs/design/waiting.md)."""

from __future__ import annotations

from libc.stdint cimport uintptr_t
from libcpp cimport bool as cpp_bool
from libcpp.memory cimport shared_ptr

from cuda.core._native._cuda_core cimport StreamHandle, destroy_idle, stream_captures
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport check_self_in_methods
from cuda.core._utils.cuda_utils cimport ALLOW_RETURN, HANDLE_RETURN, show_unraisable

import os
import sys
from _thread import start_new_thread
from weakref import WeakKeyDictionary

from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils.locks import RLock

__all__ = ["StreamCallback"]


cdef extern from "completion.hpp" namespace "cuda_core" nogil:
    cppclass Completion:
        cydriver.CUresult status
        Completion* next

    cppclass CompletionQueue:
        @staticmethod
        shared_ptr[CompletionQueue] make(cpp_bool blocks) noexcept
        @staticmethod
        Completion* begin(const shared_ptr[CompletionQueue]& queue) noexcept
        @staticmethod
        void deliver(cydriver.CUstream c_stream, cydriver.CUresult status, void* what) noexcept
        int descriptor() noexcept
        Completion* take() noexcept


cdef class StreamCallback:
    """A function that is called when the pending work of a stream has completed, from :meth:`Stream.add_callback`."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError("StreamCallback cannot be constructed directly; use Stream.add_callback()")

    def __repr__(self):
        return f"<StreamCallback {'done or canceled' if self._function is None else repr(self._function)}>"

    def cancel(self) -> bool:
        """Keep the function from being called, and return whether it was still pending.

        The work in the stream continues. Canceling again, or after the call has begun, has no effect.
        """
        function, self._function = self._function, None
        return function is not None

    @property
    def is_pending(self) -> bool:
        """Whether the function is still to be called."""
        return self._function is not None


cdef class Completions:
    """The pending callbacks of one event loop, or of the thread of this library."""

    cdef:
        shared_ptr[CompletionQueue] _queue
        dict _pending           # StreamCallback by the address of its native completion
        object __weakref__

    def drain(self):
        """Call the functions of completed callbacks, for an event loop whose descriptor is readable."""
        cdef Completion* completion
        cdef Completion* following
        cdef object interrupt = None
        with nogil:
            completion = self._queue.get().take()
            destroy_idle()
        while completion != NULL:
            following = completion.next
            callback = self._pending.pop(<uintptr_t>completion)
            status = <int>completion.status
            del completion
            completion = following
            try:
                finish(callback, status)
            except BaseException as error:  # SystemExit or KeyboardInterrupt, which ends the loop after the others
                interrupt = error
        if interrupt is not None:
            raise interrupt


cdef Completions Completions_create(bint blocks):
    cdef Completions self = Completions.__new__(Completions)
    self._queue = CompletionQueue.make(blocks)
    if self._queue.get() == NULL:
        raise OSError("cannot create an eventfd: the process has too many open files")
    self._pending = {}
    return self


# Calls back once the pending work has completed, even if it failed: cuLaunchHostFunc would not call then.
cdef int Completions_add(Completions self, StreamCallback callback) except -1:
    cdef Completion* completion = CompletionQueue.begin(self._queue)
    cdef StreamHandle h_stream = callback._h_stream.copy()
    cdef cydriver.CUstream c_stream = h_stream.get()
    cdef cydriver.CUresult err
    if completion == NULL:
        raise MemoryError()
    self._pending[<uintptr_t>completion] = callback
    with nogil:
        err = cydriver.cuStreamAddCallback(c_stream, &CompletionQueue.deliver, completion, 0)
    if err != cydriver.CUresult.CUDA_SUCCESS:
        del self._pending[<uintptr_t>completion]
        del completion
        HANDLE_RETURN(err, b"cuStreamAddCallback")
    return 0


cdef int finish(StreamCallback callback, int status) except -1:
    function, callback._function = callback._function, None
    error = None if status == 0 else failure(callback._h_stream.copy(), <cydriver.CUresult>status)
    callback._h_stream.reset()
    if function is None:
        return 0
    try:
        function(error)
    except Exception as raised:
        show_unraisable(raised, function)
    return 0


# The error of the work in a stream. Another call on this thread reports it with the driver's log.
cdef object failure(const StreamHandle& h_stream, cydriver.CUresult status):
    cdef cydriver.CUresult err
    try:
        with nogil:
            # The context is lost, so there is no capture that this could invalidate.
            err = cydriver.cuStreamQuery(h_stream.get())
        ALLOW_RETURN(err, cydriver.CUresult.CUDA_ERROR_NOT_READY, b"cuStreamQuery")
        HANDLE_RETURN(status, b"cuStreamAddCallback")
    except CUDAError as error:
        return error.with_traceback(None)


# --- Event loops ----------------------------------------------------------------------------------

_of_loops = WeakKeyDictionary()
_lock = RLock()


cdef object await_stream(const StreamHandle& h_stream):
    cdef object loop = running_loop()
    if loop is None:
        raise RuntimeError("await needs a running asyncio event loop; elsewhere, call sync()")
    future = loop.create_future()

    def settle(error):
        if future.done():  # canceled
            return
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)

    Completions_add(completions_of(loop), make_callback(h_stream, settle))
    return future.__await__()


cdef StreamCallback call_after_stream(const StreamHandle& h_stream, object function):
    cdef StreamCallback callback = make_callback(h_stream, function)
    cdef object loop = running_loop()
    if not callable(function):
        raise TypeError(f"function must be callable, not {type(function).__name__}")
    Completions_add(completions_of_thread() if loop is None else completions_of(loop), callback)
    return callback


cdef StreamCallback make_callback(const StreamHandle& h_stream, object function):
    cdef StreamCallback self = StreamCallback.__new__(StreamCallback)
    self._h_stream.set(h_stream)
    self._function = function
    return self


cdef int reject_capture(const StreamHandle& h_stream, str what) except -1:
    if stream_captures(h_stream.get()):
        raise RuntimeError(f"the stream is capturing, so {what} would wait for work that does not run")
    return 0


cdef object running_loop():
    events = sys.modules.get("asyncio.events")  # slow to import, and a loop has imported it
    return None if events is None else events._get_running_loop()


cdef Completions completions_of(object loop):
    with _lock:
        found = _of_loops.get(loop)
        if found is not None:
            return found
        # Callbacks that were pending when their loop was closed refer to the loop.
        for closed in [other for other in list(_of_loops) if other.is_closed()]:
            del _of_loops[closed]
        self = Completions_create(False)
        loop.add_reader((<Completions>self)._queue.get().descriptor(), self.drain)
        _of_loops[loop] = self
        return self


# --- The thread of this library -------------------------------------------------------------------

cdef Completions _of_thread = None
cdef int _thread_owner = 0  # the process that the thread belongs to


cdef Completions completions_of_thread():
    global _of_thread, _thread_owner
    with _lock:
        if _of_thread is None or _thread_owner != os.getpid():
            self = Completions_create(True)
            start_new_thread(call_forever, (self,))
            _of_thread, _thread_owner = self, os.getpid()
        return _of_thread


def call_forever(completions) -> None:
    """Call the functions of completed callbacks on this thread, which sleeps until there are some."""
    while True:
        try:
            completions.drain()
        except BaseException as error:  # SystemExit, for example, must not end the thread
            show_unraisable(error, None)


include "_notices.pxi"

check_self_in_methods(globals())

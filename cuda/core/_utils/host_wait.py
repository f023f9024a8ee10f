# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Blocking calls of Python functions that Ctrl-C can interrupt (``_native/_device_wait`` has driver calls)."""

from __future__ import annotations

import atexit
import os
import time
from _thread import allocate_lock, get_native_id, start_new_thread  # importing threading takes longer

__all__ = ["Worker", "run_interruptibly", "wait_in_steps"]


CANCEL_TIMEOUT = 0.5  # seconds to wait for a call to return after it was canceled
STEP = 0.05  # seconds between checks for signals

_running: dict[object, None] = {}  # a token for each call in progress, in all threads


def run_interruptibly(function, cancel, abandon, worker: Worker | None = None):
    """Return ``function()``, unless a signal handler raises an exception on the main thread.

    Only the main thread runs signal handlers. If it makes this call, or if a helper thread is given, the function runs
    on a helper thread.

    Parameters
    ----------
    function : callable
        The blocking function, which releases the GIL.
    cancel : callable
        Called after a signal handler raised. It makes the function return early, if possible.
    abandon : callable
        Called if the function is still running after that. It takes over the function's resources from the caller,
        and returns a callable without arguments that frees them once the function has returned.
    worker : Worker, optional
        The helper thread, for calls that must run on the same thread. Defaults to a new thread.
    """
    if worker is None and get_native_id() != os.getpid():
        return _run(function)
    call = _Call(function)
    try:
        if worker is None:
            start_new_thread(call.run, ())
        else:
            worker.post(call.run)
        # In steps: NVRTC 13.0 installs its own signal handler and restores the previous one with signal(). After that,
        # signals no longer interrupt a wait without a timeout.
        while not call.wait(STEP):
            pass
    except BaseException:
        cancel()
        try:
            call.wait(CANCEL_TIMEOUT)
        finally:
            call.abandon(abandon)
        raise
    if call.error is not None:
        try:
            raise call.error
        finally:
            del call  # breaks a reference cycle: the traceback refers to this frame
    return call.result


def wait_in_steps(step, timeout: float | None = None):
    """Call ``step`` until it returns something other than None, and return that, or None after the timeout.

    This is for waits that signals cannot interrupt. Signal handlers run between the steps.

    Parameters
    ----------
    step : callable
        Accepts a number of seconds, and waits at most that long.
    timeout : float, optional
        The limit of the whole wait in seconds. Defaults to no limit.
    """
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        left = STEP if end is None else min(STEP, max(end - time.monotonic(), 0))
        result = step(left)
        if result is not None or (end is not None and time.monotonic() >= end):
            return result


def _run(function):
    token = object()
    _running[token] = None
    try:
        return function()
    finally:
        del _running[token]


@atexit.register
def _skip_destructors_of_running_libraries() -> None:
    # At exit, the destructors of a library would destroy data that an abandoned call in it still uses. So the process
    # ends without them, with its exit status, after the C streams are flushed. The C library runs exit handlers in
    # reverse order of their registration.
    if _running:
        import ctypes  # takes longer than everything else here

        libc = ctypes.CDLL(None)
        libc.on_exit(libc._exit, None)
        getattr(libc, "__cxa_atexit")(libc.fcloseall, None, None)


class Worker:
    """A thread for calls that must run on the same thread.

    Attributes
    ----------
    ident : int
        The thread's ``threading.get_ident()``.
    """

    def __init__(self):
        from _queue import SimpleQueue  # importing queue takes longer

        self._calls = SimpleQueue()
        self.ident = start_new_thread(self._work, ())

    def post(self, function) -> None:
        """Enqueue a function, which must not raise, to be called on the thread. Finalizers may call this."""
        self._calls.put(function)

    def end(self) -> None:
        """Let the thread exit after the enqueued calls."""
        self._calls.put(None)

    def _work(self):
        while (function := self._calls.get()) is not None:
            function()
            del function  # keep no reference while the thread waits


class _Call:
    """A call in progress on a daemon thread, which does not keep the interpreter from exiting."""

    def __init__(self, function):
        self._function = function
        self._lock = allocate_lock()
        self._free = None
        self._end = allocate_lock()  # released when the call ends
        self._end.acquire()
        self._has_ended = False
        self.result = self.error = None

    def run(self):
        try:
            self.result = _run(self._function)
        except BaseException as error:  # run_interruptibly raises it
            self.error = error
        del self._function
        with self._lock:
            self._has_ended = True
            free = self._free
        self._end.release()
        if free is not None:
            free()

    def wait(self, seconds: float) -> bool:
        """Wait at most this long, and return whether the call has ended."""
        return self._has_ended or self._end.acquire(timeout=seconds)

    def abandon(self, abandon) -> None:
        """Let the call own its resources, unless it has returned."""
        with self._lock:
            if not self._has_ended:
                self._free = abandon()

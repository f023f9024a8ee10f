# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Calls from Python that block, such that Ctrl-C ends the wait for them; `_handles/_waiting` has the driver's."""

from __future__ import annotations

import atexit
import os
import time
from _thread import allocate_lock, get_native_id, start_new_thread  # threading takes longer to load than all else here

__all__ = ["Worker", "call_interruptibly", "wait_in_steps"]

PATIENCE = 0.5  # seconds that a call gets to end after it was cancelled
STEP = 0.05

_running: dict[object, None] = {}  # the calls on their way, in all threads


def call_interruptibly(function, cancel, leave, worker: Worker | None = None):
    """Return ``function()``, and let signal handlers raise while it runs.

    Only the main thread runs signal handlers. There the function runs on a thread of its own.

    Parameters
    ----------
    function : callable
        What blocks, without the interpreter lock.
    cancel : callable
        Called when a handler raised: makes the function return early, if that can be done.
    leave : callable
        Called if the function then goes on nevertheless: takes from the caller what the function uses, and
        returns a callable, without arguments, that frees it; it is called when the function ends.
    worker : Worker, optional
        The thread that makes the call of the main thread, where calls belong together. By default, a new one.
    """
    if get_native_id() != os.getpid():
        return _run(function)
    call = _Call(function)
    try:
        if worker is None:
            start_new_thread(call.run, ())
        else:
            worker.post(call.run)
        # In steps: a library that installs a handler of its own and restores the old one by signal(), as NVRTC 13.0
        # does, leaves a wait without a time limit that signals do not end.
        while not call.wait(STEP):
            pass
    except BaseException:
        cancel()
        try:
            call.wait(PATIENCE)
        finally:
            call.leave(leave)
        raise
    if call.error is not None:
        try:
            raise call.error
        finally:
            del call  # the traceback refers to this frame
    return call.result


def wait_in_steps(step, timeout: float | None = None):
    """Return the first result of ``step`` that is not None, or None when the time is over.

    For waits that only take a time limit: between the steps, signal handlers run.

    Parameters
    ----------
    step : callable
        Waits for as many seconds as it is given, at most.
    timeout : float, optional
        Seconds in all; None waits without end.
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
def _exit_beside_calls() -> None:
    # The destructors of a library would take it apart under the thread that is in it: the process ends without
    # them, with its status, once the streams of C are written out. The C library calls the latest of these first.
    if _running:
        import ctypes  # takes longer than all else here

        libc = ctypes.CDLL(None)
        libc.on_exit(libc._exit, None)
        getattr(libc, "__cxa_atexit")(libc.fcloseall, None, None)


class Worker:
    """A thread for calls that have to be made by one and the same.

    Attributes
    ----------
    ident : int
        The thread, as ``threading.get_ident()`` tells it there.
    """

    def __init__(self):
        from _queue import SimpleQueue  # what the module queue gives, which takes longer to load

        self._calls = SimpleQueue()
        self.ident = start_new_thread(self._work, ())

    def post(self, function) -> None:
        """Let the thread call a function that raises nothing, after those before; finalizers may do this."""
        self._calls.put(function)

    def end(self) -> None:
        """Let the thread end after these calls."""
        self._calls.put(None)

    def _work(self):
        while (function := self._calls.get()) is not None:
            function()
            del function  # before the thread waits


class _Call:
    """A call on its way, on a thread that is a daemon, so that the interpreter exits without it."""

    def __init__(self, function):
        self._function = function
        self._lock = allocate_lock()
        self._free = None
        self._under_way = allocate_lock()
        self._under_way.acquire()
        self._has_ended = False
        self.result = self.error = None

    def run(self):
        try:
            self.result = _run(self._function)
        except BaseException as error:  # raised where the call is waited for
            self.error = error
        del self._function
        with self._lock:
            self._has_ended = True
            free = self._free
        self._under_way.release()
        if free is not None:
            free()

    def wait(self, seconds: float) -> bool:
        """Return whether the call has ended, after this time at most."""
        return self._has_ended or self._under_way.acquire(timeout=seconds)

    def leave(self, leave) -> None:
        """Take what the call uses from its caller, unless it has ended."""
        with self._lock:
            if not self._has_ended:
                self._free = leave()

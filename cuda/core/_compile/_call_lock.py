# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A lock for the calls of an object, which may be closed during a call."""

from __future__ import annotations

from _thread import RLock

__all__ = ["CallLock"]


class CallLock:
    """A lock that serializes the calls of an object: each call is a ``with`` block.

    Closing the object never waits for the lock, because a finalizer may close it during a call, on the thread of the
    call or on one that the call waits for. Instead, :meth:`after_call` defers the work to the end of the call.
    """

    def __init__(self):
        self._lock = RLock()
        self._is_held = False
        self._deferred = []

    def __enter__(self):
        self._lock.acquire()
        if self._is_held:
            self._lock.release()
            raise RuntimeError("a finalizer cannot use an object during a call of the same object")
        self._is_held = True

    def __exit__(self, *exc_info):
        self._is_held = False
        self._run_deferred()
        self._lock.release()
        # Work that was deferred just before the lock was released.
        self._try_to_run_deferred()

    def after_call(self, work) -> None:
        """Call ``work()`` now, or at the end of the call in progress."""
        self._deferred.append(work)
        self._try_to_run_deferred()

    def _try_to_run_deferred(self) -> None:
        # If another thread has the lock, that thread tries again after it has released it.
        while self._deferred and self._lock.acquire(blocking=False):
            is_held = self._is_held
            if not is_held:
                self._run_deferred()
            self._lock.release()
            if is_held:
                return

    def _run_deferred(self) -> None:
        while self._deferred:
            self._deferred.pop()()

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""One call of an object at a time, and closing it in the middle of one."""

from __future__ import annotations

from _thread import RLock

__all__ = ["Turns"]


class Turns:
    """Lets the calls of an object follow one another: each is a ``with`` block.

    What closes the object never waits. While a call is on its way it leaves its work behind, which the end of that
    call does: it may be a finalizer in the middle of the call, on its thread or on one that the call waits for.
    """

    def __init__(self):
        self._lock = RLock()
        self._is_taken = False
        self._left = []

    def __enter__(self):
        self._lock.acquire()
        if self._is_taken:
            self._lock.release()
            raise RuntimeError("a finalizer used an object in the middle of a call of that object")
        self._is_taken = True

    def __exit__(self, *exc_info):
        self._is_taken = False
        self._work_off()
        self._lock.release()
        # What was left while this thread was about to let go.
        self._try_to_work_off()

    def after_call(self, work) -> None:
        """Call ``work()`` now, or at the end of the call that is on its way."""
        self._left.append(work)
        self._try_to_work_off()

    def _try_to_work_off(self) -> None:
        # Where another thread has the lock, it looks again after it has let go.
        while self._left and self._lock.acquire(blocking=False):
            is_taken = self._is_taken
            if not is_taken:
                self._work_off()
            self._lock.release()
            if is_taken:
                return

    def _work_off(self) -> None:
        while self._left:
            self._left.pop()()

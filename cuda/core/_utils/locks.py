# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Locks that a forked child begins anew, because the thread that held one in its parent does not exist there."""

from __future__ import annotations

import os
from _thread import RLock as _RLock
from weakref import ref

__all__ = ["RLock"]

# Without callbacks, as a WeakSet has them: an exception of a signal handler would be lost in one.
_locks: set[ref] = set()
_limit = 64


def RLock():
    """Return a reentrant lock that is free in a forked child."""
    global _limit
    lock = _RLock()
    if len(_locks) >= _limit:
        for known in [known for known in list(_locks) if known() is None]:
            _locks.discard(known)
        _limit = 2 * len(_locks) + 64
    _locks.add(ref(lock))
    return lock


def _renew_in_child() -> None:
    for known in list(_locks):
        lock = known()
        if lock is not None:
            lock._at_fork_reinit()  # as the locks of threading and logging


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_in_child)

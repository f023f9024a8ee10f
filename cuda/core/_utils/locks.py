# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Locks that a forked child begins anew, because the thread that held one in its parent does not exist there."""

from __future__ import annotations

import os
from _thread import RLock as _RLock
from weakref import WeakSet

__all__ = ["RLock"]

_locks = WeakSet()


def RLock():
    """Return a reentrant lock that is free in a forked child."""
    lock = _RLock()
    _locks.add(lock)
    return lock


def _renew_in_child() -> None:
    for lock in list(_locks):
        lock._at_fork_reinit()  # as the locks of threading and logging


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_in_child)

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Pickling of shared objects for ``multiprocessing``.

That package is loaded by the first such object, because few programs have any.
"""

from __future__ import annotations

__all__ = ["detach", "register_reducer", "travelling"]


def register_reducer(cls: type, reduce) -> None:
    """Let ``reduce`` pickle the objects of ``cls`` that go to another process through ``multiprocessing``."""
    from multiprocessing.reduction import ForkingPickler

    ForkingPickler.register(cls, reduce)


def travelling(descriptor: int):
    """Return a file descriptor in a form that ``multiprocessing`` carries to another process."""
    from multiprocessing.reduction import DupFd

    return DupFd(descriptor)


def detach(carried) -> int:
    """Return the file descriptor that arrived; the caller closes it.

    Raises
    ------
    RuntimeError
        If its sender does not have it any more.
    """
    try:
        return carried.detach()
    except (EOFError, OSError) as error:
        raise RuntimeError(
            "the file descriptor of a memory pool did not arrive: the process that sent it has ended, "
            "or the same message was unpickled before"
        ) from error

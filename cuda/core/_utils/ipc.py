# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Pickling of objects that processes share through ``multiprocessing``.

The package is imported with the first such object, because few programs share any.
"""

from __future__ import annotations

__all__ = ["keep_for_child", "picklable_descriptor", "received_descriptor", "register_reducer"]


def register_reducer(cls: type, reduce) -> None:
    """Let ``multiprocessing`` pickle objects of ``cls`` with ``reduce``."""
    from multiprocessing.reduction import ForkingPickler

    ForkingPickler.register(cls, reduce)


def picklable_descriptor(descriptor: int):
    """Return a file descriptor as an object that ``multiprocessing`` can pickle for another process."""
    from multiprocessing.reduction import DupFd

    return DupFd(descriptor)


def keep_for_child(handle) -> None:
    """Keep a handle alive that is pickled among the arguments of a new process, which inherits its file descriptor."""
    from multiprocessing.context import get_spawning_popen

    popen = get_spawning_popen()
    if popen is not None:
        # The descriptors are inherited when the process starts, after all arguments were pickled.
        vars(popen).setdefault("_cuda_core_handles", []).append(handle)


def received_descriptor(received) -> int:
    """Return the file descriptor of a received :func:`picklable_descriptor`, for the caller to close.

    Raises
    ------
    RuntimeError
        If the sending process has ended, or the descriptor was received before.
    """
    try:
        return received.detach()
    except (EOFError, OSError) as error:
        raise RuntimeError(
            "the file descriptor of a memory pool did not arrive: the process that sent it has ended, "
            "or the same message was unpickled before"
        ) from error

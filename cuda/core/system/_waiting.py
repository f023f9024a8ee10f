# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Waiting for events: what devices and the system have in common."""

from __future__ import annotations

import os

from cuda.core._utils.waiting import wait_in_steps
from cuda.core.system._attributes import check_int
from cuda.core.system._mappings import choose
from cuda.core.system._support import nvml

__all__ = ["EventSet", "mask_of"]


class EventSet:
    """A set of events of NVML, which ends with this object.

    Parameters
    ----------
    create, free : callable
        Give the handle of a set, and end it.
    """

    __slots__ = ("__weakref__", "_free", "_pid", "handle")

    def __init__(self, create, free):
        self.handle = create()
        self._free = free
        self._pid = os.getpid()

    def __del__(self):
        # A child of fork must not end the set of its parent; at exit NVML may have ended before.
        if getattr(self, "_pid", None) == os.getpid():
            try:
                self._free(self.handle)
            except nvml.NvmlError:
                pass

    def wait(self, wait, timeout_ms: int):
        """Return what ``wait(handle, milliseconds)`` gives, called until it has something.

        Parameters
        ----------
        wait : callable
            Releases the interpreter lock, and raises NVML's TimeoutError when its time is over.
        timeout_ms : int
            The limit; 0 means none.

        Raises
        ------
        TimeoutError
            NVML's, at the limit.
        """
        timeout_ms = check_int("timeout_ms", timeout_ms, 1 << 32)
        late = None

        def step(seconds):
            nonlocal late
            try:
                return (wait(self.handle, max(round(seconds * 1000), 1)),)
            except nvml.TimeoutError as error:
                late = error
            return None

        found = wait_in_steps(step, timeout_ms / 1000 if timeout_ms else None)
        if found is not None:
            return found[0]
        try:
            raise late
        finally:
            late = None  # the traceback refers to this frame


def mask_of(events, flags: dict) -> int:
    """Return the bits of one event or a list of events.

    Raises
    ------
    TypeError
        If ``events`` is neither a string nor a list.
    ValueError
        If an event is none of the choices.
    """
    if isinstance(events, str):
        events = [events]
    if not isinstance(events, list):
        raise TypeError(f"events must be a str or a list of them, not {type(events).__name__}")
    mask = 0
    for event in events:
        mask |= int(choose(event, flags, "event"))
    return mask

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""NVML event sets, for events of devices and of the system."""

from __future__ import annotations

import os

from cuda.core._utils.host_wait import wait_in_steps
from cuda.core.system._attributes import check_int
from cuda.core.system._mappings import choose
from cuda.core.system._support import nvml

__all__ = ["EventSet", "mask_of"]


class EventSet:
    """An event set of NVML, freed with this object.

    Parameters
    ----------
    create, free : callable
        NVML's functions that create the set and free it.
    """

    __slots__ = ("__weakref__", "_free", "_pid", "handle")

    def __init__(self, create, free):
        self.handle = create()
        self._free = free
        self._pid = os.getpid()

    def __del__(self):
        # A child after fork must not free the set of its parent. At exit NVML may be shut down already.
        if getattr(self, "_pid", None) == os.getpid():
            try:
                self._free(self.handle)
            except nvml.NvmlError:
                pass

    def wait(self, wait, timeout_ms: int):
        """Call ``wait(handle, milliseconds)`` in short steps until it returns a result, and return that.

        Parameters
        ----------
        wait : callable
            Releases the interpreter lock, and raises NVML's TimeoutError when its time has passed.
        timeout_ms : int
            The longest time to wait, in milliseconds; 0 means no limit.

        Raises
        ------
        TimeoutError
            NVML's, if there is no result in this time.
        """
        timeout_ms = check_int("timeout_ms", timeout_ms, 1 << 32)
        timeout = None

        def step(seconds):
            nonlocal timeout
            try:
                return (wait(self.handle, max(round(seconds * 1000), 1)),)
            except nvml.TimeoutError as error:
                timeout = error
            return None

        found = wait_in_steps(step, timeout_ms / 1000 if timeout_ms else None)
        if found is not None:
            return found[0]
        try:
            raise timeout
        finally:
            timeout = None  # its traceback refers to this frame: a reference cycle


def mask_of(events, flags: dict) -> int:
    """Return the bit mask of one event type or a list of them; ``flags`` is the table to NVML.

    Raises
    ------
    TypeError
        If ``events`` is neither a string nor a list.
    ValueError
        If an entry is not one of the event types.
    """
    if isinstance(events, str):
        events = [events]
    if not isinstance(events, list):
        raise TypeError(f"events must be a str or a list of them, not {type(events).__name__}")
    mask = 0
    for event in events:
        mask |= int(choose(event, flags, "event"))
    return mask

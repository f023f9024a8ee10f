# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Finding memory that is not freed: where each allocation was made."""

from __future__ import annotations

import atexit
import sys
import time
import warnings
import weakref
from collections import namedtuple

from cuda.core._memory.adaptors._accounting import AccountingMemoryResource
from cuda.core._utils.errors.caller import warn_caller

__all__ = ["TrackedAllocation", "TrackingMemoryResource"]

SHOWN = 20  # allocations in a report


class TrackedAllocation(namedtuple("TrackedAllocation", "pointer size stream time stack")):
    """Memory that a :class:`TrackingMemoryResource` has allocated and that is in use.

    Attributes
    ----------
    pointer : int
        The address.
    size : int
        The number of bytes.
    stream : int
        The handle of the stream of the allocation.
    time : float
        When it was allocated, by ``time.monotonic()``.
    stack : tuple[tuple[str, int, str], ...]
        The calls that allocated it: file, line and function, the innermost first.
    """

    __slots__ = ()

    @property
    def age(self) -> float:
        """The seconds since the allocation."""
        return time.monotonic() - self.time

    def __str__(self):
        site = [f"{file}:{line} in {function}" for file, line, function in self.stack] or ["an unknown place"]
        return f"{self.size} bytes at {self.pointer:#x}, {self.age:.1f} s old, from " + ", called from ".join(site)


class TrackingMemoryResource(AccountingMemoryResource):
    """Remembers where each allocation of another resource was made, to find memory that is not freed.

    Memory still in use is reported by a ``RuntimeWarning`` when the resource is closed, or else when
    the program ends.

    Parameters
    ----------
    upstream : :class:`MemoryResource`
        The resource that memory comes from.
    depth : int, optional
        How many calls to remember, from the one that allocates outwards. Default is 1.

    Raises
    ------
    TypeError
        If ``upstream`` is no :class:`MemoryResource`, or ``depth`` no integer.
    ValueError
        If ``depth`` is not positive.
    """

    def __init__(self, upstream, *, depth: int = 1):
        if isinstance(depth, bool) or not isinstance(depth, int):
            raise TypeError(f"depth must be an int, a number of calls, not {type(depth).__name__}")
        if depth < 1:
            raise ValueError(f"depth must be a number of calls, at least 1, not {depth}")
        super().__init__(upstream)
        self._depth = depth
        _open.add(self)

    def close(self) -> None:
        """Refuse further allocations, and warn of memory still in use. Buffers stay valid."""
        if not self.is_closed:
            super().close()
            _open.discard(self)
            if self.allocations:
                warn_caller(f"not freed when its {type(self).__name__} was closed: {self.report()}", RuntimeWarning)

    @property
    def allocations(self) -> tuple[TrackedAllocation, ...]:
        """The allocations in use, the oldest first."""
        return tuple(self._kept())

    def report(self) -> str:
        """Return a report of the allocations in use: their total, and the largest with their places and ages."""
        found = sorted(self.allocations, key=lambda allocation: -allocation.size)
        lines = [f"{len(found)} allocations, {sum(allocation.size for allocation in found)} bytes"]
        lines += [f"  {allocation}" for allocation in found[:SHOWN]]
        if len(found) > SHOWN:
            lines.append(f"  and {len(found) - SHOWN} more")
        return "\n".join(lines)

    def _allocated(self, pointer, size, stream):
        return TrackedAllocation(pointer, size, stream, time.monotonic(), _stack(self._depth))


def _stack(depth):
    """Return file, line and function of the calls outside this package that led here."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("cuda.core."):
        frame = frame.f_back
    calls = []
    while frame is not None and len(calls) < depth:
        calls.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
    return tuple(calls)


# The resources that have not reported yet.
_open = weakref.WeakSet()


@atexit.register
def _report_at_exit():
    for resource in list(_open):
        if resource.allocations:
            # The program has no current line at exit: the warning points at the line that allocated most.
            largest = max(resource.allocations, key=lambda allocation: allocation.size)
            file, line, _ = (*largest.stack, ("unknown", 0, ""))[0]
            text = f"not freed when the program ended: {resource.report()}"
            warnings.warn_explicit(text, RuntimeWarning, file, line)

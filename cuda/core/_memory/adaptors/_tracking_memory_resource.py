# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""An adaptor that finds memory leaks: it records the call stack of each allocation."""

from __future__ import annotations

import atexit
import sys
import time
import warnings
import weakref
from collections import namedtuple

from cuda.core._memory.adaptors._accounting import AccountingMemoryResource
from cuda.core._utils.errors.caller import warn_caller
from cuda.core._utils.validators import shown

__all__ = ["TrackedAllocation", "TrackingMemoryResource"]

SHOWN = 20  # allocations in a report


class TrackedAllocation(namedtuple("TrackedAllocation", "pointer size stream time stack")):
    """An allocation of a :class:`TrackingMemoryResource` that is in use.

    Attributes
    ----------
    pointer : int
        The address of the memory.
    size : int
        The size in bytes.
    stream : int
        The handle of the stream of the allocation.
    time : float
        The time of the allocation, from ``time.monotonic()``, in seconds.
    stack : tuple[tuple[str, int, str], ...]
        The call stack of the allocation: file, line and function of each call, the innermost first.
    """

    __slots__ = ()

    @property
    def age(self) -> float:
        """The time since the allocation in seconds."""
        return time.monotonic() - self.time

    def __str__(self):
        site = [f"{file}:{line} in {function}" for file, line, function in self.stack] or ["an unknown line"]
        return f"{self.size} bytes at {self.pointer:#x}, {self.age:.1f} s old, from " + ", called from ".join(site)


class TrackingMemoryResource(AccountingMemoryResource):
    """Records the call stack of each allocation of another resource, to find memory that is not freed.

    Memory that is still in use when the resource is closed, or when the program ends, is reported with a
    ``RuntimeWarning``.

    Parameters
    ----------
    upstream : :class:`MemoryResource`
        The resource that the memory is allocated from.
    depth : int, optional
        The number of calls to record, the innermost first. Default is 1.

    Raises
    ------
    TypeError
        If ``upstream`` is not a :class:`MemoryResource`, or ``depth`` not an integer.
    ValueError
        If ``depth`` is not positive.
    """

    def __init__(self, upstream, *, depth: int = 1):
        if isinstance(depth, bool) or not isinstance(depth, int):
            raise TypeError(f"depth must be an int, a number of calls, not {type(depth).__name__}")
        if depth < 1:
            raise ValueError(f"depth must be a number of calls, at least 1, not {shown(depth)}")
        super().__init__(upstream)
        self._depth = depth
        _open.add(self)

    def close(self) -> None:
        """Refuse further allocations, and warn about memory that is still in use. Buffers stay valid.

        Warns
        -----
        RuntimeWarning
            If allocations are in use; the message has :meth:`report`.
        """
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
        """Return a text about the allocations in use: their number and total size, then the largest ones with their
        call stacks and ages.

        Returns
        -------
        str
            The report, of at most 22 lines.
        """
        found = sorted(self.allocations, key=lambda allocation: -allocation.size)
        lines = [f"{len(found)} allocations, {sum(allocation.size for allocation in found)} bytes"]
        lines += [f"  {allocation}" for allocation in found[:SHOWN]]
        if len(found) > SHOWN:
            lines.append(f"  and {len(found) - SHOWN} more")
        return "\n".join(lines)

    def _allocated(self, pointer, size, stream):
        return TrackedAllocation(pointer, size, stream, time.monotonic(), _stack(self._depth))


def _stack(depth):
    """Return file, line and function of the innermost calls outside this package."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("cuda.core."):
        frame = frame.f_back
    calls = []
    while frame is not None and len(calls) < depth:
        calls.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
    return tuple(calls)


# The resources that are not closed.
_open = weakref.WeakSet()


@atexit.register
def _report_at_exit():
    for resource in list(_open):
        if resource.allocations:
            # At exit there is no current line, so the warning refers to the line of the largest allocation.
            largest = max(resource.allocations, key=lambda allocation: allocation.size)
            file, line, _ = (*largest.stack, ("unknown", 0, ""))[0]
            text = f"not freed when the program ended: {resource.report()}"
            warnings.warn_explicit(text, RuntimeWarning, file, line)

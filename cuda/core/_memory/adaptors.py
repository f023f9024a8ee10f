# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory resources that wrap another one: limits, logging, statistics and tracking."""

from __future__ import annotations

import atexit
import importlib
import sys
import time
import warnings
import weakref
from collections import namedtuple

from cuda.core._memory._adaptors import AccountingMemoryResource, MemoryStatistics
from cuda.core._memory._memory_pool import check_byte_option
from cuda.core._utils.cuda_utils import OutOfMemoryError
from cuda.core._utils.errors import warn_caller
from cuda.core._utils.validators import shown

__all__ = [
    "LimitingMemoryResource",
    "LoggingMemoryResource",
    "MemoryStatistics",
    "StatisticsMemoryResource",
    "TrackedAllocation",
    "TrackingMemoryResource",
]


class LimitingMemoryResource(AccountingMemoryResource):
    """Limits how many bytes of another resource are in use: further allocations raise OutOfMemoryError.

    A buffer counts with its size from its allocation until its free is enqueued.

    Parameters
    ----------
    upstream : :class:`MemoryResource`
        The resource that the memory is allocated from.
    limit : int
        The maximum number of bytes in use.

    Raises
    ------
    TypeError
        If ``upstream`` is not a :class:`MemoryResource`, or ``limit`` not an integer.
    ValueError
        If ``limit`` is negative or 2**64 or more.

    Notes
    -----
    With a :class:`CachingMemoryResource` as its upstream, it limits the memory that the program uses. As the upstream
    of a :class:`CachingMemoryResource`, it also limits the cached memory.

    Examples
    --------
    >>> from cuda.core import Device, DeviceMemoryResource, LimitingMemoryResource
    >>> device = Device()
    >>> device.set_current()
    >>> resource = LimitingMemoryResource(DeviceMemoryResource(device), 1024)
    >>> resource.allocate(2048, stream=device.default_stream)
    Traceback (most recent call last):
        ...
    cuda.core...OutOfMemoryError: ...
    """

    def __init__(self, upstream, limit: int):
        check_byte_option("limit", limit, 2**64 - 1)
        super().__init__(upstream, limit)
        self._bytes = limit

    @property
    def limit(self) -> int:
        """The maximum number of bytes in use."""
        return self._bytes

    @property
    def bytes_in_use(self) -> int:
        """The number of bytes now in use."""
        return self._count().current_bytes

    def _limit_error(self, size):
        free = self._bytes - self.bytes_in_use
        error = OutOfMemoryError(
            f"an allocation of {size} bytes exceeds the limit of this {type(self).__name__}: "
            f"{free} of its {self._bytes} bytes are free.",
            code=2,
            name="CUDA_ERROR_OUT_OF_MEMORY",
        )
        error.free = free
        error.total = self._bytes
        return error


class LoggingMemoryResource(AccountingMemoryResource):
    """Logs each allocation and each free of another resource.

    The log records have the attributes ``operation`` (``"allocate"``, ``"free"`` or ``"fail"``), ``size`` (in bytes),
    ``pointer`` and ``stream`` (the handle) for formatters and filters. A failed allocation is logged as a warning.

    Parameters
    ----------
    upstream : :class:`MemoryResource`
        The resource that the memory is allocated from.
    logger : logging.Logger | str, optional
        The logger, or its name. Default is ``"cuda.core.memory"``.
    level : int, optional
        The level of the records of allocations and frees. Default is ``logging.DEBUG``.

    Raises
    ------
    TypeError
        If ``upstream`` is not a :class:`MemoryResource`, ``logger`` not a logger, or ``level`` not an integer.

    Examples
    --------
    >>> import logging
    >>> from cuda.core import Device, DeviceMemoryResource, LoggingMemoryResource
    >>> device = Device()
    >>> device.set_current()
    >>> logging.getLogger("memory").setLevel(logging.DEBUG)
    >>> resource = LoggingMemoryResource(DeviceMemoryResource(device), "memory", logging.DEBUG)
    >>> resource.allocate(1024, stream=device.default_stream).close()
    """

    def __init__(self, upstream, logger="cuda.core.memory", level: int = 10):
        # Imported here, because programs that do not log need not import it.
        logging = importlib.import_module("logging")
        if isinstance(logger, str):
            logger = logging.getLogger(logger)
        if not isinstance(logger, (logging.Logger, logging.LoggerAdapter)):
            raise TypeError(f"logger must be a logging.Logger or a str, its name, not {type(logger).__name__}")
        if isinstance(level, bool) or not isinstance(level, int):
            raise TypeError(f"level must be an int, such as logging.DEBUG, not {type(level).__name__}")
        super().__init__(upstream)
        self._logger = logger
        self._level = level
        self._warning = logging.WARNING

    @property
    def logger(self):
        """The logger."""
        return self._logger

    def _failed(self, size, stream, error):
        reason = " ".join(str(error).splitlines()[:1])
        message = "failed to allocate %d bytes in stream %#x: %s: %s"
        facts = {"operation": "fail", "size": size, "pointer": 0, "stream": stream}
        self._logger.log(self._warning, message, size, stream, type(error).__name__, reason, extra=facts)

    def _allocated(self, pointer, size, stream):
        self._record("allocate", "allocated %d bytes at %#x in stream %#x", size, pointer, stream)

    def _freed(self, pointer, size, stream):
        self._record("free", "freed %d bytes at %#x in stream %#x", size, pointer, stream)

    def _record(self, operation, message, size, pointer, stream):
        facts = {"operation": operation, "size": size, "pointer": pointer, "stream": stream}
        self._logger.log(self._level, message, size, pointer, stream, extra=facts)


class StatisticsMemoryResource(AccountingMemoryResource):
    """Counts the allocations of another resource.

    An allocation counts as in use from its success until its free is enqueued.

    Parameters
    ----------
    upstream : :class:`MemoryResource`
        The resource that the memory is allocated from.

    Raises
    ------
    TypeError
        If ``upstream`` is not a :class:`MemoryResource`.

    Examples
    --------
    >>> from cuda.core import Device, DeviceMemoryResource, StatisticsMemoryResource
    >>> device = Device()
    >>> device.set_current()
    >>> resource = StatisticsMemoryResource(DeviceMemoryResource(device))
    >>> buffer = resource.allocate(1024, stream=device.default_stream)
    >>> resource.statistics.current_bytes
    1024
    """

    def __init__(self, upstream):
        super().__init__(upstream)

    @property
    def statistics(self) -> MemoryStatistics:
        """A snapshot of the current counts."""
        return self._count()

    def reset_peaks(self) -> None:
        """Reset the peaks to the current values."""
        self._reset_peaks()


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

    Examples
    --------
    >>> from cuda.core import Device, DeviceMemoryResource, TrackingMemoryResource
    >>> device = Device()
    >>> device.set_current()
    >>> resource = TrackingMemoryResource(DeviceMemoryResource(device))
    >>> buffer = resource.allocate(1024, stream=device.default_stream)
    >>> "1024" in resource.report()
    True
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
        """Reject further allocations, and warn about memory that is still in use. Buffers stay valid.

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

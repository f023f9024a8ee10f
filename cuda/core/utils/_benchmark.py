# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Timing of functions that enqueue work."""

from __future__ import annotations

import statistics
from time import perf_counter

from cuda.core._stream import Stream, launch_stream
from cuda.core._utils.validators import shown

__all__ = ["Benchmark", "Times", "benchmark"]

MAX_CALLS = 1_000_000  # of one benchmark


class Times:
    """Repeated measurements of one duration, in milliseconds.

    Outliers are measurements outside the quartiles by more than 1.5 times their distance.

    Attributes
    ----------
    all : tuple of float
        All measurements, in order.
    kept : tuple of float
        The measurements without the outliers, sorted.
    outliers : tuple of float
        The outliers, sorted.
    """

    def __init__(self, values):
        self.all = tuple(values)
        values = sorted(self.all)
        low, _, high = statistics.quantiles(values, method="inclusive") if len(values) > 1 else values * 3
        margin = 1.5 * (high - low)
        self.kept = tuple(value for value in values if low - margin <= value <= high + margin)
        self.outliers = tuple(value for value in values if not low - margin <= value <= high + margin)

    @property
    def median(self) -> float:
        """The median of all measurements in milliseconds."""
        return statistics.median(self.all)

    @property
    def mean(self) -> float:
        """The mean without the outliers in milliseconds."""
        return statistics.fmean(self.kept)

    @property
    def min(self) -> float:
        """The least measurement in milliseconds."""
        return min(self.all)

    @property
    def max(self) -> float:
        """The greatest measurement in milliseconds."""
        return max(self.all)

    def __repr__(self):
        return f"<Times median={self.median:.4g} ms of {len(self.all)}>"


class Benchmark:
    """The result of :func:`benchmark`, which prints as a table.

    Attributes
    ----------
    name : str
        The name of the function.
    device : Times
        The time that the device takes for the work of each call.
    host : Times
        The time that each call takes on the host, without waiting for its work.
    """

    def __init__(self, name, device, host):
        self.name, self.device, self.host = name, device, host

    def __str__(self):
        rows = [f"{self.name} ({len(self.device.all)} calls)".ljust(32) + "  median     min    mean     max  outliers"]
        for title, times in (("device, us", self.device), ("host, us", self.host)):
            values = (times.median, times.min, times.mean, times.max)
            numbers = "".join(f"{1000 * value:8.1f}" for value in values)
            rows.append(f"  {title:30}{numbers}{len(times.outliers):10}")
        return "\n".join(rows)

    def __repr__(self):
        return f"<Benchmark of {self.name}: device {self.device!r}, host {self.host!r}>"


def benchmark(
    function, *, stream: Stream | None = None, repeat: int = 100, warmup: int = 10, name: str | None = None
) -> Benchmark:
    """Measure how long the device and the host take for a function that enqueues work on a stream.

    Each call is surrounded by two timed events (``cuEventElapsedTime``). The stream is idle when a call begins, so the
    time of the device includes the latency of the first launch; to measure short kernels, launch several in one call.

    Parameters
    ----------
    function : callable
        Called without arguments. All its work must be on ``stream``.
    stream : :class:`~cuda.core.Stream`, optional
        The stream that the function enqueues its work on. Defaults to the stream of launches that name none: that of
        :meth:`Stream.use() <cuda.core.Stream.use>`, or else the default stream.
    repeat : int, optional
        The number of measured calls. Defaults to 100.
    warmup : int, optional
        The number of calls before the first measured one. Defaults to 10.
    name : str, optional
        The name for the table. Defaults to the name of the function.

    Returns
    -------
    Benchmark
        The measurements.

    Raises
    ------
    TypeError
        If ``function`` is not callable, ``stream`` is not a Stream, ``name`` is not a str, or a count is not an int.
    ValueError
        If ``repeat`` is less than 1, ``warmup`` is negative, or one of them is greater than 1,000,000.
    CUDAError
        If work in the stream failed.

    Examples
    --------
    >>> from cuda.core import Device
    >>> from cuda.core.utils import benchmark
    >>> device = Device()
    >>> device.set_current()
    >>> stream = device.create_stream()
    >>> buffer = device.allocate(4096, stream=stream)
    >>> print(benchmark(lambda: buffer.fill(0, stream=stream), stream=stream, name="fill"))
    fill (100 calls)                  median     min    mean     max  outliers
      device, us                    ...
      host, us                      ...
    """
    if not callable(function):
        raise TypeError(f"function must be callable, not {type(function).__name__}")
    if stream is None:
        stream = launch_stream()
    if not isinstance(stream, Stream):
        raise TypeError(f"stream must be a Stream, not {type(stream).__name__}")
    if name is not None and not isinstance(name, str):
        raise TypeError(f"name must be a str, not {type(name).__name__}")
    check_count("repeat", repeat, 1)
    check_count("warmup", warmup, 0)
    for _ in range(warmup):
        function()
    device, host = [], []
    for _ in range(repeat):
        stream.sync()
        with stream.timed() as timer:
            start = perf_counter()
            function()
            host.append((perf_counter() - start) * 1000)
        device.append(timer.ms)
    return Benchmark(name or getattr(function, "__name__", type(function).__name__), Times(device), Times(host))


def check_count(name: str, value, least: int) -> None:
    """Raise TypeError or ValueError unless ``value`` is an int from ``least`` to ``MAX_CALLS``."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, not {type(value).__name__}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, not {shown(value)}")
    if value > MAX_CALLS:
        raise ValueError(f"{name} must be at most {MAX_CALLS}, not {shown(value)}")

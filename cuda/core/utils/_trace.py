# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Records launches as a trace for chrome://tracing and Perfetto."""

from __future__ import annotations

import contextlib
import json
import os
from _thread import get_native_id
from time import perf_counter

from cuda import core
from cuda.core._event import EventOptions

__all__ = ["trace"]

_TIMED = EventOptions(timing_enabled=True)


@contextlib.contextmanager
def trace(file: str | os.PathLike):
    """Record the kernels that all threads launch in a ``with`` block, and write them to a file as a Chrome trace.

    Open the file with https://ui.perfetto.dev or chrome://tracing. It shows each launch on its thread, with the source
    line, and each kernel on its stream. Kernels are timed by events, which makes launches slower and adds a few
    microseconds to each kernel. Launches during a capture are shown on their threads only, and launches of graphs, copies
    and fills are not recorded; use Nsight Systems for these.

    Parameters
    ----------
    file : str | os.PathLike
        The path of the JSON file, which is overwritten. It is written even if the block raises an exception.

    Raises
    ------
    OSError
        If the file cannot be written.
    CUDAError
        If a recorded kernel failed.

    Examples
    --------
    >>> from cuda.core.utils import trace
    >>> with trace("steps.json"):
    ...     for _ in range(10):
    ...         launch(stream, config, kernel, x)
    """
    recorder = _Recorder()
    with open(file, "w", encoding="utf-8") as output:
        core._launcher.change_observers(add=[recorder.observe])
        try:
            yield
        finally:
            core._launcher.change_observers(remove=[recorder.observe])
            json.dump({"traceEvents": recorder.rows(), "displayTimeUnit": "ms"}, output)


class _Recorder:
    """The launches of one trace."""

    def __init__(self):
        self._launches = []
        self._bases = {}  # by device ordinal: an event, and the host's time when it was recorded

    @contextlib.contextmanager
    def observe(self, launch):
        start = end = None
        if not launch.is_captured:
            self._base(launch.stream.device)
            start = launch.stream.record(options=_TIMED)
        begin = perf_counter()
        yield
        duration = perf_counter() - begin
        if start is not None:
            end = launch.stream.record(options=_TIMED)
        self._launches.append((launch, get_native_id(), begin, duration, start, end))

    def _base(self, device):
        """Return an event of an idle stream of the device, and the host's time at which it completed."""
        if device.device_id not in self._bases:
            with device.create_stream() as stream:
                event = stream.record(options=_TIMED)
                event.sync()
                self._bases[device.device_id] = event, perf_counter()
        return self._bases[device.device_id]

    def rows(self) -> list[dict]:
        """Return the entries of the trace, after waiting for the kernels."""
        rows = []
        for launch, thread, begin, duration, start, end in self._launches:
            grid, block = launch.config.grid, launch.config.block
            source = f"{launch.file}:{launch.line}"
            details = {"grid": str(grid), "block": str(block), "source": source}
            rows.append(_row(f"launch {launch.name}", os.getpid(), thread, begin, duration, details))
            if end is None:
                continue
            device = launch.stream.device.device_id if not launch.stream.is_closed else start.device.device_id
            base, host_time = self._bases[device]
            end.sync()
            at, took = host_time + (start - base) / 1000, (end - start) / 1000
            rows.append(_row(launch.name, f"GPU {device}", _stream_name(launch.stream), at, took, details))
        return rows


def _row(name, process, thread, begin, duration, details) -> dict:
    return {
        "name": name,
        "ph": "X",
        "pid": process,
        "tid": thread,
        "ts": begin * 1e6,
        "dur": duration * 1e6,
        "args": details,
    }


def _stream_name(stream) -> str:
    return f"stream {int(stream.handle):#x}"

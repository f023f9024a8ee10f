# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Records launches as a trace for chrome://tracing and Perfetto."""

from __future__ import annotations

import contextlib
import json
import os
from _thread import get_native_id
from time import perf_counter

from cuda.core._event import EventOptions
from cuda.core._launcher import change_observers
from cuda.core._utils.cuda_utils import CUDAError

__all__ = ["trace"]

_TIMED = EventOptions(timing_enabled=True)


@contextlib.contextmanager
def trace(file: str | os.PathLike):
    """Record the kernels that all threads launch in a ``with`` block, and write them to a file as a Chrome trace.

    Open the file with https://ui.perfetto.dev or chrome://tracing. It shows each launch on its thread, with the source
    line, and each kernel on its stream. Kernels are timed by events, which makes launches slower and adds a few
    microseconds to each kernel. Launches during a capture are shown on their threads only. Launches of graphs, copies
    and fills are not recorded; use Nsight Systems for these.

    Parameters
    ----------
    file : str | os.PathLike
        The path of the JSON file, which is overwritten. It is written even if the block raises an exception.

    Raises
    ------
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import os
    >>> from cuda.core import Device, LaunchConfig, Program, launch
    >>> from cuda.core.utils import trace
    >>> device = Device()
    >>> device.set_current()
    >>> stream = device.create_stream()
    >>> f = Program('extern "C" __global__ void f() {}', "c++").compile("cubin").get_kernel("f")
    >>> with trace(os.devnull):  # or "steps.json"
    ...     launch(stream, LaunchConfig(grid=1, block=1), f)
    """
    recorder = _Recorder()
    with open(file, "w", encoding="utf-8") as output:
        change_observers(add=[recorder.observe])
        try:
            yield
        finally:
            change_observers(remove=[recorder.observe])
            json.dump({"traceEvents": recorder.rows(), "displayTimeUnit": "ms"}, output)


class _Recorder:
    """The launches of one trace."""

    def __init__(self):
        self._rows = []
        self._kernels = []  # row without its times, and the events around the kernel
        self._bases = {}  # by device ordinal: an event, and the host's time at which it completed
        self._names = {}  # of processes and threads of the trace: a device is a process, a stream is a thread

    @contextlib.contextmanager
    def observe(self, launch):
        """Record one launch, as an observer of launches."""
        details = {
            "grid": str(launch.config.grid),
            "block": str(launch.config.block),
            "source": f"{launch.file}:{launch.line}",
        }
        row = start = None
        if not launch.is_captured:
            row = {"name": launch.name, "ph": "X", **self._place(launch.stream), "args": details}
            start = launch.stream.record(options=_TIMED)
        begin = perf_counter()
        yield
        duration = perf_counter() - begin
        place = {"pid": os.getpid(), "tid": get_native_id()}
        self._names.setdefault((place["pid"], None), "host")
        times = {"ts": begin * 1e6, "dur": duration * 1e6}
        self._rows.append({"name": f"launch {launch.name}", "ph": "X", **place, **times, "args": details})
        if row is not None:
            self._kernels.append((row, start, launch.stream.record(options=_TIMED)))

    def _place(self, stream) -> dict:
        """Return the process and thread that stand for a stream, and time an event of its device first."""
        device = stream.device
        if device.device_id not in self._bases:
            with device.create_stream() as other:
                event = other.record(options=_TIMED)
                event.sync()
                self._bases[device.device_id] = event, perf_counter()
        process, thread = _FIRST_DEVICE + device.device_id, hash(stream) & 0x7FFFFFFF
        self._names.setdefault((process, None), f"GPU {device.device_id}")
        self._names.setdefault((process, thread), f"stream {hash(stream):#x}")
        return {"pid": process, "tid": thread}

    def rows(self) -> list[dict]:
        """Return the entries of the trace, without failed kernels, after waiting for the others."""
        kernels = []
        for row, start, end in self._kernels:
            base, host_time = self._bases[row["pid"] - _FIRST_DEVICE]
            with contextlib.suppress(CUDAError):  # a kernel failed, which the program's own calls report
                end.sync()
                kernels.append({**row, "ts": host_time * 1e6 + (start - base) * 1e3, "dur": (end - start) * 1e3})
        return [*self._rows, *kernels, *map(_name_row, self._names.items())]


# Above the process IDs of the host.
_FIRST_DEVICE = 1 << 24


def _name_row(item) -> dict:
    (process, thread), name = item
    kind = "process_name" if thread is None else "thread_name"
    return {"name": kind, "ph": "M", "pid": process, "tid": thread or 0, "args": {"name": name}}

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Measure how much time the library's calls add to the driver's.

The driver does nothing here (``null_driver.c``), so no GPU is needed, and the time of a call is entirely the
library's. Times are also shown as multiples of an empty Python call. The baseline stores these ratios, because
they are comparable between machines.

    python overhead.py                          print the figures
    python overhead.py --compare baseline.json  also fail if one is more than 30 % above the baseline
    python overhead.py --store baseline.json    also store them as the baseline
    python overhead.py launch record            only measure rows whose names contain one of the words
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import native

TOLERANCE = 1.3
# A row that seems slower is measured again, because noise only ever adds time.
ATTEMPTS = 5
# Smaller differences, in multiples of an empty call, are noise.
RESOLUTION = 0.3

SOURCE = """
extern "C" __global__ void none() {}
extern "C" __global__ void one_8(float* p) {}
extern "C" __global__ void saxpy_4_8_8_8_8(float a, const float* x, const float* y, float* out, size_t n) {}
extern "C" __global__ void many_8_8_8_8_8_8_8_8_8_8_8_8_8_8_8_8(
    int* a, int* b, int* c, int* d, int* e, int* f, int* g, int* h,
    int* i, int* j, int* k, int* l, int* m, int* n, int* o, int* p) {}
"""

Row = tuple[str, Callable[[], object]]


def main() -> int:
    arguments = parse_arguments()
    native.load_null_driver()
    rows = [row for row in all_rows() if not arguments.rows or any(word in row[0] for word in arguments.rows)]
    baseline = json.loads(arguments.compare.read_text()) if arguments.compare else {}

    ratios = {}
    slower = []
    print(f"{'row':32}{'ns':>8}{'empty calls':>13}{'baseline':>10}")
    for name, call in rows:
        stored = baseline.get(name)
        ratio, least = measure(call, limit(stored))
        ratios[name] = round(ratio, 2)
        if ratio > limit(stored):
            slower.append(name)
        print(f"{name:32}{least:8.0f}{ratio:13.2f}{stored if stored is not None else '-':>10}")
    if not arguments.rows:
        ratios["import cuda.core"] = import_ratio()
        stored = baseline.get("import cuda.core")
        if ratios["import cuda.core"] > limit(stored):
            slower.append("import cuda.core")
        print(f"{'import cuda.core (starts)':32}{'':8}{ratios['import cuda.core']:13.2f}{stored or '-':>10}")

    if arguments.store:
        arguments.store.write_text(json.dumps(ratios, indent=2) + "\n")
    missing = [name for name in baseline if name not in ratios and not arguments.rows]
    for name in slower:
        print(f"slower than the baseline: {name}", file=sys.stderr)
    for name in missing:
        print(f"in the baseline but not measured: {name}", file=sys.stderr)
    return 1 if slower or missing else 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the overhead of calls beyond the driver.")
    parser.add_argument("rows", nargs="*", help="words that the names of the rows to measure contain")
    parser.add_argument("--compare", type=Path, help="baseline to compare with")
    parser.add_argument("--store", type=Path, help="where to store the figures as a baseline")
    return parser.parse_args()


def limit(stored: float | None) -> float:
    """Return the highest ratio that does not count as a regression."""
    return float("inf") if stored is None else max(stored * TOLERANCE, stored + RESOLUTION)


def measure(call: Callable[[], object], limit: float) -> tuple[float, float]:
    """Return the time of a call in empty calls and in nanoseconds, measured again while over the limit."""
    best = compare(call)
    for _ in range(ATTEMPTS - 1):
        if best[0] <= limit:
            break
        best = min(best, compare(call))
    return best


def compare(call: Callable[[], object], repeats: int = 41) -> tuple[float, float]:
    """Return the median ratio to an empty call timed right before, at the same clock rate, and the least time."""
    for _ in range(200):
        call()
    pairs = [(nanoseconds(empty), nanoseconds(call)) for _ in range(repeats)]
    return statistics.median(taken / reference for reference, taken in pairs), min(taken for _, taken in pairs)


def nanoseconds(call: Callable[[], object], loops: int = 500) -> float:
    """Return the time per call, averaged over many calls."""
    start = time.perf_counter_ns()
    for _ in range(loops):
        call()
    return (time.perf_counter_ns() - start) / loops


def empty() -> None:
    """Do nothing. Ratios are multiples of this call."""


def import_ratio() -> float:
    """Return the time to start Python and import the package, as a multiple of the time to start Python."""

    def seconds(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - start

    plain, importing = (min(seconds(code) for _ in range(7)) for code in ("pass", "import cuda.core"))
    return round(importing / plain, 2)


def all_rows() -> Iterator[Row]:
    """Yield the rows: a name and the call to time."""
    from cuda.core import Device, LaunchConfig, Program, ProgramOptions

    device = Device()
    device.set_current()
    stream = device.create_stream()
    code = Program(SOURCE, "c++", ProgramOptions(arch="sm_90")).compile("cubin")
    config = LaunchConfig(grid=1, block=1)
    yield from launch_rows(device, stream, code, config)
    yield "LaunchConfig()", lambda: LaunchConfig(grid=1, block=1)
    yield "get_kernel, seen before", lambda: code.get_kernel("none")
    yield from device_rows(device)
    yield from stream_rows(device, stream)
    yield from memory_rows(device, stream)
    yield from graph_rows(stream, code, config)


def launch_rows(device, stream, code, config) -> Iterator[Row]:
    from cuda.core import LaunchConfig, launch

    names = ("none", "one_8", "saxpy_4_8_8_8_8", "many" + "_8" * 16)
    none, one, saxpy, many = (code.get_kernel(name) for name in names)
    x, y, out = [device.allocate(1024, stream=stream) for _ in range(3)]
    saxpy_arguments = (np.float32(2), x, y, out, np.uint64(256))
    integers = (int(x.handle),) * 16
    buffers = (x,) * 16
    yield "launch, no argument", lambda: launch(stream, config, none)
    yield "launch, 1 buffer", lambda: launch(stream, config, one, x)
    yield "launch, saxpy", lambda: launch(stream, config, saxpy, *saxpy_arguments)
    yield "launch, 16 integers", lambda: launch(stream, config, many, *integers)
    yield "launch, 16 buffers", lambda: launch(stream, config, many, *buffers)
    yield "launch, config made inline", lambda: launch(stream, LaunchConfig(grid=1, block=1), none)
    if hasattr(none, "bind"):
        bound_none, bound_saxpy = none.bind(config, stream=stream), saxpy.bind(config, stream=stream)
        yield "bound kernel, no argument", lambda: bound_none()
        yield "bound kernel, saxpy", lambda: bound_saxpy(*saxpy_arguments)


def device_rows(device) -> Iterator[Row]:
    Device = type(device)
    yield "Device()", lambda: Device()
    yield "Device(0)", lambda: Device(0)
    yield "set_current", lambda: device.set_current()
    yield "compute_capability", lambda: device.compute_capability
    yield "properties.x", lambda: device.properties.multiprocessor_count


def stream_rows(device, stream) -> Iterator[Row]:
    event = stream.record()
    other = device.create_stream()
    yield "create_stream and close", lambda: device.create_stream().close()
    yield "stream.sync", lambda: stream.sync()
    yield "record, new event", lambda: stream.record()
    yield "record, same event", lambda: stream.record(event)
    yield "event.is_done", lambda: event.is_done
    yield "wait for event", lambda: other.wait(event)
    yield "wait for stream", lambda: other.wait(stream)


def memory_rows(device, stream) -> Iterator[Row]:
    first, second = [device.allocate(1024, stream=stream) for _ in range(2)]
    resource = device.memory_resource
    yield "device.allocate and close", lambda: device.allocate(1024, stream=stream).close(stream)
    yield "resource.allocate and close", lambda: resource.allocate(1024, stream=stream).close(stream)
    yield "copy_to", lambda: first.copy_to(second, stream=stream)
    yield "fill", lambda: first.fill(0, stream=stream)
    yield "int(buffer.handle)", lambda: int(first.handle)
    yield "buffer.size", lambda: first.size


def graph_rows(stream, code, config) -> Iterator[Row]:
    from cuda.core.graph import GraphDefinition

    definition, kernel, arguments = GraphDefinition(), code.get_kernel("one_8"), (4096,)
    node = definition.launch(config, kernel, *arguments)
    graph = definition.instantiate()
    view = graph[node]
    yield "graph.launch", lambda: graph.launch(stream)
    yield "update a node", lambda: view.update(config=config, kernel=kernel, args=arguments)
    yield from replayed_rows(stream, kernel, config)


def replayed_rows(stream, kernel, config) -> Iterator[Row]:
    from cuda.core import Device, launch
    from cuda.core.graph import capture

    # Use more buffers than a captured function remembers, so every call has a new one.
    buffers = itertools.cycle([Device().allocate(256, stream=stream) for _ in range(600)])

    def work(stream, buffer):
        for _ in range(3):
            launch(stream, config, kernel, buffer)

    again, patched, captured = capture(work), capture(work, data="buffer"), capture(work)
    same = next(buffers)
    yield "captured function, the same", lambda: again(stream, same)
    yield "captured function, new data", lambda: patched(stream, next(buffers))
    yield "captured function, new buffer", lambda: captured(stream, next(buffers))


if __name__ == "__main__":
    sys.exit(main())

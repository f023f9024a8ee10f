# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Time memory, copies, events and streams on a GPU, through the driver's C interface and ``cuda.core``.

Batched copies are also timed through ``cuda.bindings``. All ways take turns in one run, on the same memory
and the same stream. A batch is short enough not to fill the GPU's queue, so the figures are host times,
except in the last two rows, which wait for the copies. They are medians in microseconds; "ours - C" is the
overhead over the C calls.

    python memory_gpu.py [--json FILE] [--rounds N]
"""

from __future__ import annotations

import argparse
import ctypes
import json
import sys
from collections.abc import Callable
from pathlib import Path

from cuda.bindings import driver
from turns import measure, timed_loop

import native
from cuda.core import Device
from cuda.core.utils import copy_batch

BATCH = 100
COPIES = 64
# The overhead limit for rows that make a single driver call, in microseconds.
ALLOWED = 0.3
SINGLE = ("copy 1 KiB", "fill 1 KiB", "record, reused")

LOOPS = native.load("memory_loop.c")
Size, Address = ctypes.c_size_t, ctypes.c_uint64


def main() -> int:
    parser = argparse.ArgumentParser(description="Time memory operations on a GPU.")
    parser.add_argument("--json", type=Path, help="where to store the figures")
    parser.add_argument("--rounds", type=int, default=200)
    arguments = parser.parse_args()
    device = Device()
    device.set_current()
    stream = device.create_stream()

    print(f"{device.name}, {BATCH} calls a batch, medians of {arguments.rounds} batches, microseconds")
    print(f"{'operation':28}{'C':>9}{'bindings':>9}{'ours':>9}{'ours - C':>10}{'ours / C':>10}")
    results = {}
    for name, ways in rows(device, stream):
        figures = results[name] = measure(stream, ways, arguments.rounds)
        c, ours = figures["C"], figures["ours"]
        bindings = figures.get("bindings", float("nan"))
        print(f"{name:28}{c:9.2f}{bindings:9.2f}{ours:9.2f}{ours - c:10.2f}{ours / c:10.2f}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"device": device.name, "microseconds": results}, indent=2) + "\n")
    within = all(results[name]["ours"] - results[name]["C"] <= ALLOWED for name in SINGLE)
    print(f"single calls cost {'at most' if within else 'MORE THAN'} {ALLOWED} over the C call")
    return 0 if within else 1


def rows(device, stream):
    """Yield each operation's name and ways. A way runs a batch and returns the nanoseconds per call."""
    handle = ctypes.c_void_p(int(stream.handle))
    pool = ctypes.c_void_p(int(device.memory_resource.handle))
    a, b = (device.allocate(1024, stream=stream) for _ in range(2))
    event = stream.record()

    allocate, free = entry("cuMemAllocFromPoolAsync", 11020), entry("cuMemFreeAsync", 11020)
    create, record, destroy = entry("cuEventCreate"), entry("cuEventRecord"), entry("cuEventDestroy")
    yield (
        "allocate and free 1 KiB",
        {
            "C": loop("time_allocations", allocate, free, pool, handle, Size(1024)),
            "ours": ours("device.allocate(1024, stream=stream).close()", device=device, stream=stream),
        },
    )
    yield (
        "copy 1 KiB",
        {
            "C": loop("time_copies", entry("cuMemcpyAsync"), address(b), address(a), Size(1024), handle),
            "ours": ours("a.copy_to(b, stream=stream)", a=a, b=b, stream=stream),
        },
    )
    yield (
        "fill 1 KiB",
        {
            "C": loop("time_fills", entry("cuMemsetD8Async"), address(a), Size(1024), handle),
            "ours": ours("a.fill(7, stream=stream)", a=a, stream=stream),
        },
    )
    yield (
        "record, reused",
        {
            "C": loop("time_records", create, record, destroy, ctypes.c_void_p(int(event.handle)), handle),
            "ours": ours("stream.record(event)", stream=stream, event=event),
        },
    )
    yield (
        "record, new event",
        {
            "C": loop("time_records", create, record, destroy, None, handle),
            "ours": ours("stream.record()", stream=stream),
        },
    )
    yield (
        "create and destroy a stream",
        {
            "C": loop("time_streams", entry("cuStreamCreateWithPriority"), entry("cuStreamDestroy")),
            "ours": ours("device.create_stream().close()", device=device),
        },
    )
    for size in (1 << 10, 1 << 20):
        yield f"{COPIES} copies of {size >> 10} KiB", batches(device, stream, handle, size)


def batches(device, stream, handle, size: int) -> dict[str, Callable[[], float]]:
    """Return the ways to make batched copies and wait for them."""
    sources, targets = ([device.allocate(size, stream=stream) for _ in range(COPIES)] for _ in range(2))
    attributes = driver.CUmemcpyAttributes()
    attributes.srcAccessOrder = driver.CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM
    arrays = [(Address * COPIES)(*[int(buffer.handle) for buffer in buffers]) for buffers in (targets, sources)]
    c = loop(
        "time_batches",
        entry("cuMemcpyBatchAsync", 13000),
        *arrays,
        (Size * COPIES)(*[size] * COPIES),
        Size(COPIES),
        ctypes.c_void_p(attributes.getPtr()),
        handle,
        entry("cuStreamSynchronize"),
        count=1,
    )
    names = {"copy_batch": copy_batch, "stream": stream, "sources": sources, "targets": targets}
    call = "copy({}); wait(stream)"
    pointers = [[driver.CUdeviceptr(pointer) for pointer in array] for array in arrays]
    values = (*pointers, [size] * COPIES, COPIES, [attributes], [0], 1, stream.handle)
    functions = {"copy": driver.cuMemcpyBatchAsync, "wait": driver.cuStreamSynchronize, "stream": stream.handle}
    return {
        "C": c,
        "bindings": timed_loop(call, 1, values, **functions),
        "ours": timed_loop("copy_batch(stream, sources, targets); stream.sync()", 1, **names),
    }


def entry(name: str, version: int = 12000) -> ctypes.c_void_p:
    """Return the address of a driver function."""
    error, found, _ = driver.cuGetProcAddress(name.encode(), version, 0)
    if error:
        raise RuntimeError(f"this driver has no {name} of version {version}")
    return ctypes.c_void_p(found)


def address(buffer) -> ctypes.c_uint64:
    return Address(int(buffer.handle))


def loop(name: str, *values, count: int = BATCH) -> Callable[[], float]:
    """Return a batch that runs a memory_loop.c function."""
    function = getattr(LOOPS, name)
    function.restype = ctypes.c_int64

    def batch() -> float:
        total = function(*values, ctypes.c_int(count))
        if total < 0:
            raise RuntimeError(f"{name} failed with code {-total}")
        return total / count

    return batch


def ours(text: str, **names) -> Callable[[], float]:
    return timed_loop(text, BATCH, **names)


if __name__ == "__main__":
    sys.exit(main())

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Time graphs on a GPU, through the driver's C interface and the installed cuda.core.

All ways take turns in one run, on the same stream. The figures are medians of host times, in microseconds. Run this
with the interpreters of two installations to compare each with C. Rows that an installation does not support are
skipped.

    python graphs_gpu.py [--json FILE] [--rounds N]
"""

from __future__ import annotations

import argparse
import ctypes
import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path

from cuda.bindings import driver
from turns import measure, timed_loop

import cuda.core
import cuda.core.graph
import native
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
from cuda.core.graph import GraphDefinition

REPLAYED, CAPTURED = 10, 1000
SOURCE = 'extern "C" __global__ void none(float* p) {}'
# Limits for the overhead over C, in microseconds or, for a long operation, as a ratio.
ALLOWED = {
    "replay 10 kernels": 0.3,
    "update a node": 0.3,
    "captured function, changed pointer": 1.0,
    "captured function, other buffer": 1.0,
}
ALLOWED_RATIO = {"capture 1000 kernels": 1.2}
NAMES = (
    ("begin", "cuStreamBeginCapture", 10010),
    ("launch", "cuLaunchKernelEx", 11060),
    ("end", "cuStreamEndCapture", 10000),
    ("instantiate", "cuGraphInstantiateWithFlags", 11040),
    ("update", "cuGraphExecUpdate", 12000),
    ("run", "cuGraphLaunch", 10000),
    ("set", "cuGraphExecKernelNodeSetParams", 12000),
    ("destroy", "cuGraphDestroy", 10000),
    ("destroy_executable", "cuGraphExecDestroy", 10000),
)

LOOPS = native.load("graph_loop.c")
Pointer, Int = ctypes.c_void_p, ctypes.c_int


class Calls(ctypes.Structure):
    """The driver functions, in the order that graph_loop.c expects."""

    _fields_ = [(field, Pointer) for field, _, _ in NAMES]


def main() -> int:
    parser = argparse.ArgumentParser(description="Time graphs on a GPU.")
    parser.add_argument("--json", type=Path, help="where to store the figures")
    parser.add_argument("--rounds", type=int, default=100)
    arguments = parser.parse_args()
    device = Device()
    device.set_current()
    stream = device.create_stream()

    what = f"cuda.core {cuda.core.__version__}"
    print(f"{device.name}, medians of {arguments.rounds} batches, microseconds")
    print(f"{'operation':38}{'C':>10}{what:>18}{'- C':>9}{'/ C':>9}")
    results, over = {}, []
    for name, ways in rows(device, stream):
        figures = results[name] = measure(stream, ways, arguments.rounds)
        c, ours = figures["C"], figures["cuda.core"]
        print(f"{name:38}{c:10.2f}{ours:18.2f}{ours - c:9.2f}{ours / c:9.2f}")
        if ours - c > ALLOWED.get(name, float("inf")) or ours / c > ALLOWED_RATIO.get(name, float("inf")):
            over.append(name)
    if arguments.json:
        table = {"device": device.name, "version": cuda.core.__version__, "microseconds": results}
        arguments.json.write_text(json.dumps(table, indent=2) + "\n")
    print("over the limit: " + ", ".join(over) if over else "all rows are within their limits")
    return 1 if over else 0


def rows(device, stream):
    """Yield each operation's name and ways. A way runs a batch and returns the nanoseconds per call."""
    code = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
    kernel, config = code.get_kernel("none"), LaunchConfig(grid=1, block=1)
    buffers = [device.allocate(64, stream=stream) for _ in range(2)]
    address = int(buffers[0].handle)
    c_stream, c_kernel = Pointer(int(stream.handle)), Pointer(int(kernel.handle))
    names = {"device": device, "stream": stream, "kernel": kernel, "config": config, "launch": launch}

    definition = GraphDefinition()
    nodes = [definition.launch(config, kernel, address)]
    for _ in range(REPLAYED - 1):
        nodes.append(nodes[-1].launch(config, kernel, address))
    graph = definition.instantiate()
    c_graph, c_node = Pointer(int(graph.handle)), Pointer(int(nodes[0].handle))
    yield (
        "replay 10 kernels",
        {
            "C": loop("time_replays", c_graph, c_stream, count=50),
            "cuda.core": timed_loop("graph.launch(stream)", 50, graph=graph, stream=stream),
        },
    )
    if hasattr(type(graph), "__getitem__"):
        update = "node.update(config=config, kernel=kernel, args=(address,))"
        yield (
            "update a node",
            {
                "C": loop("time_updates", c_graph, c_node, c_kernel, Pointer(address), count=100),
                "cuda.core": timed_loop(update, 100, node=graph[nodes[0]], address=address, **names),
            },
        )

    def capture_all():
        builder = device.create_graph_builder().begin_building()
        for _ in range(CAPTURED):
            launch(builder, config, kernel, address)
        graph = builder.end_building().complete()
        graph.close()
        builder.close()

    capturing = device.create_stream()
    c_capturing = Pointer(int(capturing.handle))
    yield (
        "capture 1000 kernels",
        {
            "C": loop("time_captures", c_capturing, c_kernel, Pointer(address), Int(CAPTURED), count=1),
            "cuda.core": timed_loop("capture_all()", 1, capture_all=capture_all),
        },
    )
    if hasattr(cuda.core.graph, "capture"):
        yield "captured function, changed pointer", changed_pointers(stream, buffers, names)
        yield "captured function, other buffer", other_buffers(device, stream, buffers, names)
        yield "the same, captured again", captured_pointers(stream, buffers, c_capturing, c_kernel, names)


def changed_pointers(stream, buffers, names) -> dict[str, Callable[[], float]]:
    """Return the ways to replay three kernels with a new pointer in their nodes each time."""
    step, addresses = captured_step(stream, buffers, names, data="address")
    graph, nodes = chain_of_three(buffers, names)
    changed = (Pointer * 3)(*[int(node.handle) for node in nodes])
    handles = Pointer(int(stream.handle)), Pointer(int(names["kernel"].handle)), Pointer(int(buffers[0].handle))
    both = loop("time_patches", Pointer(int(graph.handle)), changed, *handles, Int(3), count=20)
    both.kept = graph, nodes
    return {
        "C": both,
        "cuda.core": timed_loop("step(stream, next(addresses))", 20, step=step, stream=stream, addresses=addresses),
    }


def other_buffers(device, stream, buffers, names) -> dict[str, Callable[[], float]]:
    """Return the ways to replay with a new buffer each time. Buffers are data without being named."""
    # Use more buffers than the function remembers, so every call has a new one.
    pool = itertools.cycle([device.allocate(256, stream=stream) for _ in range(1200)])
    ways = changed_pointers(stream, buffers, names)
    step, _ = captured_step(stream, buffers, names)
    for _ in range(1200):
        step(stream, next(pool))
    stream.sync()
    ours = timed_loop("step(stream, next(pool))", 20, step=step, stream=stream, pool=pool)
    return {"C": ways["C"], "cuda.core": ours}


def captured_pointers(stream, buffers, c_capturing, c_kernel, names) -> dict[str, Callable[[], float]]:
    """Return the ways to capture three kernels again with a new pointer each time."""
    step, addresses = captured_step(stream, buffers, names)
    graph, nodes = chain_of_three(buffers, names)
    handles = Pointer(int(stream.handle)), c_kernel, Pointer(int(buffers[0].handle))
    both = loop("time_changes", Pointer(int(graph.handle)), c_capturing, *handles, Int(3), count=20)
    both.kept = graph, nodes
    return {
        "C": both,
        "cuda.core": timed_loop("step(stream, next(addresses))", 20, step=step, stream=stream, addresses=addresses),
    }


def captured_step(stream, buffers, names, **options):
    kernel, config = names["kernel"], names["config"]

    def step(stream, address):
        for _ in range(3):
            launch(stream, config, kernel, address)

    address = int(buffers[0].handle)
    captured = cuda.core.graph.capture(step, **options)
    captured(stream, address)
    # Every address is new, because a reused address would get its own executable.
    return captured, iter(range(address + 256, address + (1 << 40), 256))


def chain_of_three(buffers, names):
    config, kernel, address = names["config"], names["kernel"], int(buffers[0].handle)
    definition = GraphDefinition()
    nodes = [definition.launch(config, kernel, address)]
    for _ in range(2):
        nodes.append(nodes[-1].launch(config, kernel, address))
    return definition.instantiate(), nodes


def loop(name: str, *values, count: int) -> Callable[[], float]:
    """Return a batch that runs a graph_loop.c function."""
    function = getattr(LOOPS, name)
    function.restype = ctypes.c_int64
    calls = Calls(*[entry(name, version) for _, name, version in NAMES])

    def batch() -> float:
        total = function(ctypes.byref(calls), *values, Int(count))
        if total < 0:
            raise RuntimeError(f"{name} failed with code {-total}")
        return total / count

    return batch


def entry(name: str, version: int) -> int:
    """Return the address of a driver function."""
    error, found, _ = driver.cuGetProcAddress(name.encode(), version, 0)
    if error or not found:
        raise RuntimeError(f"this driver has no {name} of version {version}")
    return found


if __name__ == "__main__":
    sys.exit(main())

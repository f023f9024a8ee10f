# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Threads use nodes and graphs while other threads change and destroy them: only documented exceptions may occur.

cd tests && CUDA_CORE_DEVICE=auto PYTHONPATH=$PWD/..:. python -m support.graph_edits --seconds 60 --seed 1
"""

from __future__ import annotations

import argparse
import collections
import json
import random
import sys
import threading
import time

from cuda.core import CUDAError, Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions
from cuda.core.graph import GraphDefinition

SOURCE = 'extern "C" __global__ void store(int *out, int value) { *out = value; }'
ONE, TWO = LaunchConfig(grid=1, block=1), LaunchConfig(grid=2, block=1)
THREADS = 8
LEAST_DONE = 25  # successful calls per thread, even if the time is short
DOCUMENTED = (RuntimeError, ValueError, CUDAError)


class SharedGraph:
    """A graph definition, some of its nodes, and an executable of it."""

    def __init__(self, kernel, memory, event):
        self.definition = GraphDefinition()
        first = self.definition.launch(ONE, kernel, memory, 1)
        second = first.memset(memory, 0, 8)
        child = GraphDefinition()
        child.launch(ONE, kernel, memory, 2)
        embedded = second.embed(child)
        self.below = embedded.child_graph
        (below,) = self.below.nodes()
        self.nodes = [first, second, embedded, embedded.record(event), second.memcpy(memory, memory[8:], 8), below]
        self.executable = self.definition.instantiate()


class Worker(threading.Thread):
    """A thread that makes random calls with the shared graph until the end."""

    def __init__(self, shared, seed: int, end: float):
        super().__init__()
        self.shared = shared
        self.rng = random.Random(seed)
        self.end = end
        self.counts = collections.Counter()
        self.failures = []

    def run(self):
        Device(0).set_current()
        while time.monotonic() < self.end or (self.counts["done"] < LEAST_DONE and time.monotonic() < self.end + 30):
            work = self.rng.choice(WORKS)
            graph = self.shared["graph"]
            try:
                work(self.shared, graph, self.rng.choice(graph.nodes), self.rng.choice(graph.nodes))
                self.counts["done"] += 1
            except DOCUMENTED as error:
                self.counts[type(error).__name__] += 1
            except BaseException as error:
                self.failures.append(f"{type(error).__name__}: {error}")


def renew(shared, graph, node, other):
    shared["graph"] = SharedGraph(shared["kernel"], shared["memory"], shared["event"])


def read_attributes(shared, graph, node, other):
    repr(node), node.type, node.handle, node.is_valid, node.graph
    for name in ("kernel", "config", "priority", "cluster", "dst", "value", "src", "size", "event", "child_graph"):
        getattr(node, name, None)


def set_parameters(shared, graph, node, other):
    if hasattr(node, "priority"):
        node.priority = 0
        node.update(config=TWO)


def set_edges(shared, graph, node, other):
    node.pred = [other]


def change_executable(shared, graph, node, other):
    if hasattr(node, "kernel"):
        graph.executable[node].update(config=TWO, kernel=shared["kernel"], args=(shared["memory"], 3))


WORKS = [
    renew,
    read_attributes,
    set_parameters,
    set_edges,
    change_executable,
    lambda shared, graph, node, other: node.destroy(),
    lambda shared, graph, node, other: (set(node.pred), set(node.succ)),
    lambda shared, graph, node, other: (graph.definition.nodes(), graph.definition.edges(), graph.below.nodes()),
    lambda shared, graph, node, other: node.launch(ONE, shared["kernel"], shared["memory"], 4),
    lambda shared, graph, node, other: node.join(other),
    lambda shared, graph, node, other: GraphDefinition().embed(graph.below),
    lambda shared, graph, node, other: graph.definition.instantiate().close(),
    lambda shared, graph, node, other: graph.executable.update(graph.definition),
]


def run(seconds: float, seed: int) -> dict:
    """Run the threads for at least this time; return the counts of outcomes and the failures."""
    device = Device(0)
    device.set_current()
    code = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
    memory = LegacyPinnedMemoryResource().allocate(64)
    shared = {"kernel": code.get_kernel("store"), "memory": memory, "event": device.create_event()}
    renew(shared, None, None, None)
    sys.setswitchinterval(1e-6)
    end = time.monotonic() + seconds
    workers = [Worker(shared, seed * 100 + number, end) for number in range(THREADS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    counts = sum((worker.counts for worker in workers), collections.Counter())
    return {"counts": dict(counts), "failures": [failure for worker in workers for failure in worker.failures][:5]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    result = run(arguments.seconds, arguments.seed)
    print(json.dumps(result, indent=1))
    return 1 if result["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())

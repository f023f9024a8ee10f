# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Threads that use nodes and graphs which other threads change and destroy: only documented exceptions may come out.

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

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions
from cuda.core._utils.cuda_utils import CUDAError
from cuda.core.graph import GraphDefinition

SOURCE = 'extern "C" __global__ void store(int *out, int value) { *out = value; }'
ONE, TWO = LaunchConfig(grid=1, block=1), LaunchConfig(grid=2, block=1)
THREADS = 8
DOCUMENTED = (RuntimeError, ValueError, CUDAError)


class Table:
    """A graph, some of its nodes, and an executable that was made of it."""

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


class Guest(threading.Thread):
    """A thread that does something with the table, again and again."""

    def __init__(self, room, seed: int, end: float):
        super().__init__()
        self.room = room
        self.rng = random.Random(seed)
        self.end = end
        self.counts = collections.Counter()
        self.failures = []

    def run(self):
        Device(0).set_current()
        while time.monotonic() < self.end:
            work = self.rng.choice(WORKS)
            table = self.room["table"]
            try:
                work(self.room, table, self.rng.choice(table.nodes), self.rng.choice(table.nodes))
                self.counts["done"] += 1
            except DOCUMENTED as error:
                self.counts[type(error).__name__] += 1
            except BaseException as error:
                self.failures.append(f"{type(error).__name__}: {error}")


def renew(room, table, node, other):
    room["table"] = Table(room["kernel"], room["memory"], room["event"])


def look(room, table, node, other):
    repr(node), node.type, node.handle, node.is_valid, node.graph
    for name in ("kernel", "config", "priority", "cluster", "dst", "value", "src", "size", "event", "child_graph"):
        getattr(node, name, None)


def set_parameters(room, table, node, other):
    if hasattr(node, "priority"):
        node.priority = 0
        node.update(config=TWO)


def set_edges(room, table, node, other):
    node.pred = [other]


def change_executable(room, table, node, other):
    if hasattr(node, "kernel"):
        table.executable[node].update(config=TWO, kernel=room["kernel"], args=(room["memory"], 3))


WORKS = [
    renew,
    look,
    set_parameters,
    set_edges,
    change_executable,
    lambda room, table, node, other: node.destroy(),
    lambda room, table, node, other: (set(node.pred), set(node.succ)),
    lambda room, table, node, other: (table.definition.nodes(), table.definition.edges(), table.below.nodes()),
    lambda room, table, node, other: node.launch(ONE, room["kernel"], room["memory"], 4),
    lambda room, table, node, other: node.join(other),
    lambda room, table, node, other: GraphDefinition().embed(table.below),
    lambda room, table, node, other: table.definition.instantiate().close(),
    lambda room, table, node, other: table.executable.update(table.definition),
]


def run(seconds: float, seed: int) -> dict:
    """Work for so long, and return the counts of outcomes and the failures."""
    device = Device(0)
    device.set_current()
    code = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
    memory = LegacyPinnedMemoryResource().allocate(64)
    room = {"kernel": code.get_kernel("store"), "memory": memory, "event": device.create_event()}
    renew(room, None, None, None)
    sys.setswitchinterval(1e-6)
    end = time.monotonic() + seconds
    guests = [Guest(room, seed * 100 + number, end) for number in range(THREADS)]
    for guest in guests:
        guest.start()
    for guest in guests:
        guest.join()
    counts = sum((guest.counts for guest in guests), collections.Counter())
    return {"counts": dict(counts), "failures": [failure for guest in guests for failure in guest.failures][:5]}


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

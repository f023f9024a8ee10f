# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Threads build, clone, change, destroy, launch and drop graphs at random; at the end, leaked operands are counted.

    cd tests && CUDA_CORE_DEVICE=auto PYTHONPATH=$PWD/..:. python -m support.graph_stress --rounds 10000 --seed 1

Each shared definition is changed under its own lock, as the interface demands; executables need no lock.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import ctypes
import gc
import json
import random
import sys
import threading
import time
import weakref

from cuda.core import (
    CUDAError,
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    LaunchConfig,
    Program,
    ProgramOptions,
    launch,
)
from cuda.core.graph import GraphBuilder, GraphDefinition

SOURCE = 'extern "C" __global__ void add(unsigned *out, unsigned value) { atomicAdd(out, value); }'
ONE = LaunchConfig(grid=1, block=1)
SLOTS = 12
MOST_NODES = 12


class Callee:
    """A function for callbacks; ``alive`` has all that exist."""

    alive = weakref.WeakSet()
    lock = threading.Lock()

    def __init__(self):
        with self.lock:
            self.alive.add(self)
        self.calls = 0

    def __call__(self):
        self.calls += 1


# A C function, which needs no interpreter.
PLAIN = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(("srand", ctypes.CDLL(None)))


class Slot:
    """A definition, its executables, and the lock that guards their changes."""

    def __init__(self):
        self.lock = threading.Lock()
        self.definition = GraphDefinition()
        self.graphs = []


class Stress:
    """Rounds of random work on shared graphs."""

    def __init__(self, rounds: int, threads: int, seed: int, plain_callbacks: bool = False):
        self.device = Device(0)
        self.device.set_current()
        self.rounds, self.seed = rounds, seed
        self.counts = collections.Counter()
        self.failures = []
        self.plain = plain_callbacks
        self.callee = (lambda: PLAIN) if plain_callbacks else Callee
        options = ProgramOptions(arch=f"sm_{self.device.arch}")
        self.kernel = Program(SOURCE, "c++", options).compile("cubin").get_kernel("add")
        self.resource = DeviceMemoryResource(self.device, DeviceMemoryResourceOptions())
        # For captured launches: a graph does not keep their memory, and callbacks that could are replaced here.
        self.lasting = self.device.allocate(64, stream=self.device.default_stream)
        self.lasting.fill(0, stream=self.device.default_stream)
        self.device.sync()
        self.slots = [Slot() for _ in range(SLOTS)]
        self.threads = [threading.Thread(target=self._work, args=(index,)) for index in range(threads)]
        self.left = threading.Semaphore(rounds)

    def run(self) -> dict:
        """Do all rounds, drop everything, and return counts, failures and leaks."""
        start = time.monotonic()
        for thread in self.threads:
            thread.start()
        for thread in self.threads:
            thread.join()
        self.slots.clear()
        self.device.sync()
        deadline = time.monotonic() + 20
        while (Callee.alive or self.resource.attributes.used_mem_current) and time.monotonic() < deadline:
            gc.collect()
            self.device.sync()
            time.sleep(0.01)
        return {
            "rounds": self.rounds,
            "seconds": round(time.monotonic() - start, 1),
            "counts": dict(sorted(self.counts.items())),
            "failures": self.failures,
            "callees left": len(Callee.alive),
            "bytes left": self.resource.attributes.used_mem_current,
        }

    def _work(self, index):
        dice = random.Random(self.seed * 1000 + index)
        self.device.set_current()
        counts = collections.Counter()
        stream = self.device.create_stream()
        operations = [getattr(self, name) for name in sorted(dir(type(self))) if name.startswith("do_")]
        while not self.failures and self.left.acquire(blocking=False):
            operation = dice.choice(operations)
            try:
                outcome = operation(dice, dice.choice(self.slots), stream)
                counts[operation.__name__[3:] + ("" if outcome is None else f", {outcome}")] += 1
            except Exception as error:
                self.failures.append(f"{operation.__name__}: {error!r}")
                raise
        stream.sync()
        with Callee.lock:
            self.counts += counts

    def _memory(self, stream):
        memory = self.resource.allocate(64, stream=stream)
        memory.fill(0, stream=stream)
        stream.sync()
        return memory

    def do_add(self, dice, slot, stream):
        """Add a node of any kind, after any other or none."""
        memory = self._memory(stream)
        with slot.lock:
            nodes = list(slot.definition.nodes())
            if len(nodes) >= MOST_NODES:
                return "full"
            # Not after a callback node, whose attribute `callback` is the function that it calls.
            where = dice.choice([slot.definition, *[node for node in nodes if type(node).__name__[0] != "H"]])
            kind = dice.randrange(6)
            if kind == 0:
                where.launch(ONE, self.kernel, memory, 1)
            elif kind == 1:
                where.memset(memory, 1, 64)
            elif kind == 2:
                where.memcpy(memory, self._memory(stream), 64)
            elif kind == 3:
                where.callback(self.callee())
            elif kind == 4:
                event = self.device.create_event()
                where.record(event).wait(event)
            else:
                where.join(*dice.sample(nodes, min(2, len(nodes))))
        return None

    def do_clone(self, dice, slot, stream):
        """Embed a copy of one graph in a new one, and put that into another slot."""
        definition = GraphDefinition()
        with slot.lock:
            if len(slot.definition.nodes()) >= MOST_NODES // 2:
                return "large"
            definition.embed(slot.definition)
        other = dice.choice(self.slots)
        with other.lock:
            other.definition = definition
        return None

    def do_capture(self, dice, slot, stream):
        """Capture a graph with a fork and callbacks, and put it into the slot."""
        memory, callee = self._memory(stream), self.callee()
        with self.device.create_graph_builder() as builder:
            builder.begin_building(dice.choice(["relaxed", "thread_local"]))
            _, fork = builder.split(2)
            launch(fork, ONE, self.kernel, self.lasting, 1)
            fork.callback(callee)
            if dice.random() < 0.2:
                return "given up"
            GraphBuilder.join(builder, fork).callback(self.callee() if self.plain else lambda kept=memory: None)
            definition = builder.end_building().graph_definition
        with slot.lock:
            slot.definition = definition
        return None

    def do_change(self, dice, slot, stream):
        """Change a node of a definition."""
        memory = self._memory(stream)
        with slot.lock:
            for node in slot.definition.nodes():
                name = type(node).__name__
                if name == "KernelNode":
                    node.update(args=(memory, 2))
                elif name == "HostCallbackNode":
                    node.update(self.callee())
                elif name == "MemsetNode":
                    node.update(dst=memory, width=8)
                elif name == "ChildGraphNode":
                    child = GraphDefinition()
                    child.callback(self.callee())
                    node.update(child)
                else:
                    continue
                return name
        return "nothing"

    def do_destroy(self, dice, slot, stream):
        """Destroy a node of a definition, or its edges."""
        with slot.lock:
            nodes = list(slot.definition.nodes())
            if not nodes:
                return "nothing"
            node = dice.choice(nodes)
            if dice.random() < 0.3:
                node.pred.clear()
            else:
                node.destroy()
        return None

    def do_instantiate(self, dice, slot, stream):
        """Instantiate the definition, and drop all but the last three executables."""
        with slot.lock:
            slot.graphs.append((slot.definition, slot.definition.instantiate()))
            del slot.graphs[:-3]

    def do_launch(self, dice, slot, stream):
        """Launch an executable, and sometimes wait for it."""
        with contextlib.suppress(IndexError):
            _, graph = dice.choice(slot.graphs)
            graph.launch(stream)
            if dice.random() < 0.3:
                stream.sync()
            return None
        return "nothing"

    def do_update(self, dice, slot, stream):
        """Update an executable from the slot's definition, which may be another one by now."""
        with slot.lock:
            if not slot.graphs:
                return "nothing"
            _, graph = dice.choice(slot.graphs)
            try:
                graph.update(slot.definition)
            except CUDAError:
                return "rejected"
        return None

    def do_change_executable(self, dice, slot, stream):
        """Change a node of an executable, and enable or disable it."""
        memory = self._memory(stream)
        with slot.lock:
            if not slot.graphs:
                return "nothing"
            definition, graph = dice.choice(slot.graphs)
            for node in definition.nodes():
                name = type(node).__name__
                try:
                    if name == "KernelNode":
                        graph[node].update(config=ONE, kernel=self.kernel, args=(memory, 3))
                        dice.choice([graph[node].enable, graph[node].disable])()
                    elif name == "HostCallbackNode":
                        graph[node].update(self.callee())
                    elif name == "MemsetNode":
                        graph[node].update(dst=memory, value=2, width=4)
                    else:
                        continue
                except CUDAError:
                    return "rejected"  # a node added after the instantiation
                return name
        return "nothing"

    def do_close(self, dice, slot, stream):
        """Close an executable, which may be in flight."""
        with slot.lock:
            if not slot.graphs:
                return "nothing"
            slot.graphs.pop(dice.randrange(len(slot.graphs)))[1].close()
        return None

    def do_drop(self, dice, slot, stream):
        """Drop a definition and its executables."""
        with slot.lock:
            slot.definition, slot.graphs = GraphDefinition(), []


def main() -> int:
    """Run with the arguments of the command line, and print the result as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=10_000)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--plain-callbacks",
        action="store_true",
        help="call C functions only: under compute-sanitizer queries wait for launches, which may wait for callbacks",
    )
    arguments = parser.parse_args()
    result = Stress(arguments.rounds, arguments.threads, arguments.seed, arguments.plain_callbacks).run()
    json.dump(result, sys.stdout, indent=1)
    print()
    return bool(result["failures"] or result["callees left"] or result["bytes left"])


if __name__ == "__main__":
    sys.exit(main())

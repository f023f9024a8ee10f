# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The rows of the table of growth: the time per operation when there are n, 10 n and 100 n objects.

``report.py`` runs this script once per library and asks for samples. To add a row, add a function to ``KINDS``. The
function makes a number of objects that all stay alive, closes them, and returns the nanoseconds per object of both.

    python growth.py [--device] [WORD ...]    print our figures in nanoseconds, on the driver that does nothing or, with
                                              --device, on the GPU
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable
from functools import partial

import calls
import numpy as np
from turns import serve, working

import native

STEPS = {"n": 1, "10 n": 10, "100 n": 100}

now = time.perf_counter_ns


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="words that the names of the rows to measure contain")
    parser.add_argument("--device", action="store_true", help="use the driver of this machine")
    parser.add_argument("--serve", metavar="LIBRARY", help="measure the rows that stdin names")
    arguments = parser.parse_args()
    if not arguments.device:
        global now
        now = time.thread_time_ns  # beside other programs, the thread often waits for a processor
        native.load_null_driver()
    else:
        KINDS.pop(("kernels of a module", 100))  # no module of the GPU has ten thousand kernels
    core = calls.core_names()
    batches = {}
    for (name, least), kind in KINDS.items():
        for index, part in enumerate(("make", "close")):
            for step, factor in STEPS.items() if part in kind.parts else ():
                row = f"{name} (n = {least:,}), {part} | {step}"
                batches[row] = partial(sample, kind, core, least * factor, index)
    batches = {name: batch for name, batch in batches.items() if all(word in name for word in arguments.words)}
    if arguments.serve:
        serve(batches)
        return 0
    for name, batch in working(batches).items():
        print(f"{name:60}{min(batch() for _ in range(3)):10.0f}")
    return 0


def sample(kind: Callable, core: dict, count: int, index: int) -> float:
    """Return the nanoseconds per object of one part."""
    gc.collect()  # of what other rows left
    kind(core, 10)  # the first calls after a collection are slow
    taken = kind(core, count)[index]
    core["settle"]()
    return taken


def timed(count: int, make: Callable[[], list], close: Callable[[list], object]) -> tuple[float, float]:
    """Return the nanoseconds per object to make and to close."""
    start = now()
    made = make()
    middle = now()
    close(made)
    return (middle - start) / count, (now() - middle) / count


def parts(*names: str) -> Callable:
    """Return a decorator that names the parts of a kind."""

    def add(function):
        function.parts = names
        return function

    return add


def close_all(made: list) -> None:
    for item in made:
        item.close()


@parts("make")
def launches(core, count):
    launch, stream, config, kernel, x = (core[name] for name in ("launch", "stream", "config", "one", "x"))

    def make():
        for number in range(count):
            launch(stream, config, kernel, x)
            if number % 1000 == 999:
                stream.sync()

    return timed(count, make, lambda made: None)


@parts("make", "close")
def buffers(core, count):
    device, stream = core["device"], core["stream"]
    return timed(count, lambda: [device.allocate(1024, stream=stream) for _ in range(count)], close_all)


@parts("make", "close")
def streams(core, count):
    device = core["device"]
    return timed(count, lambda: [device.create_stream() for _ in range(count)], close_all)


@parts("make", "close")
def events(core, count):
    stream = core["stream"]
    return timed(count, lambda: [stream.record() for _ in range(count)], close_all)


@parts("make", "close")
def graphs(core, count):
    definition = core["definition"]
    return timed(count, lambda: [definition.instantiate() for _ in range(count)], close_all)


@parts("make")
def nodes(core, count):
    """Build a chain of kernel nodes by hand."""
    from cuda.core.graph import GraphDefinition

    config, kernel, address = core["config"], core["one"], core["address"]

    def make():
        definition = GraphDefinition()
        node = definition.launch(config, kernel, address)
        for _ in range(count - 1):
            node = node.launch(config, kernel, address)
        return definition

    return timed(count, make, lambda made: None)


@parts("make", "close")
def programs(core, count):
    """Store programs in a cache in memory, then look each up."""
    from cuda.core.utils import InMemoryProgramCache

    cache, code = InMemoryProgramCache(), core["code"]
    keys = [b"%016d" % number for number in range(count)]

    def store():
        for key in keys:
            cache[key] = code

    def look_up(made):
        for key in keys:
            cache[key]

    return timed(count, store, look_up)


@parts("make", "close")
def kernels(core, count):
    """Get kernels of one module, each twice. Names of the driver that does nothing are free."""
    code = core["code"]
    names = [f"one_8_0{number}_{count}" for number in range(count)]
    return timed(count, lambda: list(map(code.get_kernel, names)), lambda made: list(map(code.get_kernel, names)))


@parts("make")
def views(core, count):
    view, array = core["view"], np.ones((64, 64), np.float32)
    return timed(count, lambda: [view(array, stream_ptr=-1) for _ in range(count)], lambda made: made.clear())


# The rows, with the least number of objects.
KINDS = {
    ("launches", 10_000): launches,
    ("buffers", 1_000): buffers,
    ("streams", 100): streams,
    ("events", 1_000): events,
    ("graphs", 100): graphs,
    ("nodes of a chain", 1_000): nodes,
    ("cached programs", 1_000): programs,
    ("kernels of a module", 100): kernels,
    ("views of NumPy arrays", 100): views,
}

if __name__ == "__main__":
    sys.exit(main())

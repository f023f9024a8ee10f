# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The soup, a stress test: threads share objects of all classes, use all of their attributes, and close them at random.

    cd tests && python -m support.soup --seconds 120 --threads 8 --seed 1

prints the counts of outcomes and the failures, as JSON. Failures are a process that ends by a signal, an exception
that is not documented, and a destroyed handle that reached the driver. The seed decides what each thread tries; the
order of threads depends on the machine. A new class is added by its sample (``support/samples.py``).

On a GPU, each operation is done before the next one of its thread: to free memory while a copy on another stream uses
it is an error of the caller, and breaks the context there.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import faulthandler
import inspect
import json
import random
import re
import sys
import tempfile
import threading
import time
import traceback
import warnings

import numpy as np

import cuda.emulator
from cuda import core
from cuda.core import (
    Buffer,
    CUDAError,
    CUDAWarning,
    Device,
    LaunchConfig,
    MemoryResource,
    driver,
    graph,
    launch,
    system,
    texture,
)
from cuda.core._memory._buffer import keep_until_idle
from cuda.core.driver import gpuarray
from cuda.core.utils import CopyOptions, StridedMemoryView, copy_batch
from support import subjects

DOCUMENTED = (RuntimeError, TypeError, ValueError, OverflowError, BufferError, AttributeError, CUDAError, MemoryError)
FAILURES = ("CUDA_ERROR_INVALID_HANDLE", "CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_ILLEGAL_ADDRESS")
DOCUMENTED += (system.NvmlError, OSError, driver.Error)
# Methods whose arguments are addresses and descriptors, which the caller must know to be valid.
UNCHECKED = {"deallocate", "from_handle", "from_allocation_handle", "from_ipc_descriptor", "from_registry", "register"}
# Members that end objects, or the work of other threads.
LEFT_OUT = UNCHECKED | {"close", "reset", "wait_value"}  # the last makes a stream wait forever
BUILDERS = ("GraphBuilder", "BuildingGraphBuilder")
# Warnings of frees during a capture: memory cannot be freed then, nor memory that the capture allocated.
OF_CAPTURES = re.compile(r"STREAM_CAPTURE_|CUDA_ERROR_INVALID_VALUE: invalid argument \(cuMemFree")
# Errors that the classic interface raises without a driver call, such as for closed objects.
OF_CLASSIC = re.compile(r"failed: invalid resource handle - ")
EACH = 8  # shared objects of each class
JUNK = (None, -1, 0, 2**70, "no", b"", 1.5, (), object())


def captured_functions() -> dict[str, graph.CapturedFunction]:
    """Return functions that all threads call: one copies, one launches a kernel, and one raises after some work."""

    @graph.capture
    def step(stream, source, target, count):
        target.copy_from(source, stream=stream)

    @graph.capture(data="value")
    def fill(stream, source, target, value):
        source.fill(value, stream=stream)
        launch(stream, LaunchConfig(grid=1, block=1), kernel, target, value)

    @graph.capture
    def fail(stream, source, target, count):
        target.fill(1, stream=stream)
        raise ValueError("of the captured function")

    kernel = subjects.kernel()
    return {"step": step, "fill": fill, "fail": fail}


def options_classes() -> list[type]:
    """Return the public classes of options."""
    modules = (core, graph, driver, system, texture)
    classes = {value for module in modules for name, value in vars(module).items() if name.endswith("Options")}
    return sorted(filter(dataclasses.is_dataclass, classes), key=lambda cls: cls.__name__)


class SharedObjects:
    """The objects that all threads share."""

    def __init__(self, has_captures: bool):
        self.has_captures = has_captures
        self.objects: dict[str, list] = collections.defaultdict(list)
        self.makers = subjects.makers() | subjects.CLASSIC
        # Programs compile too slowly for a stress test; and a process cannot checkpoint itself.
        for name in ("Program", "Process", *(() if has_captures else BUILDERS)):
            del self.makers[name]
        self.steps = captured_functions()
        self.options = options_classes()
        self.classes = {}
        for name, make in self.makers.items():
            thing = make()
            self.classes[name] = type(thing)
            self.add(name, thing)

    def add(self, name: str, thing) -> None:
        known = self.objects[name]
        known.append(thing)
        if len(known) > EACH:
            del known[0]

    def add_result(self, thing) -> None:
        """Share the result of a call, if it has one of the classes."""
        name = type(thing).__name__
        if type(thing) is self.classes.get(name):
            self.add(name, thing)

    def one(self, rng: random.Random, *names: str):
        """Return an object of one of the classes, or of any class; a new one if there is none."""
        name = rng.choice(names or list(self.makers))
        known = list(self.objects[name])
        if not known or rng.random() < 0.05:
            self.add(name, self.makers[name]())
            known = list(self.objects[name])
        return rng.choice(known)


class Worker(threading.Thread):
    """A thread that does random operations with shared objects until the end."""

    def __init__(self, shared: SharedObjects, seed: int, end: float, least: int):
        super().__init__()
        self.shared = shared
        self.rng = random.Random(seed)
        self.end = end
        self.least = least  # operations that are done even after the end
        self.counts = collections.Counter()
        self.failures = []
        self.kept = []  # the objects that the operation uses, on a GPU
        self.arguments = {
            "stream": lambda: self.stream(),
            "event_or_stream": lambda: self.one("Event", "Stream", "TimedEvent"),
            "event": lambda: self.one("Event", "TimedEvent"),
            "dst": lambda: self.buffer_or_array(),
            "src": lambda: self.buffer_or_array(),
            "buffer": lambda: self.buffer(),
            "other": lambda: self.one("StridedMemoryView"),
            "obj": lambda: self.one("Stream", "Buffer", "HostBuffer"),
            "stream_ptr": lambda: -1,
            "config": lambda: self.one("LaunchConfig"),
            "ctx": lambda: self.one("Context"),
            "peer": lambda: 0,
            "device": lambda: self.one("Device"),
            "device_id": lambda: 0,
            "size": lambda: self.rng.choice((0, 1, 64, 4096)),
            "shape": lambda: (-1,),
            "name": lambda: "sample",
            "value": lambda: self.rng.choice((0, 1, 255, b"abcd", True)),
            "bytes_to_keep": lambda: 0,
            "options": lambda: self.rng.choice((None, None, CopyOptions())),
            "block_size": lambda: 32,
            "block_size_limit": lambda: 64,
            "dynamic_shared_memory_size": lambda: 0,
            "dynamic_shared_memory_needed": lambda: 0,
            "num_blocks_per_multiprocessor": lambda: 1,
            "location": lambda: self.one("Device"),
        }
        self.operations = [
            (30, self.use),
            (10, self.launch),
            (8, self.copy),
            (5, self.read_memory),
            (3, self.copy_many),
            (4, self.compare),
            (3, self.replay),
            (3, self.compute),
            (2, self.make_options),
            (8, self.close),
        ]

    def run(self):
        Device(0).set_current()
        subjects.classic()
        weights, operations = zip(*self.operations, strict=True)
        while time.monotonic() < self.end or self.least > 0:
            self.least -= 1
            (operation,) = self.rng.choices(operations, weights)
            self.try_once(operation)
            self.kept.clear()

    def try_once(self, operation) -> None:
        """Do an operation, and count its outcome."""
        try:
            operation()
            self.settle()
            outcome = "done"
        except DOCUMENTED as error:
            outcome = (isinstance(error, CUDAError) and error.name) or type(error).__name__
            if outcome in FAILURES and not OF_CLASSIC.search(str(error)):
                self.failures.append(traceback.format_exc())
        except BaseException as error:
            outcome = type(error).__name__
            self.failures.append(traceback.format_exc())
        self.counts[outcome] += 1
        self.counts[f"operation {operation.__name__}"] += 1

    def one(self, *names: str):
        """Return an object of one of the classes, or of any class."""
        thing = self.shared.one(self.rng, *names)
        if not cuda.emulator.is_active():
            self.kept.append(thing)
        return thing

    def settle(self) -> None:
        """Wait for the work of the operation, on a GPU, or keep its memory where waiting would invalidate captures."""
        if cuda.emulator.is_active():
            return
        if not self.shared.has_captures:
            Device(0).sync()
            return
        for thing in self.kept:
            if isinstance(thing, Buffer):
                keep_until_idle(thing)

    def stream(self):
        return self.one("Stream")

    def buffer(self):
        return self.one("Buffer", "HostBuffer")

    def buffer_or_array(self):
        return self.buffer() if self.rng.random() < 0.8 else np.zeros(64, np.int8)

    def use(self) -> None:
        """Read a property, or call a method."""
        thing = self.one()
        names = [name for name in dir(type(thing)) if not name.startswith("_") and name not in LEFT_OUT]
        name = self.rng.choice(names)
        attribute = getattr(thing, name)
        if callable(attribute):
            result = attribute(**self.arguments_of(attribute))
            self.settle()
            self.shared.add_result(result)

    def arguments_of(self, function) -> dict:
        """Return plausible arguments, or sometimes junk."""
        given = {}
        for name, parameter in inspect.signature(function).parameters.items():
            is_needed = parameter.default is parameter.empty and parameter.kind not in (
                parameter.VAR_POSITIONAL,
                parameter.VAR_KEYWORD,
            )
            if self.rng.random() < 0.03:
                given[name] = self.rng.choice(JUNK)
            elif name in self.arguments and (is_needed or self.rng.random() < 0.5):
                given[name] = self.arguments[name]()
            elif is_needed:
                given[name] = self.rng.choice(JUNK)
        return given

    def launch(self) -> None:
        config, buffer = self.one("LaunchConfig"), self.buffer()
        if self.rng.random() < 0.3:
            self.one("BoundKernel")(buffer, 1)
        elif self.rng.random() < 0.2:
            launch(self.stream(), config, self.one("Kernel"), out=buffer, count=1)
        else:
            launch(self.stream(), config, self.one("Kernel"), buffer, 1)

    def copy(self) -> None:
        buffer, stream = self.buffer(), self.stream()
        if self.rng.random() < 0.3:
            result = buffer.copy_to(stream=stream)
            self.settle()
            self.shared.add_result(result)
        elif self.rng.random() < 0.5:
            buffer.copy_to(self.buffer_or_array(), stream=stream)
        else:
            buffer.copy_from(self.buffer_or_array(), stream=stream)

    def copy_many(self) -> None:
        some = [self.buffer() for _ in range(3)]
        copy_batch(self.stream(), some, [self.buffer() for _ in some])

    def read_memory(self) -> None:
        """Read memory by the buffer protocol, DLPack and views."""
        buffer = self.one("HostBuffer")
        way = self.rng.randrange(4)
        if way == 0:
            bytes(memoryview(buffer))
        elif way == 1:
            self.shared.add_result(StridedMemoryView.from_any_interface(self.buffer(), stream_ptr=-1))
        elif way == 2:
            np.asarray(buffer).sum()
        else:
            self.shared.add("HostBuffer", buffer[3:17])

    def replay(self) -> None:
        """Call a captured function, which replays the graph of an earlier call or records a new one."""
        name = self.rng.choice(("step", "fill", "fail"))
        captured = self.shared.steps[name]
        buffers = self.buffer(), self.buffer()
        if name == "fail" and self.rng.random() < 0.1:
            captured.clear()
        captured(self.stream(), *buffers, self.rng.randrange(3))

    def compute(self) -> None:
        """Compute with arrays of the classic interface."""
        left, right = self.one("GPUArray"), self.one("GPUArray")
        way = self.rng.randrange(4)
        if way == 0:
            self.shared.add_result(left + right)
        elif way == 1:
            left *= 2
        elif way == 2:
            gpuarray.sum(left).get()
        else:
            self.shared.add_result(left.reshape(-1)[self.rng.randrange(8) :].astype(np.float32))

    def make_options(self) -> None:
        """Construct options, with values of other options among them."""
        cls = self.rng.choice(self.shared.options)
        fields = {field.name: self.rng.choice((*JUNK, 1, True, "default")) for field in dataclasses.fields(cls)}
        options = cls(**{name: value for name, value in fields.items() if self.rng.random() < 0.5})
        repr(options), options == dataclasses.replace(options)

    def compare(self) -> None:
        first, second = self.one(), self.one()
        first == second  # noqa: B015
        repr(first)
        hash(first)

    def close(self) -> None:
        thing = self.one()
        if hasattr(thing, "close") and not isinstance(thing, MemoryResource | Device):
            thing.close()
        elif isinstance(thing, MemoryResource) and self.rng.random() < 0.3:
            thing.close()


def run(seconds: float, threads: int, seed: int, has_captures: bool = False, operations: int = 0) -> dict:
    """Run for this time, and until this many operations are done; return the counts of outcomes and the failures."""
    Device(0).set_current()
    subjects.classic()
    unraisable = []
    sys.unraisablehook = lambda info: unraisable.append(f"{info.exc_type.__name__}: {info.exc_value} in {info.object}")
    sys.setswitchinterval(1e-6)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        shared = SharedObjects(has_captures)
        end = time.monotonic() + seconds
        workers = [Worker(shared, seed * 1000 + number, end, operations // threads) for number in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        shared.objects.clear()
    counts = sum((worker.counts for worker in workers), collections.Counter())
    leaks = [str(warning.message) for warning in warned if issubclass(warning.category, CUDAWarning)]
    if has_captures:
        leaks, unraisable = ([text for text in texts if not OF_CAPTURES.search(text)] for texts in (leaks, unraisable))
    return {
        "operations": sum(count for name, count in counts.items() if not name.startswith("operation ")),
        "counts": dict(counts.most_common()),
        "failures": [failure for worker in workers for failure in worker.failures][:5] + unraisable[:5] + leaks[:5],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--operations", type=int, default=0, help="do at least this many, however long it takes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--captures", action="store_true", help="also capture streams")
    arguments = parser.parse_args()
    faulthandler.enable()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # for methods that write to a path
        result = run(arguments.seconds, arguments.threads, arguments.seed, arguments.captures, arguments.operations)
    print(json.dumps(result, indent=1))
    return 1 if result["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())

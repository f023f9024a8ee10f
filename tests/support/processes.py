# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A child process that calls functions for a test; descriptors, garbage and file times of this process."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import traceback
from collections.abc import Iterator
from pathlib import Path

PATIENCE = 60  # seconds


class Child:
    """A process with device 0 current. Functions, arguments and results are sent by pickling."""

    def __init__(self, method: str = "spawn"):
        context = multiprocessing.get_context(method)
        self._connection, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other,), daemon=True)
        self.process.start()
        other.close()

    def call(self, function, *args):
        """Call a function of an importable module in the process, and return its result."""
        self._connection.send((function, args))
        del function, args  # only the test keeps references to the arguments
        if not self._connection.poll(PATIENCE):
            raise TimeoutError("the child process did not answer")
        is_result, value = self._connection.recv()
        if not is_result:
            raise AssertionError(f"the child process failed:\n{value}")
        return value

    def stop(self) -> int:
        """Let the process end and return its exit status."""
        if self.process.is_alive():
            with contextlib.suppress(BrokenPipeError):
                self._connection.send(None)
        self.process.join(PATIENCE)
        self._connection.close()
        return self.process.exitcode


@contextlib.contextmanager
def start_method(method):
    """Make a start method the default of ``multiprocessing`` inside the block."""
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method(method, force=True)
    try:
        yield
    finally:
        multiprocessing.set_start_method(before, force=True)


def open_descriptors() -> int:
    """Return how many file descriptors this process has open."""
    return len(os.listdir("/proc/self/fd"))


def exempt_older_objects() -> None:
    """Collect garbage now, and keep the remaining objects out of later collections, which many tests run.

    Most of them are the collected tests. Nothing undoes this: ``gc.unfreeze()`` would bring back all of them.
    """
    gc.collect()
    gc.freeze()


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Collect garbage now, and not inside the block, where releases of other tests' objects would be counted."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def let_clock_tick(folder: Path) -> None:
    """Wait until a file that changes now gets a later time stamp than earlier changes."""
    # Not in the directory itself, because its time stamp also counts.
    probe = folder.parent / f"{folder.name}.probe"
    probe.write_text("")
    before = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns == before:
        probe.write_text("")
    probe.unlink()


def _serve(connection):
    from cuda.core import Device

    multiprocessing.set_start_method("spawn", force=True)
    Device(0).set_current()
    while (request := connection.recv()) is not None:
        function, args = request
        try:
            answer = (True, function(*args))
        except BaseException:
            answer = (False, traceback.format_exc())
        connection.send(answer)
        del request, function, args, answer

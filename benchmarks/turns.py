# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Measuring several libraries in turns, each in its own process, so clock rates and load affect them alike."""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["OFFICIAL", "OURS", "command", "serve", "take_turns", "timed_loop", "working"]

OURS, OFFICIAL = "cuda.core", "official"


def timed_loop(statement: str, count: int, names: dict[str, object]) -> Callable[[], float]:
    """Compile a function that times a statement in a loop, written as user code would write it.

    Parameters
    ----------
    statement : str
        The statement.
    count : int
        The number of repetitions in a batch.
    names : dict of str to object
        The names the statement uses. They become local variables.

    Returns
    -------
    Callable[[], float]
        A function that runs the batch and returns the nanoseconds per repetition.
    """
    lines = [
        f"def batch({', '.join(f'{name}={name}' for name in names)}):",
        "    start = perf_counter_ns()",
        f"    for _ in range({count}):",
        f"        {statement}",
        f"    return (perf_counter_ns() - start) / {count}",
    ]
    scope = {"perf_counter_ns": time.perf_counter_ns, **names}
    exec("\n".join(lines), scope)
    return scope["batch"]


def working(rows: dict[str, Callable[[], float]]) -> dict[str, Callable[[], float]]:
    """Return the rows that work, and print why others do not."""
    found = {}
    for name, batch in rows.items():
        try:
            batch()
            found[name] = batch
        except Exception as error:  # another version of a library, or a missing capability
            print(f"left out: {name}: {type(error).__name__}: {str(error)[:80]}", file=sys.stderr)
    return found


def serve(rows: dict[str, Callable[[], float]]) -> None:
    """Print the names of the rows that work and, for each name on stdin, a sample of that row."""
    rows = working(rows)
    print(json.dumps(list(rows)), flush=True)
    for line in sys.stdin:
        print(rows[line.rstrip("\n")](), flush=True)


def command(library: str, peer: str | None) -> tuple[str, dict[str, str]]:
    """Return the interpreter and the environment of a library's processes.

    ``peer`` is the official package's: an interpreter, or the folder that ``pip install --target`` installed it into.
    """
    variables = {name: value for name, value in os.environ.items() if library != OFFICIAL or name != "PYTHONPATH"}
    if library != OFFICIAL or peer is None:
        return sys.executable, variables
    if Path(peer).is_dir():
        return sys.executable, variables | {"PYTHONPATH": peer}
    return peer, variables


def take_turns(
    script: str, libraries: list[str], arguments: list[str], peer: str | None, rounds: int, unused: int = 2
) -> dict[str, dict[str, float]]:
    """Return the median sample of each row and library that a script serves, after rounds whose samples are not used.

    Libraries that fail to start are left out.
    """
    with contextlib.ExitStack() as stack:
        workers, rows = {}, {}
        for library in libraries:
            process = stack.enter_context(_worker(script, library, arguments, peer))
            names = process.stdout.readline()
            if names:
                workers[library], rows[library] = process, json.loads(names)
        order = list(dict.fromkeys(name for names in rows.values() for name in names))
        samples = {name: {library: [] for library in workers if name in rows[library]} for name in order}
        for number in range(rounds + unused):
            for name, row in samples.items():
                for library, taken in row.items():
                    sample = _asked(workers[library], name)
                    if number >= unused:
                        taken.append(sample)
    return {name: {key: statistics.median(taken) for key, taken in row.items()} for name, row in samples.items()}


@contextlib.contextmanager
def _worker(script: str, library: str, arguments: list[str], peer: str | None) -> Iterator[subprocess.Popen]:
    python, variables = command(library, peer)
    line = [python, "-W", "ignore", str(Path(__file__).with_name(script)), "--serve", library, *arguments]
    process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables)
    with process:
        yield process
        process.stdin.close()


def _asked(process: subprocess.Popen, name: str) -> float:
    process.stdin.write(f"{name}\n")
    process.stdin.flush()
    return float(process.stdout.readline())

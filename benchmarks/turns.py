# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Timing alternative ways to do the same work on one stream, in turns, so that clock rates affect all alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

__all__ = ["measure", "timed_loop"]


def timed_loop(template: str, count: int, values=(), **names) -> Callable[[], float]:
    """Compile a function that times a call in a loop, written as user code would write it.

    Parameters
    ----------
    template : str
        The call, with ``{}`` in place of the values.
    count : int
        The number of calls in a batch.
    values : Sequence, optional
        The arguments of the call. Each becomes a local variable.
    **names
        Other names that the call uses, with their values.

    Returns
    -------
    Callable[[], float]
        A function that runs the batch and returns the nanoseconds per call.
    """
    names |= {f"value{index}": value for index, value in enumerate(values)}
    text = template.format(", ".join(f"value{index}" for index in range(len(values))))
    lines = [
        f"def batch({', '.join(f'{name}={name}' for name in names)}):",
        "    start = perf_counter_ns()",
        f"    for _ in range({count}):",
        f"        {text}",
        f"    return (perf_counter_ns() - start) / {count}",
    ]
    scope = {"perf_counter_ns": time.perf_counter_ns, **names}
    exec("\n".join(lines), scope)
    return scope["batch"]


def measure(stream, ways: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Return each way's median time over the rounds, in microseconds."""
    samples = {name: [] for name in ways}
    for number in range(rounds + 10):
        for name, batch in ways.items():
            sample = batch()
            stream.sync()
            if number >= 10:
                samples[name].append(sample / 1000)
    return {name: round(statistics.median(values), 3) for name, values in samples.items()}

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Time allocating and freeing with ``CachingMemoryResource``, on one thread and on four.

The cache's overhead is the time to allocate and free, minus the time to create and close an empty ``Buffer``, because
the pool does not call the driver for that one. By default the driver does nothing, so no GPU is needed. With
``--device`` the machine's own driver is used, and the figures for the pool include its time. The figures are the least
times of all rounds, in nanoseconds per allocation and free. All ways take turns, so the machine's load affects them
alike. With four threads, the time until the last thread finishes is divided by the total number of allocations.

    python caching.py [--device] [--rounds N]    fails if the overhead is over its limit
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Callable

import native

LOOPS = 5000
SIZE = 1024
LIMIT = 100.0
WAYS = ("empty buffer", "cache", "cache over pinned memory", "driver pool")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", action="store_true", help="use the driver of this machine")
    parser.add_argument("--rounds", type=int, default=30)
    arguments = parser.parse_args()
    if not arguments.device:
        native.load_null_driver()

    figures = measure(arguments.rounds)
    print(f"{'allocate and free, ns':32}{'1 thread':>10}{'4 threads':>11}")
    for name in WAYS:
        print(f"{name:32}{figures[name, 1]:10.0f}{figures[name, 4]:11.0f}")
    overhead = [figures["cache", threads] - figures["empty buffer", threads] for threads in (1, 4)]
    print(f"{'cache overhead':32}{overhead[0]:10.0f}{overhead[1]:11.0f}   at most {LIMIT:.0f}")
    return 1 if max(overhead) > LIMIT else 0


def measure(rounds: int) -> dict[tuple[str, int], float]:
    """Return the least nanoseconds of each way, by name and thread count."""
    from cuda.core import CachingMemoryResource, Device, LegacyPinnedMemoryResource

    device = Device()
    device.set_current()
    streams = [device.create_stream() for _ in range(4)]
    pool = device.memory_resource

    def through(resource, size=SIZE) -> Callable:
        def run(stream):
            allocate = resource.allocate
            for _ in range(LOOPS):
                buffer = allocate(size, stream=stream)
                buffer.close()

        return run

    caches = [CachingMemoryResource(pool), CachingMemoryResource(LegacyPinnedMemoryResource())]
    calls = dict(zip(WAYS, [through(pool, 0), *map(through, caches), through(pool)], strict=True))
    best = {}
    for _ in range(rounds):
        for name, call in calls.items():
            for count in (1, 4):
                taken = nanoseconds(call, device, streams[:count])
                best[name, count] = min(taken, best.get((name, count), taken))
                device.sync()
    for cache in caches:
        cache.close()
    return best


def nanoseconds(call: Callable, device, streams: list) -> float:
    """Return the nanoseconds per allocation and free, with one thread per stream."""
    if len(streams) == 1:
        start = time.perf_counter_ns()
        call(streams[0])
        return (time.perf_counter_ns() - start) / LOOPS

    barrier = threading.Barrier(len(streams) + 1)

    def work(stream):
        device.set_current()
        barrier.wait()
        call(stream)

    threads = [threading.Thread(target=work, args=(stream,)) for stream in streams]
    for thread in threads:
        thread.start()
    barrier.wait()
    start = time.perf_counter_ns()
    for thread in threads:
        thread.join()
    return (time.perf_counter_ns() - start) / (LOOPS * len(streams))


if __name__ == "__main__":
    sys.exit(main())

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The rows of the table of threads: the time per launch over all threads, each with its own stream.

``report.py`` runs this script once per library and asks for samples.

    python threads.py [--device]    print our figures in nanoseconds, on the driver that does nothing, or on the GPU
"""

from __future__ import annotations

import argparse
import ctypes
import sys
import threading
import time
from collections.abc import Callable
from functools import partial

import calls
from turns import serve, working

import native

COUNTS = (1, 2, 4, 8, 16)
LAUNCHES = 1000  # per thread


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", action="store_true", help="use the driver of this machine")
    parser.add_argument("--serve", metavar="LIBRARY", help="measure the rows that stdin names")
    arguments = parser.parse_args()
    if not arguments.device:
        native.load_null_driver()
    core = calls.core_names()
    streams = [core["device"].create_stream() for _ in range(max(COUNTS))]
    run = c_run(core, streams) if arguments.serve == "C" else partial(python_run, core, streams)

    def settle():
        for stream in streams:
            stream.sync()

    batches = {f"{count}": calls.settled(partial(run, count), settle) for count in COUNTS}
    if arguments.serve:
        serve(batches)
        return 0
    for name, batch in working(batches).items():
        print(f"{name:>2} threads{'':34}{min(batch() for _ in range(20)):10.0f}")
    return 0


def python_run(core: dict, streams: list, count: int) -> float:
    """Return the nanoseconds per launch over all threads."""
    device, launch, config, kernel, x = (core[name] for name in ("device", "launch", "config", "one", "x"))
    start = threading.Barrier(count + 1)

    def work(stream):
        device.set_current()
        start.wait()
        for _ in range(LAUNCHES):
            launch(stream, config, kernel, x)

    threads = [threading.Thread(target=work, args=(stream,)) for stream in streams[:count]]
    for thread in threads:
        thread.start()
    start.wait()
    begin = time.perf_counter_ns()
    for thread in threads:
        thread.join()
    return (time.perf_counter_ns() - begin) / (LAUNCHES * count)


def c_run(core: dict, streams: list) -> Callable[[int], float]:
    """Return the same in C."""
    library = calls.c_library([], core)
    handles = (ctypes.c_void_p * len(streams))(*[int(stream.handle) for stream in streams])

    def run(count: int) -> float:
        total = library.launch_on_threads(count, handles, LAUNCHES)
        if total < 0:
            raise RuntimeError(f"code {-total}")
        return total / (LAUNCHES * count)

    return run


if __name__ == "__main__":
    sys.exit(main())

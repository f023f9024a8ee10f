# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Time a kernel launch on a GPU, through the driver's C interface, ``cuda.bindings`` and ``cuda.core``.

All ways take turns in one run, on the same kernels and the same stream, so clock rates affect them alike. A batch is
short enough not to fill the GPU's launch queue, so the figures are host times: medians in microseconds. The last two
columns show the overhead over the C call.

    python launch_gpu.py [--json FILE] [--rounds N]
"""

from __future__ import annotations

import argparse
import ctypes
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from cuda.bindings import driver
from turns import measure, timed_loop

import native
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

SOURCE = """
extern "C" __global__ void none() {}
extern "C" __global__ void saxpy(float a, const float* x, const float* y, float* out, size_t n) {}
extern "C" __global__ void many(int* a, int* b, int* c, int* d, int* e, int* f, int* g, int* h,
                                int* i, int* j, int* k, int* l, int* m, int* n, int* o, int* p) {}
"""
BATCH = 200
# The limit for the overhead over the C call, in microseconds, for launches with up to five arguments.
ALLOWED = 0.3


def main() -> int:
    parser = argparse.ArgumentParser(description="Time kernel launches on a GPU.")
    parser.add_argument("--json", type=Path, help="where to store the figures")
    parser.add_argument("--rounds", type=int, default=200)
    arguments = parser.parse_args()

    device = Device()
    device.set_current()
    stream = device.create_stream()
    code = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
    buffers = [device.allocate(1024, stream=stream) for _ in range(16)]
    cases = {
        "none": (),
        "saxpy": (np.float32(2), *buffers[:3], np.uint64(256)),
        "many": tuple(buffers),
    }

    print(f"{device.name}, {BATCH} launches a batch, medians of {arguments.rounds} batches, microseconds")
    print(f"{'kernel':10}{'C':>8}{'bindings':>10}{'launch':>8}{'bound':>8}{'launch - C':>12}{'bound - C':>11}")
    results = {}
    for name, values in cases.items():
        ways = all_ways(stream, code.get_kernel(name), values)
        figures = measure(stream, ways, arguments.rounds)
        results[name] = figures
        over = figures["launch"] - figures["C"]
        over_bound = figures.get("bound", float("nan")) - figures["C"]
        print(
            f"{name:10}{figures['C']:8.2f}{figures['bindings']:10.2f}{figures['launch']:8.2f}"
            f"{figures.get('bound', float('nan')):8.2f}{over:12.2f}{over_bound:11.2f}"
        )
    if arguments.json:
        arguments.json.write_text(json.dumps({"device": device.name, "microseconds": results}, indent=2) + "\n")
    within = all(results[name]["launch"] - results[name]["C"] <= ALLOWED for name in ("none", "saxpy"))
    print(f"launches with up to five arguments cost {'at most' if within else 'MORE THAN'} {ALLOWED} over the C call")
    return 0 if within else 1


def all_ways(stream, kernel, values) -> dict[str, Callable[[], float]]:
    """Return the ways to launch. Each runs a batch and returns the nanoseconds per launch."""
    config = LaunchConfig(grid=1, block=1)
    return {
        "C": c_way(stream, kernel, values),
        "bindings": timed_loop("call()", BATCH, call=bindings_way(stream, kernel, values)),
        "launch": timed_loop(
            "launch(stream, config, kernel, {})",
            BATCH,
            values,
            launch=launch,
            stream=stream,
            config=config,
            kernel=kernel,
        ),
        "bound": timed_loop("bound({})", BATCH, values, bound=kernel.bind(config, stream=stream)),
    }


def c_way(stream, kernel, values) -> Callable[[], float]:
    time_launches = native.load("launch_loop.c").time_launches
    time_launches.restype = ctypes.c_int64
    time_launches.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_int]
    _, entry, _ = driver.cuGetProcAddress(b"cuLaunchKernelEx", 12000, 0)
    cells = [c_value(value) for value in values]
    parameters = (ctypes.c_void_p * max(len(cells), 1))(*[ctypes.addressof(cell) for cell in cells])

    def batch() -> float:
        total = time_launches(entry, int(stream.handle), int(kernel.handle), parameters, BATCH)
        if total < 0:
            raise RuntimeError(f"cuLaunchKernelEx failed with code {-total}")
        # The cells must outlive the array of their addresses.
        return total / BATCH if cells is not None else 0.0

    return batch


def c_value(value) -> ctypes._SimpleCData:
    """Return a kernel argument as a C value."""
    if isinstance(value, np.float32):
        return ctypes.c_float(value)
    return ctypes.c_uint64(int(value) if isinstance(value, np.uint64) else int(value.handle))


def bindings_way(stream, kernel, values) -> Callable[[], object]:
    config = driver.CUlaunchConfig()
    config.gridDimX = config.gridDimY = config.gridDimZ = 1
    config.blockDimX = config.blockDimY = config.blockDimZ = 1
    config.hStream = stream.handle
    function = driver.CUfunction(int(kernel.handle))
    cells = [c_value(value) for value in values]
    arguments = (tuple(cell.value for cell in cells), tuple(type(cell) for cell in cells)) if cells else 0
    return lambda: driver.cuLaunchKernelEx(config, function, arguments, 0)


if __name__ == "__main__":
    sys.exit(main())

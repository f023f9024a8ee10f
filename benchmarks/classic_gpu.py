# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Time the classic interface on a GPU, and PyCUDA and CuPy if they are installed.

All libraries take turns in one run, on the same primary context. Calls are timed on the host, in batches that do not
fill the GPU's queue, and reported as medians in microseconds. Operations on large arrays are also run in batches, but
timed with events on the GPU, and their bandwidth is compared with a copy within the device.

    python classic_gpu.py [--json FILE] [--rounds N] [--large N] [libraries]

``--large`` is the number of elements in large arrays. Use a small one to try the benchmark on the software device.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

SOURCE = """
__global__ void saxpy(float a, const float *x, const float *y, float *out, unsigned long long n)
{
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i];
}
"""
# An upper bound for the bandwidth of a + b: it reads and writes as many bytes but computes nothing.
COPY = """
__global__ void copy(const float4 *x, float4 *y, unsigned long long n)
{
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
"""
SMALL = 1000
BATCH = 50
BLOCK, GRID = (256, 1, 1), (4, 1)
CALLS = [
    "call",
    "prepared call",
    "launch",
    "module from the cache",
    "a + b of 1,000",
    "a + 1 of 1,000",
    "a += b of 1,000",
    "-a of 1,000",
    "(a + b) * 2 - a of 1,000",
    "sum of 1,000",
    "saxpy kernel of 1,000",
    "empty of 1,000",
    "zeros of 1,000",
    "to_gpu of 1,000",
    "get of 1,000",
    "slice of 1,000",
]
# How many elements an operation reads and writes per index.
OPERATIONS = {"a + b": 3, "a += b": 3, "sum": 1, "saxpy kernel": 3, "dot kernel": 2, "copy": 2, "plain copy kernel": 3}


def main() -> int:
    parser = argparse.ArgumentParser(description="Time the classic interface on a GPU.")
    parser.add_argument("--json", type=Path, help="where to store the figures")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--large", type=int, default=10_000_000)
    parser.add_argument("libraries", nargs="*", default=["cuda.core", "pycuda", "cupy"])
    arguments = parser.parse_args()

    import cuda.core.driver as drv

    device = drv.Device(0)
    context = device.make_context()
    makers = {"cuda.core": our_ways, "pycuda": pycuda_ways, "cupy": cupy_ways}
    ways = {
        name: makers[name](arguments.large)
        for name in arguments.libraries
        if name == "cuda.core" or importlib.util.find_spec(name)
    }
    calls = time_calls(ways, arguments.rounds, context.synchronize)
    rates = time_operations(ways, arguments.rounds, arguments.large, context.synchronize)
    print(f"{device.name()}, medians of {arguments.rounds} rounds")
    show("microseconds of a call", CALLS, calls, ways)
    show(f"GB/s with {arguments.large:,} floats", list(OPERATIONS), rates, ways)
    if arguments.json:
        figures = {"device": device.name(), "microseconds": calls, "gigabytes per second": rates}
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")
    return 0


def our_ways(large: int) -> dict[str, Callable[[], object]]:
    """Return the ``cuda.core`` calls to time, by name."""
    import cuda.core.driver as drv
    from cuda.core import LEGACY_DEFAULT_STREAM, LaunchConfig, launch
    from cuda.core.driver import compiler, gpuarray
    from cuda.core.driver.elementwise import ElementwiseKernel
    from cuda.core.driver.reduction import ReductionKernel

    ways = classic_ways(drv, compiler, gpuarray, ElementwiseKernel, ReductionKernel, large)
    kernel = compiler.SourceModule(SOURCE).get_function("saxpy").kernel
    config, values = LaunchConfig(grid=GRID, block=BLOCK), ways.pop("values")
    arguments = (np.float32(2), *(item.gpudata for item in values), SMALL)
    ways["launch"] = lambda: launch(LEGACY_DEFAULT_STREAM, config, kernel, *arguments)
    copy = compiler.SourceModule(COPY).get_function("copy").prepare("PPQ")
    packs = large * 3 // 8
    source, target = (drv.mem_alloc(16 * packs) for _ in range(2))
    grid = ((packs + 255) // 256, 1)
    ways["plain copy kernel"] = lambda: copy.prepared_call(grid, BLOCK, source, target, packs)
    return ways


def pycuda_ways(large: int) -> dict[str, Callable[[], object]]:
    """Return the PyCUDA calls to time, in the primary context, which is current."""
    import pycuda.autoprimaryctx
    import pycuda.compiler
    import pycuda.driver
    import pycuda.elementwise
    import pycuda.gpuarray
    import pycuda.reduction

    kernels = pycuda.elementwise.ElementwiseKernel, pycuda.reduction.ReductionKernel
    ways = classic_ways(pycuda.driver, pycuda.compiler, pycuda.gpuarray, *kernels, large)
    del ways["values"]
    return ways


def classic_ways(
    drv, compiler, gpuarray, elementwise_kernel, reduction_kernel, large: int
) -> dict[str, Callable[[], object]]:
    """Return the calls to time that both classic interfaces support."""
    function = compiler.SourceModule(SOURCE).get_function("saxpy")
    prepared = compiler.SourceModule(SOURCE).get_function("saxpy")
    prepared.prepare("fPPPQ")
    x, y, out = (gpuarray.zeros(SMALL, np.float32) for _ in range(3))
    a, n, host = np.float32(2), np.uint64(SMALL), np.zeros(SMALL, np.float32)
    pointers = [item.gpudata for item in (x, y, out)]
    big, other, target = (gpuarray.zeros(large, np.float32) for _ in range(3))

    saxpy = elementwise_kernel("float a, float *x, float *y, float *out", "out[i] = a * x[i] + y[i]", "saxpy_each")
    dot = reduction_kernel(np.float32, "0", "a + b", "x[i] * y[i]", "float *x, float *y")

    def add_in_place():
        nonlocal x
        x += y

    def add_large_in_place():
        nonlocal big
        big += other

    return {
        "values": (x, y, out),
        "call": lambda: function(a, x, y, out, n, block=BLOCK, grid=GRID),
        "prepared call": lambda: prepared.prepared_call(GRID, BLOCK, a, *pointers, SMALL),
        "module from the cache": lambda: compiler.SourceModule(SOURCE),
        "a + b of 1,000": lambda: x + y,
        "a + 1 of 1,000": lambda: x + 1.0,
        "a += b of 1,000": add_in_place,
        "-a of 1,000": lambda: -x,
        "(a + b) * 2 - a of 1,000": lambda: (x + y) * 2 - x,
        "sum of 1,000": lambda: gpuarray.sum(x),
        "saxpy kernel of 1,000": lambda: saxpy(2.0, x, y, out),
        "empty of 1,000": lambda: gpuarray.empty(SMALL, np.float32),
        "zeros of 1,000": lambda: gpuarray.zeros(SMALL, np.float32),
        "to_gpu of 1,000": lambda: gpuarray.to_gpu(host),
        "get of 1,000": lambda: x.get(),
        "slice of 1,000": lambda: x[10:20],
        "a + b": lambda: big + other,
        "a += b": add_large_in_place,
        "sum": lambda: gpuarray.sum(big),
        "saxpy kernel": lambda: saxpy(2.0, big, other, target),
        "dot kernel": lambda: dot(big, other),
        "copy": lambda: drv.memcpy_dtod(target.gpudata, big.gpudata, big.nbytes),
    }


def cupy_ways(large: int) -> dict[str, Callable[[], object]]:
    """Return the CuPy calls to time."""
    import cupy

    kernel = cupy.RawKernel(f'extern "C" {SOURCE.strip()}', "saxpy")
    x, y, out = (cupy.zeros(SMALL, np.float32) for _ in range(3))
    big, other, target = (cupy.zeros(large, np.float32) for _ in range(3))
    saxpy = cupy.ElementwiseKernel("float32 a, float32 x, float32 y", "float32 z", "z = a * x + y", "saxpy_each")
    dot = cupy.ReductionKernel("float32 x, float32 y", "float32 z", "x * y", "a + b", "z = a", "0", "dot")
    a, n, host = np.float32(2), np.uint64(SMALL), np.zeros(SMALL, np.float32)

    def add_in_place():
        nonlocal x
        x += y

    def add_large_in_place():
        nonlocal big
        big += other

    return {
        "call": lambda: kernel(GRID, BLOCK, (a, x, y, out, n)),
        "a + b of 1,000": lambda: x + y,
        "a + 1 of 1,000": lambda: x + 1.0,
        "a += b of 1,000": add_in_place,
        "-a of 1,000": lambda: -x,
        "(a + b) * 2 - a of 1,000": lambda: (x + y) * 2 - x,
        "sum of 1,000": lambda: x.sum(),
        "saxpy kernel of 1,000": lambda: saxpy(a, x, y, out),
        "empty of 1,000": lambda: cupy.empty(SMALL, np.float32),
        "zeros of 1,000": lambda: cupy.zeros(SMALL, np.float32),
        "to_gpu of 1,000": lambda: cupy.asarray(host),
        "get of 1,000": lambda: x.get(),
        "slice of 1,000": lambda: x[10:20],
        "a + b": lambda: big + other,
        "a += b": add_large_in_place,
        "sum": lambda: big.sum(),
        "saxpy kernel": lambda: saxpy(a, big, other, target),
        "dot kernel": lambda: dot(big, other),
        "copy": lambda: cupy.copyto(other, big),
    }


def time_calls(ways, rounds: int, synchronize) -> dict[str, dict[str, float]]:
    """Return the host time per call in microseconds, by name and library."""
    samples: dict = {}
    for number in range(rounds + 3):
        for library, calls in ways.items():
            for name in CALLS:
                call = calls.get(name)
                if call is None:
                    continue
                count = 3 if name.startswith("module") else BATCH
                start = time.perf_counter_ns()
                for _ in range(count):
                    call()
                taken = (time.perf_counter_ns() - start) / count / 1000
                synchronize()
                if number >= 3:
                    samples.setdefault(name, {}).setdefault(library, []).append(taken)
    return {name: {key: round(statistics.median(v), 2) for key, v in row.items()} for name, row in samples.items()}


def time_operations(ways, rounds: int, large: int, synchronize) -> dict[str, dict[str, float]]:
    """Return the read and write bandwidth of operations in GB/s, by name and library."""
    import cuda.core.driver as drv

    samples: dict = {}
    start, end = drv.Event(), drv.Event()
    for number in range(rounds + 3):
        for library, calls in ways.items():
            for name, elements in OPERATIONS.items():
                if name not in calls:
                    continue
                calls[name]()
                synchronize()
                start.record()
                for _ in range(20):
                    calls[name]()
                end.record().synchronize()
                taken = start.time_till(end) * 1e6 / 20
                if number >= 3:
                    samples.setdefault(name, {}).setdefault(library, []).append(4 * elements * large / taken)
    return {name: {key: round(statistics.median(v), 1) for key, v in row.items()} for name, row in samples.items()}


def show(title: str, names, figures, libraries) -> None:
    print(f"\n{title:28}" + "".join(f"{library:>12}" for library in libraries))
    for name in names:
        row = figures.get(name, {})
        print(f"{name:28}" + "".join(f"{row.get(library, '-'):>12}" for library in libraries))


if __name__ == "__main__":
    os.environ.setdefault("CUDA_DEVICE", "0")
    sys.exit(main())

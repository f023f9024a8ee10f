# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels, memory and functions for the tests of captured functions."""

from __future__ import annotations

import ctypes

import numpy as np

from cuda.core import LaunchConfig, launch
from cuda.core.graph import capture
from support.kernels import HostMemory, compiled

SOURCE = """
extern "C" __global__ void axpy(int* y, const int* x, int a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
extern "C" __global__ void scale(double* x, double factor) { *x = *x / factor; }
extern "C" __global__ void scale32(float* x, float factor) { *x = *x / factor; }
"""


def kernel(name: str):
    """Return a kernel of SOURCE."""
    return compiled(SOURCE).get_kernel(name)


def ints(count: int, value: int = 0) -> HostMemory:
    """Return host memory that devices can access, with `count` equal ints."""
    memory = HostMemory(4 * count)
    fill(memory, value, np.int32)
    return memory


def fill(memory: HostMemory, value, dtype) -> None:
    """Set all elements of a memory."""
    np.frombuffer((ctypes.c_char * memory.size).from_address(memory.address), dtype)[:] = value


def values(memory: HostMemory) -> list[int]:
    """Return the ints in a memory."""
    return memory.array(np.int32).tolist()


class OnDevice:
    """An array of another library: four ints in a memory."""

    def __init__(self, memory):
        self.__cuda_array_interface__ = {
            "data": (memory.address, False), "shape": (4,), "strides": None, "typestr": "<i4", "version": 3,
        }  # fmt: skip


def counted_step():
    """Return a captured function that adds a * x to y `times` times; its attribute `runs` counts the Python calls."""
    axpy = kernel("axpy")

    def work(stream, y, x, a, n, times=1):
        captured.runs += 1
        for _ in range(times):
            launch(stream, LaunchConfig(grid=(n + 3) // 4, block=4), axpy, y, x, a, n)

    captured = capture(work)
    captured.runs = 0
    return captured


def counted_data_step():
    """Return a captured function that computes y += a * x, with the pointers and the factor as data.

    Its attribute `runs` has an item for each call of the Python function.
    """
    axpy = kernel("axpy")
    runs = []

    @capture(data=("y", "x", "a"))
    def work(stream, y, x, a, n):
        runs.append(1)
        launch(stream, LaunchConfig(grid=1, block=4), axpy, y, x, a, n)

    work.runs = runs
    return work

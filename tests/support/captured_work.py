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
    """An array of a known library: four ints in a memory, or what `entries` of its interface say."""

    __slots__ = ("__weakref__", "_interface", "dtype")
    __module__ = "cupy"

    def __init__(self, memory, dtype=None, **entries):
        if dtype is not None:
            self.dtype = np.dtype(dtype)
        self._interface = {
            "data": (memory.address, False), "shape": (4,), "strides": None, "typestr": "<i4", "version": 3, **entries,
        }  # fmt: skip

    @property
    def __cuda_array_interface__(self):
        return self._interface


def make_step():
    """Return a captured function that adds a * x to y `times` times."""
    axpy = kernel("axpy")

    @capture
    def work(stream, y, x, a, n, times=1):
        for _ in range(times):
            launch(stream, LaunchConfig(grid=(n + 3) // 4, block=4), axpy, y, x, a, n)

    return work


def make_data_step():
    """Return a captured function that computes y += a * x, with the pointers and the factor as data."""
    axpy = kernel("axpy")

    @capture(data=("y", "x", "a"))
    def work(stream, y, x, a, n):
        launch(stream, LaunchConfig(grid=1, block=4), axpy, y, x, a, n)

    return work


def runs(step) -> int:
    """Return how often a captured function has run."""
    return step.statistics.captures + step.statistics.updates

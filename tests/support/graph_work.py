# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory and kernels for the tests of graphs."""

from __future__ import annotations

import gc
import time

import numpy as np

from cuda.core import LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions

SOURCE = r"""
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);

extern "C" __global__ void add(int *out, int value) { *out += value; }
extern "C" __global__ void count(int *out) { atomicAdd(out, 1); }
extern "C" __global__ void append(int *out, int digit) { *out = *out * 10 + digit; }
extern "C" __global__ void sum(int *out, const int *a, const int *b) { *out = *a + *b; }
extern "C" __global__ void count_down(int *left, cudaGraphConditionalHandle handle)
{ cudaGraphSetConditional(handle, --*left > 0); }
extern "C" __global__ void choose(cudaGraphConditionalHandle handle, unsigned value)
{ cudaGraphSetConditional(handle, value); }
extern "C" __global__ void choose_as(cudaGraphConditionalHandle handle, const int *value)
{ cudaGraphSetConditional(handle, *value); }
extern "C" __global__ void below(cudaGraphConditionalHandle handle, const int *value, int limit)
{ cudaGraphSetConditional(handle, *value < limit); }
"""
ONE = LaunchConfig(grid=1, block=1)


def kernels(device) -> dict:
    """Return the kernels of SOURCE by name."""
    code = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
    names = ("add", "append", "count", "sum", "count_down", "choose", "choose_as", "below")
    return {name: code.get_kernel(name) for name in names}


class Memory:
    """16 ints in pinned memory, zero at first."""

    def __init__(self, stream):
        self.buffer = LegacyPinnedMemoryResource().allocate(64, stream=stream)
        self.values = np.from_dlpack(self.buffer).view(np.int32)
        self.values[:] = 0

    def at(self, index: int) -> int:
        """Return the address of an int."""
        return self.buffer.handle + 4 * index

    @property
    def address(self) -> int:
        return self.at(0)

    def __bytes__(self) -> bytes:
        return self.values.tobytes()


def value(memory: Memory, index: int = 0) -> int:
    """Return one of the ints."""
    return int(memory.values[index])


def run(graph, stream) -> None:
    """Instantiate a definition, launch it and wait."""
    graph.instantiate().launch(stream)
    stream.sync()


def is_released(reference, seconds: float = 10) -> bool:
    """Return whether the object of a weak reference is released in time: the driver releases it on another thread."""
    deadline = time.monotonic() + seconds
    while reference() is not None and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.001)
    return reference() is None


class Thing:
    """An object to refer to weakly, which can be called back."""

    def __init__(self):
        self.calls = []

    def work(self):
        self.calls.append(1)


def can_capture(stream) -> bool:
    """Return True if no capture is left on the stream: a new builder can begin one."""
    with stream.create_graph_builder() as builder:
        builder.begin_building().end_building()
    return True

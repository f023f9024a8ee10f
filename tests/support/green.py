# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Green contexts for tests, and the SMs that their kernels run on."""

from __future__ import annotations

import functools

import numpy as np

from cuda.core import (
    Context,
    ContextOptions,
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    SMResource,
    SMResourceOptions,
    Stream,
    launch,
)

SOURCE = r"""
extern "C" __global__ void where(unsigned* out) {
    unsigned multiprocessor;
    asm volatile("mov.u32 %0, %smid;" : "=r"(multiprocessor));
    if (threadIdx.x == 0) out[blockIdx.x] = multiprocessor;
}
"""
BLOCKS = 512


def split(device: Device, *counts: int) -> list[SMResource]:
    """Return groups of the multiprocessors of a device."""
    groups, _ = device.resources.sm.split(SMResourceOptions(count=counts))
    assert len(groups) == len(counts)
    return groups


def green_context(device: Device, count: int = 8) -> Context:
    """Return a context of some multiprocessors of a device."""
    return device.create_context(ContextOptions(resources=split(device, count)))


@functools.cache
def kernel():
    """Return the kernel that stores the multiprocessor of each block."""
    code = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{Device().arch}")).compile("cubin")
    return code.get_kernel("where")


def multiprocessors(stream: Stream) -> set[int]:
    """Return the multiprocessors that a kernel on a stream ran on."""
    out = LegacyPinnedMemoryResource().allocate(4 * BLOCKS)
    launch(stream, LaunchConfig(grid=BLOCKS, block=256), kernel(), out)
    stream.sync()
    return set(np.from_dlpack(out).view(np.uint32).tolist())


def reserved(device: Device) -> set[int]:
    """Return the multiprocessors that two disjoint groups both run on.

    There are none, except on a GPU in a process that has loaded code with dynamic parallelism: there each context
    also uses the two multiprocessors that serve launches by kernels.
    """
    contexts = [device.create_context(ContextOptions(resources=[group])) for group in split(device, 8, 8)]
    first, second = (multiprocessors(context.create_stream()) for context in contexts)
    common = first & second
    assert len(common) <= 2
    return common


def own_multiprocessors(stream: Stream) -> set[int]:
    """Return the multiprocessors of a green context that a kernel on a stream of it ran on."""
    return multiprocessors(stream) - reserved(stream.device)

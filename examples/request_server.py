# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Serve concurrent requests with asyncio: each has its own stream, and none blocks the others."""

import asyncio
import time

import numpy as np

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

SOURCE = r"""
extern "C" __global__ void length(const float* x, float* result, int n) {
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += 32) sum += x[i] * x[i];
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x == 0) *result = sqrtf(sum);
}
"""
REQUESTS, N = 64, 1000

device = Device()
device.set_current()
kernel = Program(SOURCE, "c++").compile("cubin").get_kernel("length")
pinned = LegacyPinnedMemoryResource()


async def handle(numbers: np.ndarray) -> tuple[float, float]:
    """Return the norm of the numbers, and how long that took in milliseconds."""
    begin = time.perf_counter()
    with device.create_stream() as stream, pinned.allocate(4 * N) as x, pinned.allocate(4) as result:
        np.from_dlpack(x).view(np.float32)[:] = numbers
        launch(stream, LaunchConfig(grid=1, block=32), kernel, x, result, N)
        await asyncio.to_thread(stream.sync)
        norm = float(np.from_dlpack(result).view(np.float32)[0])
    return norm, 1000 * (time.perf_counter() - begin)


async def serve(requests: np.ndarray) -> list[tuple[float, float]]:
    """Handle all requests at the same time."""
    return await asyncio.gather(*map(handle, requests))


requests = np.random.default_rng(10).random((REQUESTS, N), np.float32)
norms, times = zip(*asyncio.run(serve(requests)), strict=True)
for low, high in ((0, 50), (50, 90), (90, 100)):
    bar = "#" * int(np.percentile(times, high) / max(times) * 40)
    print(f"{low:3} to {high:3} %: below {np.percentile(times, high):7.2f} ms {bar}")
if not np.allclose(norms, np.linalg.norm(requests, axis=1), rtol=1e-4):
    raise SystemExit("a norm is wrong")
print(f"verified: {REQUESTS} requests got NumPy's norms")

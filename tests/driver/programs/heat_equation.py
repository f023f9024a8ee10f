# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The heat equation on two halves of a plate, each on a stream, with events between them."""

import numpy as np

import cuda.core.driver as cuda

from cuda.core.driver import autoinit  # isort: skip
from cuda.core.driver.compiler import SourceModule

NX, NY, STEPS, ALPHA = 32, 32, 20, 0.2

mod = SourceModule("""
__global__ void step(float *next, const float *now, float alpha, int nx, int first, int last)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = first + blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || x >= nx - 1 || y >= last) return;
    int i = y * nx + x;
    next[i] = now[i] + alpha * (now[i - 1] + now[i + 1] + now[i - nx] + now[i + nx] - 4 * now[i]);
}
""")
step = mod.get_function("step")
step.prepare([np.intp, np.intp, np.float32, np.int32, np.int32, np.int32])

plate = cuda.pagelocked_zeros((NY, NX), np.float32)
plate[0, :] = 100
plate[NY // 2, NX // 2] = 50
now, other = cuda.mem_alloc(plate.nbytes), cuda.mem_alloc(plate.nbytes)
streams = [cuda.Stream(), cuda.Stream()]
events = [cuda.Event(cuda.event_flags.DISABLE_TIMING) for _ in streams]
cuda.memcpy_htod_async(now, plate, streams[0])
cuda.memcpy_dtod_async(other, now, plate.nbytes, streams[0])
events[0].record(streams[0])
streams[1].wait_for_event(events[0])

halves = [(1, NY // 2), (NY // 2, NY - 1)]
block, grid = (16, 8, 1), (NX // 16, NY // 2 // 8)
for _ in range(STEPS):
    for stream, event, (first, last) in zip(streams, events, halves):
        step.prepared_async_call(grid, block, stream, other, now, ALPHA, NX, first, last)
        event.record(stream)
    streams[0].wait_for_event(events[1])
    streams[1].wait_for_event(events[0])
    now, other = other, now

result = cuda.pagelocked_empty_like(plate)
cuda.memcpy_dtoh_async(result, now, stream=streams[0])
streams[0].synchronize()
assert streams[0].is_done()

a = plate.astype(np.float64)
for _ in range(STEPS):
    b = a.copy()
    b[1:-1, 1:-1] += ALPHA * (a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1] - 4 * a[1:-1, 1:-1])
    a = b
assert np.allclose(result, a, atol=1e-3)
print("heat equation OK")

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Estimate pi from random points, and draw how the estimate narrows: random numbers from counters.

python monte_carlo_pi.py [OUTPUT.png]
"""

import sys

import numpy as np
from PIL import Image, ImageDraw

from cuda.core import Device, LaunchConfig, Program, launch

SOURCE = r"""
// Mixes a counter into 32 random bits, so that every point needs no state and can be computed again.
__host__ __device__ unsigned mix(unsigned x) {
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}
extern "C" __global__ void throw_points(unsigned first, unsigned* inside) {
    unsigned i = first + blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long x = mix(2 * i) >> 16, y = mix(2 * i + 1) >> 16;
    int hits = __syncthreads_count(x * x + y * y < 1ull << 32);
    if (threadIdx.x == 0) atomicAdd(inside, hits);
}
"""
BATCH, BATCHES = 1 << 14, 50

device = Device()
device.set_current()
stream = device.create_stream()
kernel = Program(SOURCE, "c++").compile("cubin").get_kernel("throw_points")
config = LaunchConfig(grid=BATCH // 256, block=256)
counts = device.allocate(4 * BATCHES, stream=stream)
counts.fill(0, stream=stream)
for batch in range(BATCHES):
    launch(stream, config, kernel, np.uint32(batch * BATCH), counts[4 * batch :])
hits = np.empty(BATCHES, np.uint32)
counts.copy_to(hits, stream=stream)
stream.sync()

points = BATCH * np.arange(1, BATCHES + 1)
estimates = 4 * np.cumsum(hits) / points
band = 1.96 * np.sqrt(np.pi * (4 - np.pi) / points)  # 95 % of all estimates
image = Image.new("RGB", (640, 240), "white")
draw = ImageDraw.Draw(image)
places = 20 + 600 * np.arange(BATCHES) / (BATCHES - 1)
high = 120 - 100 * band / band[0]
edge = list(zip(places, high, strict=True))
draw.polygon(edge + [(x, 240 - y) for x, y in reversed(edge)], "#d6eaf8")
draw.line((20, 120, 620, 120), "#888888")
draw.line(list(zip(places, 120 - 100 * (estimates - np.pi) / band[0], strict=True)), "#c0392b", 2)
path = sys.argv[1] if len(sys.argv) > 1 else "monte_carlo_pi.png"
image.save(path)


def mix(x: np.ndarray) -> np.ndarray:
    """Return the same random bits, with NumPy."""
    x = (x ^ (x >> 16)) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> 15)) * np.uint32(0x846CA68B)
    return x ^ (x >> 16)


counters = 2 * np.arange(BATCH * BATCHES, dtype=np.uint32)
x, y = [(mix(counter) >> 16).astype(np.uint64) for counter in (counters, counters + np.uint32(1))]
if np.sum(x * x + y * y < 1 << 32) != hits.sum():
    raise SystemExit("other points are inside than with NumPy")
print(f"verified: pi is {estimates[-1]:.4f} +- {band[-1]:.4f} after {points[-1]} points, as with NumPy; see {path}")

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Count the values of a million samples: atomic additions, first in shared memory, then in global memory.

python histogram.py [OUTPUT.png]
"""

import sys

import numpy as np
from PIL import Image, ImageDraw

from cuda.core import Device, LaunchConfig, Program, launch

SOURCE = r"""
extern "C" __global__ void count(const unsigned char* values, int n, unsigned int* bins) {
    __shared__ unsigned int own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[values[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
"""
N = 1_000_000
random = np.random.default_rng(4)
values = np.clip(np.where(random.random(N) < 0.6, random.normal(90, 20, N), random.normal(170, 12, N)), 0, 255)
values = values.astype(np.uint8)

device = Device()
device.set_current()
stream = device.create_stream()
count = Program(SOURCE, "c++").compile("cubin").get_kernel("count")
data, bins = device.allocate(N, stream=stream), device.allocate(4 * 256, stream=stream)
data.copy_from(values, stream=stream)
bins.fill(0, stream=stream)
launch(stream, LaunchConfig(grid=64, block=256), count, data, N, bins)
result = np.empty(256, np.uint32)
bins.copy_to(result, stream=stream)
stream.sync()

image = Image.new("L", (2 * 256 + 20, 220), 255)
draw = ImageDraw.Draw(image)
for value, height in enumerate(200 * result / result.max()):
    draw.rectangle((10 + 2 * value, 210 - int(height), 11 + 2 * value, 210), 90)
path = sys.argv[1] if len(sys.argv) > 1 else "histogram.png"
image.save(path)
if not np.array_equal(result, np.bincount(values, minlength=256)):
    raise SystemExit("the counts differ from NumPy's")
print(f"verified: {N} values are counted as by NumPy; see {path}")

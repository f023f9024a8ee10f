# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Sort with a bitonic network, one launch per step, and draw the array after each of them.

python bitonic_sort.py [OUTPUT.png]
"""

import sys

import numpy as np
from PIL import Image

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program

SOURCE = r"""
extern "C" __global__ void step(float* x, int distance, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = i ^ distance;
    if (j > i && (x[i] > x[j]) == ((i & size) == 0)) {
        float other = x[i];
        x[i] = x[j], x[j] = other;
    }
}
"""
N = 512

device = Device()
device.set_current()
stream = device.create_stream()
kernel = Program(SOURCE, "c++").compile("cubin").get_kernel("step")
step = kernel.bind(LaunchConfig(grid=N // 128, block=128), stream=stream)
buffer = LegacyPinnedMemoryResource().allocate(4 * N)
x = np.asarray(buffer).view(np.float32)
x[:] = numbers = np.random.default_rng(6).random(N, np.float32)

rows = [numbers]
size = 2
while size <= N:
    distance = size // 2
    while distance:
        step(buffer, distance, size)
        stream.sync()
        rows.append(x.copy())
        distance //= 2
    size *= 2
path = sys.argv[1] if len(sys.argv) > 1 else "bitonic_sort.png"
Image.fromarray((255 * np.repeat(rows, 6, axis=0)).astype(np.uint8)).save(path)
if not np.array_equal(x, np.sort(numbers)):
    raise SystemExit("the numbers are not sorted")
print(f"verified: {N} numbers are in order after {len(rows) - 1} steps; see {path}")

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Play Conway's game of life on a torus and write an animation: two buffers that swap roles at every step.

python game_of_life.py [OUTPUT.gif]
"""

import sys

import numpy as np
from PIL import Image

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

SOURCE = r"""
extern "C" __global__ void step(const unsigned char* now, unsigned char* next, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, around = 0;
    for (int dy = n - 1; dy <= n + 1; ++dy)
        for (int dx = n - 1; dx <= n + 1; ++dx)
            around += now[(y + dy) % n * n + (x + dx) % n];
    around -= now[y * n + x];
    next[y * n + x] = around == 3 || (around == 2 && now[y * n + x]);
}
"""
N, STEPS = 96, 90

device = Device()
device.set_current()
stream = device.create_stream()
step = Program(SOURCE, "c++").compile("cubin").get_kernel("step")
config = LaunchConfig(grid=(N // 16, N // 16), block=(16, 16))
now, after = [LegacyPinnedMemoryResource().allocate(N * N) for _ in range(2)]
start = (np.random.default_rng(5).random((N, N)) < 0.25).astype(np.uint8)
np.asarray(now).reshape(N, N)[:] = start

frames = []
for _ in range(STEPS):
    launch(stream, config, step, now, after, N)
    stream.sync()
    now, after = after, now
    cells = np.asarray(now).reshape(N, N)
    frames.append(Image.fromarray(255 - 255 * cells).resize((2 * N, 2 * N), Image.Resampling.NEAREST))
path = sys.argv[1] if len(sys.argv) > 1 else "game_of_life.gif"
frames[0].save(path, save_all=True, append_images=frames[1:], duration=60, loop=0)

expected = start
for _ in range(STEPS):
    around = sum(np.roll(expected, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1)) - expected
    expected = ((around == 3) | ((around == 2) & (expected == 1))).astype(np.uint8)
if not np.array_equal(cells, expected):
    raise SystemExit("the game differs from NumPy's")
print(f"verified: {cells.sum()} cells live after {STEPS} steps, as with NumPy; see {path}")

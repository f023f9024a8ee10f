# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Zoom into the Mandelbrot set and write an animation: a grid of two dimensions that writes to pinned memory.

python mandelbrot_zoom.py [OUTPUT.gif]
"""

import sys

import numpy as np
from PIL import Image
from tqdm import tqdm

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch
from cuda.core.utils import cdiv

SOURCE = r"""
extern "C" __global__ void draw(unsigned char* image, int width, int height, float x, float y, float scale) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y, count = 0;
    if (column >= width || row >= height) return;
    float cx = x + scale * (column - width / 2), cy = y + scale * (row - height / 2);
    for (float a = 0, b = 0, t; a * a + b * b < 4 && count < 255; a = t, ++count)
        t = a * a - b * b + cx, b = 2 * a * b + cy;
    image[row * width + column] = 255 - count;
}
"""
WIDTH, HEIGHT, FRAMES = 240, 180, 40
X, Y = -0.7436, 0.1318

device = Device()
device.set_current()
stream = device.create_stream()
draw = Program(SOURCE, "c++").compile("cubin").get_kernel("draw")
config = LaunchConfig(grid=(cdiv(WIDTH, 16), cdiv(HEIGHT, 16)), block=(16, 16))
image = LegacyPinnedMemoryResource().allocate(WIDTH * HEIGHT)
pixels = np.asarray(image).reshape(HEIGHT, WIDTH)

frames = []
for frame in tqdm(range(FRAMES)):
    scale = 3 / WIDTH * 0.88**frame
    launch(stream, config, draw, image, WIDTH, HEIGHT, X, Y, scale)
    stream.sync()
    frames.append(Image.fromarray(pixels.copy()))
path = sys.argv[1] if len(sys.argv) > 1 else "mandelbrot_zoom.gif"
frames[0].save(path, save_all=True, append_images=frames[1:], duration=80, loop=0)

# The first picture again, with NumPy.
rows, columns = np.mgrid[:HEIGHT, :WIDTH].astype(np.float32)
c = np.complex64(X + 1j * Y) + np.float32(3 / WIDTH) * ((columns - WIDTH // 2) + 1j * (rows - HEIGHT // 2))
z, count = np.zeros_like(c), np.zeros(c.shape, int)
for _ in range(255):
    inside = abs(z) < 2
    count += inside
    z = np.where(inside, z * z + c, z)
# At the border of the set, rounding makes a step more or less.
different = np.mean(np.asarray(frames[0]) != 255 - count)
if different > 0.02:
    raise SystemExit(f"{different:.1%} of the pixels are wrong")
print(f"verified: {path} has {FRAMES} frames, and NumPy draws the same")

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""An image turned and scaled about its middle, with bilinear interpolation."""

import math

import numpy as np

import cuda.core.driver as drv
import cuda.core.driver.autoinit
from cuda.core.driver.compiler import SourceModule

mod = SourceModule("""
typedef unsigned char uchar;

__device__ float pixel(const uchar *image, int x, int y, int width, int height)
{
    return x < 0 || y < 0 || x >= width || y >= height ? 0.0f : image[y * width + x];
}

__global__ void warp(uchar *out, const uchar *in, int width, int height, const float *m)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float u = m[0] * x + m[1] * y + m[2], v = m[3] * x + m[4] * y + m[5];
    int x0 = (int)floorf(u), y0 = (int)floorf(v);
    float a = u - x0, b = v - y0;
    float top = (1 - a) * pixel(in, x0, y0, width, height) + a * pixel(in, x0 + 1, y0, width, height);
    float low = (1 - a) * pixel(in, x0, y0 + 1, width, height) + a * pixel(in, x0 + 1, y0 + 1, width, height);
    out[y * width + x] = (uchar)rintf((1 - b) * top + b * low);
}
""")
warp = mod.get_function("warp")

height, width = 45, 61
rows, columns = np.mgrid[:height, :width]
image = ((rows * 4 + columns * 2) % 256).astype(np.uint8)


def turned(angle, scale=1.0):
    c, s = math.cos(angle) / scale, math.sin(angle) / scale
    cx, cy = (width - 1) / 2, (height - 1) / 2
    m = np.array([c, s, cx - c * cx - s * cy, -s, c, cy + s * cx - c * cy], dtype=np.float32)
    out = np.empty_like(image)
    grid = ((width + 15) // 16, (height + 15) // 16)
    warp(drv.Out(out), drv.In(image), np.int32(width), np.int32(height), drv.In(m), block=(16, 16, 1), grid=grid)
    return out


assert (turned(0.0) == image).all()
half = turned(math.pi).astype(int)
assert np.abs(half[1:-1, 1:-1] - image[::-1, ::-1][1:-1, 1:-1]).max() <= 1
small = turned(0.0, scale=0.5)
assert small[0, 0] == 0 and small[height // 2, width // 2] == image[height // 2, width // 2]
print("image warp OK")

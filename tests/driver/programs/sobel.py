# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Edges of an image by the Sobel operator, with a tile in shared memory."""

import numpy as np

import cuda.core.driver.autoinit
from cuda.core.driver import gpuarray
from cuda.core.driver.compiler import SourceModule

TILE = 16
mod = SourceModule(
    """
    __global__ void sobel(const float *in, float *out, int width, int height)
    {
        __shared__ float tile[%(TILE)d + 2][%(TILE)d + 2];
        int left = blockIdx.x * %(TILE)d - 1, top = blockIdx.y * %(TILE)d - 1;
        const int side = %(TILE)d + 2;
        for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < side * side; k += blockDim.x * blockDim.y) {
            int row = k / side, column = k %% side;
            int x = min(max(left + column, 0), width - 1), y = min(max(top + row, 0), height - 1);
            tile[row][column] = in[y * width + x];
        }
        __syncthreads();
        int x = blockIdx.x * %(TILE)d + threadIdx.x, y = blockIdx.y * %(TILE)d + threadIdx.y;
        if (x >= width || y >= height) return;
        int r = threadIdx.y, c = threadIdx.x;
        float gx = tile[r][c + 2] + 2 * tile[r + 1][c + 2] + tile[r + 2][c + 2]
                 - tile[r][c] - 2 * tile[r + 1][c] - tile[r + 2][c];
        float gy = tile[r + 2][c] + 2 * tile[r + 2][c + 1] + tile[r + 2][c + 2]
                 - tile[r][c] - 2 * tile[r][c + 1] - tile[r][c + 2];
        out[y * width + x] = sqrtf(gx * gx + gy * gy);
    }
    """
    % {"TILE": TILE}
)
sobel = mod.get_function("sobel")

height, width = 37, 50
image = np.zeros((height, width), np.float32)
image[10:25, 15:40] = 1
image += np.random.RandomState(0).rand(height, width).astype(np.float32) * 0.01

image_gpu = gpuarray.to_gpu(image)
edges_gpu = gpuarray.empty_like(image_gpu)
grid = ((width + TILE - 1) // TILE, (height + TILE - 1) // TILE)
sobel(image_gpu, edges_gpu, np.int32(width), np.int32(height), block=(TILE, TILE, 1), grid=grid)

p = np.pad(image, 1, mode="edge")
gx = (p[:-2, 2:] + 2 * p[1:-1, 2:] + p[2:, 2:]) - (p[:-2, :-2] + 2 * p[1:-1, :-2] + p[2:, :-2])
gy = (p[2:, :-2] + 2 * p[2:, 1:-1] + p[2:, 2:]) - (p[:-2, :-2] + 2 * p[:-2, 1:-1] + p[:-2, 2:])
assert np.allclose(edges_gpu.get(), np.sqrt(gx**2 + gy**2), atol=1e-5)

marked = gpuarray.if_positive(edges_gpu - 2, gpuarray.ones_like(edges_gpu), gpuarray.zeros_like(edges_gpu))
assert gpuarray.sum(marked).get() == (np.sqrt(gx**2 + gy**2) > 2).sum() > 100
print("Sobel OK")

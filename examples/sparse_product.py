# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Multiply a sparse matrix by a vector, one warp per row, and draw where the matrix has elements.

python sparse_product.py [OUTPUT.png]
"""

import sys

import numpy as np
from PIL import Image

from cuda.core import Device, LaunchConfig, Program, launch

SOURCE = r"""
extern "C" __global__ void multiply(const int* starts, const int* columns, const float* values, const float* x,
                                    float* y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0;
    for (int i = starts[row] + lane; i < starts[row + 1]; i += 32) sum += values[i] * x[columns[i]];
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (lane == 0) y[row] = sum;
}
"""
N = 400
random = np.random.default_rng(8)
row, column = np.mgrid[:N, :N]
density = np.exp(-abs(row - column) / 12) + 0.8 * np.exp(-abs(row + column - N) / 5)
matrix = np.where(random.random((N, N)) < density, random.normal(0, 1, (N, N)), 0).astype(np.float32)
rows, columns = np.nonzero(matrix)
starts = np.searchsorted(rows, np.arange(N + 1)).astype(np.int32)
vector = random.random(N, np.float32)

device = Device()
device.set_current()
stream = device.create_stream()
multiply = Program(SOURCE, "c++").compile("cubin").get_kernel("multiply")


def on_device(array: np.ndarray):
    """Return a buffer with the elements of an array."""
    buffer = device.allocate(array.nbytes, stream=stream)
    buffer.copy_from(array, stream=stream)
    return buffer


inputs = [on_device(array) for array in (starts, columns.astype(np.int32), matrix[rows, columns], vector)]
product = device.allocate(4 * N, stream=stream)
launch(stream, LaunchConfig(grid=N // 4, block=128), multiply, *inputs, product, N)
result = np.empty(N, np.float32)
product.copy_to(result, stream=stream)
stream.sync()

path = sys.argv[1] if len(sys.argv) > 1 else "sparse_product.png"
Image.fromarray(np.where(matrix, 40, 255).astype(np.uint8)).save(path)
if not np.allclose(result, matrix @ vector, atol=1e-4):
    raise SystemExit("the product differs from NumPy's")
print(f"verified: a matrix with {rows.size} of {N * N} elements times a vector is NumPy's product; see {path}")

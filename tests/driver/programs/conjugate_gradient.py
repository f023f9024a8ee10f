# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A sparse system solved by conjugate gradients: a kernel multiplies by the matrix, arrays do the rest."""

import numpy as np

import cuda.core.driver.autoinit
from cuda.core.driver import gpuarray
from cuda.core.driver.compiler import SourceModule

mod = SourceModule("""
__global__ void multiply(const int *start, const int *column, const double *value, const double *x, double *y, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) {
        double sum = 0;
        for (int k = start[row]; k < start[row + 1]; ++k) sum += value[k] * x[column[k]];
        y[row] = sum;
    }
}
""")
multiply = mod.get_function("multiply")
multiply.prepare("PPPPPi")

# The Laplace operator on a square grid.
side = 16
n = side * side
start, column, value = [0], [], []
for row in range(n):
    r, c = divmod(row, side)
    for dr, dc in ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)):
        if 0 <= r + dr < side and 0 <= c + dc < side:
            column.append((r + dr) * side + c + dc)
            value.append(4.0 if dr == dc == 0 else -1.0)
    start.append(len(column))
start_gpu = gpuarray.to_gpu(np.array(start, np.int32))
column_gpu = gpuarray.to_gpu(np.array(column, np.int32))
value_gpu = gpuarray.to_gpu(np.array(value))


def matrix_times(x):
    y = gpuarray.empty_like(x)
    matrix = start_gpu.gpudata, column_gpu.gpudata, value_gpu.gpudata
    multiply.prepared_call(((n + 127) // 128, 1), (128, 1, 1), *matrix, x.gpudata, y.gpudata, n)
    return y


b = gpuarray.to_gpu(np.random.RandomState(5).rand(n))
x = gpuarray.zeros_like(b)
r = b.copy()
p = r.copy()
old = float(gpuarray.dot(r, r).get())
steps = 0
while old > 1e-20 and steps < 200:
    ap = matrix_times(p)
    alpha = old / float(gpuarray.dot(p, ap).get())
    x = x.mul_add(1, p, alpha)
    r -= alpha * ap
    new = float(gpuarray.dot(r, r).get())
    p = r + (new / old) * p
    old = new
    steps += 1
assert steps < 100
assert np.allclose(matrix_times(x).get(), b.get(), atol=1e-8)
print("conjugate gradient OK")

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A network of two layers that learns exclusive or, with its gradients by hand."""

import numpy as np

import cuda.core.driver.autoinit
from cuda.core.driver import cumath, gpuarray
from cuda.core.driver.compiler import SourceModule

mod = SourceModule("""
// c = a b, where a or b may be transposed
__global__ void product(const float *a, const float *b, float *c, int rows, int columns, int inner, int ta, int tb)
{
    int r = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows || k >= columns) return;
    float sum = 0;
    for (int j = 0; j < inner; ++j)
        sum += (ta ? a[j * rows + r] : a[r * inner + j]) * (tb ? b[k * inner + j] : b[j * columns + k]);
    c[r * columns + k] = sum;
}
""")
product = mod.get_function("product").prepare("PPPiiiii")


def dot(a, b, ta=False, tb=False):
    rows, inner = a.shape[::-1] if ta else a.shape
    columns = b.shape[0] if tb else b.shape[1]
    c = gpuarray.empty((rows, columns), np.float32)
    grid = ((columns + 15) // 16, (rows + 15) // 16)
    product.prepared_call(grid, (16, 16, 1), a.gpudata, b.gpudata, c.gpudata, rows, columns, inner, int(ta), int(tb))
    return c


def sigmoid(x):
    return 1 / (1 + cumath.exp(-x))


rng = np.random.RandomState(2)
x = gpuarray.to_gpu(np.array([[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]], np.float32))
y = gpuarray.to_gpu(np.array([[0], [1], [1], [0]], np.float32))
w1 = gpuarray.to_gpu(rng.randn(3, 8).astype(np.float32))
w2 = gpuarray.to_gpu(rng.randn(8, 1).astype(np.float32))

losses = []
for epoch in range(250):
    hidden = cumath.tanh(dot(x, w1))
    out = sigmoid(dot(hidden, w2))
    error = out - y
    if epoch % 50 == 0:
        losses.append(float(gpuarray.dot(error, error).get()))
    slope = error * out * (1 - out)
    back = dot(slope, w2, tb=True) * (1 - hidden * hidden)
    w2 -= 4.0 * dot(hidden, slope, ta=True)
    w1 -= 4.0 * dot(x, back, ta=True)

assert losses[-1] < 0.1 * losses[0], losses
assert (out.get().round() == y.get()).all()
print("neural network OK")

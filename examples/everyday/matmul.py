# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Multiply two matrices, one thread per element of the result."""

import numpy as np

from cuda.core import Device, utils

matmul = utils.kernel("""
__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}""", "matmul")  # fmt: skip
a, b = [np.random.default_rng(1).random(shape, np.float32) for shape in [(60, 30), (30, 50)]]
c = Device().empty((60, 50), np.float32)
on_device = [Device().to_device(x) for x in (a, b)]
matmul(*on_device, c, 60, 50, 30, grid=(utils.cdiv(50, 16), utils.cdiv(60, 16)), block=(16, 16))
assert np.allclose(c.to_host(), a @ b)
print("matmul: verified")

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Add two vectors."""

import numpy as np

from cuda.core import Device, utils

add = utils.kernel("""
__global__ void add(const float* x, const float* y, float* z, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) z[i] = x[i] + y[i];
}""", "add")  # fmt: skip
x, y = np.random.default_rng(1).random((2, 100_000), np.float32)
z = Device().empty(x.shape, x.dtype)
add["resident", 256](Device().to_device(x), Device().to_device(y), z, x.size)
assert np.array_equal(z.to_host(), x + y)
print("vector add: verified")

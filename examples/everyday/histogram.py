# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Count how often each byte occurs."""

import numpy as np

from cuda.core import Device, utils

count = utils.kernel("""
__global__ void count(const unsigned char* x, int* bins, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(bins + x[i], 1);
}""", "count")  # fmt: skip
x = np.random.default_rng(1).integers(0, 256, 30_000, np.uint8)
bins = Device().zeros(256, np.int32)
count(Device().to_device(x), bins, x.size, grid=32, block=128)
assert np.array_equal(bins.to_host(), np.bincount(x, minlength=256))
print("histogram: verified")

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Sum numbers: each block reduces its part in shared memory."""

import numpy as np

from cuda.core import Device, utils

total = utils.kernel("""
__global__ void total(const int* x, int* sum, int n) {
    __shared__ int part;
    if (threadIdx.x == 0) part = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&part, x[i]);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(sum, part);
}""", "total")  # fmt: skip
x = np.arange(20_000, dtype=np.int32)
result = Device().zeros(1, np.int32)
total(Device().to_device(x), result, x.size, grid=16, block=128)
assert result.to_host()[0] == x.sum()
print("reduction: verified")

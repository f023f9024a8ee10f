# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Work-efficient exclusive prefix sum of one block, and of many blocks in three launches."""

import numpy as np

import cuda.core.driver as drv

import cuda.core.driver.autoinit  # isort: skip
from cuda.core.driver.compiler import SourceModule

BLOCK = 128

mod = SourceModule(
    """
__global__ void scan_blocks(int *data, int *sums, int n)
{
    extern __shared__ int temp[];
    int tid = threadIdx.x;
    int base = 2 * blockIdx.x * blockDim.x;
    int size = 2 * blockDim.x;
    int offset = 1;
    temp[2 * tid] = base + 2 * tid < n ? data[base + 2 * tid] : 0;
    temp[2 * tid + 1] = base + 2 * tid + 1 < n ? data[base + 2 * tid + 1] : 0;
    for (int d = size >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (tid < d) temp[offset * (2 * tid + 2) - 1] += temp[offset * (2 * tid + 1) - 1];
        offset *= 2;
    }
    if (tid == 0) {
        if (sums) sums[blockIdx.x] = temp[size - 1];
        temp[size - 1] = 0;
    }
    for (int d = 1; d < size; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (tid < d) {
            int ai = offset * (2 * tid + 1) - 1, bi = offset * (2 * tid + 2) - 1;
            int t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }
    __syncthreads();
    if (base + 2 * tid < n) data[base + 2 * tid] = temp[2 * tid];
    if (base + 2 * tid + 1 < n) data[base + 2 * tid + 1] = temp[2 * tid + 1];
}

__global__ void add_sums(int *data, const int *sums, int n)
{
    int i = 2 * blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] += sums[blockIdx.x];
    if (i + blockDim.x < n) data[i + blockDim.x] += sums[blockIdx.x];
}
"""
)
scan_blocks = mod.get_function("scan_blocks")
add_sums = mod.get_function("add_sums")


def exclusive_scan(host):
    n = host.size
    blocks = (n + 2 * BLOCK - 1) // (2 * BLOCK)
    data = drv.to_device(host)
    sums = drv.mem_alloc(4 * blocks)
    shared = 2 * BLOCK * 4
    scan_blocks(data, sums, np.int32(n), block=(BLOCK, 1, 1), grid=(blocks, 1), shared=shared)
    # no more than one block of sums here
    scan_blocks(sums, np.intp(0), np.int32(blocks), block=(BLOCK, 1, 1), shared=shared)
    add_sums(data, sums, np.int32(n), block=(BLOCK, 1, 1), grid=(blocks, 1))
    return drv.from_device(data, n, np.int32)


for n in (1, 2 * BLOCK, 1000, 12345):
    numbers = np.random.randint(0, 100, n).astype(np.int32)
    expected = np.concatenate([[0], np.cumsum(numbers)[:-1]])
    assert (exclusive_scan(numbers) == expected).all(), n
print("prefix sum OK")

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Add up a million numbers, and compute all partial sums: shuffles within a warp, and two levels of blocks."""

import numpy as np

from cuda.core import Device, LaunchConfig, Program, launch
from cuda.core.utils import cdiv

SOURCE = r"""
__device__ int scan_warp(int value) {
    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_up_sync(~0u, value, step);
        if (threadIdx.x % 32 >= step) value += other;
    }
    return value;
}
// Replaces each element of a block by the sum up to it, and writes the sum of the block.
extern "C" __global__ void scan(int* x, int* sums, int n) {
    __shared__ int warps[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, warp = threadIdx.x / 32;
    int value = scan_warp(i < n ? x[i] : 0);
    if (threadIdx.x % 32 == 31) warps[warp] = value;
    __syncthreads();
    if (warp == 0) warps[threadIdx.x] = scan_warp(warps[threadIdx.x]);
    __syncthreads();
    if (warp > 0) value += warps[warp - 1];
    if (i < n) x[i] = value;
    if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = value;
}
extern "C" __global__ void shift(int* x, const int* sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x > 0 && i < n) x[i] += sums[blockIdx.x - 1];
}
"""
N, BLOCK = 1_000_000, 1024
BLOCKS = cdiv(N, BLOCK)

device = Device()
device.set_current()
stream = device.create_stream()
code = Program(SOURCE, "c++").compile("cubin")
scan, shift = code.get_kernel("scan"), code.get_kernel("shift")

numbers = np.random.default_rng(3).integers(-100, 100, N, np.int32)
x = device.allocate(numbers.nbytes, stream=stream)
sums, total = device.allocate(4 * BLOCKS, stream=stream), device.allocate(4, stream=stream)
x.copy_from(numbers, stream=stream)
launch(stream, LaunchConfig(grid=BLOCKS, block=BLOCK), scan, x, sums, N)
launch(stream, LaunchConfig(grid=1, block=BLOCK), scan, sums, total, BLOCKS)
launch(stream, LaunchConfig(grid=BLOCKS, block=BLOCK), shift, x, sums, N)
result, whole = np.empty_like(numbers), np.empty(1, np.int32)
x.copy_to(result, stream=stream)
total.copy_to(whole, stream=stream)
stream.sync()
if not np.array_equal(result, np.cumsum(numbers)) or whole[0] != numbers.sum():
    raise SystemExit("the sums differ from NumPy's")
print(f"verified: {N} partial sums and the sum {whole[0]} are NumPy's")

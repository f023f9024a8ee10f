# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Least significant digit radix sort, one bit at a time."""

import numpy as np

import cuda.core.driver as cuda

from cuda.core.driver import autoinit  # isort: skip
from cuda.core.driver.compiler import SourceModule

mod = SourceModule("""
#include <stdint.h>

__global__ void flags(const uint32_t *keys, int *zeros, int bit, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) zeros[i] = !((keys[i] >> bit) & 1);
}

// Hillis and Steele, one block
__global__ void scan(const int *in, int *out, int n)
{
    __shared__ int buffer[2][1024];
    int t = threadIdx.x, from = 0;
    buffer[0][t] = t > 0 && t <= n ? in[t - 1] : 0;
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        buffer[1 - from][t] = buffer[from][t] + (t >= step ? buffer[from][t - step] : 0);
        from = 1 - from;
        __syncthreads();
    }
    if (t < n) out[t] = buffer[from][t];
}

__global__ void scatter(const uint32_t *keys, uint32_t *sorted, const int *zeros, const int *before, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int total = before[n - 1] + zeros[n - 1];
    sorted[zeros[i] ? before[i] : i - before[i] + total] = keys[i];
}
""")
flags, scan, scatter = (mod.get_function(name) for name in ("flags", "scan", "scatter"))

n = 1000
keys = np.random.randint(0, 1 << 16, n).astype(np.uint32)
a, b = cuda.mem_alloc(keys.nbytes), cuda.mem_alloc(keys.nbytes)
zeros, before = cuda.mem_alloc(4 * n), cuda.mem_alloc(4 * n)
cuda.memcpy_htod(a, keys)
launch = {"block": (256, 1, 1), "grid": ((n + 255) // 256, 1)}
for bit in range(16):
    flags(a, zeros, np.int32(bit), np.int32(n), **launch)
    scan(zeros, before, np.int32(n), block=(1024, 1, 1), grid=(1, 1))
    scatter(a, b, zeros, before, np.int32(n), **launch)
    a, b = b, a
result = np.empty_like(keys)
cuda.memcpy_dtoh(result, a)
assert (result == np.sort(keys)).all()
print("radix sort OK")

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Tiled matrix multiplication in shared memory."""

import numpy as np

import cuda.core.driver as cuda

from cuda.core.driver import autoinit  # isort: skip
from cuda.core.driver.compiler import SourceModule

TILE = 16
N = 64

kernel_template = """
#define TILE %(TILE)s
__global__ void matmul(const float *A, const float *B, float *C, int width)
{
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int m = 0; m < width / TILE; ++m) {
        As[ty][tx] = A[row * width + m * TILE + tx];
        Bs[ty][tx] = B[(m * TILE + ty) * width + col];
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[row * width + col] = sum;
}
"""

mod = SourceModule(kernel_template % {"TILE": TILE})
matmul = mod.get_function("matmul")

a = np.random.randn(N, N).astype(np.float32)
b = np.random.randn(N, N).astype(np.float32)
c = np.empty((N, N), np.float32)

a_gpu = cuda.mem_alloc(a.nbytes)
b_gpu = cuda.mem_alloc(b.nbytes)
c_gpu = cuda.mem_alloc(c.nbytes)
cuda.memcpy_htod(a_gpu, a)
cuda.memcpy_htod(b_gpu, b)

start, end = cuda.Event(), cuda.Event()
start.record()
matmul(a_gpu, b_gpu, c_gpu, np.int32(N), block=(TILE, TILE, 1), grid=(N // TILE, N // TILE))
end.record()
end.synchronize()
millis = start.time_till(end)
cuda.memcpy_dtoh(c, c_gpu)

assert np.allclose(c, np.dot(a, b), atol=1e-3)
assert millis >= 0
for mem in (a_gpu, b_gpu, c_gpu):
    mem.free()
print("matrix product OK")

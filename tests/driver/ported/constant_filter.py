# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# Constant memory: the coefficients of a filter, changed between launches; and counters in a __device__ variable.
import numpy as np
import pycuda.driver as cuda
import pycuda.autoinit
from pycuda.compiler import SourceModule

RADIUS = 4
mod = SourceModule("""
#define RADIUS %d
__constant__ float c_kernel[2 * RADIUS + 1];
__device__ unsigned int calls;
__global__ void fir(const float *x, float *y, int n)
{
    __shared__ float tile[128 + 2 * RADIUS];
    int g = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x + RADIUS;
    tile[l] = g < n ? x[g] : 0.f;
    if (threadIdx.x < RADIUS) {
        tile[l - RADIUS] = g >= RADIUS ? x[g - RADIUS] : 0.f;
        tile[l + blockDim.x] = g + blockDim.x < n ? x[g + blockDim.x] : 0.f;
    }
    __syncthreads();
    if (g < n) {
        float sum = 0;
        for (int k = -RADIUS; k <= RADIUS; k++) sum += c_kernel[k + RADIUS] * tile[l + k];
        y[g] = sum;
        if (g == 0) atomicAdd(&calls, 1u);
    }
}
""" % RADIUS)
fir = mod.get_function("fir")
c_kernel, size = mod.get_global("c_kernel")
assert size == 4 * (2 * RADIUS + 1)
calls = mod.get_global("calls")[0]
cuda.memset_d32(calls, 0, 1)

n = 1000
x = np.random.RandomState(0).randn(n).astype(np.float32)
y = np.empty_like(x)
x_gpu = cuda.to_device(x)
y_gpu = cuda.mem_alloc_like(y)
for shape in (np.ones(9), np.hanning(9), np.arange(9)):
    coefficients = shape.astype(np.float32)
    cuda.memcpy_htod(c_kernel, coefficients)
    fir(x_gpu, y_gpu, np.int32(n), block=(128, 1, 1), grid=((n + 127) // 128, 1))
    cuda.memcpy_dtoh(y, y_gpu)
    assert np.allclose(y, np.convolve(x, coefficients[::-1], "same"), atol=1e-3)
count = np.zeros(1, np.uint32)
cuda.memcpy_dtoh(count, calls)
assert count[0] == 3
print(fir.num_regs, fir.shared_size_bytes, fir.const_size_bytes, fir.max_threads_per_block)
assert fir.shared_size_bytes >= 4 * (128 + 2 * RADIUS)

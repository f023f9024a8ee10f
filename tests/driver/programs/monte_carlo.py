# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Price of a European call by Monte Carlo, against Black and Scholes."""

import math

import numpy as np

import cuda.core.driver as cuda

from cuda.core.driver import autoinit  # isort: skip
from cuda.core.driver.compiler import SourceModule

S0, K, R, SIGMA, T = 100.0, 105.0, 0.05, 0.2, 1.0
THREADS, BLOCKS, PATHS = 128, 8, 64

mod = SourceModule("""
#include <math.h>

__device__ unsigned int hash(unsigned int x)
{
    x ^= x >> 16; x *= 0x7feb352dU; x ^= x >> 15; x *= 0x846ca68bU; x ^= x >> 16;
    return x;
}

__device__ float uniform(unsigned int *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (hash(*state) >> 8) * (1.0f / 16777216.0f) + 1e-7f;
}

__global__ void simulate(double *sums, float s0, float k, float r, float sigma, float t, int paths, unsigned int seed)
{
    __shared__ double partial[128];
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int state = hash(seed + id);
    float drift = (r - 0.5f * sigma * sigma) * t, vol = sigma * sqrtf(t);
    double sum = 0;
    for (int i = 0; i < paths; i++) {
        float u = uniform(&state), v = uniform(&state);
        float radius = sqrtf(-2 * logf(u));
        float z1 = radius * cosf(2 * M_PI * v), z2 = radius * sinf(2 * M_PI * v);
        sum += fmaxf(s0 * expf(drift + vol * z1) - k, 0) + fmaxf(s0 * expf(drift + vol * z2) - k, 0);
    }
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step >>= 1) {
        if (threadIdx.x < step) partial[threadIdx.x] += partial[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}
""")
simulate = mod.get_function("simulate")

sums = np.zeros(BLOCKS)
simulate(
    cuda.Out(sums), np.float32(S0), np.float32(K), np.float32(R), np.float32(SIGMA), np.float32(T), np.int32(PATHS),
    np.uint32(1234), block=(THREADS, 1, 1), grid=(BLOCKS, 1),
)  # fmt: skip
price = math.exp(-R * T) * sums.sum() / (2 * PATHS * THREADS * BLOCKS)


def phi(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


d1 = (math.log(S0 / K) + (R + SIGMA**2 / 2) * T) / (SIGMA * math.sqrt(T))
exact = S0 * phi(d1) - K * math.exp(-R * T) * phi(d1 - SIGMA * math.sqrt(T))
assert abs(price - exact) < 0.3, (price, exact)
print("Monte Carlo OK")

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Estimates pi with random numbers of cuRAND's header for kernels.
#include <cstdio>
#include <curand_kernel.h>

__global__ void init(curandState* states, unsigned long seed) { curand_init(seed, threadIdx.x, 0, &states[threadIdx.x]); }
__global__ void count(curandState* states, int* hits, int n)
{
    curandState state = states[threadIdx.x];
    int inside = 0;
    for (int i = 0; i < n; ++i) {
        float x = curand_uniform(&state), y = curand_uniform(&state);
        inside += x * x + y * y <= 1;
    }
    states[threadIdx.x] = state;
    atomicAdd(hits, inside);
}

int main()
{
    curandState* states;
    int *hits, host;
    cudaMalloc((void**)&states, 64 * sizeof(curandState));
    cudaMalloc(&hits, sizeof(int));
    cudaMemset(hits, 0, sizeof(int));
    init<<<1, 64>>>(states, 1234);
    count<<<1, 64>>>(states, hits, 1000);
    cudaMemcpy(&host, hits, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%.1f\n", 4.0 * host / 64000);
    return 0;
}

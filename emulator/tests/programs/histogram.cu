// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Counts bytes with atomic functions on shared and global memory; formatters write its launches with blanks.
#include "cuda_runtime.h"
#include "device_launch_parameters.h"
#include <algorithm>
#include <stdio.h>

#define BINS 64
const int THREADS = 4 * 32;

__global__ void histogram(const unsigned char* data, int n, unsigned int* bins)
{
    __shared__ unsigned int local[BINS];
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
        atomicAdd(&local[data[i] % BINS], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        atomicAdd(&bins[i], local[i]);
}

int main()
{
    const int n = 3000;
    static unsigned char data[n];
    unsigned int expected[BINS] = {0}, bins[BINS];
    for (int i = 0; i < n; ++i)
        ++expected[(data[i] = i * i % 251) % BINS];
    unsigned char* d_data = 0;
    unsigned int* d_bins = 0;
    cudaMalloc((void**)&d_data, n);
    cudaMalloc((void**)&d_bins, sizeof bins);
    cudaMemset(d_bins, 0, sizeof bins);
    cudaMemcpy(d_data, data, n, cudaMemcpyHostToDevice);
    histogram << <4, THREADS >> > (d_data, n, d_bins);
    cudaError_t cudaStatus = cudaGetLastError();
    if (cudaStatus != cudaSuccess)
        return 2;
    cudaMemcpy(bins, d_bins, sizeof bins, cudaMemcpyDeviceToHost);
    puts(std::equal(bins, bins + BINS, expected) ? "PASS" : "FAIL");
    return !std::equal(bins, bins + BINS, expected);
}

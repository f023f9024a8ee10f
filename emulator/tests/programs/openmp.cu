// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Threads of the host drive all devices, and a reduction on the host checks them.
#include <omp.h>
#include <stdio.h>

__constant__ int factor;

__global__ void fill(int* x, int device) { x[threadIdx.x] = factor * device + threadIdx.x; }

int main()
{
    int devices = 0, wrong = 0, threads = 0, can = 0;
    cudaGetDeviceCount(&devices);
#pragma omp parallel for num_threads(2) reduction(+ : wrong, threads)
    for (int device = 0; device < devices; ++device) {
        int *x, host[64], by = 1000 + device;
        cudaSetDevice(device);
        cudaMemcpyToSymbol(factor, &by, sizeof by);
        cudaMalloc(&x, sizeof host);
        fill<<<1, 64>>>(x, device);
        cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
        for (int i = 0; i < 64; ++i)
            wrong += host[i] != by * device + i;
        threads += omp_get_num_threads();
        cudaFree(x);
    }
    cudaDeviceCanAccessPeer(&can, 0, 1);
    cudaSetDevice(0);
    int *here, *there, back = 0, value = 12;
    cudaMalloc(&here, sizeof(int));
    cudaError_t peer = cudaDeviceEnablePeerAccess(1, 0);
    cudaSetDevice(1);
    cudaMalloc(&there, sizeof(int));
    cudaMemcpy(there, &value, sizeof value, cudaMemcpyHostToDevice);
    cudaMemcpyPeer(here, 0, there, 1, sizeof(int));
    cudaMemcpy(&back, here, sizeof back, cudaMemcpyDeviceToHost);
    printf("%d devices, %d threads, %d wrong, %d %d %d\n", devices, threads, wrong, can, peer, back);
    return wrong;
}

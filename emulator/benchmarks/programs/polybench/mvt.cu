// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// x1 += A y1 and x2 += A' y2, in managed memory.
#include "../common/check.h"

#define N 160

__global__ void mvt_kernel1(float *a, float *x1, float *y_1)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        for (int j = 0; j < N; j++) x1[i] += a[i * N + j] * y_1[j];
}

__global__ void mvt_kernel2(float *a, float *x2, float *y_2)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        for (int j = 0; j < N; j++) x2[i] += a[j * N + i] * y_2[j];
}

int main()
{
    float *a, *x1, *x2, *y1, *y2, expected1[N], expected2[N];
    gpuErrchk(cudaMallocManaged(&a, N * N * sizeof(float)));
    gpuErrchk(cudaMallocManaged(&x1, N * sizeof(float)));
    gpuErrchk(cudaMallocManaged(&x2, N * sizeof(float)));
    gpuErrchk(cudaMallocManaged(&y1, N * sizeof(float)));
    gpuErrchk(cudaMallocManaged(&y2, N * sizeof(float)));
    fill(a, N * N, 1), fill(x1, N, 2), fill(x2, N, 3), fill(y1, N, 4), fill(y2, N, 5);
    for (int i = 0; i < N; i++) {
        expected1[i] = x1[i], expected2[i] = x2[i];
        for (int j = 0; j < N; j++) expected1[i] += a[i * N + j] * y1[j];
        for (int j = 0; j < N; j++) expected2[i] += a[j * N + i] * y2[j];
    }

    dim3 block(256), grid((size_t)ceil((float)N / ((float)block.x)));
    mvt_kernel1<<<grid, block>>>(a, x1, y1);
    mvt_kernel2<<<grid, block>>>(a, x2, y2);
    gpuErrchk(cudaDeviceSynchronize());
    int mismatches = count_mismatches(expected1, x1, N, 0.001f) + count_mismatches(expected2, x2, N, 0.001f);
    cudaFree(a), cudaFree(x1), cudaFree(x2), cudaFree(y1), cudaFree(y2);
    return report("mvt", mismatches);
}

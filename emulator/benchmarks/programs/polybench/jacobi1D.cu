// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Averages three neighbors, and copies back, in turn.
#include "../common/check.h"

#define TSTEPS 100
#define N 1024
#define DIM_THREAD_BLOCK_X 256

__global__ void runJacobiCUDA_kernel1(int n, float *A, float *B)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if ((i > 0) && (i < (n - 1))) B[i] = 0.33333f * (A[i - 1] + A[i] + A[i + 1]);
}

__global__ void runJacobiCUDA_kernel2(int n, float *A, float *B)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if ((j > 0) && (j < (n - 1))) A[j] = B[j];
}

void runJacobi1DCpu(int tsteps, int n, float *A, float *B)
{
    for (int t = 0; t < tsteps; t++) {
        for (int i = 1; i < n - 1; i++) B[i] = 0.33333f * (A[i - 1] + A[i] + A[i + 1]);
        for (int j = 1; j < n - 1; j++) A[j] = B[j];
    }
}

int main()
{
    float A[N], B[N], found[N];
    float *Agpu, *Bgpu;
    for (int i = 0; i < N; i++) A[i] = ((float)4 * i + 10) / N, B[i] = ((float)7 * i + 11) / N;
    gpuErrchk(cudaMalloc(&Agpu, N * sizeof(float)));
    gpuErrchk(cudaMalloc(&Bgpu, N * sizeof(float)));
    gpuErrchk(cudaMemcpy(Agpu, A, N * sizeof(float), cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemcpy(Bgpu, B, N * sizeof(float), cudaMemcpyHostToDevice));

    dim3 block(DIM_THREAD_BLOCK_X, 1, 1);
    dim3 grid((unsigned int)ceil(((float)N) / ((float)block.x)), 1);
    for (int t = 0; t < TSTEPS; t++) {
        runJacobiCUDA_kernel1<<<grid, block>>>(N, Agpu, Bgpu);
        cudaThreadSynchronize();
        runJacobiCUDA_kernel2<<<grid, block>>>(N, Agpu, Bgpu);
        cudaThreadSynchronize();
    }
    gpuErrchk(cudaMemcpy(found, Agpu, sizeof(found), cudaMemcpyDeviceToHost));
    runJacobi1DCpu(TSTEPS, N, A, B);
    return report("jacobi1D", count_mismatches(A, found, N, 0.001f));
}

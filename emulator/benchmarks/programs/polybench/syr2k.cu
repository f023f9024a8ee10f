// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// C = alpha (A B' + B A') + beta C
#include "../common/check.h"

#define N 80
#define M 64
#define ALPHA 12435
#define BETA 4546

__global__ void syr2k_kernel(float *a, float *b, float *c)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if ((i < N) && (j < N)) {
        c[i * N + j] *= BETA;
        for (int k = 0; k < M; k++)
            c[i * N + j] += ALPHA * a[i * M + k] * b[j * M + k] + ALPHA * b[i * M + k] * a[j * M + k];
    }
}

void syr2k(float *A, float *B, float *C)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) C[i * N + j] *= BETA;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < M; k++) {
                C[i * N + j] += ALPHA * A[i * M + k] * B[j * M + k];
                C[i * N + j] += ALPHA * B[i * M + k] * A[j * M + k];
            }
}

void syr2kCuda(float *A, float *B, float *C, float *C_outputFromGpu)
{
    float *A_gpu, *B_gpu, *C_gpu;
    cudaMalloc((void **)&A_gpu, sizeof(float) * N * M);
    cudaMalloc((void **)&B_gpu, sizeof(float) * N * M);
    cudaMalloc((void **)&C_gpu, sizeof(float) * N * N);
    cudaMemcpy(A_gpu, A, sizeof(float) * N * M, cudaMemcpyHostToDevice);
    cudaMemcpy(B_gpu, B, sizeof(float) * N * M, cudaMemcpyHostToDevice);
    cudaMemcpy(C_gpu, C, sizeof(float) * N * N, cudaMemcpyHostToDevice);
    dim3 block(32, 8);
    dim3 grid((size_t)ceil(((float)N) / ((float)32)), (size_t)(ceil(((float)N) / ((float)8))));
    double t_start = wall_clock();
    syr2k_kernel<<<grid, block>>>(A_gpu, B_gpu, C_gpu);
    cudaThreadSynchronize();
    printf("GPU Runtime: %0.6lfs\n", wall_clock() - t_start);
    gpuErrchk(cudaMemcpy(C_outputFromGpu, C_gpu, sizeof(float) * N * N, cudaMemcpyDeviceToHost));
    cudaFree(A_gpu), cudaFree(B_gpu), cudaFree(C_gpu);
}

int main()
{
    static float A[N * M], B[N * M], C[N * N], found[N * N];
    fill(A, N * M, 1), fill(B, N * M, 2), fill(C, N * N, 3);
    syr2kCuda(A, B, C, found);
    syr2k(A, B, C);
    return report("syr2k", count_mismatches(C, found, N * N, 0.001f));
}

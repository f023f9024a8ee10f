// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// C = alpha A B + beta C
#include "../common/check.h"

#ifndef SIZE
#define SIZE 96
#endif
#define NI SIZE
#define NJ (SIZE + 16)
#define NK (SIZE - 8)
#define ALPHA 32412.0f
#define BETA 2123.0f

__global__ void gemm_kernel(const float *a, const float *b, float *c)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if ((i < NI) && (j < NJ)) {
        c[i * NJ + j] *= BETA;
        for (int k = 0; k < NK; k++) c[i * NJ + j] += ALPHA * a[i * NK + k] * b[k * NJ + j];
    }
}

void gemm(const float *A, const float *B, float *C)
{
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NJ; j++) {
            C[i * NJ + j] *= BETA;
            for (int k = 0; k < NK; ++k) C[i * NJ + j] += ALPHA * A[i * NK + k] * B[k * NJ + j];
        }
}

int main()
{
    float *A = new float[NI * NK], *B = new float[NK * NJ], *C = new float[NI * NJ], *found = new float[NI * NJ];
    fill(A, NI * NK, 1), fill(B, NK * NJ, 2), fill(C, NI * NJ, 3);
    float *A_gpu, *B_gpu, *C_gpu;
    cudaMalloc((void **)&A_gpu, sizeof(float) * NI * NK);
    cudaMalloc((void **)&B_gpu, sizeof(float) * NK * NJ);
    cudaMalloc((void **)&C_gpu, sizeof(float) * NI * NJ);
    cudaMemcpy(A_gpu, A, sizeof(float) * NI * NK, cudaMemcpyHostToDevice);
    cudaMemcpy(B_gpu, B, sizeof(float) * NK * NJ, cudaMemcpyHostToDevice);
    cudaMemcpy(C_gpu, C, sizeof(float) * NI * NJ, cudaMemcpyHostToDevice);

    dim3 block(32, 8);
    dim3 grid((size_t)(ceil(((float)NJ) / ((float)block.x))), (size_t)(ceil(((float)NI) / ((float)block.y))));
    double start = wall_clock();
    gemm_kernel<<<grid, block>>>(A_gpu, B_gpu, C_gpu);
    cudaThreadSynchronize();
    fprintf(stdout, "GPU Runtime: %0.6lfs\n", wall_clock() - start);
    gpuErrchk(cudaMemcpy(found, C_gpu, sizeof(float) * NI * NJ, cudaMemcpyDeviceToHost));
    gemm(A, B, C);
    int mismatches = count_mismatches(C, found, NI * NJ, 0.001f);
    delete[] A, delete[] B, delete[] C, delete[] found;
    cudaFree(A_gpu), cudaFree(B_gpu), cudaFree(C_gpu);
    return report("gemm", mismatches);
}

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// E = A B D, as two products.
#include "../common/check.h"

#define NI 96
#define NJ 80
#define NK 64
#define NL 112

void mm_host(int rows, int columns, int depth, const float *a, const float *b, float *c)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            float sum = 0;
            for (int k = 0; k < depth; ++k) sum += a[i * depth + k] * b[k * columns + j];
            c[i * columns + j] = sum;
        }
}

__global__ void mm2_kernel1(float *A, float *B, float *C)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if ((i < NI) && (j < NJ)) {
        C[i * NJ + j] = 0;
        for (int k = 0; k < NK; k++) C[i * NJ + j] += A[i * NK + k] * B[k * NJ + j];
    }
}

__global__ void mm2_kernel2(float *C, float *D, float *E)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if ((i < NI) && (j < NL)) {
        E[i * NL + j] = 0;
        for (int k = 0; k < NJ; k++) E[i * NL + j] += C[i * NJ + k] * D[k * NL + j];
    }
}

int main(void)
{
    static float A[NI * NK], B[NK * NJ], C[NI * NJ], D[NJ * NL], E[NI * NL], E_found[NI * NL];
    fill(A, NI * NK, 1), fill(B, NK * NJ, 2), fill(D, NJ * NL, 3);
    mm_host(NI, NJ, NK, A, B, C);
    mm_host(NI, NL, NJ, C, D, E);

    float *A_gpu = to_device(A, NI * NK), *B_gpu = to_device(B, NK * NJ), *D_gpu = to_device(D, NJ * NL);
    float *C_gpu, *E_gpu;
    gpuErrchk(cudaMalloc(&C_gpu, sizeof(C)));
    gpuErrchk(cudaMalloc(&E_gpu, sizeof(E)));
    dim3 block(32, 8);
    dim3 grid1(DIVIDE_UP(NJ, block.x), DIVIDE_UP(NI, block.y)), grid2(DIVIDE_UP(NL, block.x), DIVIDE_UP(NI, block.y));
    mm2_kernel1<<<grid1, block>>>(A_gpu, B_gpu, C_gpu);
    cudaDeviceSynchronize();
    mm2_kernel2<<<grid2, block>>>(C_gpu, D_gpu, E_gpu);
    gpuErrchk(cudaDeviceSynchronize());
    gpuErrchk(cudaMemcpy(E_found, E_gpu, sizeof(E), cudaMemcpyDeviceToHost));
    return report("2mm", count_mismatches(E, E_found, NI * NL, 0.001f));
}

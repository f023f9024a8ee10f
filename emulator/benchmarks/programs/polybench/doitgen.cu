// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Multiplies the rows of a volume with a matrix, plane by plane.
#include "../common/check.h"

#define NR 12
#define NQ 20
#define NP 40

__global__ void doitgen_kernel1(const float *A, const float *C4, float *sum, int r)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    int q = blockIdx.y * blockDim.y + threadIdx.y;
    if (p < NP && q < NQ) {
        float total = 0.0f;
        for (int s = 0; s < NP; s++) total += A[(r * NQ + q) * NP + s] * C4[s * NP + p];
        sum[(r * NQ + q) * NP + p] = total;
    }
}

__global__ void doitgen_kernel2(float *A, const float *sum, int r)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    int q = blockIdx.y * blockDim.y + threadIdx.y;
    if (p < NP && q < NQ) A[(r * NQ + q) * NP + p] = sum[(r * NQ + q) * NP + p];
}

void doitgen_host(float (*A)[NQ][NP], const float *C4)
{
    float sum[NP];
    for (int r = 0; r < NR; r++)
        for (int q = 0; q < NQ; q++) {
            for (int p = 0; p < NP; p++) {
                sum[p] = 0;
                for (int s = 0; s < NP; s++) sum[p] += A[r][q][s] * C4[s * NP + p];
            }
            for (int p = 0; p < NP; p++) A[r][q][p] = sum[p];
        }
}

int main()
{
    static float A[NR][NQ][NP], C4[NP * NP], found[NR * NQ * NP];
    float *sum_gpu;
    fill(&A[0][0][0], NR * NQ * NP, 4);
    fill(C4, NP * NP, 5);
    float *A_gpu = to_device(&A[0][0][0], NR * NQ * NP), *C4_gpu = to_device(C4, NP * NP);
    gpuErrchk(cudaMalloc((void **)&sum_gpu, sizeof(A)));
    doitgen_host(A, C4);

    dim3 block(32, 8);
    dim3 grid(DIVIDE_UP(NP, block.x), DIVIDE_UP(NQ, block.y));
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaEventRecord(start, 0);
    for (int r = 0; r < NR; r++) {
        doitgen_kernel1<<<grid, block>>>(A_gpu, C4_gpu, sum_gpu, r);
        doitgen_kernel2<<<grid, block>>>(A_gpu, sum_gpu, r);
    }
    cudaEventRecord(stop, 0);
    gpuErrchk(cudaEventSynchronize(stop));
    float ms;
    gpuErrchk(cudaEventElapsedTime(&ms, start, stop));
    printf("GPU Time: %f ms\n", ms);
    gpuErrchk(cudaMemcpy(found, A_gpu, sizeof(found), cudaMemcpyDeviceToHost));
    return report("doitgen", (ms < 0) + count_mismatches(&A[0][0][0], found, NR * NQ * NP, 0.001f));
}

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// A = L U in place, two launches for each row.
#include "../common/check.h"

#define N 80

__global__ void lu_kernel1(float *A, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if ((j > k) && (j < N)) A[k * N + j] = A[k * N + j] / A[k * N + k];
}

__global__ void lu_kernel2(float *A, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if ((i > k) && (j > k) && (i < N) && (j < N)) A[i * N + j] = A[i * N + j] - A[i * N + k] * A[k * N + j];
}

void lu(float *A)
{
    for (int k = 0; k < N; k++) {
        for (int j = k + 1; j < N; j++) A[k * N + j] /= A[k * N + k];
        for (int i = k + 1; i < N; i++)
            for (int j = k + 1; j < N; j++) A[i * N + j] -= A[i * N + k] * A[k * N + j];
    }
}

int main()
{
    static float A[N * N], found[N * N];
    fill(A, N * N, 12);
    for (int i = 0; i < N; i++) A[i * N + i] += N;  // no pivots needed
    float *A_gpu = to_device(A, N * N);
    lu(A);

    dim3 block1(256, 1, 1), block2(32, 8, 1), grid1(1, 1, 1), grid2(1, 1, 1);
    for (int k = 0; k < N; k++) {
        grid1.x = (unsigned int)(ceil((float)(N - (k + 1)) / ((float)block1.x)));
        if (grid1.x == 0) break;
        grid1.x = (unsigned int)ceil((float)N / block1.x);
        lu_kernel1<<<grid1, block1>>>(A_gpu, k);
        grid2.x = (unsigned int)(ceil((float)N / ((float)block2.x)));
        grid2.y = (unsigned int)(ceil((float)N / ((float)block2.y)));
        lu_kernel2<<<grid2, block2>>>(A_gpu, k);
    }
    gpuErrchk(cudaMemcpy(found, A_gpu, sizeof(found), cudaMemcpyDeviceToHost));
    return report("lu", count_mismatches(A, found, N * N, 0.005f));
}

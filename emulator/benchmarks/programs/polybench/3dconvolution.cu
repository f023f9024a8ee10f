// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Filters the planes of a volume, one launch for each plane.
#include "../common/check.h"

#define NI 24
#define NJ 40
#define NK 48
#define AT(i, j, k) (((i) * NJ + (j)) * NK + (k))

static const float c11 = 2, c21 = 5, c31 = -8, c12 = -3, c22 = 6, c32 = -9, c13 = 4, c23 = 7, c33 = 10;

__host__ __device__ inline float filter(const float *A, int i, int j, int k)
{
    return c11 * A[AT(i - 1, j - 1, k - 1)] + c13 * A[AT(i + 1, j - 1, k - 1)] + c21 * A[AT(i - 1, j - 1, k - 1)] +
           c23 * A[AT(i + 1, j - 1, k - 1)] + c31 * A[AT(i - 1, j - 1, k - 1)] + c33 * A[AT(i + 1, j - 1, k - 1)] +
           c12 * A[AT(i, j - 1, k)] + c22 * A[AT(i, j, k)] + c32 * A[AT(i, j + 1, k)] +
           c11 * A[AT(i - 1, j - 1, k + 1)] + c13 * A[AT(i + 1, j - 1, k + 1)] + c21 * A[AT(i - 1, j, k + 1)] +
           c23 * A[AT(i + 1, j, k + 1)] + c31 * A[AT(i - 1, j + 1, k + 1)] + c33 * A[AT(i + 1, j + 1, k + 1)];
}

__global__ void convolution3D_kernel(float *A, float *B, int i)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if ((i < NI - 1) && (j < NJ - 1) && (k < NK - 1) && (i > 0) && (j > 0) && (k > 0))
        B[AT(i, j, k)] = filter(A, i, j, k);
}

int main()
{
    size_t bytes = NI * NJ * NK * sizeof(float);
    float *A = (float *)malloc(bytes), *B = (float *)malloc(bytes), *B_found = (float *)malloc(bytes);
    fill(A, NI * NJ * NK, 3);
    for (int i = 0; i < NI * NJ * NK; i++) B[i] = 0;
    for (int i = 1; i < NI - 1; ++i)
        for (int j = 1; j < NJ - 1; ++j)
            for (int k = 1; k < NK - 1; ++k) B[AT(i, j, k)] = filter(A, i, j, k);

    float *A_gpu, *B_gpu;
    cudaMalloc((void **)&A_gpu, bytes);
    cudaMalloc((void **)&B_gpu, bytes);
    cudaMemcpy(A_gpu, A, bytes, cudaMemcpyHostToDevice);
    cudaMemset(B_gpu, 0, bytes);
    dim3 block(32, 8), grid(DIVIDE_UP(NK, 32), DIVIDE_UP(NJ, 8));
    for (int i = 1; i < NI - 1; ++i) convolution3D_kernel<<<grid, block>>>(A_gpu, B_gpu, i);
    gpuErrchk(cudaGetLastError());
    gpuErrchk(cudaMemcpy(B_found, B_gpu, bytes, cudaMemcpyDeviceToHost));
    cudaFree(A_gpu), cudaFree(B_gpu);
    int mismatches = count_mismatches(B, B_found, NI * NJ * NK, 0.005f);
    free(A), free(B), free(B_found);
    return report("3DConvolution", mismatches);
}

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// A 3 x 3 filter over an image.
#include "../common/check.h"

#define NI 192
#define NJ 160
#define BLOCK_X 32
#define BLOCK_Y 8
#define C11 +0.2f
#define C21 +0.5f
#define C31 -0.8f
#define C12 -0.3f
#define C22 +0.6f
#define C32 -0.9f
#define C13 +0.4f
#define C23 +0.7f
#define C33 +0.10f

void conv2d_host(const float *a, float *b)
{
    for (int i = 1; i < NI - 1; ++i)
        for (int j = 1; j < NJ - 1; ++j)
            b[i * NJ + j] = C11 * a[(i - 1) * NJ + j - 1] + C12 * a[i * NJ + j - 1] + C13 * a[(i + 1) * NJ + j - 1] +
                            C21 * a[(i - 1) * NJ + j] + C22 * a[i * NJ + j] + C23 * a[(i + 1) * NJ + j] +
                            C31 * a[(i - 1) * NJ + j + 1] + C32 * a[i * NJ + j + 1] + C33 * a[(i + 1) * NJ + j + 1];
}

__global__ void conv2d_kernel(const float *a, float *b)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && j > 0 && i < NI - 1 && j < NJ - 1)
        b[i * NJ + j] = C11 * a[(i - 1) * NJ + j - 1] + C12 * a[i * NJ + j - 1] + C13 * a[(i + 1) * NJ + j - 1] +
                        C21 * a[(i - 1) * NJ + j] + C22 * a[i * NJ + j] + C23 * a[(i + 1) * NJ + j] +
                        C31 * a[(i - 1) * NJ + j + 1] + C32 * a[i * NJ + j + 1] + C33 * a[(i + 1) * NJ + j + 1];
}

int main(int argc, char *argv[])
{
    float *a = (float *)malloc(NI * NJ * sizeof(float));
    float *b = (float *)calloc(NI * NJ, sizeof(float));
    float *found = (float *)malloc(NI * NJ * sizeof(float));
    float *a_gpu, *b_gpu;
    fill(a, NI * NJ, 1);
    conv2d_host(a, b);

    gpuErrchk(cudaMalloc((void **)&a_gpu, sizeof(float) * NI * NJ));
    gpuErrchk(cudaMalloc((void **)&b_gpu, sizeof(float) * NI * NJ));
    gpuErrchk(cudaMemcpy(a_gpu, a, sizeof(float) * NI * NJ, cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemset(b_gpu, 0, sizeof(float) * NI * NJ));
    dim3 block(BLOCK_X, BLOCK_Y);
    dim3 grid((size_t)ceil((float)NJ / block.x), (size_t)ceil((float)NI / block.y));
    double start = wall_clock();
    conv2d_kernel<<<grid, block>>>(a_gpu, b_gpu);
    cudaThreadSynchronize();
    fprintf(stdout, "GPU runtime: %0.6lfs\n", wall_clock() - start);
    gpuErrchk(cudaMemcpy(found, b_gpu, sizeof(float) * NI * NJ, cudaMemcpyDeviceToHost));

    cudaFree(a_gpu);
    cudaFree(b_gpu);
    return report("2DConvolution", count_mismatches(b, found, NI * NJ, 0.001f));
}

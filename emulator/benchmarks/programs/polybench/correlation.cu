// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// The correlations between the columns of a table.
#include "../common/check.h"

#define M 72
#define N 80
#define EPS 0.005f
#define sqrt_of_array_cell(x, j) sqrtf(x[j])

__global__ void mean_kernel(float *mean, float *data)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < M) {
        mean[j] = 0.0;
        for (int i = 0; i < N; i++) mean[j] += data[i * M + j];
        mean[j] /= (float)N;
    }
}

__global__ void std_kernel(float *mean, float *std, float *data)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < M) {
        std[j] = 0.0;
        for (int i = 0; i < N; i++) std[j] += (data[i * M + j] - mean[j]) * (data[i * M + j] - mean[j]);
        std[j] /= N;
        std[j] = sqrt_of_array_cell(std, j);
        if (std[j] <= EPS) std[j] = 1.0;
    }
}

__global__ void reduce_kernel(float *mean, float *std, float *data)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < N && j < M) data[i * M + j] = (data[i * M + j] - mean[j]) / (sqrtf((float)N) * std[j]);
}

__global__ void corr_kernel(float *symmat, float *data)
{
    int j1 = blockIdx.x * blockDim.x + threadIdx.x;
    if (j1 >= M) return;
    symmat[j1 * M + j1] = 1.0;
    for (int j2 = j1 + 1; j2 < M; j2++) {
        float sum = 0;
        for (int i = 0; i < N; i++) sum += data[i * M + j1] * data[i * M + j2];
        symmat[j1 * M + j2] = symmat[j2 * M + j1] = sum;
    }
}

void correlation_host(float *data, float *symmat)
{
    for (int j = 0; j < M; j++) {
        float mean = 0, deviation = 0;
        for (int i = 0; i < N; i++) mean += data[i * M + j] / N;
        for (int i = 0; i < N; i++) deviation += (data[i * M + j] - mean) * (data[i * M + j] - mean);
        deviation = sqrtf(deviation / N);
        if (deviation <= EPS) deviation = 1;
        for (int i = 0; i < N; i++) data[i * M + j] = (data[i * M + j] - mean) / (sqrtf(N) * deviation);
    }
    for (int a = 0; a < M; a++)
        for (int b = 0; b < M; b++) {
            float sum = 0;
            for (int i = 0; i < N; i++) sum += data[i * M + a] * data[i * M + b];
            symmat[a * M + b] = a == b ? 1 : sum;
        }
}

int main()
{
    static float data[N * M], symmat[M * M], found[M * M];
    float *mean_gpu, *std_gpu, *symmat_gpu;
    fill(data, N * M, 11);
    float *data_gpu = to_device(data, N * M);
    correlation_host(data, symmat);

    cudaMalloc((void **)&mean_gpu, M * sizeof(float));
    cudaMalloc((void **)&std_gpu, M * sizeof(float));
    cudaMalloc((void **)&symmat_gpu, sizeof(symmat));
    dim3 block1(256, 1), grid1(DIVIDE_UP(M, 256), 1), block2(32, 8), grid2(DIVIDE_UP(M, 32), DIVIDE_UP(N, 8));
    mean_kernel<<<grid1, block1>>>(mean_gpu, data_gpu);
    std_kernel<<<grid1, block1>>>(mean_gpu, std_gpu, data_gpu);
    reduce_kernel<<<grid2, block2>>>(mean_gpu, std_gpu, data_gpu);
    corr_kernel<<<grid1, block1>>>(symmat_gpu, data_gpu);
    gpuErrchk(cudaMemcpy(found, symmat_gpu, sizeof(found), cudaMemcpyDeviceToHost));
    return report("correlation", count_mismatches(symmat, found, M * M, 0.01f));
}

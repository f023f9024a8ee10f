// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// The covariances between the columns of a table.
#include "../common/check.h"

#define M 80
#define N 72
#define FLOAT_N ((float)N)

__global__ void mean_kernel(float *mean, float *data)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < M) {
        mean[j] = 0.0;
        for (int i = 0; i < N; i++) mean[j] += data[i * M + j];
        mean[j] /= FLOAT_N;
    }
}

__global__ void reduce_kernel(float *mean, float *data)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if ((i < N) && (j < M)) data[i * M + j] -= mean[j];
}

__global__ void covar_kernel(float *symmat, float *data)
{
    int j1 = blockIdx.x * blockDim.x + threadIdx.x;
    if (j1 < M)
        for (int j2 = j1; j2 < M; j2++) {
            symmat[j1 * M + j2] = 0.0;
            for (int i = 0; i < N; i++) symmat[j1 * M + j2] += data[i * M + j1] * data[i * M + j2];
            symmat[j2 * M + j1] = symmat[j1 * M + j2];
        }
}

void covariance_host(float data[N][M], float symmat[M][M])
{
    for (int j = 0; j < M; j++) {
        float mean = 0;
        for (int i = 0; i < N; i++) mean += data[i][j];
        for (int i = 0; i < N; i++) data[i][j] -= mean / FLOAT_N;
    }
    for (int a = 0; a < M; a++)
        for (int b = 0; b < M; b++) {
            symmat[a][b] = 0;
            for (int i = 0; i < N; i++) symmat[a][b] += data[i][a] * data[i][b];
        }
}

int main()
{
    static float data[N][M], symmat[M][M], found[M][M];
    float *data_gpu, *mean_gpu, *symmat_gpu;
    fill(&data[0][0], N * M, 21);
    cudaMalloc((void **)&data_gpu, sizeof(data));
    cudaMalloc((void **)&symmat_gpu, sizeof(symmat));
    cudaMalloc((void **)&mean_gpu, sizeof(float) * M);
    cudaMemcpy(data_gpu, data, sizeof(data), cudaMemcpyHostToDevice);
    covariance_host(data, symmat);

    dim3 block(32, 8);
    mean_kernel<<<DIVIDE_UP(M, 256), 256>>>(mean_gpu, data_gpu);
    reduce_kernel<<<dim3(DIVIDE_UP(M, block.x), DIVIDE_UP(N, block.y)), block>>>(mean_gpu, data_gpu);
    covar_kernel<<<DIVIDE_UP(M, 256), 256>>>(symmat_gpu, data_gpu);
    gpuErrchk(cudaDeviceSynchronize());
    gpuErrchk(cudaMemcpy(found, symmat_gpu, sizeof(found), cudaMemcpyDeviceToHost));
    return report("covariance", count_mismatches(&symmat[0][0], &found[0][0], M * M, 0.01f));
}

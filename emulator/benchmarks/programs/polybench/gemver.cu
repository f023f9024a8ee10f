// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// A += u1 v1' + u2 v2', x = beta A' y + z, w = alpha A x
#include "../common/check.h"

#define N 128
#define THREADS 64

const float ALPHA = 1.5f, BETA = 1.25f;

__global__ void gemver_kernel1(float *a, const float *v1, const float *v2, const float *u1, const float *u2)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if ((i < N) && (j < N)) a[i * N + j] += u1[i] * v1[j] + u2[i] * v2[j];
}

__global__ void gemver_kernel2(const float *a, float *x, const float *y, const float *z)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        for (int j = 0; j < N; j++) x[i] += BETA * a[j * N + i] * y[j];
        x[i] += z[i];
    }
}

__global__ void gemver_kernel3(const float *a, const float *x, float *w)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        for (int j = 0; j < N; j++) w[i] += ALPHA * a[i * N + j] * x[j];
}

int main()
{
    enum { V1, V2, U1, U2, X, Y, Z, W, VECTORS };
    static float A[N * N], vectors[VECTORS][N], found[N];
    float *gpu[VECTORS];
    fill(A, N * N, 9);
    for (int k = 0; k < VECTORS; k++) {
        fill(vectors[k], N, k);
        gpu[k] = to_device(vectors[k], N);
    }
    float *A_gpu = to_device(A, N * N);

    gemver_kernel1<<<dim3(DIVIDE_UP(N, 32), DIVIDE_UP(N, 8)), dim3(32, 8)>>>(A_gpu, gpu[V1], gpu[V2], gpu[U1], gpu[U2]);
    gemver_kernel2<<<DIVIDE_UP(N, THREADS), THREADS>>>(A_gpu, gpu[X], gpu[Y], gpu[Z]);
    gemver_kernel3<<<DIVIDE_UP(N, THREADS), THREADS>>>(A_gpu, gpu[X], gpu[W]);
    gpuErrchk(cudaMemcpy(found, gpu[W], sizeof(found), cudaMemcpyDeviceToHost));

    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) A[i * N + j] += vectors[U1][i] * vectors[V1][j] + vectors[U2][i] * vectors[V2][j];
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) vectors[X][i] += BETA * A[j * N + i] * vectors[Y][j];
        vectors[X][i] += vectors[Z][i];
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) vectors[W][i] += ALPHA * A[i * N + j] * vectors[X][j];
    for (int k = 0; k < VECTORS; k++) cudaFree(gpu[k]);
    return report("gemver", count_mismatches(vectors[W], found, N, 0.001f));
}

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Sweeps along rows, then along columns, several times.
#include "../common/check.h"

#define N 96
#define TSTEPS 3
#define BLOCK 64

__global__ void sweep_rows(float *A, float *B, float *X)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    for (int j = 1; j < N; j++) {
        X[i * N + j] -= X[i * N + j - 1] * A[i * N + j] / B[i * N + j - 1];
        B[i * N + j] -= A[i * N + j] * A[i * N + j] / B[i * N + j - 1];
    }
    X[i * N + N - 1] /= B[i * N + N - 1];
    for (int j = N - 2; j > 0; j--)
        X[i * N + j] = (X[i * N + j] - X[i * N + j - 1] * A[i * N + j - 1]) / B[i * N + j - 1];
}

__global__ void sweep_columns(float *A, float *B, float *X, int i)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= N) return;
    X[i * N + j] -= X[(i - 1) * N + j] * A[i * N + j] / B[(i - 1) * N + j];
    B[i * N + j] -= A[i * N + j] * A[i * N + j] / B[(i - 1) * N + j];
}

__global__ void finish_columns(float *B, float *X)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < N) X[(N - 1) * N + j] /= B[(N - 1) * N + j];
}

void adi_host(float *A, float *B, float *X)
{
    for (int t = 0; t < TSTEPS; t++) {
        for (int i = 0; i < N; i++) {
            for (int j = 1; j < N; j++) {
                X[i * N + j] -= X[i * N + j - 1] * A[i * N + j] / B[i * N + j - 1];
                B[i * N + j] -= A[i * N + j] * A[i * N + j] / B[i * N + j - 1];
            }
            X[i * N + N - 1] /= B[i * N + N - 1];
            for (int j = N - 2; j > 0; j--)
                X[i * N + j] = (X[i * N + j] - X[i * N + j - 1] * A[i * N + j - 1]) / B[i * N + j - 1];
        }
        for (int i = 1; i < N; i++)
            for (int j = 0; j < N; j++) {
                X[i * N + j] -= X[(i - 1) * N + j] * A[i * N + j] / B[(i - 1) * N + j];
                B[i * N + j] -= A[i * N + j] * A[i * N + j] / B[(i - 1) * N + j];
            }
        for (int j = 0; j < N; j++) X[(N - 1) * N + j] /= B[(N - 1) * N + j];
    }
}

int main()
{
    static float A[N * N], B[N * N], X[N * N], found[N * N];
    fill(A, N * N, 5), fill(B, N * N, 6), fill(X, N * N, 7);
    for (int i = 0; i < N * N; i++) B[i] += 8;  // dominant, so that the sweeps are stable
    float *a = to_device(A, N * N), *b = to_device(B, N * N), *x = to_device(X, N * N);
    adi_host(A, B, X);

    const int grid = DIVIDE_UP(N, BLOCK);
    for (int t = 0; t < TSTEPS; t++) {
        sweep_rows<<<grid, BLOCK>>>(a, b, x);
        for (int i = 1; i < N; i++) sweep_columns<<<grid, BLOCK>>>(a, b, x, i);
        finish_columns<<<grid, BLOCK>>>(b, x);
    }
    gpuErrchk(cudaMemcpy(found, x, sizeof(found), cudaMemcpyDeviceToHost));
    return report("adi", count_mismatches(X, found, N * N, 0.005f));
}

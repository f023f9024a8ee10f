// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// A = Q R with orthogonal columns of Q, three launches for each column.
#include "../common/check.h"

#define M 64
#define N 48
#define BLOCK 64

__global__ void gramschmidt_kernel1(float *a, float *r, int k)
{
    if (blockIdx.x * blockDim.x + threadIdx.x == 0) {
        float nrm = 0.0f;
        for (int i = 0; i < M; i++) nrm += a[i * N + k] * a[i * N + k];
        r[k * N + k] = sqrtf(nrm);
    }
}

__global__ void gramschmidt_kernel2(float *a, float *r, float *q, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < M) q[i * N + k] = a[i * N + k] / r[k * N + k];
}

__global__ void gramschmidt_kernel3(float *a, float *r, float *q, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if ((j > k) && (j < N)) {
        r[k * N + j] = 0.0f;
        for (int i = 0; i < M; i++) r[k * N + j] += q[i * N + k] * a[i * N + j];
        for (int i = 0; i < M; i++) a[i * N + j] -= q[i * N + k] * r[k * N + j];
    }
}

void gramschmidt(float *A, float *R, float *Q)
{
    for (int k = 0; k < N; k++) {
        float nrm = 0;
        for (int i = 0; i < M; i++) nrm += A[i * N + k] * A[i * N + k];
        R[k * N + k] = sqrtf(nrm);
        for (int i = 0; i < M; i++) Q[i * N + k] = A[i * N + k] / R[k * N + k];
        for (int j = k + 1; j < N; j++) {
            R[k * N + j] = 0;
            for (int i = 0; i < M; i++) R[k * N + j] += Q[i * N + k] * A[i * N + j];
            for (int i = 0; i < M; i++) A[i * N + j] -= Q[i * N + k] * R[k * N + j];
        }
    }
}

int main()
{
    static float A[M * N], R[N * N], Q[M * N], R_found[N * N], Q_found[M * N];
    fill(A, M * N, 31);
    for (int i = 0; i < N; i++) A[i * N + i] += 4;  // well conditioned
    float *a = to_device(A, M * N), *r = to_device(R, N * N), *q = to_device(Q, M * N);
    for (int k = 0; k < N; k++) {
        gramschmidt_kernel1<<<1, 1>>>(a, r, k);
        gramschmidt_kernel2<<<DIVIDE_UP(M, BLOCK), BLOCK>>>(a, r, q, k);
        gramschmidt_kernel3<<<DIVIDE_UP(N, BLOCK), BLOCK>>>(a, r, q, k);
    }
    gpuErrchk(cudaMemcpy(R_found, r, sizeof(R), cudaMemcpyDeviceToHost));
    gpuErrchk(cudaMemcpy(Q_found, q, sizeof(Q), cudaMemcpyDeviceToHost));
    gramschmidt(A, R, Q);
    int mismatches = count_mismatches(R, R_found, N * N, 0.01f) + count_mismatches(Q, Q_found, M * N, 0.01f);
    return report("gramschmidt", mismatches);
}

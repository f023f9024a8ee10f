// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// y = alpha A x + beta B x, with alpha and beta in constant memory.
#include "../common/check.h"

#define N 144

typedef struct {
    float alpha, beta;
} scale_t;

__constant__ scale_t scale;

__global__ void gesummv_kernel(float *a, float *b, float *x, float *y, float *tmp)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        tmp[i] = y[i] = 0;
        for (int j = 0; j < N; j++) {
            tmp[i] += a[i * N + j] * x[j];
            y[i] += b[i * N + j] * x[j];
        }
        y[i] = scale.alpha * tmp[i] + scale.beta * y[i];
    }
}

void gesummv(scale_t s, float *A, float *B, float *x, float *y)
{
    for (int i = 0; i < N; i++) {
        float a = 0, b = 0;
        for (int j = 0; j < N; j++) {
            a += A[i * N + j] * x[j];
            b += B[i * N + j] * x[j];
        }
        y[i] = s.alpha * a + s.beta * b;
    }
}

int main()
{
    static float A[N * N], B[N * N], x[N], y[N], found[N];
    scale_t host_scale = {43.5f, 12.25f};
    fill(A, N * N, 1), fill(B, N * N, 2), fill(x, N, 3);
    gesummv(host_scale, A, B, x, y);

    float *y_gpu, *tmp_gpu;
    gpuErrchk(cudaMalloc((void **)&y_gpu, sizeof(y)));
    gpuErrchk(cudaMalloc((void **)&tmp_gpu, sizeof(y)));
    gpuErrchk(cudaMemcpyToSymbol(scale, &host_scale, sizeof(scale_t)));
    dim3 block(256, 1), grid((N + block.x - 1) / block.x, 1);
    gesummv_kernel<<<grid, block>>>(to_device(A, N * N), to_device(B, N * N), to_device(x, N), y_gpu, tmp_gpu);
    gpuErrchk(cudaPeekAtLastError());
    gpuErrchk(cudaMemcpy(found, y_gpu, sizeof(y), cudaMemcpyDeviceToHost));
    return report("gesummv", count_mismatches(y, found, N, 0.001f));
}

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// q = A p and s = A' r, in two streams.
#include "../common/check.h"

#define NX 176
#define NY 144

__global__ void bicg_kernel1(float *A, float *r, float *s)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < NY) {
        s[j] = 0.0f;
        for (int i = 0; i < NX; i++) s[j] += A[i * NY + j] * r[i];
    }
}

__global__ void bicg_kernel2(float *A, float *p, float *q)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < NX) {
        q[i] = 0.0f;
        for (int j = 0; j < NY; j++) q[i] += A[i * NY + j] * p[j];
    }
}

int main()
{
    static float A[NX * NY], p[NY], r[NX], q[NX], s[NY];
    float *q_found, *s_found, *q_gpu, *s_gpu;
    fill(A, NX * NY, 1), fill(p, NY, 2), fill(r, NX, 3);
    for (int i = 0; i < NX; i++)
        for (int j = 0; j < NY; j++) {
            s[j] += r[i] * A[i * NY + j];
            q[i] += A[i * NY + j] * p[j];
        }

    float *A_gpu = to_device(A, NX * NY), *p_gpu = to_device(p, NY), *r_gpu = to_device(r, NX);
    gpuErrchk(cudaMallocHost((void **)&q_found, sizeof(q)));
    gpuErrchk(cudaMallocHost((void **)&s_found, sizeof(s)));
    gpuErrchk(cudaMalloc((void **)&q_gpu, sizeof(q)));
    gpuErrchk(cudaMalloc((void **)&s_gpu, sizeof(s)));
    cudaStream_t streams[2];
    for (int k = 0; k < 2; k++) gpuErrchk(cudaStreamCreate(&streams[k]));
    bicg_kernel1<<<DIVIDE_UP(NY, 64), 64, 0, streams[0]>>>(A_gpu, r_gpu, s_gpu);
    bicg_kernel2<<<DIVIDE_UP(NX, 64), 64, 0, streams[1]>>>(A_gpu, p_gpu, q_gpu);
    gpuErrchk(cudaMemcpyAsync(s_found, s_gpu, sizeof(s), cudaMemcpyDeviceToHost, streams[0]));
    gpuErrchk(cudaMemcpyAsync(q_found, q_gpu, sizeof(q), cudaMemcpyDeviceToHost, streams[1]));
    for (int k = 0; k < 2; k++) {
        gpuErrchk(cudaStreamSynchronize(streams[k]));
        gpuErrchk(cudaStreamDestroy(streams[k]));
    }
    int mismatches = count_mismatches(q, q_found, NX, 0.001f) + count_mismatches(s, s_found, NY, 0.001f);
    cudaFreeHost(q_found), cudaFreeHost(s_found);
    return report("bicg", mismatches);
}

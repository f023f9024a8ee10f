// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// y = A' (A x)
#include "../common/check.h"

#define NX 160
#define NY 136
#define DIM_THREAD_BLOCK_X 256
#define DIM_THREAD_BLOCK_Y 1

typedef float DATA_TYPE;

__global__ void atax_kernel1(DATA_TYPE *A, DATA_TYPE *x, DATA_TYPE *tmp)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < NX) {
        tmp[i] = 0;
        for (int j = 0; j < NY; j++) tmp[i] += A[i * NY + j] * x[j];
    }
}

__global__ void atax_kernel2(DATA_TYPE *A, DATA_TYPE *y, DATA_TYPE *tmp)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < NY) {
        y[j] = 0;
        for (int i = 0; i < NX; i++) y[j] += A[i * NY + j] * tmp[i];
    }
}

void atax_cpu(DATA_TYPE *A, DATA_TYPE *x, DATA_TYPE *y, DATA_TYPE *tmp)
{
    for (int j = 0; j < NY; j++) y[j] = 0;
    for (int i = 0; i < NX; i++) {
        tmp[i] = 0;
        for (int j = 0; j < NY; j++) tmp[i] = tmp[i] + A[i * NY + j] * x[j];
        for (int j = 0; j < NY; j++) y[j] = y[j] + A[i * NY + j] * tmp[i];
    }
}

void GPU_argv_init()
{
    cudaDeviceProp deviceProp;
    gpuErrchk(cudaGetDeviceProperties(&deviceProp, 0));
    printf("setting device 0 with name %s\n", deviceProp.name);
    gpuErrchk(cudaSetDevice(0));
}

int main(int argc, char **argv)
{
    DATA_TYPE *A = (DATA_TYPE *)malloc(NX * NY * sizeof(DATA_TYPE)), *x = (DATA_TYPE *)malloc(NY * sizeof(DATA_TYPE));
    DATA_TYPE y[NY], found[NY], tmp[NX];
    fill(A, NX * NY, 1);
    for (int i = 0; i < NY; i++) x[i] = i * M_PI / NY;
    GPU_argv_init();

    DATA_TYPE *A_gpu = to_device(A, NX * NY), *x_gpu = to_device(x, NY), *y_gpu, *tmp_gpu;
    cudaMalloc((void **)&y_gpu, sizeof(DATA_TYPE) * NY);
    cudaMalloc((void **)&tmp_gpu, sizeof(DATA_TYPE) * NX);
    dim3 block(DIM_THREAD_BLOCK_X, DIM_THREAD_BLOCK_Y);
    dim3 grid1((size_t)(ceil(((float)NX) / ((float)block.x))), 1);
    dim3 grid2((size_t)(ceil(((float)NY) / ((float)block.x))), 1);
    atax_kernel1<<<grid1, block>>>(A_gpu, x_gpu, tmp_gpu);
    cudaThreadSynchronize();
    atax_kernel2<<<grid2, block>>>(A_gpu, y_gpu, tmp_gpu);
    cudaThreadSynchronize();
    gpuErrchk(cudaMemcpy(found, y_gpu, sizeof(found), cudaMemcpyDeviceToHost));
    atax_cpu(A, x, y, tmp);
    return report("atax", count_mismatches(y, found, NY, 0.001f));
}

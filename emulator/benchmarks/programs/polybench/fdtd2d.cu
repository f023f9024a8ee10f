// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Steps of an electromagnetic field on a grid, three kernels each.
#include "../common/check.h"

#define NX 64
#define NY 72
#define TMAX 20

__global__ void fdtd_step1_kernel(const float *fict, float *ex, float *ey, const float *hz, int t)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if ((i < NX) && (j < NY)) {
        if (i == 0) ey[i * NY + j] = fict[t];
        else ey[i * NY + j] = ey[i * NY + j] - 0.5f * (hz[i * NY + j] - hz[(i - 1) * NY + j]);
    }
}

__global__ void fdtd_step2_kernel(float *ex, const float *ey, const float *hz)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if ((i < NX) && (j < NY) && (j > 0)) ex[i * (NY + 1) + j] -= 0.5f * (hz[i * NY + j] - hz[i * NY + (j - 1)]);
}

__global__ void fdtd_step3_kernel(const float *ex, const float *ey, float *hz)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if ((i < NX) && (j < NY))
        hz[i * NY + j] -=
            0.7f * (ex[i * (NY + 1) + (j + 1)] - ex[i * (NY + 1) + j] + ey[(i + 1) * NY + j] - ey[i * NY + j]);
}

void run_fdtd(const float *fict, float *ex, float *ey, float *hz)
{
    for (int t = 0; t < TMAX; t++) {
        for (int j = 0; j < NY; j++) ey[j] = fict[t];
        for (int i = 1; i < NX; i++)
            for (int j = 0; j < NY; j++) ey[i * NY + j] -= 0.5f * (hz[i * NY + j] - hz[(i - 1) * NY + j]);
        for (int i = 0; i < NX; i++)
            for (int j = 1; j < NY; j++) ex[i * (NY + 1) + j] -= 0.5f * (hz[i * NY + j] - hz[i * NY + (j - 1)]);
        for (int i = 0; i < NX; i++)
            for (int j = 0; j < NY; j++)
                hz[i * NY + j] -=
                    0.7f * (ex[i * (NY + 1) + (j + 1)] - ex[i * (NY + 1) + j] + ey[(i + 1) * NY + j] - ey[i * NY + j]);
    }
}

int main()
{
    static float fict[TMAX], ex[NX * (NY + 1)], ey[(NX + 1) * NY], hz[NX * NY], found[NX * NY];
    for (int i = 0; i < TMAX; i++) fict[i] = (float)i;
    fill(ex, NX * (NY + 1), 1), fill(ey, (NX + 1) * NY, 2), fill(hz, NX * NY, 3);
    float *fict_gpu = to_device(fict, TMAX), *ex_gpu = to_device(ex, NX * (NY + 1));
    float *ey_gpu = to_device(ey, (NX + 1) * NY), *hz_gpu = to_device(hz, NX * NY);

    dim3 block(32, 8);
    dim3 grid((size_t)ceil(((float)NY) / ((float)block.x)), (size_t)ceil(((float)NX) / ((float)block.y)));
    for (int t = 0; t < TMAX; t++) {
        fdtd_step1_kernel<<<grid, block>>>(fict_gpu, ex_gpu, ey_gpu, hz_gpu, t);
        cudaThreadSynchronize();
        fdtd_step2_kernel<<<grid, block>>>(ex_gpu, ey_gpu, hz_gpu);
        cudaThreadSynchronize();
        fdtd_step3_kernel<<<grid, block>>>(ex_gpu, ey_gpu, hz_gpu);
        cudaThreadSynchronize();
    }
    gpuErrchk(cudaMemcpy(found, hz_gpu, sizeof(found), cudaMemcpyDeviceToHost));
    run_fdtd(fict, ex, ey, hz);
    return report("fdtd2d", count_mismatches(hz, found, NX * NY, 0.005f));
}

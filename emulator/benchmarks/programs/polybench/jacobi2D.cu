// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Averages five neighbors, with pitched memory and two buffers that swap.
#include "../common/check.h"

#define TSTEPS 20
#define NX 90
#define NY 70

__global__ void step(const float *from, float *to, size_t pitch)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= NX - 1 || y >= NY - 1) return;
    const char *row = (const char *)from + y * pitch;
    const float *above = (const float *)(row - pitch), *here = (const float *)row,
                *below = (const float *)(row + pitch);
    float *target = (float *)((char *)to + y * pitch);
    target[x] = 0.2f * (here[x] + here[x - 1] + here[x + 1] + above[x] + below[x]);
}

int main()
{
    static float A[NY][NX], B[NY][NX], found[NY][NX];
    fill(&A[0][0], NX * NY, 17);
    memcpy(B, A, sizeof(A));

    float *from, *to;
    size_t pitch, pitch2;
    const size_t width = NX * sizeof(float);
    gpuErrchk(cudaMallocPitch((void **)&from, &pitch, width, NY));
    gpuErrchk(cudaMallocPitch((void **)&to, &pitch2, width, NY));
    gpuErrchk(pitch == pitch2 ? cudaSuccess : cudaErrorUnknown);
    gpuErrchk(cudaMemcpy2D(from, pitch, A, width, width, NY, cudaMemcpyHostToDevice));
    gpuErrchk(cudaMemcpy2D(to, pitch, from, pitch, width, NY, cudaMemcpyDeviceToDevice));
    dim3 threads(16, 16), blocks((NX + threads.x - 1) / threads.x, (NY + threads.y - 1) / threads.y);
    for (int t = 0; t < TSTEPS; t++) {
        step<<<blocks, threads>>>(from, to, pitch);
        float *swap = from;
        from = to;
        to = swap;
    }
    gpuErrchk(cudaMemcpy2D(found, width, from, pitch, width, NY, cudaMemcpyDeviceToHost));

    for (int t = 0; t < TSTEPS; t++) {
        for (int y = 1; y < NY - 1; y++)
            for (int x = 1; x < NX - 1; x++)
                B[y][x] = 0.2f * (A[y][x] + A[y][x - 1] + A[y][x + 1] + A[y - 1][x] + A[y + 1][x]);
        memcpy(A, B, sizeof(A));
    }
    cudaFree(from), cudaFree(to);
    return report("jacobi2D", count_mismatches(&A[0][0], &found[0][0], NX * NY, 0.001f));
}

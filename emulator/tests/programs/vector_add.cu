// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Checks every call, and prints what a first program prints about its device.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call) \
    do { \
        cudaError_t error = (call); \
        if (error != cudaSuccess) { \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, cudaGetErrorName(error), cudaGetErrorString(error)); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)

__global__ void add(const float* a, const float* b, float* c, int n);

__global__ void add(const float* __restrict__ a, const float* __restrict__ b, float* c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

int main(int argc, char** argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 1000;
    int devices = 0;
    CHECK(cudaGetDeviceCount(&devices));
    cudaDeviceProp prop;
    CHECK(cudaGetDeviceProperties(&prop, 0));
    bool plausible = prop.warpSize == 32 && prop.maxThreadsPerBlock == 1024 && prop.maxThreadsDim[2] == 64 &&
                     prop.maxGridSize[0] == 2147483647 && prop.totalGlobalMem > 1 << 20 && prop.name[0] &&
                     prop.multiProcessorCount > 0 && prop.clockRate > 0 && prop.unifiedAddressing == 1;
    int major = 0;
    CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    printf("%d.%d %d %d\n", prop.major, prop.minor, plausible, major == prop.major && devices >= 1);

    float* a = (float*)malloc(n * sizeof(float));
    float *b = (float*)malloc(n * sizeof(float)), *c = (float*)malloc(n * sizeof(float));
    for (int i = 0; i < n; ++i)
        a[i] = i, b[i] = 2.0f * i;
    float *da, *db, *dc;
    CHECK(cudaMalloc(&da, n * sizeof(float)));
    CHECK(cudaMalloc((void**)&db, n * sizeof(float)));
    CHECK(cudaMalloc(&dc, n * sizeof *dc));
    CHECK(cudaMemcpy(da, a, n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b, n * sizeof(float), cudaMemcpyHostToDevice));
    add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(c, dc, n * sizeof(float), cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < n; ++i)
        wrong += c[i] != 3.0f * i;
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    CHECK(cudaDeviceReset());
    printf("%d wrong\n", wrong);
    return wrong != 0;
}

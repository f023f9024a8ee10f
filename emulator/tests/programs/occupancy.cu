// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Chooses the shape of launches by occupancy, and sets attributes of kernels.
#include <stdio.h>

template <typename T> struct Plus {
    __host__ __device__ T operator()(T a, T b) const { return a + b; }
};
template <typename T, template <typename> class Op> __global__ void __launch_bounds__(256, 2) combine(T* x, int n, T y)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n)
        x[i] = Op<T>()(x[i], y);
}
__global__ void fill(int* out)
{
    extern __shared__ int big[];
    big[threadIdx.x * 200] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = big[(blockDim.x - 1 - threadIdx.x) * 200];
}
typedef void (*Launched)(int*);

int main()
{
    const int n = 1000;
    int grid, block, *x, host[n], bytes = 64 * 200 * sizeof(int) * 2;
    cudaMalloc(&x, sizeof host);
    cudaMemset(x, 0, sizeof host);
    cudaOccupancyMaxPotentialBlockSize(&grid, &block, combine<int, Plus>, 0, 0);
    bool right = grid > 0 && block == 256;
    combine<int, Plus><<<(n + block - 1) / block, block>>>(x, n, 7);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    right = right && host[0] == 7 && host[n - 1] == 7;

    cudaFuncAttributes attributes;
    cudaFuncGetAttributes(&attributes, combine<int, Plus>);
    right = right && attributes.maxThreadsPerBlock == 256 && attributes.sharedSizeBytes == 0;
    fill<<<1, 64, bytes>>>(x);
    printf("%s, ", cudaGetErrorString(cudaGetLastError()));
    cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    cudaFuncSetCacheConfig(fill, cudaFuncCachePreferShared);
    Launched launches[] = {fill, nullptr};
    launches[0]<<<1, 64, bytes>>>(x);
    (*launches)<<<1, 64, bytes>>>(x);
    printf("%s, ", cudaGetErrorString(cudaGetLastError()));
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %d %s\n", host[0], host[63], right ? "PASS" : "FAIL");
    return !right;
}

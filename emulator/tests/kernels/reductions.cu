// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Reductions.

// A tree in dynamic shared memory; one partial sum for each block.
extern "C" __global__ void tree_sum(const int* in, long long* partial, int n)
{
    extern __shared__ long long sums[];
    long long own = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        own += in[i];
    sums[threadIdx.x] = own;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sums[0];
}

__device__ double warp_sum(double value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffffu, value, distance);
    return value;
}

// A dot product by shuffles within warps, shared memory within blocks, and atomics between blocks.
extern "C" __global__ void dot(const double* a, const double* b, double* out, int n)
{
    __shared__ double of_warp[32];
    double own = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        own += a[i] * b[i];
    own = warp_sum(own);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x < 32) {
        own = warp_sum(threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : 0);
        if (threadIdx.x == 0)
            atomicAdd(out, own);
    }
}

struct Least {
    template <class T> __device__ static T join(T a, T b) { return b < a ? b : a; }
};
struct Product {
    template <class T> __device__ static T join(T a, T b) { return a * b; }
};

// A reduction of any type by any operation, in one block.
template <class T, class Operation, int threads> __global__ void reduce(const T* in, T* out, int n)
{
    __shared__ T values[threads];
    T own = in[threadIdx.x];
    for (int i = threadIdx.x + threads; i < n; i += threads)
        own = Operation::join(own, in[i]);
    values[threadIdx.x] = own;
    __syncthreads();
    for (int half = threads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            values[threadIdx.x] = Operation::join(values[threadIdx.x], values[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *out = values[0];
}

// The index of the largest element, the first one of equals, by a 64-bit word of value and index.
extern "C" __global__ void largest(const float* in, unsigned long long* best, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned bits = __float_as_uint(in[i]);
    const unsigned ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    atomicMax(best, (unsigned long long)ordered << 32 | ~unsigned(i));
}

// The last block to finish adds the sums of all blocks.
__device__ unsigned finished = 0;

extern "C" __global__ void last_block_sum(const int* in, volatile int* partial, int* out, int n)
{
    __shared__ int sum;
    __shared__ bool is_last;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&sum, in[i]);
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        is_last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        int all = 0;
        for (int block = 0; block < gridDim.x; ++block)
            all += partial[block];
        *out = all;
    }
}

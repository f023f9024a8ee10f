// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Kernels with one bug each, on the marked line; with `bad` 0 they are correct.

__device__ int table[16]; // 64 bytes, a multiple of the alignment of variables
__device__ double factors[5];
__constant__ int constants[16];

extern "C" {

__global__ void global_behind(int* data, int n, int bad)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n + bad)
        data[i] = i; // at global_behind
}

__global__ void global_before(int* data, int n, int bad)
{
    data[n / 2] = data[bad ? -1 : 0]; // at global_before
}

__global__ void dynamic_shared(int* data, int n, int bad)
{
    extern __shared__ int values[];
    values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    data[threadIdx.x] = values[threadIdx.x + bad]; // at dynamic_shared
}

__global__ void static_shared(int* data, int n, int bad)
{
    __shared__ int values[16];
    __shared__ int others[16];
    values[threadIdx.x % 16] = others[threadIdx.x % 16] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 7)
        values[bad ? 16 : 15] = 1; // at static_shared
    data[threadIdx.x] = values[0] + others[0];
}

__global__ void local_array(int* data, int n, int bad)
{
    int values[8];
    for (int i = 0; i < 8; ++i)
        values[i] = data[i];
    data[threadIdx.x] = values[bad ? n * 10000 : 3]; // at local_array
}

__global__ void variable(int* data, int n, int bad)
{
    table[threadIdx.x % 16 + (bad && threadIdx.x == 15)] = threadIdx.x; // at variable
}

__global__ void variable_of_40_bytes(int* data, int n, int bad)
{
    factors[threadIdx.x % (5 + bad)] = 1; // at variable_of_40_bytes
}

__global__ void constant(int* data, int n, int bad)
{
    data[threadIdx.x] = constants[threadIdx.x % 16 + bad * 16]; // at constant
}

__global__ void use_after_free(int* data, int n, int bad)
{
    data[threadIdx.x] = threadIdx.x; // at use_after_free
}

__global__ void heap_after_free(int* data, int n, int bad)
{
    int* own = (int*)malloc(40);
    own[9] = threadIdx.x;
    if (bad)
        free(own);
    data[threadIdx.x] = own[9]; // at heap_after_free
    if (!bad)
        free(own);
}

__global__ void heap_behind(int* data, int n, int bad)
{
    int* own = new int[10];
    own[9] = own[0] = n;
    data[threadIdx.x] = own[9 + bad]; // at heap_behind
    delete[] own;
}

__global__ void misaligned(int* data, int n, int bad)
{
    *(double*)(data + bad) = 1; // at misaligned
}

__global__ void misaligned_atomic(int* data, int n, int bad)
{
    atomicAdd((unsigned long long*)(data + bad), 1ull); // at misaligned_atomic
}

__global__ void misaligned_components(int* data, int n, int bad)
{
    const float4* four = (const float4*)(data + bad);
    data[n - 1] = int(four->x + four->y + four->z + four->w); // at misaligned_components
}

__global__ void misaligned_make(int* data, int n, int bad)
{
    *(float4*)(data + bad) = make_float4(0, 0, 0, 0); // at misaligned_make
}

__global__ void misaligned_ldg(int* data, int n, int bad)
{
    data[n - 1] = int(__ldg((const float4*)(data + bad)).w); // at misaligned_ldg
}

__global__ void misaligned_shared(int* data, int n, int bad)
{
    __shared__ __align__(16) float values[64];
    values[threadIdx.x] = values[threadIdx.x + 32] = 0;
    __syncthreads();
    data[threadIdx.x] = int(reinterpret_cast<float4*>(values + bad)->z); // at misaligned_shared
}

__global__ void null_pointer(int* data, int n, int bad)
{
    int* where = bad ? nullptr : data;
    where[threadIdx.x] = 1; // at null_pointer
}

__global__ void host_pointer(int* data, int n, int bad)
{
    *(bad ? *(int**)data : data + 2) = 1; // at host_pointer
}

__global__ void atomic_behind(int* data, int n, int bad)
{
    atomicAdd(&data[bad ? n : n - 1], 1); // at atomic_behind
}

__global__ void wide_behind(int* data, int n, int bad)
{
    ((int4*)data)[bad ? n / 4 : 0] = make_int4(1, 2, 3, 4); // at wide_behind
}

__global__ void divergent_barrier(int* data, int n, int bad)
{
    if (threadIdx.x < 16 || !bad)
        __syncthreads(); // at divergent_barrier
    else
        __syncthreads(); // at divergent_barrier: the others
}

__global__ void barrier_and_warp(int* data, int n, int bad)
{
    if (threadIdx.x == 0 && bad)
        __syncwarp(); // at barrier_and_warp
    else if (!bad)
        __syncwarp();
    __syncthreads();
}

__global__ void endless(volatile int* data, int n, int bad)
{
    data[1] = bad;
    while (data[1])
        data[0] += 1; // at endless
}

__global__ void wait_for_nobody(volatile int* data, int n, int bad)
{
    data[1] = !bad;
    while (data[1] == 0) { // at wait_for_nobody
    }
}

__device__ __noinline__ int deep(int* data, int level)
{                              // at stack_overflow
    volatile int frame[64];    // at stack_overflow
    frame[level % 64] = level; // at stack_overflow
    return level > 0 ? deep(data, level - 1) + frame[level % 64] : data[0]; // at stack_overflow
} // at stack_overflow

__global__ void stack_overflow(int* data, int n, int bad)
{
    data[1] = deep(data, bad ? 1 << 20 : 3);
}

__global__ void asserted(int* data, int n, int bad)
{
    assert(threadIdx.x != 5 || !bad); // at asserted
}

__global__ void trapped(int* data, int n, int bad)
{
    if (bad)
        __trap(); // at trapped
}

// A GPU does not report these, and returns some number.
__global__ void division_by_zero(int* data, int n, int bad)
{
    data[0] = 7 / (1 - bad); // at division_by_zero
    data[1] = 7 % (1 - bad); // at division_by_zero
    data[2] = -2147483647 - 1;
    data[3] = data[2] / (1 - 2 * bad);
}

__global__ void free_twice(int* data, int n, int bad)
{
    int* own = (int*)malloc(40);
    *(int* volatile*)data = own;
    free(own);
    if (bad)
        free(*(int* volatile*)data); // at free_twice
}
}

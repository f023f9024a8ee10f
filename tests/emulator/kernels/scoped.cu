// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Atomic functions with an order and a scope, barriers in shared memory, and clusters without cooperative groups.
#include <cuda_awbarrier_primitives.h>

extern "C" __global__ void orders(int* x, float* sum)
{
    int i = threadIdx.x, expected = i, zero = 0, old, seven = 7;
    __nv_atomic_fetch_add(&x[0], 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_add(sum, 0.5f, __NV_ATOMIC_RELAXED);
    __nv_atomic_fetch_max(&x[1], i, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_BLOCK);
    __nv_atomic_min(&x[2], -i, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_SYSTEM);
    __nv_atomic_or(&x[3], 1 << (i & 31), __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
    __nv_atomic_fetch_xor(&x[4], 1 << (i & 31), __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
    __nv_atomic_sub(&x[5], 2, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_CLUSTER);
    while (!__nv_atomic_compare_exchange_n(&x[6], &expected, i + 1, false, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_RELAXED,
                                           __NV_THREAD_SCOPE_BLOCK))
        expected = i;
    if (i == 0) {
        __nv_atomic_store_n(&x[7], 5, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
        __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
        x[8] = __nv_atomic_exchange_n(&x[7], 6, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
        __nv_atomic_exchange(&x[7], &seven, &old, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
        __nv_atomic_load(&x[7], &zero, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
        x[9] = old * 10 + zero;
    }
}

extern "C" __global__ void split(const int* x, int* out)
{
    __shared__ __mbarrier_t barrier;
    __shared__ int values[64];
    if (threadIdx.x == 0) __mbarrier_init(&barrier, blockDim.x);
    __syncthreads();
    for (int round = 0; round < 3; ++round) {
        values[threadIdx.x] = x[threadIdx.x] + round;
        __mbarrier_token_t token = __mbarrier_arrive(&barrier);
        if (round == 1)
            while (!__mbarrier_test_wait_parity(&barrier, true)) {}
        else
            while (!__mbarrier_try_wait(&barrier, token, 1000)) {}
        int other = values[63 - threadIdx.x];
        __syncthreads();
        out[round * 64 + threadIdx.x] = other;
    }
    if (threadIdx.x == 0) __mbarrier_inval(&barrier);
}

extern "C" __cluster_dims__(2) __global__ void neighbors(int* out)
{
    __shared__ int value;
    unsigned long long there, here = (unsigned long long)&value;
    unsigned owner;
    value = 100 + blockIdx.x;
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    unsigned other = 1 - __clusterRelativeBlockRank();
    asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(here), "r"(other));
    asm("getctarank.u64 %0, %1;" : "=r"(owner) : "l"(there));
    out[blockIdx.x] = *(int*)there * 10 + owner;
    int* same = (int*)__cluster_map_shared_rank(&value, other);
    out[2 + blockIdx.x] = *same * 10 + __cluster_query_shared_rank(same);
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
}

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
    unsigned narrow = (unsigned)__cvta_generic_to_shared(&value), word;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(narrow) : "r"(narrow), "r"(other));
    asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(owner) : "r"(narrow));
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(word) : "r"(narrow));
    out[4 + blockIdx.x] = word * 10 + owner;
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
}

// Each block writes to the next one, and adds to what it has got.
extern "C" __cluster_dims__(4) __global__ void window(int* out)
{
    __shared__ int row[32];
    unsigned there = (unsigned)__cvta_generic_to_shared(row) + 4 * threadIdx.x;
    row[threadIdx.x] = -1;
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(there), "r"((blockIdx.x + 1) % 4));
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(1000 * blockIdx.x + threadIdx.x) : "memory");
    asm volatile("red.shared::cluster.add.u32 [%0], 5;" ::"r"(there) : "memory");
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
    out[32 * blockIdx.x + threadIdx.x] = row[threadIdx.x];
}

// After a round, some threads leave the barrier. They do not wait, as others can be two phases further then.
extern "C" __global__ void leave(const int* x, int* out)
{
    __shared__ __mbarrier_t barrier;
    __shared__ int total[3];
    unsigned i = threadIdx.x;
    if (i == 0) __mbarrier_init(&barrier, blockDim.x);
    if (i < 3) total[i] = 0;
    for (int round = 0; round < 3; ++round)
        out[round * 64 + i] = -1;
    __syncthreads();
    for (int round = 0; round < 3; ++round) {
        atomicAdd(&total[round], x[i]);
        bool leaves = round < 2 && i >= 40 - 20 * round;
        __mbarrier_token_t token;
        if (leaves && i % 2)
            asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(token)
                         : "r"((unsigned)__cvta_generic_to_shared(&barrier)) : "memory");
        else
            token = leaves ? __mbarrier_arrive_and_drop(&barrier) : __mbarrier_arrive(&barrier);
        if (leaves) return;
        while (!__mbarrier_try_wait(&barrier, token, 1000)) {}
        out[round * 64 + i] = total[round];
    }
}

// Of 64 threads each, at two barriers at the same time.
extern "C" __global__ void reductions(int* out)
{
    unsigned i = threadIdx.x, half = i / 64, id = 3 + half, ones, any, all;
    asm volatile("{ .reg .pred p; setp.eq.u32 p, %1, 0; barrier.red.popc.u32 %0, %2, 64, p; }"
                 : "=r"(ones) : "r"(i % 3), "r"(id));
    asm volatile("{ .reg .pred p, q; setp.eq.u32 p, %1, 5; bar.red.or.pred q, %2, 64, p; selp.u32 %0, 1, 0, q; }"
                 : "=r"(any) : "r"(i), "r"(id));
    asm volatile("{ .reg .pred p, q; setp.eq.u32 p, %1, 5; bar.red.and.pred q, %2, 64, !p; selp.u32 %0, 1, 0, q; }"
                 : "=r"(all) : "r"(i), "r"(id));
    out[i] = ones, out[128 + i] = any, out[256 + i] = all;
}

__device__ unsigned spaces_of(const void* at)
{
    unsigned shared, cluster, local, global;
    asm("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(shared) : "l"(at));
    asm("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(cluster) : "l"(at));
    asm("{ .reg .pred p; isspacep.local p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(local) : "l"(at));
    asm("{ .reg .pred p; isspacep.global p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(global) : "l"(at));
    return shared | cluster << 1 | local << 2 | global << 3;
}

__device__ int at_namespace_scope;

extern "C" __cluster_dims__(2) __global__ void spaces(int* out)
{
    __shared__ int shared;
    int local[2] = {int(blockIdx.x), 1};
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    out += 5 * blockIdx.x;
    out[0] = spaces_of(out);
    out[1] = spaces_of(&shared);
    out[2] = spaces_of(__cluster_map_shared_rank(&shared, 1 - blockIdx.x));
    out[3] = spaces_of(local);
    out[4] = spaces_of(&at_namespace_scope);
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
}

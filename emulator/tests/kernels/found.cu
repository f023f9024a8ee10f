// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Mistakes in clusters of two blocks, with __ldg, and with plain stores beside atomic functions, on the marked lines;
// with `bad` 0 the kernels are correct. Two blocks of 64 threads with 128 bytes of dynamic shared memory run each. `out`
// has 32 zeros.

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ int table[64], count, sum;

extern "C" {

// ------------------------------------------------------------------ races in a cluster

__global__ void __cluster_dims__(2) no_cluster_sync(int* x, int* out, int bad)
{
    __shared__ int s[64];
    auto cluster = cg::this_cluster();
    s[threadIdx.x] = threadIdx.x; // at no_cluster_sync
    if (bad) __syncthreads();
    else cluster.sync();
    int other = cluster.map_shared_rank(s, 1 - cluster.block_rank())[threadIdx.x]; // at no_cluster_sync
    cluster.sync();
    if (other > 100) out[threadIdx.x % 32] = other;
}

__global__ void __cluster_dims__(2) overwritten_too_early(int* x, int* out, int bad)
{
    extern __shared__ int s[];
    auto cluster = cg::this_cluster();
    int t = threadIdx.x % 32, sum = 0;
    for (int i = 0; i < 3; ++i) {
        if (threadIdx.x < 32) s[t] = i; // at overwritten_too_early
        cluster.sync();
        sum += cluster.map_shared_rank(&s[0], 1 - cluster.block_rank())[t]; // at overwritten_too_early
        if (!bad) cluster.sync();
        else __syncthreads();
    }
    cluster.sync();
    if (sum > 100) out[t] = sum;
}

__global__ void __cluster_dims__(2) both_add(int* x, int* out, int bad)
{
    __shared__ int total;
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) total = 0;
    cluster.sync();
    int* first = cluster.map_shared_rank(&total, 0);
    if (bad && threadIdx.x == 0) *first += 1; // at both_add
    if (!bad) atomicAdd(first, 1);
    cluster.sync();
    if (total > 1000) out[0] = total;
}

__global__ void __cluster_dims__(2) arrival_before_the_store(int* x, int* out, int bad)
{
    __shared__ int s[64];
    auto cluster = cg::this_cluster();
    if (!bad) s[threadIdx.x] = 1;
    auto token = cluster.barrier_arrive();
    if (bad) s[threadIdx.x] = 1; // at arrival_before_the_store
    cluster.barrier_wait(static_cast<decltype(token)&&>(token));
    int other = cluster.map_shared_rank(s, 1 - cluster.block_rank())[threadIdx.x]; // at arrival_before_the_store
    cluster.sync();
    if (other > 100) out[threadIdx.x % 32] = other;
}

__global__ void __cluster_dims__(2) global_memory_of_a_cluster(int* x, int* out, int bad)
{
    auto cluster = cg::this_cluster();
    int rank = cluster.block_rank();
    if (threadIdx.x < 16) out[rank * 16 + threadIdx.x] = rank + 1; // at global_memory_of_a_cluster
    if (!bad) cluster.sync();
    if (threadIdx.x < 16 && out[(1 - rank) * 16 + threadIdx.x] > 9) out[0] = 1; // at global_memory_of_a_cluster
}

// ------------------------------------------------------------------ shared memory of a block that has exited

__global__ void __cluster_dims__(2) exits_while_read(int* x, int* out, int bad)
{
    __shared__ int s[64];
    auto cluster = cg::this_cluster();
    s[threadIdx.x] = 1;
    cluster.sync();
    int other = cluster.map_shared_rank(s, 1 - cluster.block_rank())[threadIdx.x]; // at exits_while_read
    if (!bad) cluster.sync();
    if (other > 100) out[threadIdx.x % 32] = other;
}

__global__ void __cluster_dims__(2) exits_at_once(int* x, int* out, int bad)
{
    __shared__ int s[64];
    auto cluster = cg::this_cluster();
    s[threadIdx.x] = 1;
    cluster.sync();
    if (bad && cluster.block_rank() == 0) return;
    if (bad) __nanosleep(1000000);
    int other = cluster.map_shared_rank(s, 0)[threadIdx.x]; // at exits_at_once
    if (!bad) cluster.sync();
    if (other > 100) out[threadIdx.x % 32] = other;
}

__global__ void __cluster_dims__(2) added_to_after_exit(int* x, int* out, int bad)
{
    __shared__ int total;
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) total = 0;
    cluster.sync();
    if (cluster.block_rank() == 1) atomicAdd(cluster.map_shared_rank(&total, 0), 1); // at added_to_after_exit
    if (!bad) cluster.sync();
    if (!bad && total > 1000) out[0] = total;
}

__global__ void __cluster_dims__(2) store_into_exited(int* x, int* out, int bad)
{
    extern __shared__ int s[];
    auto cluster = cg::this_cluster();
    cluster.sync();
    if (threadIdx.x < 32) cluster.map_shared_rank(&s[0], 1 - cluster.block_rank())[threadIdx.x] = 1; // at store_into_exited
    if (!bad) cluster.sync();
}

__global__ void __cluster_dims__(2) arrives_but_does_not_wait(int* x, int* out, int bad)
{
    __shared__ int s[64];
    auto cluster = cg::this_cluster();
    s[threadIdx.x] = 1;
    cluster.sync();
    int other = cluster.map_shared_rank(s, 1 - cluster.block_rank())[threadIdx.x]; // at arrives_but_does_not_wait
    auto token = cluster.barrier_arrive();
    if (!bad) cluster.barrier_wait(static_cast<decltype(token)&&>(token));
    if (other > 100) out[threadIdx.x % 32] = other;
}

// ------------------------------------------------------------------ __ldg of data that the kernel writes

__global__ void written_then_read(int* x, int* out, int bad)
{
    if (blockIdx.x || threadIdx.x >= 32) return;
    out[threadIdx.x] = 1; // at written_then_read
    __syncwarp();
    int other = bad ? __ldg(&out[31 - threadIdx.x]) : out[31 - threadIdx.x]; // at written_then_read
    if (other > 9) out[0] = other;
}

__global__ void in_a_loop(int* x, int* out, int bad)
{
    if (blockIdx.x) return;
    for (int i = 0; i < 3; ++i) {
        int before = bad ? __ldg(&out[threadIdx.x % 32]) : out[threadIdx.x % 32]; // at in_a_loop
        __syncthreads();
        if (threadIdx.x < 32) out[threadIdx.x] = before + 1; // at in_a_loop
        __syncthreads();
    }
}

__global__ void wide_read(int* x, int* out, int bad)
{
    if (blockIdx.x || threadIdx.x >= 8) return;
    out[4 * threadIdx.x + 1] = 3; // at wide_read
    int4* all = (int4*)out;
    int4 four = bad ? __ldg(&all[threadIdx.x]) : all[threadIdx.x]; // at wide_read
    if (four.y != 3) out[0] = 7;
}

__global__ void variable(int* x, int* out, int bad)
{
    if (blockIdx.x) return;
    table[threadIdx.x] = threadIdx.x + 1; // at variable
    __syncthreads();
    int other = bad ? __ldg(&table[63 - threadIdx.x]) : table[63 - threadIdx.x]; // at variable
    if (other > 100) out[0] = other;
}

__global__ void atomic_then_read(int* x, int* out, int bad)
{
    if (blockIdx.x) return;
    atomicAdd(&out[0], 1); // at atomic_then_read
    __syncthreads();
    int total = bad ? __ldg(&out[0]) : out[0]; // at atomic_then_read
    if (total > 1000) out[1] = total;
}

// ------------------------------------------------------------------ plain stores beside atomic functions

__global__ void reset_by_one(int* x, int* out, int bad)
{
    __shared__ int n;
    if (!bad && threadIdx.x == 63) n = 0;
    if (!bad) __syncthreads();
    else if (threadIdx.x == 63) n = 0; // at reset_by_one
    atomicAdd(&n, 1); // at reset_by_one
    __syncthreads();
    if (n > 1000) out[0] = n;
}

__global__ void reset_to_the_same_value(int* x, int* out, int bad)
{
    if (threadIdx.x == 0 && (bad || blockIdx.x > 9)) out[0] = 0; // at reset_to_the_same_value
    atomicAdd(&out[0], 1); // at reset_to_the_same_value
}

__global__ void reset_at_the_end(int* x, int* out, int bad)
{
    atomicAdd(&count, 1); // at reset_at_the_end
    if (bad && blockIdx.x == 1 && threadIdx.x == 0) count = 0; // at reset_at_the_end
}

__global__ void exchanged_and_stored(int* x, int* out, int bad)
{
    int old = atomicExch(&out[threadIdx.x % 4], 1); // at exchanged_and_stored
    if (bad && !old) out[threadIdx.x % 4] = 2; // at exchanged_and_stored
}

__global__ void smallest_of_all(int* x, int* out, int bad)
{
    if (bad) {
        if ((int)threadIdx.x + 1 > sum) sum = threadIdx.x + 1; // at smallest_of_all
    }
    atomicMax(&sum, (int)threadIdx.x); // at smallest_of_all
}
}

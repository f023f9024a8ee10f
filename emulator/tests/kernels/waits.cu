// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Kernels that do not wait for a copy, or wait forever, at the marked lines; with `bad` 0 they are correct. Two blocks of
// 64 threads with 128 bytes of dynamic shared memory run each; `out` has 32 zeros.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>
#include <cuda/barrier>

namespace cg = cooperative_groups;
#define SHARED(p) (unsigned int)__cvta_generic_to_shared(p)
#define COPY_4(to, from) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(SHARED(to)), "l"(from))
#define BULK "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 64, [%2];"

__device__ __align__(16) int source[32];
__device__ int lock, other_lock, ready[2], arrived;

extern "C" {

// ------------------------------------------------------------------ copies that are not waited for

__global__ void no_wait(int* x, int* out, int bad)
{
    __shared__ int s[64];
    __pipeline_memcpy_async(&s[threadIdx.x], &source[threadIdx.x % 32], 4);
    __pipeline_commit();
    if (!bad) __pipeline_wait_prior(0);
    if (blockIdx.x == 0) out[threadIdx.x % 32] = s[threadIdx.x]; // at no_wait
}

__global__ void barrier_alone(int* x, int* out, int bad)
{
    __shared__ int s[64];
    COPY_4(&s[threadIdx.x], &source[threadIdx.x % 32]);
    if (!bad) asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    if (threadIdx.x < 32 && blockIdx.x == 0) out[threadIdx.x] = s[63 - threadIdx.x]; // at barrier_alone
}

__global__ void one_group_too_few(int* x, int* out, int bad)
{
    extern __shared__ int s[];
    int t = threadIdx.x;
    if (t >= 16) return;
    COPY_4(&s[t], &source[t]);
    asm volatile("cp.async.commit_group;");
    COPY_4(&s[16 + t], &source[16 + t]);
    asm volatile("cp.async.commit_group;");
    if (bad) asm volatile("cp.async.wait_group 1;" ::: "memory");
    else asm volatile("cp.async.wait_group 0;" ::: "memory");
    int first = s[t];
    if (blockIdx.x == 0) out[t] = first + s[16 + t]; // at one_group_too_few
}

__global__ void sync_of_the_group(int* x, int* out, int bad)
{
    __shared__ int s[64];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s, source, 128);
    if (bad) block.sync();
    else cg::wait(block);
    if (threadIdx.x < 32 && blockIdx.x == 0) out[threadIdx.x] = s[threadIdx.x]; // at sync_of_the_group
}

__global__ void next_stage_too_early(int* x, int* out, int bad)
{
    __shared__ int s[2][64];
    int t = threadIdx.x, sum = 0;
    __pipeline_memcpy_async(&s[0][t], &source[t % 32], 4);
    __pipeline_commit();
    for (int i = 0; i < 4; ++i) {
        __pipeline_memcpy_async(&s[(i + 1) % 2][t], &source[t % 32], 4);
        __pipeline_commit();
        if (!bad || i != 2) __pipeline_wait_prior(1);
        sum += s[i % 2][t]; // at next_stage_too_early
    }
    __pipeline_wait_prior(0);
    if (blockIdx.x == 0) out[t % 32] = sum;
}

// ------------------------------------------------------------------ mbarriers that never complete

__global__ void more_bytes_than_copied(int* x, int* out, int bad)
{
    __shared__ alignas(16) int s[32];
    __shared__ unsigned long long barrier;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(SHARED(&barrier)));
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(SHARED(&barrier)), "r"(64 + 64 * bad));
        asm volatile(BULK ::"r"(SHARED(s)), "l"(source), "r"(SHARED(&barrier)) : "memory");
    }
    asm volatile("{ .reg .pred p;\n AGAIN: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n @!p bra AGAIN; }" // at more_bytes_than_copied
                 ::"r"(SHARED(&barrier)) : "memory"); // at more_bytes_than_copied
    if (threadIdx.x < 16) out[threadIdx.x] = s[threadIdx.x];
}

__global__ void no_bytes_expected(int* x, int* out, int bad)
{
    __shared__ alignas(16) int s[32];
    __shared__ unsigned long long barrier;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 2;" ::"r"(SHARED(&barrier)));
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(SHARED(&barrier)), "r"(bad ? 32 : 64));
        asm volatile(BULK ::"r"(SHARED(s)), "l"(source), "r"(SHARED(&barrier)) : "memory");
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(SHARED(&barrier)));
    }
    asm volatile("{ .reg .pred p;\n AGAIN: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n @!p bra AGAIN; }" // at no_bytes_expected
                 ::"r"(SHARED(&barrier)) : "memory"); // at no_bytes_expected
    if (threadIdx.x < 16) out[threadIdx.x] = s[threadIdx.x];
}

__global__ void one_arrival_too_many(int* x, int* out, int bad)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x + bad);
    __syncthreads();
    barrier.arrive_and_wait(); // at one_arrival_too_many
}

__global__ void arrival_in_a_branch(int* x, int* out, int bad)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    if (!bad || threadIdx.x != 5)
        barrier.arrive_and_wait(); // at arrival_in_a_branch
    __syncthreads(); // at arrival_in_a_branch
}

__global__ void phase_of_the_next_round(int* x, int* out, int bad)
{
    __shared__ unsigned long long barrier;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(SHARED(&barrier)), "r"(blockDim.x));
    __syncthreads();
    for (int i = 0; i < 2; ++i) {
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(SHARED(&barrier)) : "memory");
        asm volatile("{ .reg .pred p;\n AGAIN: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n @!p bra AGAIN; }" // at phase_of_the_next_round
                     ::"r"(SHARED(&barrier)), "r"(i ^ (bad && i)) : "memory"); // at phase_of_the_next_round
        if (bad && i == 1 && threadIdx.x == 0) // the others have passed the barrier too early, so one more round hangs
            asm volatile("{ .reg .pred p;\n AGAIN: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n @!p bra AGAIN; }" // at phase_of_the_next_round
                         ::"r"(SHARED(&barrier)) : "memory"); // at phase_of_the_next_round
        __syncthreads(); // at phase_of_the_next_round
    }
}

// ------------------------------------------------------------------ threads that spin forever

__global__ void lock_taken_twice(int* x, int* out, int bad)
{
    if (threadIdx.x) return;
    while (atomicCAS(&lock, 0, 1)) {} // at lock_taken_twice
    if (bad)
        while (atomicCAS(&lock, 0, 1)) {} // at lock_taken_twice
    atomicExch(&lock, 0);
}

__global__ void lock_kept_on_return(int* x, int* out, int bad)
{
    if (threadIdx.x) return;
    while (atomicCAS(&lock, 0, 1)) __nanosleep(20); // at lock_kept_on_return
    if (bad) return;
    atomicExch(&lock, 0);
}

__global__ void locks_in_two_orders(int* x, int* out, int bad)
{
    if (threadIdx.x) return;
    bool swapped = bad && blockIdx.x;
    int *first = swapped ? &other_lock : &lock, *second = swapped ? &lock : &other_lock;
    while (atomicCAS(first, 0, 1)) {} // at locks_in_two_orders
    if (bad) {
        atomicExch(&ready[blockIdx.x], 1);
        while (!atomicAdd(&ready[1 - blockIdx.x], 0)) {} // at locks_in_two_orders
    }
    while (atomicCAS(second, 0, 1)) {} // at locks_in_two_orders
    atomicExch(second, 0);
    atomicExch(first, 0);
}

__global__ void barrier_of_the_grid(int* x, int* out, int bad)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&arrived, 1);
        while (*(volatile int*)&arrived < (int)gridDim.x * (1 + bad) + bad) {} // at barrier_of_the_grid
    }
    __syncthreads(); // at barrier_of_the_grid
}

__global__ void flag_that_nobody_sets(int* x, int* out, int bad)
{
    __shared__ volatile int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 32 && !bad) flag = 1;
    if (threadIdx.x < 32)
        while (!flag) {} // at flag_that_nobody_sets
    __syncthreads(); // at flag_that_nobody_sets
}
}

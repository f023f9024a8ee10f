// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Kernels with barriers in forms that optimizers duplicate, unroll, move and merge.
// Each block of 256 threads computes 256 numbers of `out` from 256 of `in`.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

constexpr int width = 256;
#define OWN const int t = threadIdx.x, i = blockIdx.x * width + t, lane = t % 32, warp = t / 32; (void)lane, (void)warp

__device__ __forceinline__ int warp_sum(int value)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffff, value, distance);
    return value;
}

// The usual reduction of textbooks.
__device__ int block_sum(int value)
{
    static __shared__ int sums[32];
    int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    value = warp_sum(value);
    if (lane == 0)
        sums[warp] = value;
    __syncthreads();
    value = threadIdx.x < blockDim.x / warpSize ? sums[lane] : 0;
    if (warp == 0)
        value = warp_sum(value);
    return value;
}

extern "C" __global__ void reduce(const int* in, int* out)
{
    OWN;
    int sum = block_sum(in[i]);
    out[i] = t == 0 ? sum : 0;
}

extern "C" __global__ void reduce_and_tell(const int* in, int* out)
{
    OWN;
    __shared__ int sums[8], total;
    int value = warp_sum(in[i]);
    if (lane == 0)
        sums[warp] = value;
    __syncthreads();
    if (warp == 0) {
        value = lane < 8 ? sums[lane] : 0;
        value = warp_sum(value);
        if (lane == 0)
            total = value;
    }
    __syncthreads();
    out[i] = total;
}

extern "C" __global__ void reduce_twice(const int* in, int* out)
{
    OWN;
    __shared__ int first;
    int sum = block_sum(in[i]);
    if (t == 0)
        first = sum;
    __syncthreads();
    int own = in[i] - first;
    __syncthreads();
    sum = block_sum(own % 97);
    out[i] = t == 0 ? sum : first;
}

extern "C" __global__ void tree(const int* in, int* out)
{
    OWN;
    __shared__ int s[width];
    s[t] = in[i];
    __syncthreads();
    for (unsigned half = width / 2; half > 0; half >>= 1) {
        if (t < half)
            s[t] = max(s[t], s[t + half]);
        __syncthreads();
    }
    out[i] = s[0];
}

extern "C" __global__ void scan_with_two_buffers(const int* in, int* out)
{
    OWN;
    __shared__ int s[2][width];
    int from = 0;
    s[0][t] = in[i];
    __syncthreads();
#pragma unroll
    for (int step = 1; step < width; step *= 2) {
        s[1 - from][t] = t >= step ? s[from][t] + s[from][t - step] : s[from][t];
        from = 1 - from;
        __syncthreads();
    }
    out[i] = s[from][t];
}

extern "C" __global__ void scan_up_and_down(const int* in, int* out)
{
    OWN;
    __shared__ int s[width];
    s[t] = in[i];
    int offset = 1;
    for (int d = width >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d)
            s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0)
        s[width - 1] = 0;
    for (int d = 1; d < width; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1, old = s[a];
            s[a] = s[b];
            s[b] += old;
        }
    }
    __syncthreads();
    out[i] = s[t];
}

extern "C" __global__ void scan_by_warps(const int* in, int* out)
{
    OWN;
    __shared__ int sums[32];
    int value = in[i];
    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_up_sync(~0u, value, step);
        if (lane >= step)
            value += other;
    }
    if (lane == 31)
        sums[warp] = value;
    __syncthreads();
    if (warp == 0) {
        int sum = lane < 8 ? sums[lane] : 0;
        for (int step = 1; step < 32; step *= 2) {
            int other = __shfl_up_sync(~0u, sum, step);
            if (lane >= step)
                sum += other;
        }
        sums[lane] = sum;
    }
    __syncthreads();
    if (warp > 0)
        value += sums[warp - 1];
    out[i] = value;
}

// Barriers do not wait for threads that have ended.
extern "C" __global__ void some_end_early(const int* in, int* out)
{
    OWN;
    __shared__ int s[width];
    out[i] = -1;
    s[t] = in[i];
    __syncthreads();
    if (t >= 100)
        return;
    int value = s[t + 1];
    __syncthreads();
    if (t % 2)
        return;
    s[t] = value;
    __syncthreads();
    out[i] = s[t / 4 * 2];
}

// All threads of a block take the same branch.
extern "C" __global__ void uniform_branches(const int* in, int* out)
{
    OWN;
    __shared__ int s[width];
    s[t] = in[i];
    int value;
    if (blockIdx.x % 2) {
        __syncthreads();
        value = s[width - 1 - t];
    } else {
        s[t] *= 2;
        __syncthreads();
        value = s[t ^ 1];
    }
    __syncthreads();
    out[i] = value;
}

__device__ inline int rotated(int* s, int value, int by)
{
    s[threadIdx.x] = value;
    __syncthreads();
    value = s[(threadIdx.x + by) % width];
    __syncthreads();
    return value;
}

// One barrier in the source and many calls, the last of them after branches into which optimizers copy it.
extern "C" __global__ void a_function_called_often(const int* in, int* out)
{
    OWN;
    __shared__ int s[width];
    int value = rotated(s, in[i], 1);
    value += rotated(s, value, 2);
    for (int k = 0; k < 3; ++k)
        value += rotated(s, value, k);
    if (warp == 3)
        value = -value;
    value = rotated(s, value, 5);
    if (warp == 3)
        value += 7;
    out[i] = value;
}

template <int N> struct Rounds {
    template <class F> __device__ static int run(int* s, int value, F f)
    {
        value = f(rotated(s, value, N));
        return Rounds<N - 1>::run(s, value, f);
    }
};
template <> struct Rounds<0> {
    template <class F> __device__ static int run(int*, int value, F) { return value; }
};

extern "C" __global__ void templates_and_lambdas(const int* in, int* out)
{
    OWN;
    __shared__ int s[width];
    auto wait = [] { __syncthreads(); };
    int value = Rounds<4>::run(s, in[i], [](int v) { return v % 2 ? 3 * v + 1 : v / 2; });
    s[t] = value;
    wait();
    value = s[t ^ 3];
    wait();
    out[i] = value;
}

extern "C" __global__ void bitonic_sort(const int* in, int* out)
{
    OWN;
    __shared__ int s[width];
    s[t] = in[i];
    __syncthreads();
    for (int size = 2; size <= width; size <<= 1)
        for (int stride = size >> 1; stride > 0; stride >>= 1) {
            int other = t ^ stride;
            if (other > t) {
                bool up = (t & size) == 0;
                if ((s[t] > s[other]) == up) {
                    int old = s[t];
                    s[t] = s[other];
                    s[other] = old;
                }
            }
            __syncthreads();
        }
    out[i] = s[t];
}

// Repeats until no thread exchanges anything.
extern "C" __global__ void odd_even_sort(const int* in, int* out)
{
    OWN;
    __shared__ int s[width];
    s[t] = in[i];
    __syncthreads();
    int busy;
    do {
        busy = 0;
        for (int odd = 0; odd < 2; ++odd) {
            if (t % 2 == odd && t + 1 < width && s[t] > s[t + 1]) {
                int old = s[t];
                s[t] = s[t + 1];
                s[t + 1] = old;
                busy = 1;
            }
            __syncthreads();
        }
    } while (__syncthreads_or(busy));
    out[i] = s[t];
}

// The warps have two different tasks and wait at different barriers of the source: a GPU counts arrivals.
extern "C" __global__ void tasks_of_warps(const int* in, int* out)
{
    OWN;
    __shared__ int s[width / 2];
    if (warp < 4) {
        for (int k = 0; k < 2; ++k) {
            s[t] = in[i + k * width / 2] + k;
            __syncthreads();
            __syncthreads();
        }
    } else {
        for (int k = 0; k < 2; ++k) {
            __syncthreads();
            out[i - width / 2 + k * width / 2] = s[width - 1 - t];
            __syncthreads();
        }
    }
}

extern "C" __global__ void histogram(const int* in, int* out)
{
    OWN;
    __shared__ int bins[16];
    if (t < 16)
        bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[in[i] & 15], 1);
    __syncthreads();
    out[i] = (t < 16 ? bins[t] : 0) + __syncthreads_count(t < 0) + __syncthreads_and(t < 9);
}

extern "C" __global__ void transpose(const int* in, int* out)
{
    __shared__ int tile[16][17];
    auto block = cg::this_thread_block();
    int x = block.thread_index().x % 16, y = block.thread_index().x / 16, base = blockIdx.x * width;
    tile[y][x] = in[base + y * 16 + x];
    block.sync();
    out[base + y * 16 + x] = tile[x][y];
}

extern "C" __global__ void reduce_by_tiles(const int* in, int* out)
{
    OWN;
    __shared__ int sums[8];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    int sum = cg::reduce(tile, in[i], cg::plus<int>());
    if (tile.thread_rank() == 0)
        sums[tile.meta_group_rank()] = sum;
    cg::sync(block);
    sum = tile.thread_rank() < tile.meta_group_size() ? sums[tile.thread_rank()] : 0;
    sum = cg::reduce(tile, sum, cg::plus<int>());
    block.sync();
    out[i] = sum;
}

extern "C" __global__ void tiles_of_warps(const int* in, int* out)
{
    OWN;
    __shared__ cg::block_tile_memory<width> memory;
    auto block = cg::this_thread_block(memory);
    auto half = cg::tiled_partition<128>(block);
    auto quarter = cg::tiled_partition<64>(half);
    int sum = cg::reduce(half, in[i], cg::plus<int>());
    if (warp % 4 < 2) // the tiles of a half diverge
        sum += cg::inclusive_scan(quarter, in[i]);
    else
        quarter.sync();
    out[i] = sum;
}

extern "C" __global__ void arrive_and_wait(const int* in, int* out)
{
    OWN;
    __shared__ int s[width];
    auto block = cg::this_thread_block();
    int value = in[i];
    for (int k = 0; k < 3; ++k) {
        s[t] = value;
        auto token = block.barrier_arrive();
        int own = value * 2 % 101;
        block.barrier_wait(static_cast<decltype(token)&&>(token));
        value = own + s[(t + 32) % width];
        block.sync();
    }
    out[i] = value;
}

extern "C" __global__ void smoothing(const int* in, int* out)
{
    OWN;
    __shared__ int s[width + 2];
    s[t + 1] = in[i];
    if (t == 0)
        s[0] = 0;
    if (t == width - 1)
        s[width + 1] = 0;
    __syncthreads();
    for (int step = 0; step < 5; ++step) {
        int value = (s[t] + 2 * s[t + 1] + s[t + 2]) / 4;
        __syncthreads();
        s[t + 1] = value;
        __syncthreads();
        if (step == 3)
            continue;
        s[t + 1] += step;
        __syncthreads();
    }
    out[i] = s[t + 1];
}

extern "C" __global__ void switches(const int* in, int* out)
{
    OWN;
    __shared__ int s[width];
    int value = in[i];
    for (int k = 0; k < 6; ++k) {
        s[t] = value;
        switch ((k + blockIdx.x) % 3) {
        case 0:
            __syncthreads();
            value += s[t ^ 1];
            break;
        case 1:
            __syncthreads();
            value -= s[t ^ 64];
            // falls through
        default:
            __syncthreads();
            value ^= k;
        }
        __syncthreads();
    }
    out[i] = value;
}

__device__ __noinline__ int deeper(int* s, int value, int depth)
{
    if (depth == 0)
        return value;
    s[threadIdx.x] = value;
    __syncthreads();
    value = s[(threadIdx.x + depth) % width] + depth;
    __syncthreads();
    return deeper(s, value, depth - 1) - 1;
}

extern "C" __global__ void recursion(const int* in, int* out)
{
    OWN;
    __shared__ int s[width];
    out[i] = deeper(s, in[i], 6);
}

// The code before and after the barriers depends on the thread, so that optimizers may duplicate the barriers.
extern "C" __global__ void conditions_around(const int* in, int* out)
{
    OWN;
    __shared__ int s[width];
    int value = in[i];
    bool odd = value % 2;
    if (odd)
        s[t] = value * 3;
    else
        s[t] = value - 5;
    __syncthreads();
    if (odd)
        value = s[t ^ 1];
    else
        value += s[t ^ 2];
    __syncthreads();
    s[t] = odd ? value : -value;
    if (t < 16)
        s[t] += 1;
    __syncthreads();
    if (t < 16)
        value += s[t + 16];
    out[i] = value + s[t ^ 31];
}

// The lanes of a warp diverge and synchronize in two groups between votes.
extern "C" __global__ void votes(const int* in, int* out)
{
    OWN;
    __shared__ int s[width];
    int value = in[i];
    unsigned odd = __ballot_sync(~0u, value % 2);
    if (value % 2) {
        s[t] = __popc(odd & ((1u << lane) - 1));
        __syncwarp(odd);
        value = s[warp * 32 + __ffs(odd) - 1] + s[t];
    } else {
        s[t] = __popc(~odd);
        __syncwarp(~odd);
    }
    __syncwarp();
    value += __any_sync(~0u, value == 7) + 2 * __all_sync(~0u, value >= 0);
    __syncthreads();
    out[i] = value + s[(t + 32) % width];
}

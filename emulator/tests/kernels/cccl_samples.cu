// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// What programs use of the CUDA Core Compute Libraries: CUB's primitives, cuda::std, atomics and barriers.
#include <cooperative_groups.h>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/mdspan>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>

constexpr int threads = 128;

extern "C" __global__ void blocks(const int* x, int* sorted, int* sums, int* out)
{
    using Load = cub::BlockLoad<int, threads, 4, cub::BLOCK_LOAD_TRANSPOSE>;
    using Store = cub::BlockStore<int, threads, 4, cub::BLOCK_STORE_TRANSPOSE>;
    using Sort = cub::BlockRadixSort<int, threads, 4>;
    using Reduce = cub::BlockReduce<int, threads>;
    using Scan = cub::BlockScan<int, threads>;
    using WarpReduce = cub::WarpReduce<int>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Sort::TempStorage sort;
        typename Reduce::TempStorage reduce;
        typename Scan::TempStorage scan;
        typename WarpReduce::TempStorage warps[threads / 32];
    } shared;
    int values[4], warp = threadIdx.x / 32;
    Load(shared.load).Load(x, values);
    int mine = values[0] + values[1] + values[2] + values[3];
    __syncthreads();
    Sort(shared.sort).Sort(values);
    __syncthreads();
    Store(shared.store).Store(sorted, values);
    __syncthreads();
    Scan(shared.scan).InclusiveSum(mine, sums[threadIdx.x]);
    __syncthreads();
    int total = Reduce(shared.reduce).Sum(mine);
    __syncthreads();
    int part = WarpReduce(shared.warps[warp]).Reduce(mine, [](int a, int b) { return a > b ? a : b; });
    if (threadIdx.x == 0)
        out[0] = total;
    if (threadIdx.x % 32 == 0)
        out[1 + warp] = part;
}

// Only the first lanes count: of the warp `count % 32`, of the block `count`.
template <class T> __device__ void add_first(const T* x, int count, T* out)
{
    using Reduce = cub::BlockReduce<T, threads>;
    using WarpReduce = cub::WarpReduce<T>;
    __shared__ union {
        typename Reduce::TempStorage reduce;
        typename WarpReduce::TempStorage warps[threads / 32];
    } shared;
    T total = Reduce(shared.reduce).Sum(x[threadIdx.x], count);
    __syncthreads();
    T part = WarpReduce(shared.warps[threadIdx.x / 32]).Sum(x[threadIdx.x], count % 32);
    if (threadIdx.x == 0)
        out[0] = total;
    if (threadIdx.x % 32 == 0)
        out[1 + threadIdx.x / 32] = part;
}
extern "C" __global__ void add_first_integers(const int* x, int count, int* out) { add_first(x, count, out); }
extern "C" __global__ void add_first_numbers(const float* x, int count, float* out) { add_first(x, count, out); }

// A partial tile, of which the scan combines items that were not loaded.
template <class T> __device__ void scan_tile(const T* x, int count, T* out)
{
    using Load = cub::BlockLoad<T, threads, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Store = cub::BlockStore<T, threads, 4, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    using Scan = cub::BlockScan<T, threads>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Scan::TempStorage scan;
    } shared;
    T items[4];
    Load(shared.load).Load(x, items, count);
    __syncthreads();
    Scan(shared.scan).InclusiveSum(items, items);
    __syncthreads();
    Store(shared.store).Store(out, items, count);
}
extern "C" __global__ void scan_integers(const int* x, int count, int* out) { scan_tile(x, count, out); }
extern "C" __global__ void scan_numbers(const double* x, int count, double* out) { scan_tile(x, count, out); }

extern "C" __global__ void values(const int* x, float* out, int* counts)
{
    int i = threadIdx.x;
    cuda::std::span<const int> all(x, threads);
    cuda::std::mdspan<const int, cuda::std::extents<int, 8, 16>> table(x);
    cuda::std::complex<float> z(all[i], 1);
    cuda::std::tuple<int, int> pair = cuda::std::make_tuple(table(i / 16, i % 16), 2);
    cuda::std::array<int, 2> both{cuda::std::get<0>(pair), cuda::std::get<1>(pair)};
    cuda::std::optional<int> product = both[0] * both[1];
    z = z * z;
    out[i] = z.real() + z.imag() + product.value_or(7);
    cuda::atomic_ref<int, cuda::thread_scope_device>(counts[0]).fetch_add(x[i], cuda::std::memory_order_relaxed);
    __shared__ cuda::atomic<int, cuda::thread_scope_block> count;
    if (i == 0)
        count = 0;
    __syncthreads();
    ++count;
    __syncthreads();
    counts[1] = count.load();
}

extern "C" __global__ void meetings(const int* x, int* out)
{
    int i = threadIdx.x;
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int first[threads], second[threads];
    if (i == 0)
        init(&barrier, threads);
    __syncthreads();
    first[i] = x[i];
    barrier.arrive_and_wait();
    auto pipeline = cuda::make_pipeline();
    pipeline.producer_acquire();
    cuda::memcpy_async(second + i, x + threads - 1 - i, sizeof(int), pipeline);
    pipeline.producer_commit();
    pipeline.consumer_wait();
    __syncthreads();
    out[i] = first[threads - 1 - i] * 2 + second[i];
    pipeline.consumer_release();
    int local = 0;
    out[threads + i] = __isShared(first + i) + 2 * __isShared(&local) + 4 * __isGlobal(x) + 8 * __isGlobal(first);
}

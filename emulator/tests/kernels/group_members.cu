// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The interface of cooperative groups, one kernel for each kind of group or function.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/std/utility>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;

__device__ int sum_of(cg::thread_group group, int* scratch, int value)
{
    int rank = group.thread_rank();
    for (int i = group.size() / 2; i > 0; i /= 2) {
        scratch[rank] = value;
        group.sync();
        if (rank < i)
            value += scratch[rank + i];
        group.sync();
    }
    return value;
}

// A block of 4 x 16 threads.
__global__ void block_members(int* out)
{
    cg::thread_block block = cg::this_thread_block();
    extern __shared__ int scratch[];
    auto token = block.barrier_arrive();
    block.barrier_wait(cuda::std::move(token));
    cg::sync(block);
    dim3 place = block.thread_index(), size = block.dim_threads();
    out += 4 * (block.num_threads() * block.group_index().x + block.thread_rank());
    out[0] = place.x + size.x * (place.y + size.y * place.z);
    out[1] = block.size() + block.group_dim().y + cg::group_size(block) + cg::thread_rank(block);
    out[2] = sum_of(block, scratch, 1);
    int rank = block.thread_rank(), eight = sum_of(cg::tiled_partition(block, 8), scratch + rank / 8 * 8, 1);
    out[3] = 100 * eight + sum_of(cg::tiled_partition<4>(block), scratch + rank / 4 * 4, 1);
}

__global__ void single_thread(int* out)
{
    auto self = cg::this_thread();
    self.sync();
    auto one = cg::tiled_partition<1>(cg::this_thread_block());
    out[threadIdx.x] = 1000 * self.size() + 100 * self.num_threads() + 10 * self.thread_rank() +
                       cg::reduce(one, 5, cg::plus<int>());
}

struct Wide {
    double a, b, c;
};

__global__ void tile_members(const int* in, int* out)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto four = cg::tiled_partition<4>(warp);
    cg::thread_block_tile<4> any_parent = four;
    static_assert(decltype(four)::num_threads() == 4 && cg::thread_block_tile<4>::size() == 4, "");
    int value = in[threadIdx.x], all_equal, same;
    out += threadIdx.x;
    out[0] = four.shfl(value, 2);
    out[128] = four.shfl_up(value, 1);
    out[256] = four.shfl_down(value, 1);
    out[384] = four.shfl_xor(value, 3);
    out[512] = 4 * four.any(value % 4 == 0) + 2 * four.all(value % 2 == 0) + (four.ballot(value % 2) << 3);
    out[640] = four.match_any(value % 2);
    same = four.match_all(value % 2, all_equal);
    out[768] = 16 * all_equal + same;
    out[896] = 100 * four.meta_group_size() + four.meta_group_rank();
    out[1024] = 100 * any_parent.meta_group_size() + any_parent.meta_group_rank() + four.thread_rank();
    out[1152] = int(warp.shfl(Wide{1.0, 2.0, double(value)}, 5).c);
    four.sync();
}

__global__ void operators(const int* in, int* out)
{
    auto eight = cg::tiled_partition<8>(cg::this_thread_block());
    int value = in[threadIdx.x];
    out += threadIdx.x;
    out[0] = cg::reduce(eight, value, cg::plus<int>());
    out[128] = cg::reduce(eight, value, cg::less<int>());
    out[256] = cg::reduce(eight, value, cg::greater<int>());
    out[384] = cg::reduce(eight, value, cg::bit_and<int>());
    out[512] = cg::reduce(eight, value, cg::bit_or<int>());
    out[640] = cg::reduce(eight, value, cg::bit_xor<int>());
    out[768] = int(cg::reduce(eight, double(value), cg::plus<double>()));
    out[896] = cg::inclusive_scan(eight, value);
    out[1024] = cg::exclusive_scan(eight, value);
    out[1152] = cg::inclusive_scan(eight, value, cg::greater<int>());
    out[1280] = cg::exclusive_scan(eight, value, cg::bit_or<int>());
    out[1408] = cg::inclusive_scan(eight, value, [](int a, int b) { return a < b ? a : b; });
}

__global__ void coalesced(const int* in, int* out, int* count)
{
    int value = in[threadIdx.x];
    if (value % 3)
        return;
    cg::coalesced_group group = cg::coalesced_threads();
    int first = 0;
    if (group.thread_rank() == 0)
        first = atomicAdd(count, int(group.num_threads()));
    out += threadIdx.x;
    out[0] = group.shfl(first, 0) + group.thread_rank();
    out[128] = cg::reduce(group, value, cg::plus<int>());
    auto odd = cg::binary_partition(group, value % 2);
    out[256] = 1000 * odd.size() + 100 * odd.meta_group_size() + cg::exclusive_scan(odd, 1);
    auto label = cg::labeled_partition(group, value % 5);
    out[384] = 1000 * label.size() + 10 * label.meta_group_size() + label.meta_group_rank();
    auto pair = cg::tiled_partition(group, 2);
    out[512] = 10 * pair.size() + pair.thread_rank();
    out[640] = 4 * group.any(value % 2) + 2 * group.all(value % 2) + (group.ballot(value % 2) == odd.ballot(1));
    out[768] = group.shfl_up(value, 1) - group.shfl_down(value, 1);
    out[896] = __popc(group.match_any(value % 5));
    group.sync();
}

__global__ void updates(const int* in, int* results, int* out)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int value = in[threadIdx.x];
    cuda::atomic_ref<int, cuda::thread_scope_device> total(results[0]), most(results[1]), stored(results[2]);
    cuda::atomic_ref<int, cuda::thread_scope_block> next(results[3]), again(results[4]);
    cg::reduce_update_async(warp, total, value, cg::plus<int>());
    cg::reduce_update_async(warp, most, value, cg::greater<int>());
    cg::reduce_store_async(warp, stored, value, cg::bit_or<int>());
    out[threadIdx.x] = cg::exclusive_scan_update(warp, next, value, cg::plus<int>());
    out[32 + threadIdx.x] = cg::inclusive_scan_update(warp, again, value);
}

__global__ void once(int* out)
{
    auto block = cg::this_thread_block();
    __shared__ int count;
    cg::invoke_one(block, [] { count = 5; });
    block.sync();
    auto warp = cg::tiled_partition<32>(block);
    int before = cg::invoke_one_broadcast(warp, [] { return atomicAdd(&count, 1); });
    block.sync();
    out[threadIdx.x] = 100 * count + before;
    auto active = cg::coalesced_threads();
    out[128 + threadIdx.x] = cg::invoke_one_broadcast(active, [](int a, int b) { return a * b; }, 6, 7);
}

__global__ void copies(const int* in, int* out)
{
    auto block = cg::this_thread_block();
    __shared__ alignas(16) int tile[512];
    cg::memcpy_async(block, tile, in, sizeof(int) * 128);
    cg::wait(block);
    out[threadIdx.x] = tile[127 - threadIdx.x];
    block.sync();
    cg::memcpy_async(block, tile, in, cuda::aligned_size_t<16>(sizeof(int) * 128));
    cg::memcpy_async(block, tile + 128, 128, in, 64); // in elements: the smaller number is copied
    cg::wait_prior<1>(block);
    out[128 + threadIdx.x] = tile[127 - threadIdx.x];
    cg::wait_prior<0>(block);
    out[256 + threadIdx.x] = tile[128 + threadIdx.x % 64];
    auto warp = cg::tiled_partition<32>(block);
    int* part = tile + 256 + 32 * warp.meta_group_rank();
    cg::memcpy_async(warp, part, in + 32 * warp.meta_group_rank(), cuda::aligned_size_t<4>(128));
    cg::wait(warp);
    out[384 + threadIdx.x] = part[31 - warp.thread_rank()];
}

__global__ void batches(const int4* in, int4* out)
{
    __shared__ int4 first[32], second[32];
    __pipeline_memcpy_async(&first[threadIdx.x], &in[threadIdx.x], sizeof(int4));
    __pipeline_commit();
    __pipeline_memcpy_async(&second[threadIdx.x], &in[threadIdx.x], sizeof(int4), 8); // the last 8 bytes become zero
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    out[threadIdx.x] = first[31 - threadIdx.x];
    __pipeline_wait_prior(0);
    __syncthreads();
    out[32 + threadIdx.x] = second[31 - threadIdx.x];
}

// A cooperative launch of 2 x 2 blocks.
__global__ void grid_members(int* out, int* count)
{
    cg::grid_group grid = cg::this_grid();
    atomicAdd(count, 1);
    grid.sync();
    int first = *count;
    auto token = grid.barrier_arrive();
    grid.barrier_wait(cuda::std::move(token));
    atomicAdd(count, 1);
    cg::sync(grid);
    dim3 place = grid.thread_index(), size = grid.dim_threads();
    out += 4 * grid.thread_rank();
    out[0] = first;
    out[1] = *count + (grid.is_valid() ? 10000 : 0);
    out[2] = 1000 * place.y + place.x + 100000 * size.x + 10000000 * size.y;
    out[3] = grid.num_blocks() + 10 * grid.dim_blocks().x + 100 * grid.block_rank() +
             1000 * (grid.block_index().x + 2 * grid.block_index().y) + 10000 * grid.num_clusters() +
             100000 * (grid.size() == grid.num_threads() && grid.cluster_rank() == grid.block_rank() &&
                       grid.dim_clusters().y == grid.group_dim().y && grid.cluster_index().x == blockIdx.x);
}

__global__ void large_tiles(const int* in, int* out)
{
    __shared__ cg::block_tile_memory<128> memory;
    auto block = cg::this_thread_block(memory);
    auto half = cg::tiled_partition<64>(block);
    int value = in[threadIdx.x];
    out += threadIdx.x;
    out[0] = cg::reduce(half, value, cg::plus<int>());
    out[128] = cg::inclusive_scan(half, value);
    out[256] = half.shfl(value, 40);
    out[384] = 2 * half.any(half.thread_rank() == 63) + half.all(half.thread_rank() < 63);
    half.sync();
    out[512] = 100 * half.meta_group_size() + half.meta_group_rank();
}

// Clusters of two blocks.
__cluster_dims__(2, 1, 1) __global__ void cluster_members(const int* in, int* out)
{
    auto cluster = cg::this_cluster();
    __shared__ int value;
    if (threadIdx.x == 0)
        value = in[blockIdx.x];
    cluster.sync();
    const int* other = cluster.map_shared_rank(&value, 1 - cluster.block_rank());
    out += 3 * (64 * blockIdx.x + threadIdx.x);
    out[0] = *other;
    out[1] = 10 * cluster.query_shared_rank(other) + cluster.block_rank();
    out[2] = cluster.thread_rank() + 1000 * cluster.num_blocks() +
             10000 * (cluster.num_threads() == 128 && cluster.dim_threads().x == 128 && cluster.dim_blocks().x == 2 &&
                      cluster.thread_index().x == cluster.thread_rank() && cluster.block_index().x == cluster.block_rank());
    cluster.barrier_arrive();
    cluster.barrier_wait();
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    auto token = cluster.barrier_arrive();
    cluster.barrier_wait(cuda::std::move(token));
}

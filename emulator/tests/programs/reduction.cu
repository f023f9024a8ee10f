// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Sums numbers with cooperative groups, in blocks and in a grid that waits for all of its blocks.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <iostream>
#include <numeric>
#include <vector>

namespace cg = cooperative_groups;

__device__ int sum_of_block(cg::thread_block block, int value)
{
    __shared__ int parts[32];
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    value = cg::reduce(warp, value, cg::plus<int>());
    if (warp.thread_rank() == 0)
        parts[warp.meta_group_rank()] = value;
    block.sync();
    if (block.thread_rank() == 0)
        for (unsigned i = 1; i < warp.meta_group_size(); ++i)
            value += parts[i];
    return value;
}

__global__ void sum_all(const int* in, int n, int* partial, int* out)
{
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    int value = 0;
    for (unsigned long long i = grid.thread_rank(); i < n; i += grid.size())
        value += in[i];
    value = sum_of_block(block, value);
    if (block.thread_rank() == 0)
        partial[blockIdx.x] = value;
    grid.sync();
    if (grid.thread_rank() == 0) {
        int total = 0;
        for (unsigned i = 0; i < gridDim.x; ++i)
            total += partial[i];
        *out = total;
    }
}

int main()
{
    int device = 0, cooperative = 0, per_sm = 0, n = 5000;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, sum_all, 128, 0);
    if (!cooperative || per_sm < 1)
        return 2;
    std::vector<int> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 1);
    int *in, *partial, *out, blocks = 4, total = 0;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&partial, blocks * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemcpy(in, numbers.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    void* arguments[] = {&in, &n, &partial, &out};
    cudaError_t error = cudaLaunchCooperativeKernel((void*)sum_all, dim3(blocks), dim3(128), arguments, 0, NULL);
    cudaMemcpy(&total, out, sizeof total, cudaMemcpyDeviceToHost);
    std::cout << cudaGetErrorString(error) << ' ' << total << std::endl;
    return total != n * (n + 1) / 2;
}

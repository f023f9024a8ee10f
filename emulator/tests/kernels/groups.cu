// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Cooperative groups: tiles, coalesced threads and the whole grid.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

// Mean and variance in one launch: all blocks synchronize after the mean.
extern "C" __global__ void variance(const double* in, double* result, int n)
{
    auto grid = cg::this_grid();
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    double own = 0;
    for (auto i = grid.thread_rank(); i < n; i += grid.size())
        own += in[i];
    own = cg::reduce(tile, own, cg::plus<double>());
    if (tile.thread_rank() == 0)
        atomicAdd(&result[0], own / n);
    grid.sync();
    const double mean = *(volatile double*)&result[0];
    own = 0;
    for (auto i = grid.thread_rank(); i < n; i += grid.size())
        own += (in[i] - mean) * (in[i] - mean);
    own = cg::reduce(tile, own, cg::plus<double>());
    if (tile.thread_rank() == 0)
        atomicAdd(&result[1], own / n);
}

// The sum of eight elements by shuffles within a tile.
extern "C" __global__ void sums_of_eight(const int* in, int* out)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int value = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int distance = tile.size() / 2; distance > 0; distance /= 2)
        value += tile.shfl_xor(value, distance);
    if (tile.thread_rank() == 0)
        out[blockIdx.x * tile.meta_group_size() + tile.meta_group_rank()] = value;
}

// Coalesced threads append their elements with one atomic addition for all of them.
extern "C" __global__ void gather_odd(const int* in, int* out, int* count, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] % 2) {
        auto found = cg::coalesced_threads();
        int first = 0;
        if (found.thread_rank() == 0)
            first = atomicAdd(count, int(found.size()));
        out[found.shfl(first, 0) + found.thread_rank()] = in[i];
    }
}

// All steps of a diffusion in one launch, with a barrier of the grid after each.
extern "C" __global__ void diffuse(double* now, double* next, int n, int steps)
{
    auto grid = cg::this_grid();
    for (int step = 0; step < steps; ++step) {
        for (auto i = grid.thread_rank(); i < n; i += grid.size())
            next[i] = now[i] / 2 + (now[(i + 1) % n] + now[(i + n - 1) % n]) / 4;
        grid.sync();
        double* other = now;
        now = next, next = other;
    }
}

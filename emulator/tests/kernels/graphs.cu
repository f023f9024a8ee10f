// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Algorithms on graphs, given as compressed sparse rows or as a matrix.

// One level of a breadth-first search: reads a queue of nodes and writes the next one.
extern "C" __global__ void next_level(const int* starts, const int* neighbors, const int* frontier, int size, int* found,
                                      int* count, int* distance, int level)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size)
        return;
    const int node = frontier[i];
    for (int k = starts[node]; k < starts[node + 1]; ++k)
        if (atomicCAS(&distance[neighbors[k]], -1, level) == -1)
            found[atomicAdd(count, 1)] = neighbors[k];
}

// One step of the Floyd-Warshall algorithm: shortest paths that may use one more node.
extern "C" __global__ void shortest(double* distance, int n, int over)
{
    const int to = blockIdx.x * blockDim.x + threadIdx.x, from = blockIdx.y * blockDim.y + threadIdx.y;
    if (from < n && to < n)
        distance[from * n + to] = fmin(distance[from * n + to], distance[from * n + over] + distance[over * n + to]);
}

// Connected components are labeled with the least number of their nodes.
extern "C" __global__ void spread_labels(const int* from, const int* to, int edges, int* label, int* changed)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= edges)
        return;
    const volatile int* now = label; // other threads update the labels
    const int least = min(now[from[i]], now[to[i]]);
    if (atomicMin(&label[from[i]], least) > least || atomicMin(&label[to[i]], least) > least)
        *changed = 1;
}

// A step of PageRank: each page passes on its rank.
extern "C" __global__ void pass_rank(const int* starts, const int* links, const double* rank, double* next, int n, double damping)
{
    const int page = blockIdx.x * blockDim.x + threadIdx.x;
    if (page >= n)
        return;
    atomicAdd(&next[page], (1 - damping) / n);
    const int count = starts[page + 1] - starts[page];
    for (int k = starts[page]; k < starts[page + 1]; ++k)
        atomicAdd(&next[links[k]], damping * rank[page] / count);
}

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Breadth-first search in a random graph, one pair of launches for each level.
#include "../common/check.h"
#include <string.h>

#define MAX_THREADS_PER_BLOCK 128
#define NODES 3000
#define DEGREE 4

struct Node {
    int starting;
    int no_of_edges;
};

__global__ void Kernel(Node *g_nodes, int *g_edges, bool *g_mask, bool *g_updating, bool *g_visited, int *g_cost, int n)
{
    int tid = blockIdx.x * MAX_THREADS_PER_BLOCK + threadIdx.x;
    if (tid < n && g_mask[tid]) {
        g_mask[tid] = false;
        for (int i = g_nodes[tid].starting; i < (g_nodes[tid].no_of_edges + g_nodes[tid].starting); i++) {
            int id = g_edges[i];
            if (!g_visited[id]) {
                g_cost[id] = g_cost[tid] + 1;
                g_updating[id] = true;
            }
        }
    }
}

__global__ void Kernel2(bool *g_mask, bool *g_updating, bool *g_visited, bool *g_over, int n)
{
    int tid = blockIdx.x * MAX_THREADS_PER_BLOCK + threadIdx.x;
    if (tid < n && g_updating[tid]) {
        g_mask[tid] = true;
        g_visited[tid] = true;
        *g_over = true;
        g_updating[tid] = false;
    }
}

int main(int argc, char **argv)
{
    static Node nodes[NODES];
    static int edges[NODES * DEGREE], cost[NODES], found[NODES], queue[NODES];
    static bool mask[NODES], updating[NODES], visited[NODES];
    int no_of_nodes = argc > 1 ? atoi(argv[1]) : NODES, source = 0;
    if (no_of_nodes > NODES) return report("bfs, too many nodes", 1);
    unsigned seed = 7;
    for (int i = 0; i < no_of_nodes; i++) {
        nodes[i].starting = i * DEGREE;
        nodes[i].no_of_edges = next_random(&seed) % (DEGREE + 1);
        for (int k = 0; k < DEGREE; k++) edges[i * DEGREE + k] = next_random(&seed) % no_of_nodes;
        cost[i] = -1;
    }
    nodes[source].no_of_edges = DEGREE;
    cost[source] = 0, mask[source] = true, visited[source] = true;
    Node *d_nodes = to_device(nodes, no_of_nodes);
    int *d_edges = to_device(edges, no_of_nodes * DEGREE), *d_cost = to_device(cost, no_of_nodes);
    bool *d_mask = to_device(mask, no_of_nodes), *d_updating = to_device(updating, no_of_nodes);
    bool *d_visited = to_device(visited, no_of_nodes), *d_over, stop;
    cudaMalloc((void **)&d_over, sizeof(bool));

    int num_of_blocks = (int)ceil(no_of_nodes / (double)MAX_THREADS_PER_BLOCK), k = 0;
    dim3 grid(num_of_blocks, 1, 1), threads(MAX_THREADS_PER_BLOCK, 1, 1);
    do {
        stop = false;
        cudaMemcpy(d_over, &stop, sizeof(bool), cudaMemcpyHostToDevice);
        Kernel<<<grid, threads, 0>>>(d_nodes, d_edges, d_mask, d_updating, d_visited, d_cost, no_of_nodes);
        Kernel2<<<grid, threads, 0>>>(d_mask, d_updating, d_visited, d_over, no_of_nodes);
        gpuErrchk(cudaMemcpy(&stop, d_over, sizeof(bool), cudaMemcpyDeviceToHost));
        k++;
    } while (stop);
    printf("Kernel Executed %d times\n", k);
    gpuErrchk(cudaMemcpy(found, d_cost, no_of_nodes * sizeof(int), cudaMemcpyDeviceToHost));

    int first = 0, last = 0, mismatches = 0;
    queue[last++] = source;
    while (first < last) {
        int node = queue[first++];
        for (int i = 0; i < nodes[node].no_of_edges; i++) {
            int id = edges[nodes[node].starting + i];
            if (cost[id] < 0) cost[id] = cost[node] + 1, queue[last++] = id;
        }
    }
    for (int i = 0; i < no_of_nodes; i++) mismatches += cost[i] != found[i];
    return report("bfs", mismatches);
}

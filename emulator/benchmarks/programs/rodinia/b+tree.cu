// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Searches in a tree of sorted keys: a block for each query, a thread for each key of a node.
#include "../common/check.h"
#include <limits.h>

#define ORDER 16
#define KEYS 2000
#define QUERIES 300

typedef struct knode {
    int location;
    int indices[ORDER + 1];
    int keys[ORDER + 1];
    bool is_leaf;
    int num_keys;
} knode;

typedef struct record {
    int value;
} record;

__global__ void findK(long height, knode *knodesD, long knodes_elem, record *recordsD, long *currKnodeD, long *offsetD,
                      int *keysD, record *ansD)
{
    int thid = threadIdx.x, bid = blockIdx.x;
    for (int i = 0; i < height; i++) {
        if (knodesD[currKnodeD[bid]].keys[thid] <= keysD[bid] && knodesD[currKnodeD[bid]].keys[thid + 1] > keysD[bid]) {
            if (knodesD[offsetD[bid]].indices[thid] < knodes_elem) offsetD[bid] = knodesD[offsetD[bid]].indices[thid];
        }
        __syncthreads();
        if (thid == 0) currKnodeD[bid] = offsetD[bid];
        __syncthreads();
    }
    if (knodesD[currKnodeD[bid]].keys[thid] == keysD[bid])
        ansD[bid].value = recordsD[knodesD[currKnodeD[bid]].indices[thid]].value;
}

static knode nodes[KEYS];
static int count;

/* Builds the nodes of a level from those below, and returns the first of them. */
static int build_level(int first, int below, bool is_leaf, int *lowest)
{
    int start = count;
    for (int i = 0; i < below; i += ORDER) {
        knode *node = &nodes[count];
        int low = lowest[i];
        node->location = count, node->is_leaf = is_leaf, node->num_keys = min(ORDER, below - i);
        for (int k = 0; k <= ORDER; k++) node->keys[k] = k < node->num_keys ? lowest[i + k] : INT_MAX;
        for (int k = 0; k < node->num_keys; k++) node->indices[k] = first + i + k;
        if (!is_leaf) node->keys[0] = INT_MIN;
        lowest[count++ - start] = low;
    }
    return start;
}

int main()
{
    static record records[KEYS], answers[QUERIES];
    static int keys[QUERIES], lowest[KEYS];
    static long roots[QUERIES], offsets[QUERIES];
    for (int i = 0; i < KEYS; i++) records[i].value = 7 * i, lowest[i] = 3 * i;
    int height = 0, first = 0, below = KEYS, mismatches = 0;
    while (height == 0 || below > 1) {
        int start = build_level(first, below, height == 0, lowest);
        below = count - start, first = start, height++;
    }
    unsigned seed = 5;
    for (int i = 0; i < QUERIES; i++) {
        keys[i] = next_random(&seed) % (3 * KEYS);
        roots[i] = offsets[i] = first, answers[i].value = -1;
    }
    record *ansD = to_device(answers, QUERIES);
    findK<<<QUERIES, ORDER>>>(height - 1, to_device(nodes, count), count, to_device(records, KEYS),
                              to_device(roots, QUERIES), to_device(offsets, QUERIES), to_device(keys, QUERIES), ansD);
    gpuErrchk(cudaGetLastError());
    gpuErrchk(cudaMemcpy(answers, ansD, sizeof(answers), cudaMemcpyDeviceToHost));
    for (int i = 0; i < QUERIES; i++) mismatches += answers[i].value != (keys[i] % 3 ? -1 : 7 * (keys[i] / 3));
    printf("%d nodes, %d levels\n", count, height);
    return report("b+tree", mismatches);
}

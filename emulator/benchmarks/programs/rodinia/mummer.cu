// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Finds the longest match of each query at each of its positions, in a tree of all suffixes of a reference.
#include "../common/check.h"
#include <string>
#include <vector>

#define REFERENCE 240
#define DEPTH 12
#define QUERIES 40
#define QUERY_LENGTH 24

/* The children of a node by letter, 0 if there is none; the fifth is the place in the reference. */
typedef struct __align__(4) {
    int child[4];
    int place;
} node_t;

struct Match {
    int place, length;
};

__device__ __forceinline__ int letter(char c)
{
    switch (c) {
    case 'A':
        return 0;
    case 'C':
        return 1;
    case 'G':
        return 2;
    default:
        return 3;
    }
}

__global__ void mummergpuKernel(Match *match_coords, const char *queries, const int *queryLengths, const node_t *nodes,
                                int numQueries, int stride)
{
    int qryid = blockIdx.x * blockDim.x + threadIdx.x;
    if (qryid >= numQueries) return;
    const char *query = queries + qryid * stride;
    for (int start = 0; start < queryLengths[qryid]; ++start) {
        int node = 0, length = 0;
        while (length < DEPTH && start + length < queryLengths[qryid]) {
            int next = nodes[node].child[letter(query[start + length])];
            if (next == 0) break;
            node = next;
            ++length;
        }
        Match &match = match_coords[qryid * stride + start];
        match.place = nodes[node].place;
        match.length = length;
    }
}

class SuffixTree {
    std::vector<node_t> nodes_;

public:
    explicit SuffixTree(const std::string &reference) : nodes_(1)
    {
        for (size_t i = 0; i < reference.size(); ++i) {
            int node = 0;
            for (size_t k = i; k < reference.size() && k < i + DEPTH; ++k) {
                size_t which = std::string("ACGT").find(reference[k]);
                if (nodes_[node].child[which] == 0) {
                    nodes_[node].child[which] = (int)nodes_.size();
                    nodes_.push_back(node_t());
                    nodes_.back().place = (int)i;
                }
                node = nodes_[node].child[which];
            }
        }
    }
    const node_t *data() const { return nodes_.data(); }
    size_t size() const { return nodes_.size(); }
};

int main()
{
    std::string reference;
    unsigned seed = 77;
    for (int i = 0; i < REFERENCE; i++) reference += "ACGT"[next_random(&seed) % 4];
    std::vector<char> queries(QUERIES * QUERY_LENGTH);
    std::vector<int> lengths(QUERIES);
    for (int q = 0; q < QUERIES; q++) {
        lengths[q] = QUERY_LENGTH - q % 5;
        size_t from = next_random(&seed) % (REFERENCE - QUERY_LENGTH);
        for (int i = 0; i < lengths[q]; i++)
            queries[q * QUERY_LENGTH + i] =
                next_random(&seed) % 8 ? reference[from + i] : "ACGT"[next_random(&seed) % 4];
    }
    SuffixTree tree(reference);
    std::vector<Match> matches(QUERIES * QUERY_LENGTH);
    Match *d_matches = to_device(matches.data(), matches.size());
    const node_t *d_nodes = to_device(tree.data(), tree.size());
    const char *d_queries = to_device(queries.data(), queries.size());
    const int *d_lengths = to_device(lengths.data(), lengths.size());

    dim3 dimBlock(16, 1, 1), dimGrid(ceil(QUERIES / (float)dimBlock.x), 1, 1);
    mummergpuKernel<<<dimGrid, dimBlock, 0>>>(d_matches, d_queries, d_lengths, d_nodes, QUERIES, QUERY_LENGTH);
    gpuErrchk(cudaMemcpy(matches.data(), d_matches, matches.size() * sizeof(Match), cudaMemcpyDeviceToHost));
    int mismatches = 0;
    for (int q = 0; q < QUERIES; q++)
        for (int start = 0; start < lengths[q]; start++) {
            std::string text(&queries[q * QUERY_LENGTH + start], std::min(lengths[q] - start, DEPTH));
            while (reference.find(text) == std::string::npos) text.pop_back();
            const Match &match = matches[q * QUERY_LENGTH + start];
            mismatches +=
                match.length != (int)text.size() || (match.length && match.place != (int)reference.find(text));
        }
    printf("%zu nodes\n", tree.size());
    return report("mummer", mismatches);
}

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Variable-length codes: a histogram with atomics in shared memory, codes from the host, and bits packed by the device.
#include "../common/check.h"
#include <algorithm>
#include <functional>
#include <queue>
#include <vector>

#define SYMBOLS 32
#define LENGTH 4096
#define THREADS 128

typedef unsigned int uint;

__constant__ uint c_codes[SYMBOLS];
__constant__ uint c_lengths[SYMBOLS];

__global__ void histo_kernel(const unsigned char *buffer, long size, uint *histo)
{
    __shared__ uint temp[SYMBOLS];
    if (threadIdx.x < SYMBOLS) temp[threadIdx.x] = 0;
    __syncthreads();
    int i = threadIdx.x + blockIdx.x * blockDim.x, offset = blockDim.x * gridDim.x;
    while (i < size) {
        atomicAdd(&temp[buffer[i]], 1);
        i += offset;
    }
    __syncthreads();
    if (threadIdx.x < SYMBOLS) atomicAdd(&(histo[threadIdx.x]), temp[threadIdx.x]);
}

__global__ void vlc_encode_kernel(const unsigned char *data, const uint *offsets, uint *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint code = c_codes[data[i]], length = c_lengths[data[i]], bit = offsets[i] % 32, word = offsets[i] / 32;
    unsigned long long placed = (unsigned long long)code << (64 - length - bit);
    atomicOr(&out[word], (uint)(placed >> 32));
    if (bit + length > 32) atomicOr(&out[word + 1], (uint)placed);
}

struct Tree {
    uint count;
    int left, right;
};

static void assign_codes(const std::vector<Tree> &tree, int node, uint code, uint length, uint *codes, uint *lengths)
{
    if (node < SYMBOLS) {
        codes[node] = code, lengths[node] = length;
        return;
    }
    assign_codes(tree, tree[node].left, code << 1, length + 1, codes, lengths);
    assign_codes(tree, tree[node].right, code << 1 | 1, length + 1, codes, lengths);
}

int main()
{
    static unsigned char data[LENGTH];
    static uint histogram[SYMBOLS], expected[SYMBOLS], codes[SYMBOLS], lengths[SYMBOLS], offsets[LENGTH];
    unsigned seed = 3;
    for (int i = 0; i < LENGTH; i++)
        data[i] = std::min(next_random(&seed) % SYMBOLS, next_random(&seed) % SYMBOLS), expected[data[i]]++;
    unsigned char *d_data = to_device(data, LENGTH);
    uint *d_histogram = to_device(histogram, SYMBOLS);
    cudaDeviceProp prop;
    gpuErrchk(cudaGetDeviceProperties(&prop, 0));
    histo_kernel<<<std::min(prop.multiProcessorCount * 2, 8), THREADS>>>(d_data, LENGTH, d_histogram);
    gpuErrchk(cudaMemcpy(histogram, d_histogram, sizeof(histogram), cudaMemcpyDeviceToHost));
    int mismatches = !std::equal(histogram, histogram + SYMBOLS, expected);

    std::vector<Tree> tree;
    typedef std::pair<uint, int> Entry;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
    for (int i = 0; i < SYMBOLS; i++) {
        tree.push_back(Tree{histogram[i], -1, -1});
        queue.push(Entry(histogram[i], i));
    }
    while (queue.size() > 1) {
        Entry a = queue.top();
        queue.pop();
        Entry b = queue.top();
        queue.pop();
        queue.push(Entry(a.first + b.first, (int)tree.size()));
        tree.push_back(Tree{a.first + b.first, a.second, b.second});
    }
    assign_codes(tree, queue.top().second, 0, 0, codes, lengths);
    for (int i = 1; i < LENGTH; i++) offsets[i] = offsets[i - 1] + lengths[data[i - 1]];
    uint bits = offsets[LENGTH - 1] + lengths[data[LENGTH - 1]], words = bits / 32 + 2, *d_out;
    std::vector<uint> out(words);
    gpuErrchk(cudaMemcpyToSymbol(c_codes, codes, sizeof(codes)));
    gpuErrchk(cudaMemcpyToSymbol(c_lengths, lengths, sizeof(lengths)));
    gpuErrchk(cudaMalloc((void **)&d_out, words * sizeof(uint)));
    gpuErrchk(cudaMemset(d_out, 0, words * sizeof(uint)));
    vlc_encode_kernel<<<LENGTH / THREADS, THREADS>>>(d_data, to_device(offsets, LENGTH), d_out, LENGTH);
    gpuErrchk(cudaMemcpy(&out[0], d_out, words * sizeof(uint), cudaMemcpyDeviceToHost));
    uint bit = 0;
    for (int i = 0; i < LENGTH; i++) {
        int node = (int)tree.size() - 1;
        for (; node >= SYMBOLS; bit++) node = out[bit / 32] >> (31 - bit % 32) & 1 ? tree[node].right : tree[node].left;
        mismatches += node != data[i];
    }
    printf("%d bytes in %u bits\n", LENGTH, bits);
    return report("huffman", mismatches + (bit != bits));
}

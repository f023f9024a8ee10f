// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Sorts floats: a histogram assigns them to buckets, and a bitonic network in dynamic shared memory sorts each bucket.
#include "../common/check.h"
#include <algorithm>
#include <vector>

#define BUCKETS 32
#define CAPACITY 256
#define SIZE 3000
#define THREADS 128

__device__ int bucket_of(float x, float minimum, float maximum)
{
    int b = (int)((x - minimum) * BUCKETS / (maximum - minimum));
    return b < BUCKETS ? b : BUCKETS - 1;
}

__global__ void bucketcount(const float *input, int *indices, unsigned *counts, int size, float minimum, float maximum)
{
    __shared__ unsigned s_counts[BUCKETS], s_offsets[BUCKETS];
    if (threadIdx.x < BUCKETS) s_counts[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x, bucket = 0;
    unsigned place = 0;
    if (i < size) {
        bucket = bucket_of(input[i], minimum, maximum);
        place = atomicAdd(&s_counts[bucket], 1u);
    }
    __syncthreads();
    if (threadIdx.x < BUCKETS) s_offsets[threadIdx.x] = atomicAdd(&counts[threadIdx.x], s_counts[threadIdx.x]);
    __syncthreads();
    if (i < size) indices[i] = bucket * CAPACITY + s_offsets[bucket] + place;
}

__global__ void bucketsort(const float *input, const int *indices, float *output, int size)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x)
        output[indices[i]] = input[i];
}

template <bool UP>
__device__ inline void compare_and_swap(float &a, float &b)
{
    if ((a > b) == UP) {
        float t = a;
        a = b;
        b = t;
    }
}

__global__ void bitonic(float *data, const unsigned *counts)
{
    extern __shared__ float s[];
    float *mine = data + blockIdx.x * CAPACITY;
    for (unsigned i = threadIdx.x; i < CAPACITY; i += blockDim.x) s[i] = i < counts[blockIdx.x] ? mine[i] : INFINITY;
    for (unsigned k = 2; k <= CAPACITY; k *= 2)
        for (unsigned j = k / 2; j > 0; j /= 2) {
            __syncthreads();
            unsigned t = threadIdx.x, low = 2 * t - (t & (j - 1));
            if (low & k) compare_and_swap<false>(s[low], s[low + j]);
            else compare_and_swap<true>(s[low], s[low + j]);
        }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < counts[blockIdx.x]; i += blockDim.x) mine[i] = s[i];
}

int main(int argc, char **argv)
{
    std::vector<float> input(SIZE), expected, found;
    fill(input.data(), SIZE, 23);
    expected = input;
    std::sort(expected.begin(), expected.end());
    float *d_input = to_device(input.data(), SIZE), *d_output, maximum = expected.back(), minimum = expected.front();
    int *d_indices;
    unsigned *d_counts, counts[BUCKETS];
    gpuErrchk(cudaMalloc((void **)&d_output, BUCKETS * CAPACITY * sizeof(float)));
    gpuErrchk(cudaMalloc((void **)&d_indices, SIZE * sizeof(int)));
    gpuErrchk(cudaMalloc((void **)&d_counts, sizeof(counts)));
    gpuErrchk(cudaMemset((void *)d_counts, 0, sizeof(counts)));
    cudaEvent_t start, stop;
    cudaEventCreate(&start), cudaEventCreate(&stop);
    cudaEventRecord(start);
    bucketcount<<<DIVIDE_UP(SIZE, THREADS), THREADS>>>(d_input, d_indices, d_counts, SIZE, minimum, maximum);
    bucketsort<<<4, THREADS>>>(d_input, d_indices, d_output, SIZE);
    bitonic<<<BUCKETS, CAPACITY / 2, CAPACITY * sizeof(float)>>>(d_output, d_counts);
    cudaEventRecord(stop);
    gpuErrchk(cudaEventSynchronize(stop));
    float ms = 0;
    gpuErrchk(cudaEventElapsedTime(&ms, start, stop));
    printf("sorted in %f ms\n", ms);
    gpuErrchk(cudaMemcpy(counts, d_counts, sizeof(counts), cudaMemcpyDeviceToHost));
    for (int b = 0; b < BUCKETS; b++) {
        float bucket[CAPACITY];
        if (counts[b] > CAPACITY) return report("hybridsort, bucket overflow", 1);
        gpuErrchk(cudaMemcpy(bucket, d_output + b * CAPACITY, sizeof(float) * counts[b], cudaMemcpyDeviceToHost));
        found.insert(found.end(), bucket, bucket + counts[b]);
    }
    int mismatches = found.size() != expected.size();
    for (size_t i = 0; i < found.size() && i < expected.size(); i++) mismatches += found[i] != expected[i];
    return report("hybridsort", mismatches);
}

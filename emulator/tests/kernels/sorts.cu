// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Sorts and a merge.

// A bitonic sort of a power of two of elements, in shared memory by one block.
template <class T, int n> __global__ void bitonic_sort(T* data)
{
    __shared__ T values[n];
    const int i = threadIdx.x;
    values[i] = data[i];
    for (int size = 2; size <= n; size *= 2)
        for (int distance = size / 2; distance > 0; distance /= 2) {
            __syncthreads();
            const int partner = i ^ distance;
            if (partner > i && (values[i] > values[partner]) == !(i & size)) {
                const T other = values[i];
                values[i] = values[partner];
                values[partner] = other;
            }
        }
    __syncthreads();
    data[i] = values[i];
}

// A radix sort, bit by bit: elements with a zero move to the front, and the order is stable.
extern "C" __global__ void radix_sort(unsigned* data, int* order)
{
    extern __shared__ unsigned keys[];
    __shared__ int zeros_of_warp[32];
    const int n = blockDim.x, i = threadIdx.x, lane = i % 32, warp = i / 32;
    int* indices = (int*)(keys + n);
    keys[i] = data[i];
    indices[i] = i;
    for (int bit = 0; bit < 32; ++bit) {
        const unsigned key = keys[i];
        const int index = indices[i];
        const bool is_zero = !(key >> bit & 1);
        const unsigned zeros = __ballot_sync(0xffffffffu, is_zero);
        if (lane == 0)
            zeros_of_warp[warp] = __popc(zeros);
        const int all = __syncthreads_count(is_zero);
        int before = __popc(zeros & ((1u << lane) - 1));
        for (int k = 0; k < warp; ++k)
            before += zeros_of_warp[k];
        const int target = is_zero ? before : all + i - before;
        keys[target] = key;
        indices[target] = index;
        __syncthreads();
    }
    data[i] = keys[i];
    order[i] = indices[i];
}

// An odd-even sort, until a round changes nothing.
extern "C" __global__ void neighbor_sort(float* data, int n, int* rounds)
{
    const int i = threadIdx.x;
    int changed = 1, round = 0;
    for (; changed; ++round) {
        changed = 0;
        for (int parity = 0; parity < 2; ++parity) {
            const int left = 2 * i + parity;
            if (left + 1 < n && data[left] > data[left + 1]) {
                const float other = data[left];
                data[left] = data[left + 1];
                data[left + 1] = other;
                changed = 1;
            }
            __syncthreads();
        }
        changed = __syncthreads_or(changed);
    }
    if (i == 0)
        *rounds = round;
}

// The number of elements less than a key, or not greater than it.
__device__ int rank_of(const int* sorted, int n, int key, bool with_equals)
{
    int low = 0, high = n;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (sorted[middle] < key || (with_equals && sorted[middle] == key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Merges two sorted arrays: each element finds its index by a binary search in the other array.
extern "C" __global__ void merge(const int* a, int size_a, const int* b, int size_b, int* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size_a)
        out[i + rank_of(b, size_b, a[i], false)] = a[i];
    if (i < size_b)
        out[i + rank_of(a, size_a, b[i], true)] = b[i];
}

// Quicksort of one row by each thread, with a stack in local memory.
extern "C" __global__ void sort_rows(short* rows, int width, int height)
{
    const int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= height)
        return;
    short* row = rows + y * width;
    int stack[64], depth = 0;
    stack[depth++] = 0, stack[depth++] = width - 1;
    while (depth) {
        int high = stack[--depth], low = stack[--depth];
        while (low < high) {
            const short pivot = row[(low + high) / 2];
            int i = low, j = high;
            while (i <= j) {
                while (row[i] < pivot) ++i;
                while (row[j] > pivot) --j;
                if (i <= j) {
                    const short other = row[i];
                    row[i++] = row[j];
                    row[j--] = other;
                }
            }
            if (j - low < high - i) { // the larger part is pushed, so that the stack stays short
                stack[depth++] = i, stack[depth++] = high;
                high = j;
            } else {
                stack[depth++] = low, stack[depth++] = j;
                low = i;
            }
        }
    }
}

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Scans: prefix sums and algorithms that use them.

// The scan of Hillis and Steele, with two buffers in dynamic shared memory.
extern "C" __global__ void scan_by_doubling(const int* in, int* out)
{
    extern __shared__ int buffers[];
    const int n = blockDim.x, i = threadIdx.x;
    int *from = buffers, *to = buffers + n;
    from[i] = in[i];
    for (int distance = 1; distance < n; distance *= 2) {
        __syncthreads();
        to[i] = i >= distance ? from[i] + from[i - distance] : from[i];
        int* other = from;
        from = to, to = other;
    }
    out[i] = from[i];
}

// The exclusive scan of Blelloch, up and down a tree.
template <class T, int n> __global__ void scan_by_tree(const T* in, T* out)
{
    __shared__ T tree[n];
    const int i = threadIdx.x;
    tree[2 * i] = in[2 * i];
    tree[2 * i + 1] = in[2 * i + 1];
    int step = 1;
    for (int active = n / 2; active > 0; active /= 2, step *= 2) {
        __syncthreads();
        if (i < active)
            tree[step * (2 * i + 2) - 1] += tree[step * (2 * i + 1) - 1];
    }
    if (i == 0)
        tree[n - 1] = 0;
    for (int active = 1; active < n; active *= 2) {
        step /= 2;
        __syncthreads();
        if (i < active) {
            const int left = step * (2 * i + 1) - 1, right = step * (2 * i + 2) - 1;
            const T before = tree[left];
            tree[left] = tree[right];
            tree[right] += before;
        }
    }
    __syncthreads();
    out[2 * i] = tree[2 * i];
    out[2 * i + 1] = tree[2 * i + 1];
}

__device__ int warp_scan(int value)
{
    const int lane = threadIdx.x % 32;
    for (int distance = 1; distance < 32; distance *= 2) {
        const int other = __shfl_up_sync(0xffffffffu, value, distance);
        if (lane >= distance)
            value += other;
    }
    return value;
}

__device__ int block_scan(int value)
{
    __shared__ int of_warp[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    value = warp_scan(value);
    if (lane == 31)
        of_warp[warp] = value;
    __syncthreads();
    if (warp == 0)
        of_warp[lane] = warp_scan(lane < blockDim.x / 32 ? of_warp[lane] : 0);
    __syncthreads();
    return warp ? value + of_warp[warp - 1] : value;
}

// A scan of any number of elements in one pass: each block waits for the sum of the previous block.
extern "C" __global__ void chained_scan(const int* in, int* out, int n, int* ticket, volatile int* is_ready, volatile int* sums)
{
    __shared__ int block, before;
    if (threadIdx.x == 0)
        block = atomicAdd(ticket, 1); // blocks may start in any order
    __syncthreads();
    const int i = block * blockDim.x + threadIdx.x;
    const int value = block_scan(i < n ? in[i] : 0);
    if (threadIdx.x == blockDim.x - 1) {
        before = 0;
        if (block > 0) {
            while (!is_ready[block - 1]) {
            }
            __threadfence();
            before = sums[block - 1];
        }
        sums[block] = before + value;
        __threadfence();
        is_ready[block] = 1;
    }
    __syncthreads();
    if (i < n)
        out[i] = before + value;
}

// Copies the elements that are not zero in their order, by votes in one block.
extern "C" __global__ void compact(const int* in, int* out, int* count, int n)
{
    __shared__ int of_warp[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    int base = 0;
    for (int first = 0; first < n; first += blockDim.x) {
        const int i = first + threadIdx.x;
        const int value = i < n ? in[i] : 0;
        const unsigned keep = __ballot_sync(0xffffffffu, value != 0);
        if (lane == 0)
            of_warp[warp] = __popc(keep);
        __syncthreads();
        int place = base + __popc(keep & ((1u << lane) - 1));
        for (int k = 0; k < warps; ++k) {
            place += k < warp ? of_warp[k] : 0;
            base += of_warp[k];
        }
        if (value)
            out[place] = value;
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *count = base;
}

// A summed-area table: sums along rows, then along columns.
extern "C" __global__ void along_rows(const unsigned char* in, unsigned* sums, int width, int height)
{
    const int y = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (int x = 0; y < height && x < width; ++x)
        sums[y * width + x] = sum += in[y * width + x];
}
extern "C" __global__ void along_columns(unsigned* sums, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    for (int y = 1; x < width && y < height; ++y)
        sums[y * width + x] += sums[(y - 1) * width + x];
}

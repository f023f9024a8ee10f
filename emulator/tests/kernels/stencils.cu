// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Stencils and cellular automata: each element is computed from its neighbors.

// One step of the heat equation; the border keeps its temperature.
extern "C" __global__ void heat(const double* now, double* next, int width, int height, double rate)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const int i = y * width + x;
    const bool border = x == 0 || y == 0 || x == width - 1 || y == height - 1;
    next[i] = border ? now[i]
                     : now[i] + rate * (now[i - 1] + now[i + 1] + now[i - width] + now[i + width] - 4 * now[i]);
}

// A running mean of 2 * radius + 1 elements, from shared memory with a halo on both sides.
template <int block, int radius> __global__ void running_mean(const float* in, float* out, int n)
{
    __shared__ float tile[block + 2 * radius];
    const int first = blockIdx.x * block - radius;
    for (int k = threadIdx.x; k < block + 2 * radius; k += block) {
        const int i = first + k;
        tile[k] = i >= 0 && i < n ? in[i] : 0.0f;
    }
    __syncthreads();
    const int i = blockIdx.x * block + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int k = 0; k <= 2 * radius; ++k)
        sum += tile[threadIdx.x + k];
    out[i] = sum / (2 * radius + 1);
}

__constant__ int weights[5][5] = {{1, 4, 6, 4, 1}, {4, 16, 24, 16, 4}, {6, 24, 36, 24, 6}, {4, 16, 24, 16, 4}, {1, 4, 6, 4, 1}};

// A blur by weights in constant memory; outside of the image the nearest pixel is used.
extern "C" __global__ void blur(const unsigned char* in, int* out, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int sum = 0;
    for (int dy = -2; dy <= 2; ++dy)
        for (int dx = -2; dx <= 2; ++dx)
            sum += weights[dy + 2][dx + 2] * in[min(max(y + dy, 0), height - 1) * width + min(max(x + dx, 0), width - 1)];
    out[y * width + x] = sum;
}

__device__ void order(unsigned char& a, unsigned char& b)
{
    const unsigned char low = min(a, b), high = max(a, b);
    a = low, b = high;
}

// The median of nine pixels, sorted in a local array.
extern "C" __global__ void median(const unsigned char* in, unsigned char* out, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    unsigned char pixels[9];
    int count = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            pixels[count++] = in[min(max(y + dy, 0), height - 1) * width + min(max(x + dx, 0), width - 1)];
    for (int last = 8; last > 3; --last)
        for (int k = 0; k < last; ++k)
            order(pixels[k], pixels[k + 1]);
    out[y * width + x] = pixels[4];
}

// Conway's game of life on a torus.
extern "C" __global__ void life(const unsigned char* now, unsigned char* next, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int around = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            if (dx || dy)
                around += now[(y + dy + height) % height * width + (x + dx + width) % width];
    next[y * width + x] = around == 3 || (around == 2 && now[y * width + x]);
}

// An elementary cellular automaton: one block computes all steps in shared memory.
extern "C" __global__ void automaton(unsigned char* history, int rule, int steps)
{
    extern __shared__ unsigned char line[];
    const int n = blockDim.x, i = threadIdx.x;
    line[i] = history[i];
    for (int step = 1; step <= steps; ++step) {
        __syncthreads();
        const int pattern = line[(i + n - 1) % n] * 4 + line[i] * 2 + line[(i + 1) % n];
        __syncthreads();
        line[i] = rule >> pattern & 1;
        history[step * n + i] = line[i];
    }
}

// A sandpile topples until it is stable; the order does not matter.
extern "C" __global__ void sandpile(int* grains, int width, int height)
{
    const int x = threadIdx.x, y = threadIdx.y, i = y * width + x;
    const volatile int* now = grains; // other threads add to it
    while (__syncthreads_or(now[i] >= 4)) {
        if (now[i] >= 4) {
            atomicSub(&grains[i], 4);
            if (x > 0) atomicAdd(&grains[i - 1], 1);
            if (x < width - 1) atomicAdd(&grains[i + 1], 1);
            if (y > 0) atomicAdd(&grains[i - width], 1);
            if (y < height - 1) atomicAdd(&grains[i + width], 1);
        }
        __syncthreads();
    }
}

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Lanes of a warp that pass values through volatile shared memory, with `bad` 1 without __syncwarp(). Each kernel traps
// if a value is not what lanes in step compute. Blocks have 64 threads, with 128 bytes of dynamic shared memory.

#define WARP if (!bad) __syncwarp()

template <typename T> __device__ void last_warp(volatile T* s, unsigned t, int bad)
{
    s[t] += s[t + 32]; WARP;
    s[t] += s[t + 16]; WARP;
    s[t] += s[t + 8]; WARP;
    s[t] += s[t + 4]; WARP;
    s[t] += s[t + 2]; WARP;
    s[t] += s[t + 1]; WARP;
}

extern "C" {

__global__ void last_warp_of_a_sum(int* x, int* out, int bad)
{
    __shared__ float s[64 + 32];
    s[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 32) s[64 + threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x < 32) last_warp(s, threadIdx.x, bad);
    if (threadIdx.x == 0 && s[0] != 2016) __trap();
}

__global__ void largest_of_each_warp(int* x, int* out, int bad)
{
    __shared__ volatile int s[2][48];
    int lane = threadIdx.x % 32;
    volatile int* own = s[threadIdx.x / 32];
    own[lane] = threadIdx.x * 37 % 64;
    if (lane < 16) own[32 + lane] = -1;
    __syncwarp();
    for (int step = 16; step; step /= 2) {
        int other = own[lane + step];
        WARP;
        if (other > own[lane]) own[lane] = other;
        WARP;
    }
    int largest = -1;
    for (int i = 0; i < 32; ++i) largest = max(largest, ((int)threadIdx.x / 32 * 32 + i) * 37 % 64);
    if (lane == 0 && own[0] != largest) __trap();
}

__global__ void scan_of_a_warp(int* x, int* out, int bad)
{
    __shared__ int s[2][48];
    int lane = threadIdx.x % 32;
    volatile int* own = s[threadIdx.x / 32] + 16;
    own[lane - 16] = 0;
    __syncwarp();
    own[lane] = 1; WARP;
    for (int step = 1; step < 32; step *= 2) {
        int other = own[lane - step >= -16 ? lane - step : -16];
        WARP;
        own[lane] += other;
        WARP;
    }
    if (own[lane] != lane + 1) __trap();
}

__global__ void rotated(int* x, int* out, int bad)
{
    extern __shared__ int words[];
    volatile int* s = words;
    if (threadIdx.x >= 32) return;
    int lane = threadIdx.x;
    s[lane] = lane;
    WARP;
    for (int i = 0; i < 40; ++i) {
        int next = s[(lane + 1) % 32];
        WARP;
        s[lane] = next;
        WARP;
    }
    if (s[lane] != (lane + 40) % 32) __trap();
}

struct Pair { int a, b; };
__global__ void members_in_half_a_warp(int* x, int* out, int bad)
{
    __shared__ Pair s[2][32];
    int lane = threadIdx.x % 32;
    volatile Pair* own = s[threadIdx.x / 32];
    own[lane].a = lane;
    own[lane].b = 0;
    WARP;
    if (lane < 16) {
        own[lane].b = own[31 - lane].a;
        if (!bad) __syncwarp(0xffff);
        own[lane].a += own[15 - lane].b;
        if (own[lane].a != lane + 31 - (15 - lane)) __trap();
    }
}
}

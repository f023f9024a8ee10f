// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Random number generators.

// A linear congruential generator; each thread skips to its own part of the sequence.
extern "C" __global__ void congruential(unsigned long long seed, unsigned long long* out, int each)
{
    const unsigned long long factor = 6364136223846793005ull, summand = 1442695040888963407ull;
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long state = seed, leap_factor = factor, leap_summand = summand;
    for (unsigned distance = thread * each; distance; distance /= 2) {
        if (distance % 2)
            state = state * leap_factor + leap_summand;
        leap_summand *= leap_factor + 1;
        leap_factor *= leap_factor;
    }
    for (int k = 0; k < each; ++k)
        out[thread * each + k] = state = state * factor + summand;
}

// Marsaglia's xorshift, with a sequence for each thread; the states are kept between launches.
extern "C" __global__ void xorshift(uint4* states, unsigned* out, int each)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 s = states[thread];
    for (int k = 0; k < each; ++k) {
        unsigned t = s.x ^ s.x << 11;
        s = make_uint4(s.y, s.z, s.w, s.w ^ s.w >> 19 ^ t ^ t >> 8);
        out[thread * each + k] = s.w;
    }
    states[thread] = s;
}

// Philox with ten rounds of four words, whose output depends only on the counter and the key.
__device__ uint4 philox(uint4 counter, uint2 key)
{
    for (int round = 0; round < 10; ++round) {
        const unsigned low0 = 0xD2511F53u * counter.x, high0 = __umulhi(0xD2511F53u, counter.x);
        const unsigned low1 = 0xCD9E8D57u * counter.z, high1 = __umulhi(0xCD9E8D57u, counter.z);
        counter = make_uint4(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return counter;
}

extern "C" __global__ void philox_words(const uint4* counters, const uint2* keys, uint4* out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = philox(counters[i], keys[i]);
}

// Counts random points inside a quarter of a circle, from which pi is estimated.
extern "C" __global__ void count_inside(unsigned seed, int each, unsigned* inside)
{
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned count = 0;
    for (unsigned k = 0; k < each; ++k) {
        const uint4 words = philox(make_uint4(k, thread, 0, 0), make_uint2(seed, 0));
        const double x = words.x * 0x1p-32, y = words.y * 0x1p-32;
        count += x * x + y * y < 1;
    }
    count = __reduce_add_sync(0xffffffffu, count);
    if (threadIdx.x % 32 == 0)
        atomicAdd(inside, count);
}

// Normal deviates from uniform ones by the Box-Muller transform.
extern "C" __global__ void normal(unsigned seed, float2* out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const uint4 words = philox(make_uint4(i, 0, 0, 0), make_uint2(seed, 0));
    float sine, cosine;
    sincosf(6.2831853f * (words.x * 0x1p-32f), &sine, &cosine);
    const float radius = sqrtf(-2 * logf((words.y + 1.0f) * 0x1p-32f));
    out[i] = make_float2(radius * cosine, radius * sine);
}

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Transforms: Fourier, cosine, Walsh and Haar.

__device__ float2 times(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

// A fast Fourier transform of one row by each block, in shared memory.
extern "C" __global__ void fft(const float2* in, float2* out, int bits, float sign)
{
    extern __shared__ float2 values[];
    const int n = 1 << bits, row = blockIdx.x * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        values[__brev(i) >> (32 - bits)] = in[row + i];
    for (int half = 1; half < n; half *= 2) {
        __syncthreads();
        for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
            const int k = i % half, low = i / half * 2 * half + k;
            float2 turn;
            sincospif(sign * k / half, &turn.y, &turn.x);
            const float2 a = values[low], b = times(turn, values[low + half]);
            values[low] = make_float2(a.x + b.x, a.y + b.y);
            values[low + half] = make_float2(a.x - b.x, a.y - b.y);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[row + i] = values[i];
}

// The discrete cosine transform of type II, by its definition.
extern "C" __global__ void cosine(const double* in, double* out, int n)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n)
        return;
    double sum = 0;
    for (int i = 0; i < n; ++i)
        sum += in[i] * cospi((i + 0.5) * k / n);
    out[k] = 2 * sum;
}

// The Walsh-Hadamard transform of 32 elements by each warp, by shuffles.
extern "C" __global__ void walsh(const int* in, int* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    int value = in[i];
    for (int distance = 1; distance < 32; distance *= 2) {
        const int other = __shfl_xor_sync(0xffffffffu, value, distance);
        value = lane & distance ? other - value : other + value;
    }
    out[i] = value;
}

// The Haar transform: means to the front, differences to the back, and the same again for the means.
extern "C" __global__ void haar(double* data, int n)
{
    const int i = threadIdx.x;
    for (int half = n / 2; half > 0; half /= 2) {
        double mean = 0, difference = 0;
        if (i < half) {
            mean = (data[2 * i] + data[2 * i + 1]) / 2;
            difference = (data[2 * i] - data[2 * i + 1]) / 2;
        }
        __syncthreads();
        if (i < half)
            data[i] = mean, data[half + i] = difference;
        __syncthreads();
    }
}

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Operations on bits.

// The results of the intrinsics for bits.
extern "C" __global__ void facts(const unsigned* in, int4* out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = make_int4(__popc(in[i]), __clz(in[i]), __ffs(in[i]), int(__brev(in[i])));
}

// Morton codes, by interleaving the bits of two numbers.
__device__ unsigned spread(unsigned value)
{
    value = (value | value << 8) & 0x00ff00ffu;
    value = (value | value << 4) & 0x0f0f0f0fu;
    value = (value | value << 2) & 0x33333333u;
    return (value | value << 1) & 0x55555555u;
}
extern "C" __global__ void morton(const unsigned short* x, const unsigned short* y, unsigned* code, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        code[i] = spread(x[i]) | spread(y[i]) << 1;
}

// Gray codes and their inverse.
extern "C" __global__ void gray(const unsigned* in, unsigned* code, unsigned* back, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned value = code[i] = in[i] ^ in[i] >> 1;
    for (int distance = 1; distance < 32; distance *= 2)
        value ^= value >> distance;
    back[i] = value;
}

__device__ int place_queens(unsigned columns, unsigned left, unsigned right, unsigned all)
{
    if (columns == all)
        return 1;
    int count = 0;
    for (unsigned open = all & ~(columns | left | right); open; open &= open - 1) {
        const unsigned queen = open & -open;
        count += place_queens(columns | queen, (left | queen) << 1, (right | queen) >> 1, all);
    }
    return count;
}

// The number of solutions of the queens puzzle, by recursion, with a thread for each position of the first two queens.
extern "C" __global__ void queens(int size, int* ways)
{
    const unsigned first = 1u << threadIdx.x, second = 1u << threadIdx.y, all = (1u << size) - 1;
    if (second & (first | first << 1 | first >> 1))
        return;
    const int count = place_queens(first | second, (first << 1 | second) << 1, (first >> 1 | second) >> 1, all);
    atomicAdd(ways, count);
}

// Transposes a matrix of 32 by 32 bits, of which each lane has a row, by votes.
extern "C" __global__ void transpose_bits(const unsigned* in, unsigned* out)
{
    const unsigned row = in[blockIdx.x * 32 + threadIdx.x];
    unsigned own = 0;
    for (int column = 0; column < 32; ++column) {
        const unsigned bits = __ballot_sync(0xffffffffu, row >> column & 1);
        if (threadIdx.x == column)
            own = bits;
    }
    out[blockIdx.x * 32 + threadIdx.x] = own;
}

// Products of 64 bits, sums with saturation, and swapped bytes.
extern "C" __global__ void arithmetic(const int* a, const int* b, long long* product, int* clamped, unsigned* swapped, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    product[i] = (long long)(unsigned long long)(unsigned(a[i] * b[i])) | (long long)__mulhi(a[i], b[i]) << 32;
    const long long sum = (long long)a[i] + b[i];
    clamped[i] = int(max(min(sum, 0x7fffffffll), -0x80000000ll));
    swapped[i] = __byte_perm(a[i], 0, 0x0123);
}

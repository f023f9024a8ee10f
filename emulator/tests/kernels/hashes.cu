// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Hashes, checksums and a hash table.

typedef unsigned char byte;

__constant__ unsigned rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

__device__ __forceinline__ unsigned rotate(unsigned word, int bits) { return __funnelshift_r(word, word, bits); }

// SHA-256 of messages of the same length, at most 55 bytes, so that each is one block.
extern "C" __global__ void sha256(const byte* messages, int length, unsigned* digests, int n)
{
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= n)
        return;
    byte block[64] = {};
    for (int k = 0; k < length; ++k)
        block[k] = messages[index * length + k];
    block[length] = 0x80;
    block[62] = byte(length * 8 >> 8), block[63] = byte(length * 8);
    unsigned words[64];
    for (int k = 0; k < 16; ++k)
        words[k] = block[4 * k] << 24 | block[4 * k + 1] << 16 | block[4 * k + 2] << 8 | block[4 * k + 3];
#pragma unroll 1
    for (int k = 16; k < 64; ++k) {
        const unsigned a = words[k - 15], b = words[k - 2];
        words[k] = words[k - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + words[k - 7] + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    const unsigned start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned s[8];
    for (int k = 0; k < 8; ++k)
        s[k] = start[k];
#pragma unroll 1
    for (int k = 0; k < 64; ++k) {
        const unsigned first = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + rounds[k] + words[k];
        const unsigned second = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        for (int j = 7; j > 0; --j)
            s[j] = s[j - 1];
        s[4] += first;
        s[0] = first + second;
    }
    for (int k = 0; k < 8; ++k)
        digests[index * 8 + k] = start[k] + s[k];
}

// CRC-32 by a table that the threads of each block compute.
extern "C" __global__ void crc32(const byte* messages, int length, unsigned* sums, int n)
{
    __shared__ unsigned table[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x) {
        unsigned value = k;
        for (int bit = 0; bit < 8; ++bit)
            value = value & 1 ? value >> 1 ^ 0xedb88320u : value >> 1;
        table[k] = value;
    }
    __syncthreads();
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= n)
        return;
    unsigned sum = ~0u;
    for (int k = 0; k < length; ++k)
        sum = sum >> 8 ^ table[(sum ^ messages[index * length + k]) & 255];
    sums[index] = ~sum;
}

// FNV-1a in 64 bits.
extern "C" __global__ void fnv1a(const byte* messages, int length, unsigned long long* hashes, int n)
{
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= n)
        return;
    unsigned long long hash = 0xcbf29ce484222325ull;
    for (int k = 0; k < length; ++k)
        hash = (hash ^ messages[index * length + k]) * 0x100000001b3ull;
    hashes[index] = hash;
}

__device__ unsigned scatter(unsigned key)
{
    key = (key ^ key >> 16) * 0x85ebca6bu;
    key = (key ^ key >> 13) * 0xc2b2ae35u;
    return key ^ key >> 16;
}

// Counts keys in a hash table with open addressing. 0 is no key; the size is a power of two.
extern "C" __global__ void count_keys(const unsigned* in, int n, unsigned* keys, unsigned* counts, unsigned size)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (unsigned slot = scatter(in[i]);; ++slot) {
        const unsigned found = atomicCAS(&keys[slot & size - 1], 0u, in[i]);
        if (found == 0 || found == in[i]) {
            atomicAdd(&counts[slot & size - 1], 1u);
            return;
        }
    }
}

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Brute force: a word of lower-case letters is found by its SHA-256."""

import hashlib

import numpy as np

import cuda.core.driver as drv
import cuda.core.driver.autoinit
from cuda.core.driver import gpuarray
from cuda.core.driver.compiler import SourceModule

# Fractions of the cube roots of the first 64 primes.
primes = [p for p in range(2, 312) if all(p % d for d in range(2, p))]
constants = [int((np.longdouble(p) ** (np.longdouble(1) / 3) % 1) * 2**32) for p in primes]
source = """
__constant__ unsigned int K[64];
__device__ unsigned int rotated(unsigned int x, int by) { return (x >> by) | (x << (32 - by)); }

__global__ void search(const unsigned int *digest, int *found, int count)
{
    int candidate = blockIdx.x * blockDim.x + threadIdx.x;
    if (candidate >= count) return;
    unsigned int w[64] = {0}, rest = candidate;
    unsigned char word[4];
    for (int k = 0; k < 3; ++k) { word[k] = 'a' + rest % 26; rest /= 26; }
    w[0] = (word[0] << 24) | (word[1] << 16) | (word[2] << 8) | 0x80;
    w[15] = 24;
    for (int t = 16; t < 64; ++t) {
        unsigned int s0 = rotated(w[t - 15], 7) ^ rotated(w[t - 15], 18) ^ (w[t - 15] >> 3);
        unsigned int s1 = rotated(w[t - 2], 17) ^ rotated(w[t - 2], 19) ^ (w[t - 2] >> 10);
        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    unsigned int h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned int v[8];
    for (int k = 0; k < 8; ++k) v[k] = h[k];
    for (int t = 0; t < 64; ++t) {
        unsigned int s1 = rotated(v[4], 6) ^ rotated(v[4], 11) ^ rotated(v[4], 25);
        unsigned int choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        unsigned int t1 = v[7] + s1 + choice + K[t] + w[t];
        unsigned int s0 = rotated(v[0], 2) ^ rotated(v[0], 13) ^ rotated(v[0], 22);
        unsigned int t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        for (int k = 7; k > 0; --k) v[k] = v[k - 1];
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int k = 0; k < 8; ++k) if (h[k] + v[k] != digest[k]) return;
    *found = candidate;
}
"""
mod = SourceModule(source)
address, size = mod.get_global("K")
assert size == 256
drv.memcpy_htod(address, np.array(constants, dtype=np.uint32))

secret = b"gpu"
digest = np.frombuffer(hashlib.sha256(secret).digest(), dtype=">u4").astype(np.uint32)
found = gpuarray.to_gpu(np.array([-1], dtype=np.int32))
count = 26**3
search = mod.get_function("search")
search(drv.In(digest), found, np.int32(count), block=(128, 1, 1), grid=((count + 127) // 128, 1))

number = int(found.get()[0])
word = bytes(ord("a") + number // 26**k % 26 for k in range(3))
assert word == secret, word
print("SHA search OK")

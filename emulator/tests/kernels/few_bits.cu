// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Conversions of numbers of 6 and 4 bits, as inline PTX.
// The 6 bits of a number lie in a byte of their own, two numbers of 4 bits in one byte.
extern "C" __global__ void to_few_bits(const float* x, unsigned short* e2m3, unsigned short* e3m2, unsigned char* e2m1, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    asm("cvt.rn.satfinite.e2m3x2.f32 %0, %1, %2;" : "=h"(e2m3[i]) : "f"(x[2 * i + 1]), "f"(x[2 * i]));
    asm("cvt.rn.satfinite.relu.e3m2x2.f32 %0, %1, %2;" : "=h"(e3m2[i]) : "f"(x[2 * i + 1]), "f"(x[2 * i]));
    unsigned four;
    asm("{ .reg .b8 byte; cvt.rn.satfinite.e2m1x2.f32 byte, %1, %2; mov.b32 %0, {byte, byte, byte, byte}; }"
        : "=r"(four) : "f"(x[2 * i + 1]), "f"(x[2 * i]));
    e2m1[i] = four >> 24;
}

extern "C" __global__ void from_few_bits(unsigned* e2m3, unsigned* e3m2, unsigned* e2m1)
{
    unsigned short i = threadIdx.x, both = i << 8 | (i ^ 1);
    asm("cvt.rn.f16x2.e2m3x2 %0, %1;" : "=r"(e2m3[i]) : "h"(both));
    asm("cvt.rn.relu.f16x2.e3m2x2 %0, %1;" : "=r"(e3m2[i]) : "h"(both));
    asm("{ .reg .b8 low, high; mov.b16 {low, high}, %1; cvt.rn.f16x2.e2m1x2 %0, low; }" : "=r"(e2m1[i]) : "h"(i));
}

// To exponents (e8m0), towards zero and upwards, and back.
extern "C" __global__ void to_exponents(const float* x, const unsigned* pairs, unsigned short* out, unsigned* back)
{
    int i = threadIdx.x;
    asm("cvt.rz.satfinite.ue8m0x2.f32 %0, %1, %2;" : "=h"(out[4 * i]) : "f"(x[2 * i + 1]), "f"(x[2 * i]));
    asm("cvt.rp.satfinite.ue8m0x2.f32 %0, %1, %2;" : "=h"(out[4 * i + 1]) : "f"(x[2 * i + 1]), "f"(x[2 * i]));
    asm("cvt.rp.ue8m0x2.f32 %0, %1, %2;" : "=h"(out[4 * i + 2]) : "f"(x[2 * i + 1]), "f"(x[2 * i]));
    asm("cvt.rz.satfinite.ue8m0x2.bf16x2 %0, %1;" : "=h"(out[4 * i + 3]) : "r"(pairs[i]));
    asm("cvt.rn.bf16x2.ue8m0x2 %0, %1;" : "=r"(back[i]) : "h"(out[4 * i]));
}

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Video instructions, and conversions of numbers of 8 bits, as inline PTX.
extern "C" __global__ void video_parts(const int* a, const int* b, const int* c, int* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = a[i], y = b[i], z = c[i], r[10];
    asm("vadd.s32.s32.s32.sat %0, %1, %2;" : "=r"(r[0]) : "r"(x), "r"(y));
    asm("vsub.u32.u32.u32.sat %0, %1, %2;" : "=r"(r[1]) : "r"(x), "r"(y));
    asm("vabsdiff.u32.u32.u32.add %0, %1.b1, %2.b3, %3;" : "=r"(r[2]) : "r"(x), "r"(y), "r"(z));
    asm("vmin.s32.s32.u32 %0, %1.h1, %2.h0;" : "=r"(r[3]) : "r"(x), "r"(y));
    asm("vmax.s32.s32.s32.max %0, %1, %2, %3;" : "=r"(r[4]) : "r"(x), "r"(y), "r"(z));
    asm("vadd4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(r[5]) : "r"(x), "r"(y), "r"(0));
    asm("vadd4.s32.s32.s32.sat %0, %1, %2, %3;" : "=r"(r[6]) : "r"(x), "r"(y), "r"(0));
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(r[7]) : "r"(x), "r"(y), "r"(z));
    asm("vsub2.s32.s32.s32 %0, %1, %2, %3;" : "=r"(r[8]) : "r"(x), "r"(y), "r"(0));
    asm("vmax2.u32.u32.u32 %0, %1, %2, %3;" : "=r"(r[9]) : "r"(x), "r"(y), "r"(0));
    for (int k = 0; k < 10; ++k)
        out[k * n + i] = r[k];
}

extern "C" __global__ void to_bytes(const float* x, unsigned short* e4m3, unsigned short* e5m2, unsigned short* relu, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(e4m3[i]) : "f"(x[2 * i + 1]), "f"(x[2 * i]));
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(e5m2[i]) : "f"(x[2 * i + 1]), "f"(x[2 * i]));
    asm("cvt.rn.satfinite.relu.e4m3x2.f32 %0, %1, %2;" : "=h"(relu[i]) : "f"(x[2 * i + 1]), "f"(x[2 * i]));
}

extern "C" __global__ void from_bytes(const unsigned short* x, unsigned* e4m3, unsigned* e5m2, unsigned short* again, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(e4m3[i]) : "h"(x[i]));
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(e5m2[i]) : "h"(x[i]));
    asm("cvt.rn.satfinite.e5m2x2.f16x2 %0, %1;" : "=h"(again[i]) : "r"(e5m2[i]));
}

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Video instructions, and conversions of numbers of 8 bits and to tf32, as inline PTX.
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

extern "C" __global__ void more_video_parts(const int* a, const int* b, const int* c, int* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = a[i], y = b[i], z = c[i], r[18];
    asm("vmad.s32.s32.u32 %0, %1.h0, %2.b1, %3;" : "=r"(r[0]) : "r"(x), "r"(y), "r"(z));
    asm("vmad.s32.u32.u32.sat.shr7 %0, -%1.h1, %2.h0, %3;" : "=r"(r[1]) : "r"(x), "r"(y), "r"(z));
    asm("vmad.u32.u32.u32.po.shr15 %0, %1, %2.b3, %3;" : "=r"(r[2]) : "r"(x), "r"(y), "r"(z));
    asm("vmad.s32.s32.s32 %0, %1.b2, %2.b0, -%3;" : "=r"(r[3]) : "r"(x), "r"(y), "r"(z));
    asm("vshl.u32.u32.u32.sat.clamp %0, %1.h1, %2.b0;" : "=r"(r[4]) : "r"(x), "r"(y));
    asm("vshl.s32.s32.u32.wrap.add %0, %1, %2, %3;" : "=r"(r[5]) : "r"(x), "r"(y), "r"(z));
    asm("vshr.s32.s32.u32.wrap %0, %1, %2.b1;" : "=r"(r[6]) : "r"(x), "r"(y));
    asm("vshr.u32.u32.u32.clamp %0, %1, %2.b1;" : "=r"(r[7]) : "r"(x), "r"(y));
    asm("vset.s32.u32.lt %0, %1.h0, %2.b3;" : "=r"(r[8]) : "r"(x), "r"(y));
    asm("vset.u32.u32.ge.add %0, %1, %2, %3;" : "=r"(r[9]) : "r"(x), "r"(y), "r"(z));
    asm("vadd.s32.s32.s32.sat %0.b2, %1.b0, %2.b1, %3;" : "=r"(r[10]) : "r"(x), "r"(y), "r"(z));
    asm("vsub.u32.u32.u32 %0.h1, %1, %2, %3;" : "=r"(r[11]) : "r"(x), "r"(y), "r"(z));
    asm("vavrg2.s32.s32.s32 %0, %1, %2, %3;" : "=r"(r[12]) : "r"(x), "r"(y), "r"(z));
    asm("vavrg4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(r[13]) : "r"(x), "r"(y), "r"(z));
    asm("vset4.s32.s32.gt %0.b20, %1, %2, %3;" : "=r"(r[14]) : "r"(x), "r"(y), "r"(z));
    asm("vset2.u32.u32.ne.add %0.h1, %1, %2, %3;" : "=r"(r[15]) : "r"(x), "r"(y), "r"(z));
    asm("vmin4.u32.u32.u32 %0, %1.b7610, %2.b0123, %3;" : "=r"(r[16]) : "r"(x), "r"(y), "r"(z));
    asm("vadd2.s32.s32.s32.sat %0.h0, %1.h13, %2.h20, %3;" : "=r"(r[17]) : "r"(x), "r"(y), "r"(z));
    for (int k = 0; k < 18; ++k)
        out[k * n + i] = r[k];
}

extern "C" __global__ void to_tensor_floats(const unsigned* x, unsigned* away, unsigned* even, unsigned* zero)
{
    unsigned i = threadIdx.x;
    float value = __uint_as_float(x[i]);
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(away[i]) : "f"(value));
    asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(even[i]) : "f"(value));
    asm("cvt.rz.tf32.f32 %0, %1;" : "=r"(zero[i]) : "f"(value));
}

// Words of PTX that have no effect here, or that programs rarely use.
extern "C" __global__ void more_words(const int* a, const int* b, const int* c, int* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;");
    if (i >= n) return;
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    int x, y = b[i], z = c[i], r[19];
    asm("ld.global.L1::no_allocate.L2::cache_hint.s32 %0, [%1], %2;" : "=r"(x) : "l"(a + i), "l"(policy));
    asm("add.sat.s32 %0, %1, %2;" : "=r"(r[0]) : "r"(x), "r"(y));
    asm("sub.sat.s32 %0, %1, %2;" : "=r"(r[1]) : "r"(x), "r"(y));
    asm("mul24.lo.s32 %0, %1, %2;" : "=r"(r[2]) : "r"(x), "r"(y));
    asm("mad24.hi.u32 %0, %1, %2, %3;" : "=r"(r[3]) : "r"(x), "r"(y), "r"(z));
    asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(r[4]) : "r"(x), "r"(y), "r"(z));
    asm("dp2a.hi.u32.s32 %0, %1, %2, %3;" : "=r"(r[5]) : "r"(x), "r"(y), "r"(z));
    asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(r[6]) : "r"(x), "r"(y), "r"(z));
    asm("prmt.b32.b4e %0, %1, %2, %3;" : "=r"(r[7]) : "r"(x), "r"(y), "r"(z));
    asm("prmt.b32.rc8 %0, %1, %2, %3;" : "=r"(r[8]) : "r"(x), "r"(y), "r"(z));
    asm("prmt.b32.ecl %0, %1, %2, %3;" : "=r"(r[9]) : "r"(x), "r"(y), "r"(z));
    asm("prmt.b32.ecr %0, %1, %2, %3;" : "=r"(r[10]) : "r"(x), "r"(y), "r"(z));
    asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(r[11]) : "r"(x), "r"(y), "r"(z));
    asm("szext.wrap.s32 %0, %1, %2;" : "=r"(r[12]) : "r"(x), "r"(y));
    asm("szext.clamp.u32 %0, %1, %2;" : "=r"(r[13]) : "r"(x), "r"(y & 63));
    asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(r[14]) : "r"(x >> 14), "r"(y));
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(r[15]) : "r"(x >> 22), "r"(y), "r"(z));
    asm("add.u16x2 %0, %1, %2;" : "=r"(r[16]) : "r"(x), "r"(y));
    asm("min.s16x2 %0, %1, %2;" : "=r"(r[17]) : "r"(x), "r"(y));
    asm("max.u16x2 %0, %1, %2;" : "=r"(r[18]) : "r"(x), "r"(y));
    for (int k = 0; k < 19; ++k)
        out[k * n + i] = r[k];
}

extern "C" __global__ void kinds(const float* x, int* out, unsigned* rectified)
{
    int i = threadIdx.x, bits = 0, one;
#define KIND(name, bit)                                                                                                \
    asm("{ .reg .pred p; testp." name ".f32 p, %1; selp.s32 %0, 1, 0, p; }" : "=r"(one) : "f"(x[i]));                  \
    bits |= one << bit;
    KIND("finite", 0) KIND("infinite", 1) KIND("number", 2) KIND("notanumber", 3) KIND("normal", 4) KIND("subnormal", 5)
    out[i] = bits;
    asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(rectified[i]) : "f"(x[i]), "f"(-x[i]));
}

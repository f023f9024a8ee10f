// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA intrinsics: fast math functions, arithmetic with a rounding mode, conversions, integer operations. Here the fast
// functions are as accurate as the standard ones.
#pragma once

namespace emu {

// Prevents the compiler from folding a value's computation, or moving it across a change of the rounding mode.
#if defined(__x86_64__)
template <class T> EMU_NO_CHECK EMU_INLINE void pin(T& value) { __asm__ volatile("" : "+x"(value) : : "memory"); }
EMU_INLINE emu_u64 rounding_control() { return __builtin_ia32_stmxcsr(); }
EMU_INLINE void set_rounding_control(emu_u64 control) { __builtin_ia32_ldmxcsr(unsigned(control)); }
EMU_INLINE emu_u64 with_rounding(emu_u64 control, unsigned mode) { return (control & ~0x6000ull) | mode << 13; }
#else
template <class T> EMU_NO_CHECK EMU_INLINE void pin(T& value) { __asm__ volatile("" : "+w"(value) : : "memory"); }
EMU_INLINE emu_u64 rounding_control()
{
    emu_u64 control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
}
EMU_INLINE void set_rounding_control(emu_u64 control) { __asm__ volatile("msr fpcr, %0" : : "r"(control) : "memory"); }
// FPCR numbers the two modes up and down in the opposite order.
EMU_INLINE emu_u64 with_rounding(emu_u64 control, unsigned mode)
{
    return (control & ~0xc00000ull) | ((mode >> 1 & 1) | (mode & 1) << 1) << 22;
}
#endif

template <class F> EMU_NO_CHECK EMU_INLINE auto rounded(unsigned mode, F f) -> decltype(f())
{
    ++emu_thread.no_preempt; // another fiber must not run in this rounding mode
    emu_u64 old = rounding_control();
    set_rounding_control(with_rounding(old, mode));
    auto result = f();
    pin(result);
    set_rounding_control(old);
    --emu_thread.no_preempt;
    return result;
}

} // namespace emu

EMU_INLINE float __fadd_rn(float x, float y) { return x + y; }
EMU_INLINE float __fsub_rn(float x, float y) { return x - y; }
EMU_INLINE float __fmul_rn(float x, float y) { return x * y; }
EMU_INLINE float __fdiv_rn(float x, float y) { return x / y; }
EMU_INLINE float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
EMU_INLINE float __frcp_rn(float x) { return float(1) / x; }
EMU_INLINE float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
EMU_INLINE double __dadd_rn(double x, double y) { return x + y; }
EMU_INLINE double __dsub_rn(double x, double y) { return x - y; }
EMU_INLINE double __dmul_rn(double x, double y) { return x * y; }
EMU_INLINE double __ddiv_rn(double x, double y) { return x / y; }
EMU_INLINE double __dsqrt_rn(double x) { return __builtin_sqrt(x); }
EMU_INLINE double __drcp_rn(double x) { return double(1) / x; }
EMU_INLINE double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
EMU_INLINE float __fadd_rd(float x, float y) { return ::emu::rounded(::emu::ROUND_DOWN, [&] { ::emu::pin(x); ::emu::pin(y); return x + y; }); }
EMU_INLINE float __fsub_rd(float x, float y) { return ::emu::rounded(::emu::ROUND_DOWN, [&] { ::emu::pin(x); ::emu::pin(y); return x - y; }); }
EMU_INLINE float __fmul_rd(float x, float y) { return ::emu::rounded(::emu::ROUND_DOWN, [&] { ::emu::pin(x); ::emu::pin(y); return x * y; }); }
EMU_INLINE float __fdiv_rd(float x, float y) { return ::emu::rounded(::emu::ROUND_DOWN, [&] { ::emu::pin(x); ::emu::pin(y); return x / y; }); }
EMU_INLINE float __fsqrt_rd(float x) { return ::emu::rounded(::emu::ROUND_DOWN, [&] { ::emu::pin(x); return __builtin_sqrtf(x); }); }
EMU_INLINE float __frcp_rd(float x) { return ::emu::rounded(::emu::ROUND_DOWN, [&] { ::emu::pin(x); return float(1) / x; }); }
EMU_INLINE float __fmaf_rd(float x, float y, float z) { return ::emu::rounded(::emu::ROUND_DOWN, [&] { ::emu::pin(x); return fmaf(x, y, z); }); }
EMU_INLINE double __dadd_rd(double x, double y) { return ::emu::rounded(::emu::ROUND_DOWN, [&] { ::emu::pin(x); ::emu::pin(y); return x + y; }); }
EMU_INLINE double __dsub_rd(double x, double y) { return ::emu::rounded(::emu::ROUND_DOWN, [&] { ::emu::pin(x); ::emu::pin(y); return x - y; }); }
EMU_INLINE double __dmul_rd(double x, double y) { return ::emu::rounded(::emu::ROUND_DOWN, [&] { ::emu::pin(x); ::emu::pin(y); return x * y; }); }
EMU_INLINE double __ddiv_rd(double x, double y) { return ::emu::rounded(::emu::ROUND_DOWN, [&] { ::emu::pin(x); ::emu::pin(y); return x / y; }); }
EMU_INLINE double __dsqrt_rd(double x) { return ::emu::rounded(::emu::ROUND_DOWN, [&] { ::emu::pin(x); return __builtin_sqrt(x); }); }
EMU_INLINE double __drcp_rd(double x) { return ::emu::rounded(::emu::ROUND_DOWN, [&] { ::emu::pin(x); return double(1) / x; }); }
EMU_INLINE double __fma_rd(double x, double y, double z) { return ::emu::rounded(::emu::ROUND_DOWN, [&] { ::emu::pin(x); return fma(x, y, z); }); }
EMU_INLINE float __fadd_ru(float x, float y) { return ::emu::rounded(::emu::ROUND_UP, [&] { ::emu::pin(x); ::emu::pin(y); return x + y; }); }
EMU_INLINE float __fsub_ru(float x, float y) { return ::emu::rounded(::emu::ROUND_UP, [&] { ::emu::pin(x); ::emu::pin(y); return x - y; }); }
EMU_INLINE float __fmul_ru(float x, float y) { return ::emu::rounded(::emu::ROUND_UP, [&] { ::emu::pin(x); ::emu::pin(y); return x * y; }); }
EMU_INLINE float __fdiv_ru(float x, float y) { return ::emu::rounded(::emu::ROUND_UP, [&] { ::emu::pin(x); ::emu::pin(y); return x / y; }); }
EMU_INLINE float __fsqrt_ru(float x) { return ::emu::rounded(::emu::ROUND_UP, [&] { ::emu::pin(x); return __builtin_sqrtf(x); }); }
EMU_INLINE float __frcp_ru(float x) { return ::emu::rounded(::emu::ROUND_UP, [&] { ::emu::pin(x); return float(1) / x; }); }
EMU_INLINE float __fmaf_ru(float x, float y, float z) { return ::emu::rounded(::emu::ROUND_UP, [&] { ::emu::pin(x); return fmaf(x, y, z); }); }
EMU_INLINE double __dadd_ru(double x, double y) { return ::emu::rounded(::emu::ROUND_UP, [&] { ::emu::pin(x); ::emu::pin(y); return x + y; }); }
EMU_INLINE double __dsub_ru(double x, double y) { return ::emu::rounded(::emu::ROUND_UP, [&] { ::emu::pin(x); ::emu::pin(y); return x - y; }); }
EMU_INLINE double __dmul_ru(double x, double y) { return ::emu::rounded(::emu::ROUND_UP, [&] { ::emu::pin(x); ::emu::pin(y); return x * y; }); }
EMU_INLINE double __ddiv_ru(double x, double y) { return ::emu::rounded(::emu::ROUND_UP, [&] { ::emu::pin(x); ::emu::pin(y); return x / y; }); }
EMU_INLINE double __dsqrt_ru(double x) { return ::emu::rounded(::emu::ROUND_UP, [&] { ::emu::pin(x); return __builtin_sqrt(x); }); }
EMU_INLINE double __drcp_ru(double x) { return ::emu::rounded(::emu::ROUND_UP, [&] { ::emu::pin(x); return double(1) / x; }); }
EMU_INLINE double __fma_ru(double x, double y, double z) { return ::emu::rounded(::emu::ROUND_UP, [&] { ::emu::pin(x); return fma(x, y, z); }); }
EMU_INLINE float __fadd_rz(float x, float y) { return ::emu::rounded(::emu::ROUND_ZERO, [&] { ::emu::pin(x); ::emu::pin(y); return x + y; }); }
EMU_INLINE float __fsub_rz(float x, float y) { return ::emu::rounded(::emu::ROUND_ZERO, [&] { ::emu::pin(x); ::emu::pin(y); return x - y; }); }
EMU_INLINE float __fmul_rz(float x, float y) { return ::emu::rounded(::emu::ROUND_ZERO, [&] { ::emu::pin(x); ::emu::pin(y); return x * y; }); }
EMU_INLINE float __fdiv_rz(float x, float y) { return ::emu::rounded(::emu::ROUND_ZERO, [&] { ::emu::pin(x); ::emu::pin(y); return x / y; }); }
EMU_INLINE float __fsqrt_rz(float x) { return ::emu::rounded(::emu::ROUND_ZERO, [&] { ::emu::pin(x); return __builtin_sqrtf(x); }); }
EMU_INLINE float __frcp_rz(float x) { return ::emu::rounded(::emu::ROUND_ZERO, [&] { ::emu::pin(x); return float(1) / x; }); }
EMU_INLINE float __fmaf_rz(float x, float y, float z) { return ::emu::rounded(::emu::ROUND_ZERO, [&] { ::emu::pin(x); return fmaf(x, y, z); }); }
EMU_INLINE double __dadd_rz(double x, double y) { return ::emu::rounded(::emu::ROUND_ZERO, [&] { ::emu::pin(x); ::emu::pin(y); return x + y; }); }
EMU_INLINE double __dsub_rz(double x, double y) { return ::emu::rounded(::emu::ROUND_ZERO, [&] { ::emu::pin(x); ::emu::pin(y); return x - y; }); }
EMU_INLINE double __dmul_rz(double x, double y) { return ::emu::rounded(::emu::ROUND_ZERO, [&] { ::emu::pin(x); ::emu::pin(y); return x * y; }); }
EMU_INLINE double __ddiv_rz(double x, double y) { return ::emu::rounded(::emu::ROUND_ZERO, [&] { ::emu::pin(x); ::emu::pin(y); return x / y; }); }
EMU_INLINE double __dsqrt_rz(double x) { return ::emu::rounded(::emu::ROUND_ZERO, [&] { ::emu::pin(x); return __builtin_sqrt(x); }); }
EMU_INLINE double __drcp_rz(double x) { return ::emu::rounded(::emu::ROUND_ZERO, [&] { ::emu::pin(x); return double(1) / x; }); }
EMU_INLINE double __fma_rz(double x, double y, double z) { return ::emu::rounded(::emu::ROUND_ZERO, [&] { ::emu::pin(x); return fma(x, y, z); }); }
EMU_INLINE int __float2int_rn(float x) { return ::emu::saturated<int>(::emu::whole(x, ::emu::ROUND_NEAREST)); }
EMU_INLINE float __int2float_rn(int x) { return float(x); }
EMU_INLINE unsigned int __float2uint_rn(float x) { return ::emu::saturated<unsigned int>(::emu::whole(x, ::emu::ROUND_NEAREST)); }
EMU_INLINE float __uint2float_rn(unsigned int x) { return float(x); }
EMU_INLINE long long __float2ll_rn(float x) { return ::emu::saturated<long long>(::emu::whole(x, ::emu::ROUND_NEAREST)); }
EMU_INLINE float __ll2float_rn(long long x) { return float(x); }
EMU_INLINE unsigned long long __float2ull_rn(float x) { return ::emu::saturated<unsigned long long>(::emu::whole(x, ::emu::ROUND_NEAREST)); }
EMU_INLINE float __ull2float_rn(unsigned long long x) { return float(x); }
EMU_INLINE int __double2int_rn(double x) { return ::emu::saturated<int>(::emu::whole(x, ::emu::ROUND_NEAREST)); }
EMU_INLINE double __int2double_rn(int x) { return double(x); }
EMU_INLINE unsigned int __double2uint_rn(double x) { return ::emu::saturated<unsigned int>(::emu::whole(x, ::emu::ROUND_NEAREST)); }
EMU_INLINE double __uint2double_rn(unsigned int x) { return double(x); }
EMU_INLINE long long __double2ll_rn(double x) { return ::emu::saturated<long long>(::emu::whole(x, ::emu::ROUND_NEAREST)); }
EMU_INLINE double __ll2double_rn(long long x) { return double(x); }
EMU_INLINE unsigned long long __double2ull_rn(double x) { return ::emu::saturated<unsigned long long>(::emu::whole(x, ::emu::ROUND_NEAREST)); }
EMU_INLINE double __ull2double_rn(unsigned long long x) { return double(x); }
EMU_INLINE float __double2float_rn(double x) { return float(x); }
EMU_INLINE int __float2int_rd(float x) { return ::emu::saturated<int>(::emu::whole(x, ::emu::ROUND_DOWN)); }
EMU_INLINE float __int2float_rd(int x) { return ::emu::rounded(::emu::ROUND_DOWN, [&] { __asm__ volatile("" : "+r"(x)); return float(x); }); }
EMU_INLINE unsigned int __float2uint_rd(float x) { return ::emu::saturated<unsigned int>(::emu::whole(x, ::emu::ROUND_DOWN)); }
EMU_INLINE float __uint2float_rd(unsigned int x) { return ::emu::rounded(::emu::ROUND_DOWN, [&] { __asm__ volatile("" : "+r"(x)); return float(x); }); }
EMU_INLINE long long __float2ll_rd(float x) { return ::emu::saturated<long long>(::emu::whole(x, ::emu::ROUND_DOWN)); }
EMU_INLINE float __ll2float_rd(long long x) { return ::emu::rounded(::emu::ROUND_DOWN, [&] { __asm__ volatile("" : "+r"(x)); return float(x); }); }
EMU_INLINE unsigned long long __float2ull_rd(float x) { return ::emu::saturated<unsigned long long>(::emu::whole(x, ::emu::ROUND_DOWN)); }
EMU_INLINE float __ull2float_rd(unsigned long long x) { return ::emu::rounded(::emu::ROUND_DOWN, [&] { __asm__ volatile("" : "+r"(x)); return float(x); }); }
EMU_INLINE int __double2int_rd(double x) { return ::emu::saturated<int>(::emu::whole(x, ::emu::ROUND_DOWN)); }
EMU_INLINE unsigned int __double2uint_rd(double x) { return ::emu::saturated<unsigned int>(::emu::whole(x, ::emu::ROUND_DOWN)); }
EMU_INLINE long long __double2ll_rd(double x) { return ::emu::saturated<long long>(::emu::whole(x, ::emu::ROUND_DOWN)); }
EMU_INLINE double __ll2double_rd(long long x) { return ::emu::rounded(::emu::ROUND_DOWN, [&] { __asm__ volatile("" : "+r"(x)); return double(x); }); }
EMU_INLINE unsigned long long __double2ull_rd(double x) { return ::emu::saturated<unsigned long long>(::emu::whole(x, ::emu::ROUND_DOWN)); }
EMU_INLINE double __ull2double_rd(unsigned long long x) { return ::emu::rounded(::emu::ROUND_DOWN, [&] { __asm__ volatile("" : "+r"(x)); return double(x); }); }
EMU_INLINE float __double2float_rd(double x) { return ::emu::rounded(::emu::ROUND_DOWN, [&] { ::emu::pin(x); return float(x); }); }
EMU_INLINE int __float2int_ru(float x) { return ::emu::saturated<int>(::emu::whole(x, ::emu::ROUND_UP)); }
EMU_INLINE float __int2float_ru(int x) { return ::emu::rounded(::emu::ROUND_UP, [&] { __asm__ volatile("" : "+r"(x)); return float(x); }); }
EMU_INLINE unsigned int __float2uint_ru(float x) { return ::emu::saturated<unsigned int>(::emu::whole(x, ::emu::ROUND_UP)); }
EMU_INLINE float __uint2float_ru(unsigned int x) { return ::emu::rounded(::emu::ROUND_UP, [&] { __asm__ volatile("" : "+r"(x)); return float(x); }); }
EMU_INLINE long long __float2ll_ru(float x) { return ::emu::saturated<long long>(::emu::whole(x, ::emu::ROUND_UP)); }
EMU_INLINE float __ll2float_ru(long long x) { return ::emu::rounded(::emu::ROUND_UP, [&] { __asm__ volatile("" : "+r"(x)); return float(x); }); }
EMU_INLINE unsigned long long __float2ull_ru(float x) { return ::emu::saturated<unsigned long long>(::emu::whole(x, ::emu::ROUND_UP)); }
EMU_INLINE float __ull2float_ru(unsigned long long x) { return ::emu::rounded(::emu::ROUND_UP, [&] { __asm__ volatile("" : "+r"(x)); return float(x); }); }
EMU_INLINE int __double2int_ru(double x) { return ::emu::saturated<int>(::emu::whole(x, ::emu::ROUND_UP)); }
EMU_INLINE unsigned int __double2uint_ru(double x) { return ::emu::saturated<unsigned int>(::emu::whole(x, ::emu::ROUND_UP)); }
EMU_INLINE long long __double2ll_ru(double x) { return ::emu::saturated<long long>(::emu::whole(x, ::emu::ROUND_UP)); }
EMU_INLINE double __ll2double_ru(long long x) { return ::emu::rounded(::emu::ROUND_UP, [&] { __asm__ volatile("" : "+r"(x)); return double(x); }); }
EMU_INLINE unsigned long long __double2ull_ru(double x) { return ::emu::saturated<unsigned long long>(::emu::whole(x, ::emu::ROUND_UP)); }
EMU_INLINE double __ull2double_ru(unsigned long long x) { return ::emu::rounded(::emu::ROUND_UP, [&] { __asm__ volatile("" : "+r"(x)); return double(x); }); }
EMU_INLINE float __double2float_ru(double x) { return ::emu::rounded(::emu::ROUND_UP, [&] { ::emu::pin(x); return float(x); }); }
EMU_INLINE int __float2int_rz(float x) { return ::emu::saturated<int>(::emu::whole(x, ::emu::ROUND_ZERO)); }
EMU_INLINE float __int2float_rz(int x) { return ::emu::rounded(::emu::ROUND_ZERO, [&] { __asm__ volatile("" : "+r"(x)); return float(x); }); }
EMU_INLINE unsigned int __float2uint_rz(float x) { return ::emu::saturated<unsigned int>(::emu::whole(x, ::emu::ROUND_ZERO)); }
EMU_INLINE float __uint2float_rz(unsigned int x) { return ::emu::rounded(::emu::ROUND_ZERO, [&] { __asm__ volatile("" : "+r"(x)); return float(x); }); }
EMU_INLINE long long __float2ll_rz(float x) { return ::emu::saturated<long long>(::emu::whole(x, ::emu::ROUND_ZERO)); }
EMU_INLINE float __ll2float_rz(long long x) { return ::emu::rounded(::emu::ROUND_ZERO, [&] { __asm__ volatile("" : "+r"(x)); return float(x); }); }
EMU_INLINE unsigned long long __float2ull_rz(float x) { return ::emu::saturated<unsigned long long>(::emu::whole(x, ::emu::ROUND_ZERO)); }
EMU_INLINE float __ull2float_rz(unsigned long long x) { return ::emu::rounded(::emu::ROUND_ZERO, [&] { __asm__ volatile("" : "+r"(x)); return float(x); }); }
EMU_INLINE int __double2int_rz(double x) { return ::emu::saturated<int>(::emu::whole(x, ::emu::ROUND_ZERO)); }
EMU_INLINE unsigned int __double2uint_rz(double x) { return ::emu::saturated<unsigned int>(::emu::whole(x, ::emu::ROUND_ZERO)); }
EMU_INLINE long long __double2ll_rz(double x) { return ::emu::saturated<long long>(::emu::whole(x, ::emu::ROUND_ZERO)); }
EMU_INLINE double __ll2double_rz(long long x) { return ::emu::rounded(::emu::ROUND_ZERO, [&] { __asm__ volatile("" : "+r"(x)); return double(x); }); }
EMU_INLINE unsigned long long __double2ull_rz(double x) { return ::emu::saturated<unsigned long long>(::emu::whole(x, ::emu::ROUND_ZERO)); }
EMU_INLINE double __ull2double_rz(unsigned long long x) { return ::emu::rounded(::emu::ROUND_ZERO, [&] { __asm__ volatile("" : "+r"(x)); return double(x); }); }
EMU_INLINE float __double2float_rz(double x) { return ::emu::rounded(::emu::ROUND_ZERO, [&] { ::emu::pin(x); return float(x); }); }

EMU_INLINE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
EMU_INLINE unsigned int __float_as_uint(float x) { return __builtin_bit_cast(unsigned int, x); }
EMU_INLINE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
EMU_INLINE float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }
EMU_INLINE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
EMU_INLINE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
EMU_INLINE int __double2loint(double x) { return int(__double_as_longlong(x)); }
EMU_INLINE int __double2hiint(double x) { return int(__double_as_longlong(x) >> 32); }
EMU_INLINE double __hiloint2double(int high, int low)
{
    return __longlong_as_double((long long)((unsigned long long)(unsigned)high << 32 | (unsigned)low));
}

EMU_INLINE float __sinf(float x) { return sinf(x); }
EMU_INLINE float __cosf(float x) { return cosf(x); }
EMU_INLINE float __tanf(float x) { return tanf(x); }
EMU_INLINE void __sincosf(float x, float* sine, float* cosine) { sincosf(x, sine, cosine); }
EMU_INLINE float __expf(float x) { return expf(x); }
EMU_INLINE float __exp10f(float x) { return exp10f(x); }
EMU_INLINE float __logf(float x) { return logf(x); }
EMU_INLINE float __log2f(float x) { return log2f(x); }
EMU_INLINE float __log10f(float x) { return log10f(x); }
EMU_INLINE float __powf(float x, float y) { return powf(x, y); }
EMU_INLINE float __tanhf(float x) { return tanhf(x); }
EMU_INLINE float __fdividef(float x, float y) { return x / y; }
EMU_INLINE float __frsqrt_rn(float x) { return rsqrtf(x); }
EMU_INLINE float __saturatef(float x) { return saturate(x); }

EMU_INLINE int __popc(unsigned int x) { return __builtin_popcount(x); }
EMU_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
EMU_INLINE int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
EMU_INLINE int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
EMU_INLINE int __ffs(int x) { return __builtin_ffs(x); }
EMU_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
EMU_INLINE unsigned int __brev(unsigned int x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
EMU_INLINE unsigned long long __brevll(unsigned long long x)
{
    return (unsigned long long)__brev(unsigned(x)) << 32 | __brev(unsigned(x >> 32));
}
EMU_INLINE unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector)
{
    unsigned long long bytes = (unsigned long long)y << 32 | x;
    unsigned int out = 0;
    for (int i = 0; i < 4; ++i) {
        unsigned int pick = selector >> (4 * i);
        unsigned int byte = unsigned(bytes >> (8 * (pick & 7))) & 0xff;
        out |= (pick & 8 ? (byte & 0x80 ? 0xffu : 0u) : byte) << (8 * i);
    }
    return out;
}
EMU_INLINE unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift)
{
    unsigned long long both = (unsigned long long)high << 32 | low;
    return unsigned(both << (shift & 31) >> 32);
}
EMU_INLINE unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift)
{
    unsigned long long both = (unsigned long long)high << 32 | low;
    return unsigned(both >> (shift & 31));
}
EMU_INLINE unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift)
{
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
EMU_INLINE unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift)
{
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
EMU_INLINE unsigned int __fns(unsigned int mask, unsigned int base, int offset)
{
    int step = offset < 0 ? -1 : 1, left = offset < 0 ? -offset : offset;
    if (left == 0)
        return mask >> (base & 31) & 1 ? base : 0xffffffffu;
    for (int i = int(base); i >= 0 && i < 32; i += step)
        if ((mask >> i & 1) && --left == 0)
            return unsigned(i);
    return 0xffffffffu;
}
EMU_INLINE int __mulhi(int x, int y) { return int((long long)x * y >> 32); }
EMU_INLINE unsigned int __umulhi(unsigned int x, unsigned int y) { return unsigned((unsigned long long)x * y >> 32); }
EMU_INLINE long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
EMU_INLINE unsigned long long __umul64hi(unsigned long long x, unsigned long long y)
{
    return (unsigned long long)((unsigned __int128)x * y >> 64);
}
EMU_INLINE int __mul24(int x, int y) { return int(unsigned(x << 8 >> 8) * unsigned(y << 8 >> 8)); }
EMU_INLINE unsigned int __umul24(unsigned int x, unsigned int y) { return (x & 0xffffffu) * (y & 0xffffffu); }
EMU_INLINE unsigned int __sad(int x, int y, unsigned int z) { return (x < y ? unsigned(y) - unsigned(x) : unsigned(x) - unsigned(y)) + z; }
EMU_INLINE unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) { return (x < y ? y - x : x - y) + z; }
EMU_INLINE int __hadd(int x, int y) { return int(((long long)x + y) >> 1); }
EMU_INLINE int __rhadd(int x, int y) { return int(((long long)x + y + 1) >> 1); }
EMU_INLINE unsigned int __uhadd(unsigned int x, unsigned int y) { return unsigned(((unsigned long long)x + y) >> 1); }
EMU_INLINE unsigned int __urhadd(unsigned int x, unsigned int y) { return unsigned(((unsigned long long)x + y + 1) >> 1); }

EMU_INLINE int __dp4a(int a, int b, int c)
{
    for (int i = 0; i < 4; ++i)
        c += (signed char)(a >> (8 * i)) * (signed char)(b >> (8 * i));
    return c;
}
EMU_INLINE unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c)
{
    for (int i = 0; i < 4; ++i)
        c += (a >> (8 * i) & 0xff) * (b >> (8 * i) & 0xff);
    return c;
}
EMU_INLINE int __dp4a(char4 a, char4 b, int c) { return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
EMU_INLINE unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c)
{
    return c + unsigned(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
}
EMU_INLINE int __dp2a_lo(int a, int b, int c) { return c + (short)a * (signed char)b + (short)(a >> 16) * (signed char)(b >> 8); }
EMU_INLINE int __dp2a_hi(int a, int b, int c) { return __dp2a_lo(a, b >> 16, c); }
EMU_INLINE unsigned int __dp2a_lo(unsigned int a, unsigned int b, unsigned int c)
{
    return c + (a & 0xffff) * (b & 0xff) + (a >> 16) * (b >> 8 & 0xff);
}
EMU_INLINE unsigned int __dp2a_hi(unsigned int a, unsigned int b, unsigned int c) { return __dp2a_lo(a, b >> 16, c); }
EMU_INLINE int __dp2a_lo(short2 a, char4 b, int c) { return c + a.x * b.x + a.y * b.y; }
EMU_INLINE int __dp2a_hi(short2 a, char4 b, int c) { return c + a.x * b.z + a.y * b.w; }
EMU_INLINE unsigned int __dp2a_lo(ushort2 a, uchar4 b, unsigned int c) { return c + unsigned(a.x * b.x + a.y * b.y); }
EMU_INLINE unsigned int __dp2a_hi(ushort2 a, uchar4 b, unsigned int c) { return c + unsigned(a.x * b.z + a.y * b.w); }

// These keep subnormal numbers whatever the options, like all functions here.
EMU_INLINE float __fmaf_ieee_rn(float x, float y, float z) { return __fmaf_rn(x, y, z); }
EMU_INLINE float __fmaf_ieee_rz(float x, float y, float z) { return __fmaf_rz(x, y, z); }
EMU_INLINE float __fmaf_ieee_rd(float x, float y, float z) { return __fmaf_rd(x, y, z); }
EMU_INLINE float __fmaf_ieee_ru(float x, float y, float z) { return __fmaf_ru(x, y, z); }

EMU_INLINE unsigned short __nv_bswap16(unsigned short x) { return __builtin_bswap16(x); }
EMU_INLINE unsigned int __nv_bswap32(unsigned int x) { return __builtin_bswap32(x); }
EMU_INLINE unsigned long long __nv_bswap64(unsigned long long x) { return __builtin_bswap64(x); }

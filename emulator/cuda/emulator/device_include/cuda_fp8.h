// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// 8-bit formats: e4m3 (4 digits, no infinity, one NaN), e5m2 (3 digits, the upper half of __half), and e8m0 (powers of
// two). Constructors round to nearest and saturate to finite values.
#pragma once
#include <cuda_bf16.h>

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

namespace emu {

inline __nv_fp8_storage_t to_fp8(double x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
{
    emu_u64 bits = same_bits<emu_u64>(x), magnitude = bits & ~0ull >> 1;
    bool negative = bits >> 63;
    if (x != x)
        return 0x7f;
    emu_u32 largest = kind == __NV_E4M3 ? 0x7e : 0x7b, out = largest + 1;
    if (magnitude >> 52 != 0x7ff)
        out = kind == __NV_E4M3 ? Narrow<4, 4>::round<ROUND_NEAREST>(magnitude, negative)
                                : Narrow<3, 5>::round<ROUND_NEAREST>(magnitude, negative);
    if (out > largest)
        out = saturate == __NV_SATFINITE ? largest : largest + 1;
    return __nv_fp8_storage_t(out | emu_u32(negative) << 7);
}

inline double from_fp8(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind)
{
    if (kind == __NV_E5M2)
        return Narrow<3, 5>::to(x);
    return (x & 0x7f) == 0x7f ? __builtin_nan("") : Narrow<4, 4>::to<true>(x);
}

inline __nv_fp8_storage_t to_e8m0(double x, __nv_saturation_t saturate, cudaRoundMode rounding)
{
    return __nv_fp8_storage_t(exponent_of(x, saturate == __NV_SATFINITE,
                                          rounding == cudaRoundNearest                                  ? ROUND_NEAREST
                                          : rounding == cudaRoundZero || rounding == cudaRoundMinInf ? ROUND_ZERO
                                                                                                     : ROUND_UP));
}
inline double from_e8m0(__nv_fp8_storage_t x) { return power_of_two(x); }

EMU_INLINE __half_raw half_raw(double x) { return __half_raw {(unsigned short)Narrow<11, 5>::from(x)}; }
EMU_INLINE __nv_bfloat16_raw bfloat16_raw(double x) { return __nv_bfloat16_raw {(unsigned short)Narrow<8, 8>::from(x)}; }
EMU_INLINE __half half_of(double x) { return __half(half_raw(x)); }
EMU_INLINE __nv_bfloat16 bfloat16_of(double x) { return __nv_bfloat16(bfloat16_raw(x)); }
EMU_INLINE double value_of(__half_raw x) { return Narrow<11, 5>::to(x.x); }
EMU_INLINE double value_of(__nv_bfloat16_raw x) { return Narrow<8, 8>::to(x.x); }
EMU_INLINE double value_of(double x) { return x; }
EMU_INLINE unsigned short pair(unsigned low, unsigned high) { return (unsigned short)(low | high << 8); }

} // namespace emu

// --- Conversion functions --------------------------------------------------------------------------------------------

#define EMU_TO_FP8(T, name)                                                                                            \
    EMU_INLINE __nv_fp8_storage_t __nv_cvt_##name##_to_fp8(T x, __nv_saturation_t saturate,                            \
                                                           __nv_fp8_interpretation_t kind)                             \
    {                                                                                                                  \
        return ::emu::to_fp8(::emu::value_of(x), saturate, kind);                                                      \
    }                                                                                                                  \
    EMU_INLINE __nv_fp8_storage_t __nv_cvt_##name##_to_e8m0(T x, __nv_saturation_t saturate, cudaRoundMode rounding)   \
    {                                                                                                                  \
        return ::emu::to_e8m0(::emu::value_of(x), saturate, rounding);                                                 \
    }
#define EMU_TO_FP8_PAIR(T, name, name8)                                                                                \
    EMU_INLINE __nv_fp8x2_storage_t __nv_cvt_##name##_to_fp8x2(T x, __nv_saturation_t saturate,                        \
                                                               __nv_fp8_interpretation_t kind)                         \
    {                                                                                                                  \
        return ::emu::pair(::emu::to_fp8(EMU_ELEMENT(x.x), saturate, kind),                                            \
                           ::emu::to_fp8(EMU_ELEMENT(x.y), saturate, kind));                                           \
    }                                                                                                                  \
    EMU_INLINE __nv_fp8x2_storage_t __nv_cvt_##name8##_to_e8m0x2(T x, __nv_saturation_t saturate,                      \
                                                                 cudaRoundMode rounding)                               \
    {                                                                                                                  \
        return ::emu::pair(::emu::to_e8m0(EMU_ELEMENT(x.x), saturate, rounding),                                       \
                           ::emu::to_e8m0(EMU_ELEMENT(x.y), saturate, rounding));                                      \
    }
EMU_TO_FP8(float, float)
EMU_TO_FP8(double, double)
EMU_TO_FP8(__half_raw, halfraw)
EMU_TO_FP8(__nv_bfloat16_raw, bfloat16raw)
#define EMU_ELEMENT(bits) (bits)
EMU_TO_FP8_PAIR(float2, float2, float2)
EMU_TO_FP8_PAIR(double2, double2, double2)
#undef EMU_ELEMENT
#define EMU_ELEMENT(bits) ::emu::Narrow<11, 5>::to(bits)
EMU_TO_FP8_PAIR(__half2_raw, halfraw2, half2raw)
#undef EMU_ELEMENT
#define EMU_ELEMENT(bits) ::emu::Narrow<8, 8>::to(bits)
EMU_TO_FP8_PAIR(__nv_bfloat162_raw, bfloat16raw2, bfloat162raw)
#undef EMU_ELEMENT
#undef EMU_TO_FP8
#undef EMU_TO_FP8_PAIR

EMU_INLINE __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind)
{
    return ::emu::half_raw(::emu::from_fp8(x, kind));
}
EMU_INLINE __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t kind)
{
    return __half2_raw {__nv_cvt_fp8_to_halfraw((unsigned char)x, kind).x,
                        __nv_cvt_fp8_to_halfraw((unsigned char)(x >> 8), kind).x};
}
EMU_INLINE __nv_bfloat16_raw __nv_cvt_fp8_to_bf16raw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind)
{
    return ::emu::bfloat16_raw(::emu::from_fp8(x, kind));
}
EMU_INLINE __nv_bfloat162_raw __nv_cvt_fp8x2_to_bf162raw(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t kind)
{
    return __nv_bfloat162_raw {__nv_cvt_fp8_to_bf16raw((unsigned char)x, kind).x,
                               __nv_cvt_fp8_to_bf16raw((unsigned char)(x >> 8), kind).x};
}
EMU_INLINE __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t x)
{
    return ::emu::bfloat16_raw(::emu::from_e8m0(x));
}
EMU_INLINE __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(__nv_fp8x2_storage_t x)
{
    return __nv_bfloat162_raw {__nv_cvt_e8m0_to_bf16raw((unsigned char)x).x,
                               __nv_cvt_e8m0_to_bf16raw((unsigned char)(x >> 8)).x};
}

// --- Types -----------------------------------------------------------------------------------------------------------

// FROM(x) and TO(bits): the conversions between double and one element.
#define EMU_FP8(name, FROM, TO)                                                                                        \
    struct __attribute__((aligned(1))) name {                                                                          \
        __nv_fp8_storage_t __x;                                                                                        \
        name() = default;                                                                                              \
        explicit name(__half x) : __x(FROM(::emu::value_of(x))) {}                                                     \
        explicit name(__nv_bfloat16 x) : __x(FROM(::emu::value_of(x))) {}                                              \
        explicit name(float x) : __x(FROM(x)) {}                                                                       \
        explicit name(double x) : __x(FROM(x)) {}                                                                      \
        explicit operator __half() const { return ::emu::half_of(TO(__x)); }                                           \
        explicit operator __nv_bfloat16() const { return ::emu::bfloat16_of(TO(__x)); }                                \
        explicit operator float() const { return float(TO(__x)); }                                                     \
        explicit operator double() const { return TO(__x); }                                                           \
        explicit operator bool() const { return TO(__x) != 0.0; }                                                      \
        EMU_INTEGERS(name, FROM)                                                                                       \
        EMU_OPERATORS(TO)                                                                                              \
    };                                                                                                                 \
    struct __attribute__((aligned(2))) EMU_FP8_VECTOR(name, x2) {                                                      \
        __nv_fp8x2_storage_t __x;                                                                                      \
        EMU_FP8_VECTOR(name, x2)() = default;                                                                          \
        explicit EMU_FP8_VECTOR(name, x2)(float2 a) : __x(::emu::pair(FROM(a.x), FROM(a.y))) {}                        \
        explicit EMU_FP8_VECTOR(name, x2)(double2 a) : __x(::emu::pair(FROM(a.x), FROM(a.y))) {}                       \
        explicit EMU_FP8_VECTOR(name, x2)(__half2 a)                                                                   \
            : __x(::emu::pair(FROM(::emu::value_of(a.x)), FROM(::emu::value_of(a.y)))) {}                              \
        explicit EMU_FP8_VECTOR(name, x2)(__nv_bfloat162 a)                                                            \
            : __x(::emu::pair(FROM(::emu::value_of(a.x)), FROM(::emu::value_of(a.y)))) {}                              \
        explicit operator float2() const { return float2 {float(TO(low())), float(TO(high()))}; }                      \
        explicit operator __half2() const { return __half2(::emu::half_of(TO(low())), ::emu::half_of(TO(high()))); }   \
        explicit operator __nv_bfloat162() const                                                                       \
        {                                                                                                              \
            return __nv_bfloat162(::emu::bfloat16_of(TO(low())), ::emu::bfloat16_of(TO(high())));                      \
        }                                                                                                              \
                                                                                                                       \
    private:                                                                                                           \
        __nv_fp8_storage_t low() const { return __nv_fp8_storage_t(__x); }                                             \
        __nv_fp8_storage_t high() const { return __nv_fp8_storage_t(__x >> 8); }                                       \
    };                                                                                                                 \
    struct __attribute__((aligned(4))) EMU_FP8_VECTOR(name, x4) {                                                      \
        __nv_fp8x4_storage_t __x;                                                                                      \
        EMU_FP8_VECTOR(name, x4)() = default;                                                                          \
        explicit EMU_FP8_VECTOR(name, x4)(float4 a) : __x(join(FROM(a.x), FROM(a.y), FROM(a.z), FROM(a.w))) {}         \
        explicit EMU_FP8_VECTOR(name, x4)(double4 a) : __x(join(FROM(a.x), FROM(a.y), FROM(a.z), FROM(a.w))) {}        \
        explicit EMU_FP8_VECTOR(name, x4)(__half2 a, __half2 b) : EMU_FP8_VECTOR(name, x4)(                            \
            float4 {__low2float(a), __high2float(a), __low2float(b), __high2float(b)}) {}                              \
        explicit EMU_FP8_VECTOR(name, x4)(__nv_bfloat162 a, __nv_bfloat162 b) : EMU_FP8_VECTOR(name, x4)(              \
            float4 {__low2float(a), __high2float(a), __low2float(b), __high2float(b)}) {}                              \
        explicit operator float4() const { return float4 {get(0), get(1), get(2), get(3)}; }                           \
                                                                                                                       \
    private:                                                                                                           \
        static unsigned join(unsigned x, unsigned y, unsigned z, unsigned w)                                           \
        {                                                                                                              \
            return x | y << 8 | z << 16 | w << 24;                                                                     \
        }                                                                                                              \
        float get(int i) const { return float(TO(__nv_fp8_storage_t(__x >> (8 * i)))); }                               \
    };
#define EMU_FROM(T, name, FROM)                                                                                        \
    explicit name(T x) : __x(FROM(::emu::integer_to_odd<T>(x))) {}
#define EMU_INTEGERS(name, FROM)                                                                                       \
    EMU_FROM(unsigned short, name, FROM) EMU_FROM(unsigned int, name, FROM) EMU_FROM(unsigned long, name, FROM)        \
    EMU_FROM(unsigned long long, name, FROM) EMU_FROM(short, name, FROM) EMU_FROM(int, name, FROM)                     \
    EMU_FROM(long, name, FROM) EMU_FROM(long long, name, FROM)
#define EMU_TO(T, TO)                                                                                                  \
    explicit operator T() const { return ::emu::integer_of<T, ::emu::ROUND_ZERO>(TO(__x)); }
#define EMU_OPERATORS(TO)                                                                                              \
    EMU_TO(char, TO) EMU_TO(signed char, TO) EMU_TO(unsigned char, TO) EMU_TO(unsigned short, TO)                      \
    EMU_TO(unsigned int, TO) EMU_TO(unsigned long, TO) EMU_TO(unsigned long long, TO) EMU_TO(short, TO)                \
    EMU_TO(int, TO) EMU_TO(long, TO) EMU_TO(long long, TO)
#define EMU_FROM_VALUE(x) ::emu::to_fp8(x, __NV_SATFINITE, __NV_E4M3)
#define EMU_TO_VALUE(bits) ::emu::from_fp8(bits, __NV_E4M3)
#define EMU_FP8_VECTOR(name, size) __nv_fp8##size##_e4m3
EMU_FP8(__nv_fp8_e4m3, EMU_FROM_VALUE, EMU_TO_VALUE)
#undef EMU_FROM_VALUE
#undef EMU_TO_VALUE
#undef EMU_FP8_VECTOR
#define EMU_FROM_VALUE(x) ::emu::to_fp8(x, __NV_SATFINITE, __NV_E5M2)
#define EMU_TO_VALUE(bits) ::emu::from_fp8(bits, __NV_E5M2)
#define EMU_FP8_VECTOR(name, size) __nv_fp8##size##_e5m2
EMU_FP8(__nv_fp8_e5m2, EMU_FROM_VALUE, EMU_TO_VALUE)
#undef EMU_FROM_VALUE
#undef EMU_TO_VALUE
#undef EMU_FP8_VECTOR
#define EMU_FROM_VALUE(x) ::emu::to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf)
#define EMU_TO_VALUE(bits) ::emu::from_e8m0(bits)
#define EMU_FP8_VECTOR(name, size) __nv_fp8##size##_e8m0
EMU_FP8(__nv_fp8_e8m0, EMU_FROM_VALUE, EMU_TO_VALUE)
#undef EMU_FROM_VALUE
#undef EMU_TO_VALUE
#undef EMU_FP8_VECTOR
#undef EMU_FP8
#undef EMU_FROM
#undef EMU_INTEGERS
#undef EMU_TO
#undef EMU_OPERATORS

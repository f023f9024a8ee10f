// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Functions shared by the 6-bit and 4-bit formats. They have neither infinities nor NaN: conversions saturate to the
// largest value, and NaN becomes that value with a positive sign.
#pragma once
#include <cuda_fp8.h>

namespace emu {

// An element takes `Stride` bits in a vector.
template <int Digits, int Exponent, int Stride> struct SmallFloat {
    typedef Narrow<Digits, Exponent> Format;
    enum : emu_u32 { largest = (1u << Format::sign) - 1, mask = (1u << Stride) - 1 };

    static emu_u32 from(double x, cudaRoundMode rounding = cudaRoundNearest)
    {
        emu_u64 bits = same_bits<emu_u64>(x), magnitude = bits & ~0ull >> 1;
        bool negative = bits >> 63;
        if (x != x)
            return largest;
        emu_u32 out = largest;
        if (magnitude >> 52 < 1023 + 8) // larger values than 255 saturate
            out = rounding == cudaRoundZero     ? Format::template round<ROUND_ZERO>(magnitude, negative)
                  : rounding == cudaRoundPosInf ? Format::template round<ROUND_UP>(magnitude, negative)
                  : rounding == cudaRoundMinInf ? Format::template round<ROUND_DOWN>(magnitude, negative)
                                                : Format::template round<ROUND_NEAREST>(magnitude, negative);
        return (out > largest ? largest : out) | emu_u32(negative) << Format::sign;
    }
    static double to(emu_u32 bits) { return Format::template to<true>(bits & (2u * largest + 1u)); }
    static emu_u32 pair(double x, double y, cudaRoundMode rounding = cudaRoundNearest)
    {
        return from(x, rounding) | from(y, rounding) << Stride;
    }
    static double element(emu_u32 bits, int i) { return to(bits >> (i * Stride) & mask); }
};

template <class Format, class Storage> struct SmallValue {
    Storage __x;
    SmallValue() = default;
    explicit SmallValue(__half x) : __x(Storage(Format::from(value_of(x)))) {}
    explicit SmallValue(__nv_bfloat16 x) : __x(Storage(Format::from(value_of(x)))) {}
    explicit SmallValue(float x) : __x(Storage(Format::from(x))) {}
    explicit SmallValue(double x) : __x(Storage(Format::from(x))) {}
    explicit SmallValue(short x) : SmallValue(double(x)) {}
    explicit SmallValue(unsigned short x) : SmallValue(double(x)) {}
    explicit SmallValue(int x) : SmallValue(double(x)) {}
    explicit SmallValue(unsigned int x) : SmallValue(double(x)) {}
    explicit SmallValue(long x) : SmallValue(double(x)) {}
    explicit SmallValue(unsigned long x) : SmallValue(double(x)) {}
    explicit SmallValue(long long x) : SmallValue(double(x)) {}
    explicit SmallValue(unsigned long long x) : SmallValue(double(x)) {}
    explicit operator __half() const { return half_of(Format::to(__x)); }
    explicit operator __nv_bfloat16() const { return bfloat16_of(Format::to(__x)); }
    explicit operator float() const { return float(Format::to(__x)); }
    explicit operator double() const { return Format::to(__x); }
    explicit operator bool() const { return Format::to(__x) != 0.0; }
    explicit operator char() const { return whole<char>(); }
    explicit operator signed char() const { return whole<signed char>(); }
    explicit operator unsigned char() const { return whole<unsigned char>(); }
    explicit operator short() const { return whole<short>(); }
    explicit operator unsigned short() const { return whole<unsigned short>(); }
    explicit operator int() const { return whole<int>(); }
    explicit operator unsigned int() const { return whole<unsigned int>(); }
    explicit operator long() const { return whole<long>(); }
    explicit operator unsigned long() const { return whole<unsigned long>(); }
    explicit operator long long() const { return whole<long long>(); }
    explicit operator unsigned long long() const { return whole<unsigned long long>(); }

private:
    template <class T> T whole() const { return integer_of<T, ROUND_ZERO>(Format::to(__x)); }
};

template <class Format, class Storage> struct SmallPair {
    Storage __x;
    SmallPair() = default;
    explicit SmallPair(float2 a) : __x(Storage(Format::pair(a.x, a.y))) {}
    explicit SmallPair(double2 a) : __x(Storage(Format::pair(a.x, a.y))) {}
    explicit SmallPair(__half2 a) : __x(Storage(Format::pair(value_of(a.x), value_of(a.y)))) {}
    explicit SmallPair(__nv_bfloat162 a) : __x(Storage(Format::pair(value_of(a.x), value_of(a.y)))) {}
    explicit operator float2() const { return float2 {float(Format::element(__x, 0)), float(Format::element(__x, 1))}; }
    explicit operator __half2() const
    {
        return __half2(half_of(Format::element(__x, 0)), half_of(Format::element(__x, 1)));
    }
    explicit operator __nv_bfloat162() const
    {
        return __nv_bfloat162(bfloat16_of(Format::element(__x, 0)), bfloat16_of(Format::element(__x, 1)));
    }
};

template <class Format, class Storage, int Stride> struct SmallFour {
    Storage __x;
    SmallFour() = default;
    explicit SmallFour(float4 a) : __x(join(Format::pair(a.x, a.y), Format::pair(a.z, a.w))) {}
    explicit SmallFour(double4 a) : __x(join(Format::pair(a.x, a.y), Format::pair(a.z, a.w))) {}
    explicit SmallFour(double4_16a a) : __x(join(Format::pair(a.x, a.y), Format::pair(a.z, a.w))) {}
    explicit SmallFour(double4_32a a) : __x(join(Format::pair(a.x, a.y), Format::pair(a.z, a.w))) {}
    explicit SmallFour(__half2 a, __half2 b)
        : __x(join(Format::pair(value_of(a.x), value_of(a.y)), Format::pair(value_of(b.x), value_of(b.y))))
    {
    }
    explicit SmallFour(__nv_bfloat162 a, __nv_bfloat162 b)
        : __x(join(Format::pair(value_of(a.x), value_of(a.y)), Format::pair(value_of(b.x), value_of(b.y))))
    {
    }
    explicit operator float4() const
    {
        return float4 {float(Format::element(__x, 0)), float(Format::element(__x, 1)), float(Format::element(__x, 2)),
                       float(Format::element(__x, 3))};
    }

private:
    static Storage join(emu_u32 low, emu_u32 high) { return Storage(low | high << (2 * Stride)); }
};

} // namespace emu

// The conversion functions for one size. FORMAT(call) calls a function of the format `kind`.
#define EMU_SMALL_CONVERSIONS(name, FORMAT)                                                                            \
    EMU_SMALL_FROM(double, double, name, x, FORMAT)                                                                    \
    EMU_SMALL_FROM(float, float, name, x, FORMAT)                                                                      \
    EMU_SMALL_FROM(__half_raw, halfraw, name, ::emu::value_of(x), FORMAT)                                              \
    EMU_SMALL_FROM(__nv_bfloat16_raw, bfloat16raw, name, ::emu::value_of(x), FORMAT)                                   \
    EMU_SMALL_FROM_PAIR(double2, double2, name, (x.x, x.y, rounding), FORMAT)                                          \
    EMU_SMALL_FROM_PAIR(float2, float2, name, (x.x, x.y, rounding), FORMAT)                                            \
    EMU_SMALL_FROM_PAIR(__half2_raw, halfraw2, name,                                                                   \
                        (::emu::Narrow<11, 5>::to(x.x), ::emu::Narrow<11, 5>::to(x.y), rounding), FORMAT)              \
    EMU_SMALL_FROM_PAIR(__nv_bfloat162_raw, bfloat16raw2, name,                                                        \
                        (::emu::Narrow<8, 8>::to(x.x), ::emu::Narrow<8, 8>::to(x.y), rounding), FORMAT)                \
    EMU_INLINE __half_raw __nv_cvt_##name##_to_halfraw(__nv_##name##_storage_t x, __nv_##name##_interpretation_t kind) \
    {                                                                                                                  \
        return ::emu::half_raw(FORMAT(to(x)));                                                                         \
    }                                                                                                                  \
    EMU_INLINE __half2_raw __nv_cvt_##name##x2_to_halfraw2(__nv_##name##x2_storage_t x,                                \
                                                           __nv_##name##_interpretation_t kind)                        \
    {                                                                                                                  \
        return __half2_raw {::emu::half_raw(FORMAT(element(x, 0))).x, ::emu::half_raw(FORMAT(element(x, 1))).x};       \
    }
#define EMU_SMALL_FROM(T, from_name, name, value, FORMAT)                                                              \
    EMU_INLINE __nv_##name##_storage_t __nv_cvt_##from_name##_to_##name(T x, __nv_##name##_interpretation_t kind,      \
                                                                        cudaRoundMode rounding)                        \
    {                                                                                                                  \
        return __nv_##name##_storage_t(FORMAT(from(value, rounding)));                                                 \
    }
#define EMU_SMALL_FROM_PAIR(T, from_name, name, values, FORMAT)                                                        \
    EMU_INLINE __nv_##name##x2_storage_t __nv_cvt_##from_name##_to_##name##x2(                                         \
        T x, __nv_##name##_interpretation_t kind, cudaRoundMode rounding)                                              \
    {                                                                                                                  \
        return __nv_##name##x2_storage_t(FORMAT(pair values));                                                         \
    }

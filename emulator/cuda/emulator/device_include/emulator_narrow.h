// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Binary floating-point formats of at most 16 bits. Values are computed as double, then rounded by these functions.
// Double is exact for products, and so wide for sums, quotients and roots that a second rounding changes nothing.
// `Digits` counts the significand including its implicit bit, `Exponent` the exponent bits.
#pragma once

namespace emu {

template <int Digits, int Exponent> struct Narrow {
    enum : int { bias = (1 << (Exponent - 1)) - 1, sign = Digits + Exponent - 1 };
    enum : emu_u32 { infinity = ((1u << Exponent) - 1) << (Digits - 1) };

    // Returns the bits of a finite magnitude, rounded as if the format had no largest exponent.
    template <unsigned Mode> static emu_u32 round(emu_u64 magnitude, bool negative)
    {
        int exponent = int(magnitude >> 52) - 1023 + bias, drop = 53 - Digits;
        emu_u64 significand = (magnitude & ~0ull >> 12) | (emu_u64(magnitude >> 52 != 0) << 52);
        if (exponent < 1) {
            drop = drop + 1 - exponent > 63 ? 63 : drop + 1 - exponent;
            exponent = 1;
        }
        emu_u64 kept = significand >> drop, rest = significand & ((1ull << drop) - 1), half = 1ull << (drop - 1);
        bool up = Mode == ROUND_NEAREST ? rest > half || (rest == half && (kept & 1))
                  : Mode == ROUND_ZERO  ? false
                                        : rest && negative == (Mode == ROUND_DOWN);
        return emu_u32(kept + up) + (emu_u32(exponent - 1) << (Digits - 1));
    }

    template <unsigned Mode = ROUND_NEAREST> static emu_u32 from(double x)
    {
        emu_u64 bits = same_bits<emu_u64>(x), magnitude = bits & ~0ull >> 1;
        bool negative = bits >> 63;
        if (magnitude > 0x7ffull << 52)
            return (1u << sign) - 1; // the one NaN that GPU instructions return
        emu_u32 out = infinity;
        if (magnitude != 0x7ffull << 52) {
            out = round<Mode>(magnitude, negative);
            bool grows = Mode == ROUND_NEAREST || (Mode != ROUND_ZERO && negative == (Mode == ROUND_DOWN));
            if (out >= infinity)
                out = grows ? infinity : infinity - 1;
        }
        return out | emu_u32(negative) << sign;
    }

    // `Finite` means that the largest exponent belongs to finite values.
    template <bool Finite = false> static double to(emu_u32 bits)
    {
        emu_u64 negative = emu_u64(bits >> sign & 1) << 63;
        emu_u32 magnitude = bits & ((1u << sign) - 1);
        if (magnitude >> (Digits - 1) == 0) {
            double smallest = same_bits<double>(emu_u64(1023 + 2 - bias - Digits) << 52);
            return same_bits<double>(same_bits<emu_u64>(double(int(magnitude)) * smallest) | negative);
        }
        emu_u64 wide = emu_u64(magnitude) << (53 - Digits);
        wide += !Finite && magnitude >= infinity ? emu_u64(0x7ff - (1 << Exponent) + 1) << 52 : emu_u64(1023 - bias) << 52;
        return same_bits<double>(wide | negative);
    }
};

// Returns x + y rounded to odd: rounding the result again to at most 51 digits rounds the exact sum once.
inline double sum_to_odd(double x, double y)
{
    double sum = x + y, part = sum - x, error = (x - (sum - part)) + (y - part);
    emu_u64 bits = same_bits<emu_u64>(sum);
    if ((error > 0.0 || error < 0.0) && !(bits & 1))
        bits += (error > 0.0) == (sum > 0.0) ? 1 : ~0ull;
    return same_bits<double>(bits);
}

// Returns an integer as a double, rounded to odd.
template <class T> inline double integer_to_odd(T x)
{
    if (sizeof(T) < 8)
        return double(x);
    emu_u64 size = x < T(0) ? 0 - emu_u64(x) : emu_u64(x);
    double value = size >> 53 ? double((long long)(size >> 11 | ((size & 2047) != 0))) * 2048.0 : double((long long)size);
    return x < T(0) ? -value : value;
}

// Converts like half precision: NaN becomes 0, or in 64 bits the number with only the highest bit set.
template <class To, unsigned Mode> inline To integer_of(double x)
{
    if (x != x)
        return sizeof(To) == 8 ? To(1ull << 63) : To(0);
    return saturated<To>(whole(x, Mode));
}

// The format e8m0: the exponent of |x|, from 0 (2^-127) to 254, or 255 for NaN. ROUND_NEAREST rounds halfway up.
inline emu_u32 exponent_of(double x, bool saturates, unsigned mode)
{
    emu_u64 magnitude = same_bits<emu_u64>(x) & ~0ull >> 1, fraction = magnitude & ~0ull >> 12;
    if (x != x)
        return 255;
    int exponent = int(magnitude >> 52) - 1023 + 127;
    if (mode != ROUND_ZERO && fraction && (mode != ROUND_NEAREST || fraction >> 51))
        ++exponent;
    return exponent > 254 ? (saturates ? 254u : 255u) : emu_u32(exponent < 0 ? 0 : exponent);
}
inline double power_of_two(emu_u32 exponent)
{
    return exponent == 255 ? __builtin_nan("") : same_bits<double>(emu_u64(exponent) + 1023 - 127 << 52);
}

// +0 is larger than -0, and a number is preferred to NaN.
inline double smaller(double x, double y)
{
    return x != x ? y : x < y || (x == y && __builtin_signbit(x)) || y != y ? x : y;
}
inline double larger(double x, double y)
{
    return x != x ? y : x > y || (x == y && !__builtin_signbit(x)) || y != y ? x : y;
}
inline double unit_range(double x) { return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0; }
inline double rectified(double x) { return x > 0.0 || x != x ? x : 0.0; }

} // namespace emu

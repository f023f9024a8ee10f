// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The bits of numbers, rounding to integers, and saturation. The host part of programs uses them for half precision.
#pragma once

namespace emu {

enum { ROUND_NEAREST = 0, ROUND_DOWN = 1, ROUND_UP = 2, ROUND_ZERO = 3 };

template <class To, class From> EMU_INLINE To same_bits(From from)
{
    static_assert(sizeof(To) == sizeof(From), "");
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}

// Clamps to the range of the type. NaN becomes 0, or the lowest value from double to 64 bits.
template <class To, class From> EMU_INLINE To saturated(From x)
{
    constexpr bool is_signed = To(-1) < To(0);
    constexpr int bits = int(sizeof(To)) * 8 - (is_signed ? 1 : 0);
    constexpr To low = is_signed ? To(1ull << (bits & 63)) : To(0);
    constexpr To high = To(is_signed ? ~(1ull << (bits & 63)) : ~0ull);
    const From limit = From(2) * From(1ull << (bits - 1));
    if (x != x)
        return sizeof(To) == 8 && sizeof(From) == 8 ? low : To(0);
    if (x >= limit)
        return high;
    if (x <= (is_signed ? -limit : From(0)))
        return low;
    return To(x);
}
EMU_INLINE float whole(float x, unsigned mode)
{
    return mode == ROUND_NEAREST ? __builtin_rintf(x) : mode == ROUND_DOWN ? __builtin_floorf(x)
           : mode == ROUND_UP ? __builtin_ceilf(x) : __builtin_truncf(x);
}
EMU_INLINE double whole(double x, unsigned mode)
{
    return mode == ROUND_NEAREST ? __builtin_rint(x) : mode == ROUND_DOWN ? __builtin_floor(x)
           : mode == ROUND_UP ? __builtin_ceil(x) : __builtin_trunc(x);
}

} // namespace emu

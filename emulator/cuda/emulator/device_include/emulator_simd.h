// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Functions on the 2 halves or 4 bytes of a word, and fused additions, minima and maxima.
#pragma once

namespace emu {

// Applies f to the elements of words, each extended to int; T is the element type.
template <class T, class F> EMU_INLINE unsigned each(unsigned a, unsigned b, F f)
{
    constexpr int bits = 8 * int(sizeof(T));
    unsigned out = 0;
    for (int at = 0; at < 32; at += bits)
        out |= (unsigned(f(int(T(a >> at)), int(T(b >> at)))) & (bits == 8 ? 0xffu : 0xffffu)) << at;
    return out;
}
template <class T> EMU_INLINE int clamped(int x)
{
    constexpr int bits = 8 * int(sizeof(T)) - (T(-1) < T(0) ? 1 : 0);
    constexpr int high = int((1u << bits) - 1), low = T(-1) < T(0) ? -high - 1 : 0;
    return x < low ? low : x > high ? high : x;
}
template <class T> EMU_INLINE unsigned sum_of_differences(unsigned a, unsigned b)
{
    constexpr int bits = 8 * int(sizeof(T));
    unsigned out = 0;
    for (int at = 0; at < 32; at += bits) {
        int x = T(a >> at), y = T(b >> at);
        out += unsigned(x < y ? y - x : x - y);
    }
    return out;
}

} // namespace emu

#define EMU_SIMD(name, T, expression)                                                                                  \
    EMU_INLINE unsigned int name(unsigned int a, unsigned int b)                                                       \
    {                                                                                                                  \
        return ::emu::each<T>(a, b, [](int x, int y) { return expression; });                                          \
    }
#define EMU_SIMD_ONE(name, T, expression)                                                                              \
    EMU_INLINE unsigned int name(unsigned int a)                                                                       \
    {                                                                                                                  \
        return ::emu::each<T>(a, 0, [](int x, int) { return expression; });                                            \
    }
#define EMU_COMPARE(relation, letter, n, T, expression)                                                                \
    EMU_SIMD(__vcmp##relation##letter##n, T, expression ? -1 : 0)                                                      \
    EMU_SIMD(__vset##relation##letter##n, T, expression ? 1 : 0)
// n: the number of elements, S and U: their signed and unsigned types.
#define EMU_ELEMENTS(n, S, U)                                                                                          \
    EMU_SIMD(__vadd##n, U, x + y)                                                                                      \
    EMU_SIMD(__vaddss##n, S, ::emu::clamped<S>(x + y))                                                                 \
    EMU_SIMD(__vaddus##n, U, ::emu::clamped<U>(x + y))                                                                 \
    EMU_SIMD(__vsub##n, U, x - y)                                                                                      \
    EMU_SIMD(__vsubss##n, S, ::emu::clamped<S>(x - y))                                                                 \
    EMU_SIMD(__vsubus##n, U, ::emu::clamped<U>(x - y))                                                                 \
    EMU_SIMD(__vavgs##n, S, (x + y + (x + y >= 0)) >> 1)                                                               \
    EMU_SIMD(__vavgu##n, U, (x + y + 1) >> 1)                                                                          \
    EMU_SIMD(__vhaddu##n, U, (x + y) >> 1)                                                                             \
    EMU_SIMD(__vabsdiffs##n, S, x < y ? y - x : x - y)                                                                 \
    EMU_SIMD(__vabsdiffu##n, U, x < y ? y - x : x - y)                                                                 \
    EMU_SIMD(__vmins##n, S, x < y ? x : y)                                                                             \
    EMU_SIMD(__vminu##n, U, x < y ? x : y)                                                                             \
    EMU_SIMD(__vmaxs##n, S, x > y ? x : y)                                                                             \
    EMU_SIMD(__vmaxu##n, U, x > y ? x : y)                                                                             \
    EMU_SIMD_ONE(__vabs##n, S, x < 0 ? -x : x)                                                                         \
    EMU_SIMD_ONE(__vabsss##n, S, ::emu::clamped<S>(x < 0 ? -x : x))                                                    \
    EMU_SIMD_ONE(__vneg##n, S, -x)                                                                                     \
    EMU_SIMD_ONE(__vnegss##n, S, ::emu::clamped<S>(-x))                                                                \
    EMU_INLINE unsigned int __vsads##n(unsigned int a, unsigned int b) { return ::emu::sum_of_differences<S>(a, b); }  \
    EMU_INLINE unsigned int __vsadu##n(unsigned int a, unsigned int b) { return ::emu::sum_of_differences<U>(a, b); }  \
    EMU_COMPARE(eq, , n, U, x == y)                                                                                    \
    EMU_COMPARE(ne, , n, U, x != y)                                                                                    \
    EMU_COMPARE(ge, s, n, S, x >= y)                                                                                   \
    EMU_COMPARE(ge, u, n, U, x >= y)                                                                                   \
    EMU_COMPARE(gt, s, n, S, x > y)                                                                                    \
    EMU_COMPARE(gt, u, n, U, x > y)                                                                                    \
    EMU_COMPARE(le, s, n, S, x <= y)                                                                                   \
    EMU_COMPARE(le, u, n, U, x <= y)                                                                                   \
    EMU_COMPARE(lt, s, n, S, x < y)                                                                                    \
    EMU_COMPARE(lt, u, n, U, x < y)
EMU_ELEMENTS(2, short, unsigned short)
EMU_ELEMENTS(4, signed char, unsigned char)

// Dynamic programming: sums wrap around, and `_relu` forms never return less than 0.
#define EMU_EXTREMUM(direction, order)                                                                                 \
    EMU_INLINE int __viadd##direction##_s32(int a, int b, int c) { return direction(int(unsigned(a) + unsigned(b)), c); } \
    EMU_INLINE unsigned __viadd##direction##_u32(unsigned a, unsigned b, unsigned c) { return direction(a + b, c); }   \
    EMU_INLINE int __viadd##direction##_s32_relu(int a, int b, int c)                                                  \
    {                                                                                                                  \
        return max(__viadd##direction##_s32(a, b, c), 0);                                                              \
    }                                                                                                                  \
    EMU_INLINE unsigned __viadd##direction##_s16x2(unsigned a, unsigned b, unsigned c)                                 \
    {                                                                                                                  \
        return __v##direction##s2(__vadd2(a, b), c);                                                                   \
    }                                                                                                                  \
    EMU_INLINE unsigned __viadd##direction##_u16x2(unsigned a, unsigned b, unsigned c)                                 \
    {                                                                                                                  \
        return __v##direction##u2(__vadd2(a, b), c);                                                                   \
    }                                                                                                                  \
    EMU_INLINE unsigned __viadd##direction##_s16x2_relu(unsigned a, unsigned b, unsigned c)                            \
    {                                                                                                                  \
        return __vmaxs2(__viadd##direction##_s16x2(a, b, c), 0);                                                       \
    }                                                                                                                  \
    EMU_INLINE int __vi##direction##_s32_relu(int a, int b) { return max(direction(a, b), 0); }                        \
    EMU_INLINE unsigned __vi##direction##_s16x2_relu(unsigned a, unsigned b)                                           \
    {                                                                                                                  \
        return __vmaxs2(__v##direction##s2(a, b), 0);                                                                  \
    }                                                                                                                  \
    EMU_INLINE int __vi##direction##3_s32(int a, int b, int c) { return direction(direction(a, b), c); }               \
    EMU_INLINE unsigned __vi##direction##3_u32(unsigned a, unsigned b, unsigned c)                                     \
    {                                                                                                                  \
        return direction(direction(a, b), c);                                                                          \
    }                                                                                                                  \
    EMU_INLINE int __vi##direction##3_s32_relu(int a, int b, int c)                                                    \
    {                                                                                                                  \
        return max(__vi##direction##3_s32(a, b, c), 0);                                                                \
    }                                                                                                                  \
    EMU_INLINE unsigned __vi##direction##3_s16x2(unsigned a, unsigned b, unsigned c)                                   \
    {                                                                                                                  \
        return __v##direction##s2(__v##direction##s2(a, b), c);                                                        \
    }                                                                                                                  \
    EMU_INLINE unsigned __vi##direction##3_u16x2(unsigned a, unsigned b, unsigned c)                                   \
    {                                                                                                                  \
        return __v##direction##u2(__v##direction##u2(a, b), c);                                                        \
    }                                                                                                                  \
    EMU_INLINE unsigned __vi##direction##3_s16x2_relu(unsigned a, unsigned b, unsigned c)                              \
    {                                                                                                                  \
        return __vmaxs2(__vi##direction##3_s16x2(a, b, c), 0);                                                         \
    }                                                                                                                  \
    EMU_INLINE int __vib##direction##_s32(int a, int b, bool* first)                                                   \
    {                                                                                                                  \
        return *first = a order b, direction(a, b);                                                                    \
    }                                                                                                                  \
    EMU_INLINE unsigned __vib##direction##_u32(unsigned a, unsigned b, bool* first)                                    \
    {                                                                                                                  \
        return *first = a order b, direction(a, b);                                                                    \
    }                                                                                                                  \
    EMU_INLINE unsigned __vib##direction##_s16x2(unsigned a, unsigned b, bool* high, bool* low)                        \
    {                                                                                                                  \
        *high = short(a >> 16) order short(b >> 16), *low = short(a) order short(b);                                   \
        return __v##direction##s2(a, b);                                                                               \
    }                                                                                                                  \
    EMU_INLINE unsigned __vib##direction##_u16x2(unsigned a, unsigned b, bool* high, bool* low)                        \
    {                                                                                                                  \
        *high = a >> 16 order b >> 16, *low = (a & 0xffff) order (b & 0xffff);                                         \
        return __v##direction##u2(a, b);                                                                               \
    }
EMU_EXTREMUM(max, >=)
EMU_EXTREMUM(min, <=)
#undef EMU_EXTREMUM
#undef EMU_ELEMENTS
#undef EMU_COMPARE
#undef EMU_SIMD
#undef EMU_SIMD_ONE

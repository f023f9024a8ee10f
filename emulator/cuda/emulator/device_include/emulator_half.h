// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// A 16-bit floating-point type, its pair, and their functions. Included once by cuda_fp16.h and once by cuda_bf16.h,
// which define EMU_H and EMU_H2 (the types), EMU_NAME (their name in conversion names), EMU_FORMAT,
// EMU_SCALAR_CONVERSIONS, EMU_SCALAR_OPERATORS and EMU_PAIR_OPERATORS (1 or 0).

#define EMU_JOIN_(a, b, c) a##b##c
#define EMU_JOIN(a, b, c) EMU_JOIN_(a, b, c)
#define EMU_N(before, after) EMU_JOIN(before, EMU_NAME, after)
#define EMU_H_RAW EMU_JOIN(EMU_H, _raw, )
#define EMU_H2_RAW EMU_JOIN(EMU_H2, _raw, )

// --- Types -----------------------------------------------------------------------------------------------------------

struct __attribute__((aligned(2))) EMU_H_RAW {
    unsigned short x;
};
struct __attribute__((aligned(4))) EMU_H2_RAW {
    unsigned short x, y;
};

struct __attribute__((aligned(2))) EMU_H {
    EMU_H() = default;
    constexpr EMU_H(const EMU_H_RAW& raw) : __x(raw.x) {}
    EMU_H& operator=(const EMU_H_RAW& raw) { __x = raw.x; return *this; }
    volatile EMU_H& operator=(const EMU_H_RAW& raw) volatile { __x = raw.x; return *this; }
    volatile EMU_H& operator=(const volatile EMU_H_RAW& raw) volatile { __x = raw.x; return *this; }
    constexpr operator EMU_H_RAW() const { return EMU_H_RAW {__x}; }
    operator EMU_H_RAW() const volatile { return EMU_H_RAW {__x}; }
#if EMU_SCALAR_CONVERSIONS
    EMU_H(float x) : __x((unsigned short)EMU_FORMAT::from(x)) {}
    EMU_H(double x) : __x((unsigned short)EMU_FORMAT::from(x)) {}
    operator float() const { return float(EMU_FORMAT::to(__x)); }
    operator bool() const { return (__x & 0x7fff) != 0; }
    EMU_H& operator=(float x) { return *this = EMU_H(x); }
    EMU_H& operator=(double x) { return *this = EMU_H(x); }
#define EMU_FROM(T)                                                                                                    \
    EMU_H(T x) : __x((unsigned short)EMU_FORMAT::from(::emu::integer_to_odd<T>(x))) {}
#define EMU_ASSIGN(T)                                                                                                  \
    EMU_H& operator=(T x) { return *this = EMU_H(x); }
#define EMU_TO(T)                                                                                                      \
    operator T() const { return ::emu::integer_of<T, ::emu::ROUND_ZERO>(EMU_FORMAT::to(__x)); }
    EMU_FROM(short) EMU_FROM(unsigned short) EMU_FROM(int) EMU_FROM(unsigned int) EMU_FROM(long)
    EMU_FROM(unsigned long) EMU_FROM(long long) EMU_FROM(unsigned long long)
    EMU_ASSIGN(short) EMU_ASSIGN(unsigned short) EMU_ASSIGN(int) EMU_ASSIGN(unsigned int) EMU_ASSIGN(long long)
    EMU_ASSIGN(unsigned long long)
    EMU_TO(char) EMU_TO(signed char) EMU_TO(unsigned char) EMU_TO(short) EMU_TO(unsigned short) EMU_TO(int)
    EMU_TO(unsigned int) EMU_TO(long) EMU_TO(unsigned long) EMU_TO(long long) EMU_TO(unsigned long long)
#undef EMU_FROM
#undef EMU_ASSIGN
#undef EMU_TO
#endif
#ifdef EMU_OTHER
    explicit EMU_H(const EMU_OTHER& other);
#endif
protected:
    unsigned short __x;
};

struct __attribute__((aligned(4))) EMU_H2 {
    EMU_H x, y;
    EMU_H2() = default;
    constexpr EMU_H2(const EMU_H& low, const EMU_H& high) : x(low), y(high) {}
    constexpr EMU_H2(const EMU_H2_RAW& raw) : x(EMU_H_RAW {raw.x}), y(EMU_H_RAW {raw.y}) {}
    // No assignment from EMU_H2_RAW: `a = {}` would be ambiguous.
    constexpr operator EMU_H2_RAW() const { return EMU_H2_RAW {EMU_H_RAW(x).x, EMU_H_RAW(y).x}; }
};

namespace emu {
EMU_INLINE unsigned short bits_of(EMU_H a) { return EMU_H_RAW(a).x; }
EMU_INLINE double value_of(EMU_H a) { return EMU_FORMAT::to(bits_of(a)); }
} // namespace emu
// The value x as the type. A macro, because a function could not be overloaded on its result.
#define EMU_MAKE(x) EMU_H(EMU_H_RAW {(unsigned short)EMU_FORMAT::from(x)})
#define EMU_BITS(bits) EMU_H(EMU_H_RAW {(unsigned short)(bits)})

// --- Conversions -----------------------------------------------------------------------------------------------------

EMU_INLINE EMU_H EMU_N(__float2, )(float x) { return EMU_MAKE(x); }
EMU_INLINE EMU_H EMU_N(__double2, )(double x) { return EMU_MAKE(x); }
EMU_INLINE float EMU_N(__, 2float)(EMU_H a) { return float(::emu::value_of(a)); }
#define EMU_ROUNDING(mode, MODE)                                                                                       \
    EMU_INLINE EMU_H EMU_N(__float2, _##mode)(float x) { return EMU_BITS(EMU_FORMAT::from< ::emu::MODE>(x)); }
EMU_ROUNDING(rn, ROUND_NEAREST)
EMU_ROUNDING(rz, ROUND_ZERO)
EMU_ROUNDING(rd, ROUND_DOWN)
EMU_ROUNDING(ru, ROUND_UP)
#undef EMU_ROUNDING
#define EMU_ROUNDING(T, name, mode, MODE)                                                                              \
    EMU_INLINE EMU_H EMU_N(__##name##2, _##mode)(T x)                                                                  \
    {                                                                                                                  \
        return EMU_BITS(EMU_FORMAT::from< ::emu::MODE>(::emu::integer_to_odd<T>(x)));                                  \
    }                                                                                                                  \
    EMU_INLINE T EMU_N(__, 2##name##_##mode)(EMU_H a)                                                                  \
    {                                                                                                                  \
        return ::emu::integer_of<T, ::emu::MODE>(::emu::value_of(a));                                                  \
    }
#define EMU_INTEGER(T, name)                                                                                           \
    EMU_ROUNDING(T, name, rn, ROUND_NEAREST)                                                                           \
    EMU_ROUNDING(T, name, rz, ROUND_ZERO)                                                                              \
    EMU_ROUNDING(T, name, rd, ROUND_DOWN)                                                                              \
    EMU_ROUNDING(T, name, ru, ROUND_UP)
EMU_INTEGER(short, short)
EMU_INTEGER(unsigned short, ushort)
EMU_INTEGER(int, int)
EMU_INTEGER(unsigned int, uint)
EMU_INTEGER(long long, ll)
EMU_INTEGER(unsigned long long, ull)
#undef EMU_ROUNDING
#undef EMU_INTEGER
EMU_INLINE signed char EMU_N(__, 2char_rz)(EMU_H a)
{
    return ::emu::integer_of<signed char, ::emu::ROUND_ZERO>(::emu::value_of(a));
}
EMU_INLINE unsigned char EMU_N(__, 2uchar_rz)(EMU_H a)
{
    return ::emu::integer_of<unsigned char, ::emu::ROUND_ZERO>(::emu::value_of(a));
}
EMU_INLINE short EMU_N(__, _as_short)(EMU_H a) { return (short)::emu::bits_of(a); }
EMU_INLINE unsigned short EMU_N(__, _as_ushort)(EMU_H a) { return ::emu::bits_of(a); }
EMU_INLINE EMU_H EMU_N(__short_as_, )(short bits) { return EMU_BITS(bits); }
EMU_INLINE EMU_H EMU_N(__ushort_as_, )(unsigned short bits) { return EMU_BITS(bits); }

EMU_INLINE EMU_H2 EMU_N(make_, 2)(EMU_H x, EMU_H y) { return EMU_H2(x, y); }
EMU_INLINE EMU_H2 EMU_N(__halves2, 2)(EMU_H x, EMU_H y) { return EMU_H2(x, y); }
EMU_INLINE EMU_H2 EMU_JOIN(EMU_N(__, 2), EMU_NAME, 2)(EMU_H a) { return EMU_H2(a, a); }
EMU_INLINE EMU_H2 EMU_N(__float2, 2_rn)(float x) { return EMU_H2(EMU_MAKE(x), EMU_MAKE(x)); }
EMU_INLINE EMU_H2 EMU_N(__floats2, 2_rn)(float x, float y) { return EMU_H2(EMU_MAKE(x), EMU_MAKE(y)); }
EMU_INLINE EMU_H2 EMU_N(__float22, 2_rn)(float2 a) { return EMU_H2(EMU_MAKE(a.x), EMU_MAKE(a.y)); }
EMU_INLINE float2 EMU_N(__, 22float2)(EMU_H2 a)
{
    return float2 {float(::emu::value_of(a.x)), float(::emu::value_of(a.y))};
}
EMU_INLINE float __low2float(EMU_H2 a) { return float(::emu::value_of(a.x)); }
EMU_INLINE float __high2float(EMU_H2 a) { return float(::emu::value_of(a.y)); }
EMU_INLINE EMU_H EMU_N(__low2, )(EMU_H2 a) { return a.x; }
EMU_INLINE EMU_H EMU_N(__high2, )(EMU_H2 a) { return a.y; }
EMU_INLINE EMU_H2 EMU_N(__low2, 2)(EMU_H2 a) { return EMU_H2(a.x, a.x); }
EMU_INLINE EMU_H2 EMU_N(__high2, 2)(EMU_H2 a) { return EMU_H2(a.y, a.y); }
EMU_INLINE EMU_H2 EMU_N(__lows2, 2)(EMU_H2 a, EMU_H2 b) { return EMU_H2(a.x, b.x); }
EMU_INLINE EMU_H2 EMU_N(__highs2, 2)(EMU_H2 a, EMU_H2 b) { return EMU_H2(a.y, b.y); }
EMU_INLINE EMU_H2 __lowhigh2highlow(EMU_H2 a) { return EMU_H2(a.y, a.x); }

// --- Arithmetic ------------------------------------------------------------------------------------------------------

// Each of these macros defines a function of one, two or three numbers, and its form for pairs.
#define EMU_ONE(name, name2, ...)                                                                                      \
    EMU_INLINE EMU_H name(EMU_H a) { __VA_ARGS__ }                                                                     \
    EMU_INLINE EMU_H2 name2(EMU_H2 a) { return EMU_H2(name(a.x), name(a.y)); }
#define EMU_TWO(name, name2, ...)                                                                                      \
    EMU_INLINE EMU_H name(EMU_H a, EMU_H b)                                                                            \
    {                                                                                                                  \
        double x = ::emu::value_of(a), y = ::emu::value_of(b);                                                         \
        return EMU_MAKE(__VA_ARGS__);                                                                                  \
    }                                                                                                                  \
    EMU_INLINE EMU_H2 name2(EMU_H2 a, EMU_H2 b) { return EMU_H2(name(a.x, b.x), name(a.y, b.y)); }
#define EMU_THREE(name, name2, function)                                                                               \
    EMU_INLINE EMU_H name(EMU_H a, EMU_H b, EMU_H c)                                                                   \
    {                                                                                                                  \
        double product = ::emu::value_of(a) * ::emu::value_of(b);                                                      \
        return EMU_MAKE(function(::emu::sum_to_odd(product, ::emu::value_of(c))));                                     \
    }                                                                                                                  \
    EMU_INLINE EMU_H2 name2(EMU_H2 a, EMU_H2 b, EMU_H2 c)                                                              \
    {                                                                                                                  \
        return EMU_H2(name(a.x, b.x, c.x), name(a.y, b.y, c.y));                                                       \
    }
EMU_TWO(__hadd, __hadd2, x + y)
EMU_TWO(__hsub, __hsub2, x - y)
EMU_TWO(__hmul, __hmul2, x* y)
EMU_TWO(__hadd_rn, __hadd2_rn, x + y)
EMU_TWO(__hsub_rn, __hsub2_rn, x - y)
EMU_TWO(__hmul_rn, __hmul2_rn, x* y)
EMU_TWO(__hadd_sat, __hadd2_sat, ::emu::unit_range(x + y))
EMU_TWO(__hsub_sat, __hsub2_sat, ::emu::unit_range(x - y))
EMU_TWO(__hmul_sat, __hmul2_sat, ::emu::unit_range(x* y))
EMU_TWO(__hdiv, __h2div, x / y)
EMU_TWO(__hmin, __hmin2, ::emu::smaller(x, y))
EMU_TWO(__hmax, __hmax2, ::emu::larger(x, y))
EMU_TWO(__hmin_nan, __hmin2_nan, x != x || y != y ? x + y : ::emu::smaller(x, y))
EMU_TWO(__hmax_nan, __hmax2_nan, x != x || y != y ? x + y : ::emu::larger(x, y))
EMU_THREE(__hfma, __hfma2, )
EMU_THREE(__hfma_sat, __hfma2_sat, ::emu::unit_range)
EMU_THREE(__hfma_relu, __hfma2_relu, ::emu::rectified)
EMU_ONE(__hneg, __hneg2, return EMU_MAKE(-::emu::value_of(a));)
EMU_ONE(__habs, __habs2, return EMU_MAKE(fabs(::emu::value_of(a)));)
EMU_INLINE EMU_H2 __hcmadd(EMU_H2 a, EMU_H2 b, EMU_H2 c)
{
    return EMU_H2(__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
}

#define EMU_MATH(name, function) EMU_ONE(h##name, h2##name, return EMU_MAKE(function(::emu::value_of(a)));)
EMU_MATH(sqrt, ::sqrt)
EMU_MATH(rsqrt, ::rsqrt)
EMU_MATH(rcp, 1.0 /)
EMU_MATH(exp, ::exp)
EMU_MATH(exp2, ::exp2)
EMU_MATH(exp10, ::exp10)
EMU_MATH(log, ::log)
EMU_MATH(log2, ::log2)
EMU_MATH(log10, ::log10)
EMU_MATH(sin, ::sin)
EMU_MATH(cos, ::cos)
EMU_MATH(tanh, ::tanh)
EMU_MATH(tanh_approx, ::tanh)
EMU_MATH(floor, ::floor)
EMU_MATH(ceil, ::ceil)
EMU_MATH(trunc, ::trunc)
EMU_MATH(rint, ::rint)
#undef EMU_MATH
#undef EMU_ONE
#undef EMU_TWO
#undef EMU_THREE

// --- Comparison ------------------------------------------------------------------------------------------------------

EMU_INLINE bool __hisnan(EMU_H a) { return ::emu::value_of(a) != ::emu::value_of(a); }
EMU_INLINE int __hisinf(EMU_H a)
{
    double x = ::emu::value_of(a);
    return x == __builtin_inf() ? 1 : x == -__builtin_inf() ? -1 : 0;
}

// The results of the pair forms: 1.0 or 0.0 for each element, a bit mask, or true if both are true.
#define EMU_COMPARE(name, ...)                                                                                         \
    EMU_INLINE bool __h##name(EMU_H a, EMU_H b)                                                                        \
    {                                                                                                                  \
        double x = ::emu::value_of(a), y = ::emu::value_of(b);                                                         \
        return __VA_ARGS__;                                                                                            \
    }                                                                                                                  \
    EMU_INLINE EMU_H2 __h##name##2(EMU_H2 a, EMU_H2 b)                                                                 \
    {                                                                                                                  \
        return EMU_H2(EMU_MAKE(double(__h##name(a.x, b.x))), EMU_MAKE(double(__h##name(a.y, b.y))));                   \
    }                                                                                                                  \
    EMU_INLINE unsigned __h##name##2_mask(EMU_H2 a, EMU_H2 b)                                                          \
    {                                                                                                                  \
        return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);                        \
    }                                                                                                                  \
    EMU_INLINE bool __hb##name##2(EMU_H2 a, EMU_H2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }
EMU_COMPARE(eq, x == y)
EMU_COMPARE(ne, x < y || x > y)
EMU_COMPARE(le, x <= y)
EMU_COMPARE(ge, x >= y)
EMU_COMPARE(lt, x < y)
EMU_COMPARE(gt, x > y)
EMU_COMPARE(equ, !(x < y || x > y))
EMU_COMPARE(neu, x != y)
EMU_COMPARE(leu, !(x > y))
EMU_COMPARE(geu, !(x < y))
EMU_COMPARE(ltu, !(x >= y))
EMU_COMPARE(gtu, !(x <= y))
#undef EMU_COMPARE
EMU_INLINE EMU_H2 __hisnan2(EMU_H2 a)
{
    return EMU_H2(EMU_MAKE(double(__hisnan(a.x))), EMU_MAKE(double(__hisnan(a.y))));
}

// --- Operators -------------------------------------------------------------------------------------------------------

#define EMU_OPERATOR(T, symbol, function)                                                                              \
    EMU_INLINE T operator symbol(const T& a, const T& b) { return function(a, b); }                                    \
    EMU_INLINE T& operator symbol##=(T& a, const T& b) { return a = function(a, b); }
#define EMU_COMPARISON(T, symbol, function)                                                                            \
    EMU_INLINE bool operator symbol(const T& a, const T& b) { return function(a, b); }
#define EMU_STEPS(T, one)                                                                                              \
    EMU_INLINE T& operator++(T& a) { return a += one; }                                                                \
    EMU_INLINE T& operator--(T& a) { return a -= one; }                                                                \
    EMU_INLINE T operator++(T& a, int) { T old = a; a += one; return old; }                                            \
    EMU_INLINE T operator--(T& a, int) { T old = a; a -= one; return old; }
#if EMU_SCALAR_OPERATORS
EMU_OPERATOR(EMU_H, +, __hadd)
EMU_OPERATOR(EMU_H, -, __hsub)
EMU_OPERATOR(EMU_H, *, __hmul)
EMU_OPERATOR(EMU_H, /, __hdiv)
EMU_COMPARISON(EMU_H, ==, __heq)
EMU_COMPARISON(EMU_H, !=, __hneu)
EMU_COMPARISON(EMU_H, <, __hlt)
EMU_COMPARISON(EMU_H, >, __hgt)
EMU_COMPARISON(EMU_H, <=, __hle)
EMU_COMPARISON(EMU_H, >=, __hge)
EMU_STEPS(EMU_H, EMU_MAKE(1.0))
EMU_INLINE EMU_H operator+(const EMU_H& a) { return a; }
EMU_INLINE EMU_H operator-(const EMU_H& a) { return __hneg(a); }
#endif
#if EMU_PAIR_OPERATORS
EMU_OPERATOR(EMU_H2, +, __hadd2)
EMU_OPERATOR(EMU_H2, -, __hsub2)
EMU_OPERATOR(EMU_H2, *, __hmul2)
EMU_OPERATOR(EMU_H2, /, __h2div)
EMU_COMPARISON(EMU_H2, ==, __hbeq2)
EMU_COMPARISON(EMU_H2, !=, __hbneu2)
EMU_COMPARISON(EMU_H2, <, __hblt2)
EMU_COMPARISON(EMU_H2, >, __hbgt2)
EMU_COMPARISON(EMU_H2, <=, __hble2)
EMU_COMPARISON(EMU_H2, >=, __hbge2)
EMU_STEPS(EMU_H2, EMU_H2(EMU_MAKE(1.0), EMU_MAKE(1.0)))
EMU_INLINE EMU_H2 operator+(const EMU_H2& a) { return a; }
EMU_INLINE EMU_H2 operator-(const EMU_H2& a) { return __hneg2(a); }
#endif
#undef EMU_OPERATOR
#undef EMU_COMPARISON
#undef EMU_STEPS

// --- Memory and warps ------------------------------------------------------------------------------------------------

#ifndef EMU_HOST
#define EMU_MEMORY(T)                                                                                                  \
    EMU_INLINE T __shfl_sync(unsigned mask, T value, int lane, int width = 32)                                         \
    {                                                                                                                  \
        return ::emu::shuffle(EMU_WARP_SHUFFLE_INDEX, mask, value, emu_u32(lane), width);                              \
    }                                                                                                                  \
    EMU_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)                                \
    {                                                                                                                  \
        return ::emu::shuffle(EMU_WARP_SHUFFLE_UP, mask, value, delta, width);                                         \
    }                                                                                                                  \
    EMU_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)                              \
    {                                                                                                                  \
        return ::emu::shuffle(EMU_WARP_SHUFFLE_DOWN, mask, value, delta, width);                                       \
    }                                                                                                                  \
    EMU_INLINE T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32)                                    \
    {                                                                                                                  \
        return ::emu::shuffle(EMU_WARP_SHUFFLE_XOR, mask, value, emu_u32(lanes), width);                               \
    }
EMU_MEMORY(EMU_H)
EMU_MEMORY(EMU_H2)
#undef EMU_MEMORY
EMU_INLINE EMU_H atomicAdd(EMU_H* pointer, EMU_H value)
{
    return ::emu::update(pointer, [value](EMU_H old) { return __hadd(old, value); });
}
EMU_INLINE EMU_H2 atomicAdd(EMU_H2* pointer, EMU_H2 value)
{
    return ::emu::update(pointer, [value](EMU_H2 old) { return __hadd2(old, value); });
}
#endif

#undef EMU_JOIN_
#undef EMU_JOIN
#undef EMU_N
#undef EMU_H_RAW
#undef EMU_H2_RAW
#undef EMU_MAKE
#undef EMU_BITS

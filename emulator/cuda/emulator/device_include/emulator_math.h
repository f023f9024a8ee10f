// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The CUDA math functions that are in the host's C library, and their C++ overloads.
#pragma once

extern "C" {
EMU_IMPORT float acosf(float x);
EMU_IMPORT double acos(double x);
EMU_IMPORT float acoshf(float x);
EMU_IMPORT double acosh(double x);
EMU_IMPORT float asinf(float x);
EMU_IMPORT double asin(double x);
EMU_IMPORT float asinhf(float x);
EMU_IMPORT double asinh(double x);
EMU_IMPORT float atanf(float x);
EMU_IMPORT double atan(double x);
EMU_IMPORT float atanhf(float x);
EMU_IMPORT double atanh(double x);
EMU_IMPORT float cbrtf(float x);
EMU_IMPORT double cbrt(double x);
EMU_IMPORT float ceilf(float x);
EMU_IMPORT double ceil(double x);
EMU_IMPORT float cosf(float x);
EMU_IMPORT double cos(double x);
EMU_IMPORT float coshf(float x);
EMU_IMPORT double cosh(double x);
EMU_IMPORT float erff(float x);
EMU_IMPORT double erf(double x);
EMU_IMPORT float erfcf(float x);
EMU_IMPORT double erfc(double x);
EMU_IMPORT float expf(float x);
EMU_IMPORT double exp(double x);
EMU_IMPORT float exp2f(float x);
EMU_IMPORT double exp2(double x);
EMU_IMPORT float expm1f(float x);
EMU_IMPORT double expm1(double x);
EMU_IMPORT float floorf(float x);
EMU_IMPORT double floor(double x);
EMU_IMPORT float lgammaf(float x);
EMU_IMPORT double lgamma(double x);
EMU_IMPORT float logf(float x);
EMU_IMPORT double log(double x);
EMU_IMPORT float log10f(float x);
EMU_IMPORT double log10(double x);
EMU_IMPORT float log1pf(float x);
EMU_IMPORT double log1p(double x);
EMU_IMPORT float log2f(float x);
EMU_IMPORT double log2(double x);
EMU_IMPORT float logbf(float x);
EMU_IMPORT double logb(double x);
EMU_IMPORT float nearbyintf(float x);
EMU_IMPORT double nearbyint(double x);
EMU_IMPORT float rintf(float x);
EMU_IMPORT double rint(double x);
EMU_IMPORT float roundf(float x);
EMU_IMPORT double round(double x);
EMU_IMPORT float sinf(float x);
EMU_IMPORT double sin(double x);
EMU_IMPORT float sinhf(float x);
EMU_IMPORT double sinh(double x);
EMU_IMPORT float sqrtf(float x);
EMU_IMPORT double sqrt(double x);
EMU_IMPORT float tanf(float x);
EMU_IMPORT double tan(double x);
EMU_IMPORT float tanhf(float x);
EMU_IMPORT double tanh(double x);
EMU_IMPORT float tgammaf(float x);
EMU_IMPORT double tgamma(double x);
EMU_IMPORT float truncf(float x);
EMU_IMPORT double trunc(double x);
EMU_IMPORT float fabsf(float x);
EMU_IMPORT double fabs(double x);
EMU_IMPORT float j0f(float x);
EMU_IMPORT double j0(double x);
EMU_IMPORT float j1f(float x);
EMU_IMPORT double j1(double x);
EMU_IMPORT float y0f(float x);
EMU_IMPORT double y0(double x);
EMU_IMPORT float y1f(float x);
EMU_IMPORT double y1(double x);
EMU_IMPORT float atan2f(float x, float y);
EMU_IMPORT double atan2(double x, double y);
EMU_IMPORT float copysignf(float x, float y);
EMU_IMPORT double copysign(double x, double y);
EMU_IMPORT float fdimf(float x, float y);
EMU_IMPORT double fdim(double x, double y);
EMU_IMPORT float fmaxf(float x, float y);
EMU_IMPORT double fmax(double x, double y);
EMU_IMPORT float fminf(float x, float y);
EMU_IMPORT double fmin(double x, double y);
EMU_IMPORT float fmodf(float x, float y);
EMU_IMPORT double fmod(double x, double y);
EMU_IMPORT float hypotf(float x, float y);
EMU_IMPORT double hypot(double x, double y);
EMU_IMPORT float nextafterf(float x, float y);
EMU_IMPORT double nextafter(double x, double y);
EMU_IMPORT float powf(float x, float y);
EMU_IMPORT double pow(double x, double y);
EMU_IMPORT float remainderf(float x, float y);
EMU_IMPORT double remainder(double x, double y);
EMU_IMPORT float fmaf(float x, float y, float z);
EMU_IMPORT double fma(double x, double y, double z);
EMU_IMPORT float ldexpf(float x, int exponent);
EMU_IMPORT double ldexp(double x, int exponent);
EMU_IMPORT float scalbnf(float x, int n);
EMU_IMPORT double scalbn(double x, int n);
EMU_IMPORT float scalblnf(float x, long n);
EMU_IMPORT double scalbln(double x, long n);
EMU_IMPORT int ilogbf(float x);
EMU_IMPORT int ilogb(double x);
EMU_IMPORT float jnf(int n, float x);
EMU_IMPORT double jn(int n, double x);
EMU_IMPORT float ynf(int n, float x);
EMU_IMPORT double yn(int n, double x);
EMU_IMPORT long lrintf(float x);
EMU_IMPORT long lrint(double x);
EMU_IMPORT long lroundf(float x);
EMU_IMPORT long lround(double x);
EMU_IMPORT long long llrintf(float x);
EMU_IMPORT long long llrint(double x);
EMU_IMPORT long long llroundf(float x);
EMU_IMPORT long long llround(double x);
EMU_IMPORT float nanf(const char* tag);
EMU_IMPORT double nan(const char* tag);
EMU_IMPORT int abs(int x) noexcept;
EMU_IMPORT long labs(long x) noexcept;
EMU_IMPORT long long llabs(long long x) noexcept;
}

// Functions of the host's library that store through pointers. The checks see only what compiled code stores.
#define EMU_STORING(T, suffix)                                                                                    \
    namespace emu {                                                                                               \
    extern "C" {                                                                                                  \
    EMU_IMPORT T host_frexp##suffix(T x, int* exponent) __asm__("frexp" #suffix);                                 \
    EMU_IMPORT T host_modf##suffix(T x, T* whole) __asm__("modf" #suffix);                                        \
    EMU_IMPORT T host_remquo##suffix(T x, T y, int* quotient) __asm__("remquo" #suffix);                          \
    EMU_IMPORT void host_sincos##suffix(T x, T* sine, T* cosine) __asm__("sincos" #suffix);                       \
    }                                                                                                             \
    }                                                                                                             \
    EMU_INLINE T frexp##suffix(T x, int* exponent)                                                                \
    {                                                                                                             \
        int e;                                                                                                    \
        T result = ::emu::host_frexp##suffix(x, &e);                                                              \
        *exponent = e;                                                                                            \
        return result;                                                                                            \
    }                                                                                                             \
    EMU_INLINE T modf##suffix(T x, T* whole)                                                                      \
    {                                                                                                             \
        T w, result = ::emu::host_modf##suffix(x, &w);                                                            \
        *whole = w;                                                                                               \
        return result;                                                                                            \
    }                                                                                                             \
    EMU_INLINE T remquo##suffix(T x, T y, int* quotient)                                                          \
    {                                                                                                             \
        int q;                                                                                                    \
        T result = ::emu::host_remquo##suffix(x, y, &q);                                                          \
        *quotient = q;                                                                                            \
        return result;                                                                                            \
    }                                                                                                             \
    EMU_INLINE void sincos##suffix(T x, T* sine, T* cosine)                                                       \
    {                                                                                                             \
        T s, c;                                                                                                   \
        ::emu::host_sincos##suffix(x, &s, &c);                                                                    \
        *sine = s;                                                                                                \
        *cosine = c;                                                                                              \
    }
EMU_STORING(float, f)
EMU_STORING(double, )
#undef EMU_STORING

namespace emu {
template <bool> struct EnableIf {};
template <> struct EnableIf<true> {
    typedef double type;
};
template <class T> struct IsInteger {
    static constexpr bool value = false;
};
#define EMU_INTEGER(T)                                                                            \
    template <> struct IsInteger<T> {                                                             \
        static constexpr bool value = true;                                                       \
    };
EMU_INTEGER(bool) EMU_INTEGER(char) EMU_INTEGER(signed char) EMU_INTEGER(unsigned char)
EMU_INTEGER(short) EMU_INTEGER(unsigned short) EMU_INTEGER(int) EMU_INTEGER(unsigned int)
EMU_INTEGER(long) EMU_INTEGER(unsigned long) EMU_INTEGER(long long) EMU_INTEGER(unsigned long long)
#undef EMU_INTEGER
// The type of sin(1): integers count as double.
template <class T> struct Promoted : EnableIf<IsInteger<T>::value> {};
} // namespace emu

#define EMU_UNARY(name)                                                                             \
    EMU_INLINE float name(float x) { return name##f(x); }                                         \
    template <class T> EMU_INLINE typename ::emu::Promoted<T>::type name(T x) { return name((double)x); }
#define EMU_BINARY(name)                                                                             \
    EMU_INLINE float name(float x, float y) { return name##f(x, y); }                             \
    EMU_INLINE double name(float x, double y) { return name((double)x, y); }                      \
    EMU_INLINE double name(double x, float y) { return name(x, (double)y); }
EMU_UNARY(acos)
EMU_UNARY(acosh)
EMU_UNARY(asin)
EMU_UNARY(asinh)
EMU_UNARY(atan)
EMU_UNARY(atanh)
EMU_UNARY(cbrt)
EMU_UNARY(ceil)
EMU_UNARY(cos)
EMU_UNARY(cosh)
EMU_UNARY(erf)
EMU_UNARY(erfc)
EMU_UNARY(exp)
EMU_UNARY(exp2)
EMU_UNARY(expm1)
EMU_UNARY(floor)
EMU_UNARY(lgamma)
EMU_UNARY(log)
EMU_UNARY(log10)
EMU_UNARY(log1p)
EMU_UNARY(log2)
EMU_UNARY(logb)
EMU_UNARY(nearbyint)
EMU_UNARY(rint)
EMU_UNARY(round)
EMU_UNARY(sin)
EMU_UNARY(sinh)
EMU_UNARY(sqrt)
EMU_UNARY(tan)
EMU_UNARY(tanh)
EMU_UNARY(tgamma)
EMU_UNARY(trunc)
EMU_UNARY(fabs)
EMU_BINARY(atan2)
EMU_BINARY(copysign)
EMU_BINARY(fdim)
EMU_BINARY(fmax)
EMU_BINARY(fmin)
EMU_BINARY(fmod)
EMU_BINARY(hypot)
EMU_BINARY(nextafter)
EMU_BINARY(pow)
EMU_BINARY(remainder)
#undef EMU_UNARY
#undef EMU_BINARY
EMU_INLINE float pow(float x, int n) { return powf(x, (float)n); }
EMU_INLINE double pow(double x, int n) { return pow(x, (double)n); }
EMU_INLINE double pow(int x, double y) { return pow((double)x, y); }
EMU_INLINE double pow(int x, int y) { return pow((double)x, (double)y); }
EMU_INLINE float fma(float x, float y, float z) { return fmaf(x, y, z); }
EMU_INLINE float frexp(float x, int* exponent) { return frexpf(x, exponent); }
EMU_INLINE float ldexp(float x, int exponent) { return ldexpf(x, exponent); }
EMU_INLINE float scalbn(float x, int n) { return scalbnf(x, n); }
EMU_INLINE float scalbln(float x, long n) { return scalblnf(x, n); }
EMU_INLINE float modf(float x, float* whole) { return modff(x, whole); }
EMU_INLINE float remquo(float x, float y, int* quotient) { return remquof(x, y, quotient); }
EMU_INLINE int ilogb(float x) { return ilogbf(x); }
EMU_INLINE long lrint(float x) { return lrintf(x); }
EMU_INLINE long lround(float x) { return lroundf(x); }
EMU_INLINE long long llrint(float x) { return llrintf(x); }
EMU_INLINE long long llround(float x) { return llroundf(x); }
EMU_INLINE void sincos(float x, float* sine, float* cosine) { sincosf(x, sine, cosine); }
EMU_INLINE long abs(long x) { return labs(x); }
EMU_INLINE long long abs(long long x) { return llabs(x); }
EMU_INLINE float abs(float x) { return fabsf(x); }
EMU_INLINE double abs(double x) { return fabs(x); }

EMU_INLINE bool isnan(float x) { return __builtin_isnan(x); }
EMU_INLINE bool isnan(double x) { return __builtin_isnan(x); }
EMU_INLINE bool isinf(float x) { return __builtin_isinf(x); }
EMU_INLINE bool isinf(double x) { return __builtin_isinf(x); }
EMU_INLINE bool isfinite(float x) { return __builtin_isfinite(x); }
EMU_INLINE bool isfinite(double x) { return __builtin_isfinite(x); }
EMU_INLINE bool isnormal(float x) { return __builtin_isnormal(x); }
EMU_INLINE bool isnormal(double x) { return __builtin_isnormal(x); }
EMU_INLINE bool signbit(float x) { return __builtin_signbit(x); }
EMU_INLINE bool signbit(double x) { return __builtin_signbit(x); }
EMU_INLINE int finitef(float x) { return __builtin_isfinite(x); }
EMU_INLINE int finite(double x) { return __builtin_isfinite(x); }
EMU_INLINE int __finitef(float x) { return __builtin_isfinite(x); }
EMU_INLINE int __finite(double x) { return __builtin_isfinite(x); }
EMU_INLINE int __isnanf(float x) { return __builtin_isnan(x); }
EMU_INLINE int __isnan(double x) { return __builtin_isnan(x); }
EMU_INLINE int __isinff(float x) { return __builtin_isinf(x) != 0; }
EMU_INLINE int __isinf(double x) { return __builtin_isinf(x) != 0; }
EMU_INLINE int __signbitf(float x) { return __builtin_signbit(x) != 0; }
EMU_INLINE int __signbit(double x) { return __builtin_signbit(x) != 0; }
EMU_INLINE int __signbitd(double x) { return __builtin_signbit(x) != 0; }

#define EMU_MIN_MAX(T)                                                                            \
    EMU_INLINE T min(T a, T b) { return b < a ? b : a; }                                          \
    EMU_INLINE T max(T a, T b) { return a < b ? b : a; }
EMU_MIN_MAX(int)
EMU_MIN_MAX(unsigned int)
EMU_MIN_MAX(long)
EMU_MIN_MAX(unsigned long)
EMU_MIN_MAX(long long)
EMU_MIN_MAX(unsigned long long)
#undef EMU_MIN_MAX
// A signed and an unsigned argument are compared as unsigned.
#define EMU_MIXED(A, B, T)                                                                        \
    EMU_INLINE T min(A a, B b) { return min((T)a, (T)b); }                                        \
    EMU_INLINE T max(A a, B b) { return max((T)a, (T)b); }                                        \
    EMU_INLINE T min(B a, A b) { return min((T)a, (T)b); }                                        \
    EMU_INLINE T max(B a, A b) { return max((T)a, (T)b); }
EMU_MIXED(int, unsigned int, unsigned int)
EMU_MIXED(long, unsigned long, unsigned long)
EMU_MIXED(long long, unsigned long long, unsigned long long)
#undef EMU_MIXED
EMU_INLINE float min(float a, float b) { return fminf(a, b); }
EMU_INLINE float max(float a, float b) { return fmaxf(a, b); }
EMU_INLINE double min(double a, double b) { return fmin(a, b); }
EMU_INLINE double max(double a, double b) { return fmax(a, b); }
EMU_INLINE double min(float a, double b) { return fmin((double)a, b); }
EMU_INLINE double max(float a, double b) { return fmax((double)a, b); }
EMU_INLINE double min(double a, float b) { return fmin(a, (double)b); }
EMU_INLINE double max(double a, float b) { return fmax(a, (double)b); }
EMU_INLINE unsigned int umin(unsigned int a, unsigned int b) { return min(a, b); }
EMU_INLINE unsigned int umax(unsigned int a, unsigned int b) { return max(a, b); }
EMU_INLINE long long llmin(long long a, long long b) { return min(a, b); }
EMU_INLINE long long llmax(long long a, long long b) { return max(a, b); }
EMU_INLINE unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
EMU_INLINE unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

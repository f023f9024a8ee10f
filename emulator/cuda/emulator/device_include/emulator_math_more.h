// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA functions missing from the C library, in both precisions. Single-precision functions are computed in double and
// rounded once, so they are at least as accurate as CUDA's.
#pragma once

namespace emu {
static constexpr double pi = 3.14159265358979323846;

// Returns x reduced to [-1/4, 1/4], in half turns, and its quadrant.
EMU_INLINE double half_turns(double x, int* quadrant)
{
    double whole = rint(2.0 * x);
    *quadrant = int((long long)fmod(whole, 4.0)) & 3;
    return fma(-0.5, whole, x);
}
inline double sin_of_turn(double x, int shift)
{
    if (!__builtin_isfinite(x))
        return x - x;
    int quadrant = 0;
    double part = half_turns(x, &quadrant) * pi;
    quadrant = (quadrant + shift) & 3;
    double value = quadrant & 1 ? cos(part) : sin(part);
    return quadrant & 2 ? -value : value;
}

// An approximate start value, improved by Halley's method on erf where that is accurate, and on erfc elsewhere.
inline double inverse_erfc(double x);
inline double inverse_erf(double x)
{
    if (!(x > -1.0 && x < 1.0))
        return x == 1.0 || x == -1.0 ? x * __builtin_inf() : __builtin_nan("");
    if (fabs(x) > 0.5)
        return copysign(inverse_erfc(1.0 - fabs(x)), x);
    double y = x * (0.88622692545275801 + 0.23201366653465449 * x * x);
    for (int i = 0; i < 4; ++i) {
        double delta = (erf(y) - x) / (1.1283791670955126 * exp(-y * y));
        y -= delta / (1.0 + y * delta);
    }
    return y;
}
inline double inverse_erfc(double x)
{
    if (!(x > 0.0 && x < 2.0))
        return x == 0.0 ? __builtin_inf() : x == 2.0 ? -__builtin_inf() : __builtin_nan("");
    if (x >= 0.5 && x <= 1.5)
        return inverse_erf(1.0 - x);
    double p = x < 1.0 ? x : 2.0 - x;
    double t = sqrt(-2.0 * log(0.5 * p));
    double y = (t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                        (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)))) * 0.70710678118654752;
    for (int i = 0; i < 4; ++i) {
        double delta = (erfc(y) - p) / (-1.1283791670955126 * exp(-y * y));
        y -= delta / (1.0 + y * delta);
    }
    return x < 1.0 ? y : -y;
}
inline double bessel_i(int order, double x)
{
    double half = 0.5 * fabs(x), term = order ? half : 1.0, sum = term;
    if (half > 355.0)
        return __builtin_inf();
    for (int k = 1; k < 2000; ++k) {
        term *= half / k * (half / (k + order));
        sum += term;
        if (term < sum * 1e-17)
            break;
    }
    return order && x < 0 ? -sum : sum;
}
inline double norm_of(int count, const double* values)
{
    double largest = 0.0, sum = 0.0;
    for (int i = 0; i < count; ++i) {
        double size = fabs(values[i]);
        if (__builtin_isinf(size))
            return size;
        largest = !(size <= largest) ? size : largest;
    }
    if (!(largest > 0.0))
        return largest;
    for (int i = 0; i < count; ++i)
        sum += (values[i] / largest) * (values[i] / largest);
    return largest * sqrt(sum);
}
inline float norm_of(int count, const float* values)
{
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        if (__builtin_isinf(values[i]))
            return fabsf(values[i]);
        sum += double(values[i]) * values[i];
    }
    return float(sqrt(sum));
}
} // namespace emu

inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrtf(float x) { return (float)rsqrt((double)x); }
EMU_INLINE float rsqrt(float x) { return rsqrtf(x); }
inline double rcbrt(double x) { return 1.0 / cbrt(x); }
inline float rcbrtf(float x) { return (float)rcbrt((double)x); }
EMU_INLINE float rcbrt(float x) { return rcbrtf(x); }
inline double exp10(double x) { return pow(10.0, x); }
inline float exp10f(float x) { return (float)exp10((double)x); }
EMU_INLINE float exp10(float x) { return exp10f(x); }
inline double sinpi(double x) { return ::emu::sin_of_turn(x, 0); }
inline float sinpif(float x) { return (float)sinpi((double)x); }
EMU_INLINE float sinpi(float x) { return sinpif(x); }
inline double cospi(double x) { return ::emu::sin_of_turn(x, 1); }
inline float cospif(float x) { return (float)cospi((double)x); }
EMU_INLINE float cospi(float x) { return cospif(x); }
inline double tanpi(double x) { return sinpi(x) / cospi(x); }
inline float tanpif(float x) { return (float)tanpi((double)x); }
EMU_INLINE float tanpi(float x) { return tanpif(x); }
inline double erfinv(double x) { return ::emu::inverse_erf(x); }
inline float erfinvf(float x) { return (float)erfinv((double)x); }
EMU_INLINE float erfinv(float x) { return erfinvf(x); }
inline double erfcinv(double x) { return ::emu::inverse_erfc(x); }
inline float erfcinvf(float x) { return (float)erfcinv((double)x); }
EMU_INLINE float erfcinv(float x) { return erfcinvf(x); }
inline double erfcx(double x) { return x < 25.0 ? exp(x * x) * erfc(x) : 0.56418958354775629 / (x * (1.0 + 0.5 / (x * x))); }
inline float erfcxf(float x) { return (float)erfcx((double)x); }
EMU_INLINE float erfcx(float x) { return erfcxf(x); }
inline double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752); }
inline float normcdff(float x) { return (float)normcdf((double)x); }
EMU_INLINE float normcdf(float x) { return normcdff(x); }
inline double normcdfinv(double x) { return -1.4142135623730951 * ::emu::inverse_erfc(2.0 * x); }
inline float normcdfinvf(float x) { return (float)normcdfinv((double)x); }
EMU_INLINE float normcdfinv(float x) { return normcdfinvf(x); }
inline double cyl_bessel_i0(double x) { return ::emu::bessel_i(0, x); }
inline float cyl_bessel_i0f(float x) { return (float)cyl_bessel_i0((double)x); }
EMU_INLINE float cyl_bessel_i0(float x) { return cyl_bessel_i0f(x); }
inline double cyl_bessel_i1(double x) { return ::emu::bessel_i(1, x); }
inline float cyl_bessel_i1f(float x) { return (float)cyl_bessel_i1((double)x); }
EMU_INLINE float cyl_bessel_i1(float x) { return cyl_bessel_i1f(x); }

inline void sincospi(double x, double* sine, double* cosine)
{
    *sine = sinpi(x);
    *cosine = cospi(x);
}
inline void sincospif(float x, float* sine, float* cosine)
{
    *sine = sinpif(x);
    *cosine = cospif(x);
}
EMU_INLINE void sincospi(float x, float* sine, float* cosine) { sincospif(x, sine, cosine); }

#define EMU_NORMS(T, suffix)                                                                      \
    inline T norm3d##suffix(T a, T b, T c)                                                        \
    {                                                                                             \
        T values[] = {a, b, c};                                                                   \
        return ::emu::norm_of(3, values);                                                         \
    }                                                                                             \
    inline T norm4d##suffix(T a, T b, T c, T d)                                                   \
    {                                                                                             \
        T values[] = {a, b, c, d};                                                                \
        return ::emu::norm_of(4, values);                                                         \
    }                                                                                             \
    inline T norm##suffix(int count, const T* values) { return ::emu::norm_of(count, values); }   \
    inline T rhypot##suffix(T a, T b) { return (T)1 / hypot(a, b); }                              \
    inline T rnorm3d##suffix(T a, T b, T c) { return (T)1 / norm3d##suffix(a, b, c); }            \
    inline T rnorm4d##suffix(T a, T b, T c, T d) { return (T)1 / norm4d##suffix(a, b, c, d); }    \
    inline T rnorm##suffix(int count, const T* values) { return (T)1 / norm##suffix(count, values); }
EMU_NORMS(double, )
EMU_NORMS(float, f)
#undef EMU_NORMS

EMU_INLINE float fdividef(float x, float y) { return x / y; }
EMU_INLINE float fdivide(float x, float y) { return x / y; }
EMU_INLINE double fdivide(double x, double y) { return x / y; }
EMU_INLINE float saturate(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The functions of CUDA C++ that host code also has, besides those of <math.h>.
#pragma once

// Both arguments are converted to their common type, in which unsigned wins, as CUDA's overloads do.
#define CUDA_MIN_MAX(A, B, T) \
    inline T min(A a, B b) { return (T)b < (T)a ? (T)b : (T)a; } \
    inline T max(A a, B b) { return (T)a < (T)b ? (T)b : (T)a; }
#define CUDA_MIN_MAX_OF_SIGNS(A, U) \
    CUDA_MIN_MAX(A, A, A) CUDA_MIN_MAX(U, U, U) CUDA_MIN_MAX(A, U, U) CUDA_MIN_MAX(U, A, U)
CUDA_MIN_MAX_OF_SIGNS(int, unsigned int)
CUDA_MIN_MAX_OF_SIGNS(long, unsigned long)
CUDA_MIN_MAX_OF_SIGNS(long long, unsigned long long)
CUDA_MIN_MAX(float, float, float)
CUDA_MIN_MAX(double, double, double)
CUDA_MIN_MAX(float, double, double)
CUDA_MIN_MAX(double, float, double)
#undef CUDA_MIN_MAX_OF_SIGNS
#undef CUDA_MIN_MAX
inline float rsqrtf(float x) { return 1 / sqrtf(x); }
inline double rsqrt(double x) { return 1 / sqrt(x); }
inline float rcbrtf(float x) { return 1 / cbrtf(x); }
inline double rcbrt(double x) { return 1 / cbrt(x); }
inline void sincospif(float x, float* sine, float* cosine)
{
    *sine = float(sin(x * M_PI));
    *cosine = float(cos(x * M_PI));
}

// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Constants from <math.h>, <limits.h>, <stdlib.h> and <stddef.h>, which sources use without including those headers.
#pragma once

// These are not macros, so a source can define its own constants under these names.
#if __cplusplus >= 201103L
constexpr double M_E = 2.7182818284590452354;
constexpr double M_LOG2E = 1.4426950408889634074;
constexpr double M_LOG10E = 0.43429448190325182765;
constexpr double M_LN2 = 0.69314718055994530942;
constexpr double M_LN10 = 2.30258509299404568402;
constexpr double M_PI = 3.14159265358979323846;
constexpr double M_PI_2 = 1.57079632679489661923;
constexpr double M_PI_4 = 0.78539816339744830962;
constexpr double M_1_PI = 0.31830988618379067154;
constexpr double M_2_PI = 0.63661977236758134308;
constexpr double M_2_SQRTPI = 1.12837916709551257390;
constexpr double M_SQRT2 = 1.41421356237309504880;
constexpr double M_SQRT1_2 = 0.70710678118654752440;
#elif !defined(M_PI)
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif

#ifndef INFINITY
#define INFINITY (__int_as_float(0x7f800000))
#endif
#ifndef NAN
#define NAN (__int_as_float(0x7fffffff))
#endif
#ifndef HUGE_VALF
#define HUGE_VALF (__int_as_float(0x7f800000))
#endif
#ifndef HUGE_VAL
#define HUGE_VAL (__longlong_as_double(0x7ff0000000000000LL))
#endif
#ifndef MAXFLOAT
#define MAXFLOAT 3.40282346638528859812e+38F
#endif

#ifndef CHAR_BIT
#define CHAR_BIT 8
#endif
#ifndef SCHAR_MAX
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#endif
#ifndef INT_MAX
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#endif
#ifndef UINT_MAX
#define UINT_MAX 4294967295U
#endif
#ifndef LONG_MAX
#define LONG_MIN (-9223372036854775807L - 1L)
#define LONG_MAX 9223372036854775807L
#define ULONG_MAX 18446744073709551615UL
#endif
#ifndef LLONG_MAX
#define LLONG_MIN (-9223372036854775807LL - 1LL)
#define LLONG_MAX 9223372036854775807LL
#define ULLONG_MAX 18446744073709551615ULL
#endif

#ifndef RAND_MAX
#define RAND_MAX 2147483647
#endif
#ifndef NULL
#define NULL 0
#endif
#ifndef offsetof
#define offsetof(type, member) ((size_t)&(((type *)0)->member))
#endif

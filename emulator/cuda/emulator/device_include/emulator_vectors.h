// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Vector types and dim3, which the host part of programs uses as well.
#pragma once

// a1 to a4: alignments of the vectors of 1 to 4 elements.
#define EMU_VECTOR(base, element, a1, a2, a3, a4)                                                 \
    struct __attribute__((aligned(a1))) base##1 {                                                 \
        element x;                                                                                \
    };                                                                                            \
    struct __attribute__((aligned(a2))) base##2 {                                                 \
        element x, y;                                                                             \
    };                                                                                            \
    struct __attribute__((aligned(a3))) base##3 {                                                 \
        element x, y, z;                                                                          \
    };                                                                                            \
    struct __attribute__((aligned(a4))) base##4 {                                                 \
        element x, y, z, w;                                                                       \
    };                                                                                            \
    inline base##1 make_##base##1(element x) { return base##1 {x}; }                              \
    inline base##2 make_##base##2(element x, element y) { return base##2 {x, y}; }                \
    inline base##3 make_##base##3(element x, element y, element z) { return base##3 {x, y, z}; }  \
    inline base##4 make_##base##4(element x, element y, element z, element w)                     \
    {                                                                                             \
        return base##4 {x, y, z, w};                                                              \
    }

EMU_VECTOR(char, signed char, 1, 2, 1, 4)
EMU_VECTOR(uchar, unsigned char, 1, 2, 1, 4)
EMU_VECTOR(short, short, 2, 4, 2, 8)
EMU_VECTOR(ushort, unsigned short, 2, 4, 2, 8)
EMU_VECTOR(int, int, 4, 8, 4, 16)
EMU_VECTOR(uint, unsigned int, 4, 8, 4, 16)
EMU_VECTOR(long, long, 8, 16, 8, 16)
EMU_VECTOR(ulong, unsigned long, 8, 16, 8, 16)
EMU_VECTOR(longlong, long long, 8, 16, 8, 16)
EMU_VECTOR(ulonglong, unsigned long long, 8, 16, 8, 16)
EMU_VECTOR(float, float, 4, 8, 4, 16)
EMU_VECTOR(double, double, 8, 16, 8, 16)
#undef EMU_VECTOR

// 32-byte vectors, whose names contain their alignment.
#define EMU_WIDE_VECTOR(base, element)                                                            \
    struct __attribute__((aligned(16))) base##4_16a {                                             \
        element x, y, z, w;                                                                       \
    };                                                                                            \
    struct __attribute__((aligned(32))) base##4_32a {                                             \
        element x, y, z, w;                                                                       \
    };                                                                                            \
    inline base##4_16a make_##base##4_16a(element x, element y, element z, element w)             \
    {                                                                                             \
        return base##4_16a {x, y, z, w};                                                          \
    }                                                                                             \
    inline base##4_32a make_##base##4_32a(element x, element y, element z, element w)             \
    {                                                                                             \
        return base##4_32a {x, y, z, w};                                                          \
    }
EMU_WIDE_VECTOR(long, long)
EMU_WIDE_VECTOR(ulong, unsigned long)
EMU_WIDE_VECTOR(longlong, long long)
EMU_WIDE_VECTOR(ulonglong, unsigned long long)
EMU_WIDE_VECTOR(double, double)
#undef EMU_WIDE_VECTOR

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return uint3{x, y, z}; }
};

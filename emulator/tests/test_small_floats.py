# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""cuda_fp6.h and cuda_fp4.h, compared with tables of all values."""

import math

import numpy as np
import pytest

from support.compiled import Code, Program

# The name of the size, the type, the bits of exponent and fraction, and the bits of an element in a vector.
FORMATS = {"E2M3": ("fp6", 2, 3, 8), "E3M2": ("fp6", 3, 2, 8), "E2M1": ("fp4", 2, 1, 4)}
MODES = ["cudaRoundNearest", "cudaRoundZero", "cudaRoundPosInf", "cudaRoundMinInf"]

SOURCE = r"""
#include <cuda_fp6.h>
#include <cuda_fp4.h>
#define LOOP for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
template <class Pair> __device__ unsigned bits_of(Pair x) { return x.__x; }
#define KERNELS(name, kind, type, type2, type4, stride)                                                                \
extern "C" __global__ void narrow_##type(const double* x, unsigned* out, int mode, int n)                              \
{                                                                                                                      \
    cudaRoundMode rounding = (cudaRoundMode)mode;                                                                      \
    LOOP {                                                                                                             \
        unsigned* o = out + 8 * i;                                                                                     \
        float f = float(x[i]);                                                                                         \
        o[0] = __nv_cvt_double_to_##name(x[i], kind, rounding);                                                        \
        o[1] = __nv_cvt_float_to_##name(f, kind, rounding);                                                            \
        o[2] = __nv_cvt_halfraw_to_##name(__double2half(x[i]), kind, rounding);                                        \
        o[3] = __nv_cvt_bfloat16raw_to_##name(__double2bfloat16(x[i]), kind, rounding);                                \
        o[4] = __nv_cvt_double2_to_##name##x2(make_double2(x[i], x[n - 1 - i]), kind, rounding);                       \
        o[5] = __nv_cvt_float2_to_##name##x2(make_float2(f, float(x[n - 1 - i])), kind, rounding);                     \
        o[6] = __nv_cvt_halfraw2_to_##name##x2(__floats2half2_rn(f, float(x[n - 1 - i])), kind, rounding);             \
        o[7] = __nv_cvt_bfloat16raw2_to_##name##x2(__floats2bfloat162_rn(f, float(x[n - 1 - i])), kind, rounding);     \
    }                                                                                                                  \
}                                                                                                                      \
extern "C" __global__ void make_##type(const double* x, unsigned* out, int n)                                          \
{                                                                                                                      \
    LOOP {                                                                                                             \
        unsigned* o = out + 10 * i;                                                                                    \
        float f = float(x[i]);                                                                                         \
        o[0] = type(x[i]).__x;                                                                                         \
        o[1] = type(f).__x;                                                                                            \
        o[2] = type(__float2half(f)).__x;                                                                              \
        o[3] = type(__float2bfloat16(f)).__x;                                                                          \
        o[4] = type2(make_float2(f, 1.0f)).__x;                                                                        \
        o[5] = type2(make_double2(x[i], 1.0)).__x;                                                                     \
        o[6] = type2(__floats2half2_rn(f, 1.0f)).__x;                                                                  \
        o[7] = type2(__floats2bfloat162_rn(f, 1.0f)).__x;                                                              \
        o[8] = type4(make_float4(f, 1.0f, f, -1.0f)).__x;                                                              \
        o[9] = type4(__floats2half2_rn(f, 1.0f), __floats2half2_rn(f, -1.0f)).__x;                                     \
    }                                                                                                                  \
}                                                                                                                      \
extern "C" __global__ void widen_##type(double* out, int n)                                                            \
{                                                                                                                      \
    LOOP {                                                                                                             \
        double* o = out + 10 * i;                                                                                      \
        type x;                                                                                                        \
        x.__x = i;                                                                                                     \
        type2 pair;                                                                                                    \
        pair.__x = i | (n - 1 - i) << stride;                                                                          \
        type4 four;                                                                                                    \
        four.__x = (unsigned)i << (3 * stride) | pair.__x;                                                             \
        o[0] = float(x);                                                                                               \
        o[1] = double(x);                                                                                              \
        o[2] = __half2float(__half(x));                                                                                \
        o[3] = __bfloat162float(__nv_bfloat16(x));                                                                     \
        o[4] = int(x) + 1000 * bool(x);                                                                                \
        o[5] = float2(pair).y;                                                                                         \
        o[6] = __high2float(__half2(pair));                                                                            \
        o[7] = float4(four).w + 100 * float4(four).x;                                                                  \
        o[8] = __half2float(__half(__nv_cvt_##name##_to_halfraw(i, kind)));                                            \
        o[9] = __high2float(__half2(__nv_cvt_##name##x2_to_halfraw2(pair.__x, kind)));                                 \
    }                                                                                                                  \
}
KERNELS(fp6, __NV_E2M3, __nv_fp6_e2m3, __nv_fp6x2_e2m3, __nv_fp6x4_e2m3, 8)
KERNELS(fp6, __NV_E3M2, __nv_fp6_e3m2, __nv_fp6x2_e3m2, __nv_fp6x4_e3m2, 8)
KERNELS(fp4, __NV_E2M1, __nv_fp4_e2m1, __nv_fp4x2_e2m1, __nv_fp4x4_e2m1, 4)
extern "C" __global__ void integers(unsigned* out)
{
    out[0] = __nv_fp6_e2m3(3).__x;
    out[1] = __nv_fp6_e3m2(20ull).__x;
    out[2] = __nv_fp4_e2m1(short(-2)).__x;
    out[3] = __nv_fp4_e2m1(-1000000ll).__x;
    out[4] = (unsigned char)__nv_fp6_e3m2(27u);
    out[5] = (long long)__nv_fp6_e2m3(-2.7f) == -2;
    static_assert(sizeof(__nv_fp6x4_e2m3) == 4 && sizeof(__nv_fp4x4_e2m1) == 2 && sizeof(__nv_fp4x2_e2m1) == 1, "");
}
"""


def values(kind):
    """Return the numbers that the bits of a format encode, by its definition."""
    _, exponent_bits, fraction_bits, _ = FORMATS[kind]
    bias, found = (1 << (exponent_bits - 1)) - 1, []
    for bits in range(1 << (exponent_bits + fraction_bits)):
        exponent, fraction = bits >> fraction_bits, bits & ((1 << fraction_bits) - 1)
        significand = fraction / (1 << fraction_bits) + (exponent > 0)
        found.append(math.ldexp(significand, max(exponent, 1) - bias))
    return np.array([*found, *[-x for x in found]])


def rounded(kind, x, mode):
    """Return the bits of numbers, by a search among all values."""
    table = values(kind)
    half = len(table) // 2
    positive = table[:half]
    bits = np.zeros(len(x), int)
    for i, number in enumerate(x):
        if math.isnan(number):
            bits[i] = half - 1
            continue
        negative, size = bool(np.signbit(number)), abs(number)
        low = max(np.searchsorted(positive, size, side="right") - 1, 0)
        high = min(low + 1, half - 1)
        below, above = size - positive[low], positive[high] - size
        nearest = low if below < above or (below == above and low % 2 == 0) else high
        outward = low if below == 0 else high
        away = {"cudaRoundPosInf": not negative, "cudaRoundMinInf": negative}.get(mode, False)
        at = nearest if mode == "cudaRoundNearest" else outward if away else low
        bits[i] = (half - 1 if size > positive[-1] else at) + half * negative
    return bits


@pytest.fixture(scope="module")
def code(driver):
    context = driver.cuDevicePrimaryCtxRetain(0)
    driver.cuCtxSetCurrent(context)
    code = Code(driver, Program(SOURCE, "-arch=sm_90", "-std=c++17").image)
    yield code
    code.close()
    driver.cuDevicePrimaryCtxRelease(0)


def type_of(kind):
    return f"__nv_{FORMATS[kind][0]}_{kind.lower()}"


def numbers(kind, rng):
    table = np.unique(values(kind))
    middles = (table[1:] + table[:-1]) / 2
    near = np.concatenate([middles, np.nextafter(middles, 99), np.nextafter(middles, -99), table])
    exact = [*table, *middles, 0.0, -0.0, np.inf, -np.inf, np.nan, 300.0, -1000.0, 2.0**-20]
    return exact, np.concatenate([near, rng.normal(0, 8, 200), [1e-310, -1e300, 5e-324], exact])


def pairs(bits, second, stride):
    return bits | second << stride


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", FORMATS)
def test_numbers_are_rounded_and_saturate(code, rng, kind, mode):
    exact, x = numbers(kind, rng)
    out = np.zeros((len(x), 8), np.uint32)
    code(f"narrow_{type_of(kind)}", 4, 64, x, out, MODES.index(mode), len(x))
    with np.errstate(over="ignore"):
        floats = x.astype(np.float32).astype(float)
    wide, single = rounded(kind, x, mode), rounded(kind, floats, mode)
    stride = FORMATS[kind][3]
    np.testing.assert_array_equal(out[:, 0], wide)
    np.testing.assert_array_equal(out[:, 1], single)
    np.testing.assert_array_equal(out[:, 4], pairs(wide, wide[::-1], stride))
    np.testing.assert_array_equal(out[:, 5], pairs(single, single[::-1], stride))
    n = len(exact)  # the last numbers are also exact in half precision
    np.testing.assert_array_equal(out[-n:, 2], wide[-n:])
    np.testing.assert_array_equal(out[-n:, 3], wide[-n:])
    np.testing.assert_array_equal(out[-n:, 6] & (1 << stride) - 1, wide[-n:])
    np.testing.assert_array_equal(out[-n:, 7] & (1 << stride) - 1, wide[-n:])


@pytest.mark.parametrize("kind", FORMATS)
def test_constructors_round_to_nearest(code, rng, kind):
    x = np.array(numbers(kind, rng)[0])
    out = np.zeros((len(x), 10), np.uint32)
    code(f"make_{type_of(kind)}", 4, 64, x, out, len(x))
    stride = FORMATS[kind][3]
    wanted, (one, minus) = rounded(kind, x, MODES[0]), rounded(kind, [1.0, -1.0], MODES[0])
    np.testing.assert_array_equal(out[:, :4], np.repeat(wanted[:, None], 4, 1))
    np.testing.assert_array_equal(out[:, 4:8], np.repeat(wanted[:, None] | one << stride, 4, 1))
    four = wanted | one << stride | wanted << 2 * stride | minus << 3 * stride
    np.testing.assert_array_equal(out[:, 8:], np.repeat(four[:, None], 2, 1))


@pytest.mark.parametrize("kind", FORMATS)
def test_all_values_are_widened_exactly(code, kind):
    table = values(kind)
    out = np.zeros((len(table), 10))
    code(f"widen_{type_of(kind)}", 4, 64, out, len(table))
    np.testing.assert_array_equal(out[:, [0, 1, 2, 3, 8]], np.repeat(table[:, None], 5, 1))
    np.testing.assert_array_equal(np.signbit(out[:, 0]), np.arange(len(table)) >= len(table) // 2)
    np.testing.assert_array_equal(out[:, 4], np.trunc(table) + 1000 * (table != 0))
    np.testing.assert_array_equal(out[:, [5, 6, 9]], np.repeat(table[::-1, None], 3, 1))
    np.testing.assert_array_equal(out[:, 7], np.float32(101) * table)


def test_integers(code):
    out = np.zeros(6, np.uint32)
    code("integers", 1, 1, out)
    wanted = [rounded("E2M3", [3], MODES[0])[0], rounded("E3M2", [20], MODES[0])[0], 0b1100, 0b1111, 28, 1]
    assert out.tolist() == wanted

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""cuda_fp8.h, compared with tables of all values."""

import math

import numpy as np
import pytest

from support.compiled import Code, Program

# The bits of the fraction, the bias of the exponent, and the largest finite value's bits.
FORMATS = {"E4M3": (3, 7, 0x7E), "E5M2": (2, 15, 0x7B)}


def value(kind, bits):
    """Return the number that 8 bits encode, by the definition of the format."""
    fraction_bits, bias, largest = FORMATS[kind]
    sign, exponent, fraction = bits >> 7, (bits & 0x7F) >> fraction_bits, bits & ((1 << fraction_bits) - 1)
    if bits & 0x7F > largest:
        return math.nan if kind == "E4M3" or fraction else math.copysign(math.inf, 1 - 2 * sign)
    significand = fraction / (1 << fraction_bits) + (exponent > 0)
    return (1 - 2 * sign) * math.ldexp(significand, max(exponent, 1) - bias)


TABLES = {kind: np.array([value(kind, bits) for bits in range(256)]) for kind in FORMATS}


def nearest(kind, x, saturate):
    """Return the bits nearest to numbers, by a search among all values; NaN is -1."""
    largest = FORMATS[kind][2]
    table = TABLES[kind][: largest + 1]
    following = table[-1] + (table[-1] - table[-2])
    table = np.append(table, following)  # rounding to it is an overflow
    size = np.abs(x)
    high = np.clip(np.searchsorted(table, size), 1, largest + 1)
    low = high - 1
    below, above = size - table[low], table[high] - size
    bits = np.where((below < above) | ((below == above) & (low % 2 == 0)), low, high)
    bits = np.where(size >= following, largest + 1, bits)
    if saturate:
        bits = np.minimum(bits, largest)
    elif kind == "E4M3":
        bits = np.where(bits > largest, -1, bits)
    negative = np.signbit(x) & (bits >= 0)
    return np.where(np.isnan(x), -1, bits | negative << 7)


SOURCE = r"""
#include <cuda_fp8.h>
#define LOOP for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
#define KERNELS(name, type, type2, type4, kind)                                                                        \
extern "C" __global__ void narrow_##name(const double* x, const float* f, unsigned char* out, int n)                   \
{                                                                                                                      \
    LOOP {                                                                                                             \
        unsigned char* o = out + 10 * i;                                                                               \
        o[0] = __nv_cvt_double_to_fp8(x[i], __NV_SATFINITE, kind);                                                     \
        o[1] = __nv_cvt_double_to_fp8(x[i], __NV_NOSAT, kind);                                                         \
        o[2] = __nv_cvt_float_to_fp8(f[i], __NV_SATFINITE, kind);                                                      \
        o[3] = __nv_cvt_float2_to_fp8x2(make_float2(0, f[i]), __NV_NOSAT, kind) >> 8;                                  \
        o[4] = type(x[i]).__x;                                                                                         \
        o[5] = type(f[i]).__x;                                                                                         \
        o[6] = (unsigned char)type2(make_float2(f[i], 0)).__x;                                                         \
        o[7] = type4(make_float4(0, 0, 0, f[i])).__x >> 24;                                                            \
        o[8] = __nv_cvt_double2_to_fp8x2(make_double2(x[i], 0), __NV_SATFINITE, kind) & 0xff;                          \
        o[9] = type4(make_float4(0, f[i], 0, 0)).__x >> 8;                                                             \
    }                                                                                                                  \
}                                                                                                                      \
extern "C" __global__ void wide_##name(float* out, __half* h, __nv_bfloat16* b, int* ints)                             \
{                                                                                                                      \
    int i = threadIdx.x;                                                                                               \
    type x; x.__x = i;                                                                                                 \
    type2 p; p.__x = i << 8;                                                                                           \
    type4 q; q.__x = unsigned(i) << 16;                                                                                \
    float* o = out + 5 * i;                                                                                            \
    o[0] = float(x); o[1] = double(x); o[2] = float2(p).y; o[3] = float4(q).z; o[4] = __high2float(__half2(p));        \
    h[3 * i] = __nv_cvt_fp8_to_halfraw(i, kind); h[3 * i + 1] = __half(x);                                             \
    h[3 * i + 2] = __half2(__nv_cvt_fp8x2_to_halfraw2(i << 8, kind)).y;                                                \
    b[2 * i] = __nv_bfloat16(x); b[2 * i + 1] = __nv_cvt_fp8_to_bf16raw(i, kind);                                      \
    ints[3 * i] = int(x); ints[3 * i + 1] = (short)x; ints[3 * i + 2] = bool(x);                                       \
}                                                                                                                      \
extern "C" __global__ void halves_##name(const __half* h, const __nv_bfloat16* b, unsigned char* out, int n)           \
{                                                                                                                      \
    LOOP {                                                                                                             \
        unsigned char* o = out + 6 * i;                                                                                \
        o[0] = __nv_cvt_halfraw_to_fp8(h[i], __NV_NOSAT, kind);                                                        \
        o[1] = type(h[i]).__x;                                                                                         \
        o[2] = type2(__half2(h[i], h[i])).__x >> 8;                                                                    \
        o[3] = __nv_cvt_bfloat16raw_to_fp8(b[i], __NV_NOSAT, kind);                                                    \
        o[4] = type(b[i]).__x;                                                                                         \
        o[5] = type4(__nv_bfloat162(b[i], b[i]), __nv_bfloat162(b[i], b[i])).__x >> 16;                                \
    }                                                                                                                  \
}                                                                                                                      \
extern "C" __global__ void integers_##name(unsigned char* o)                                                           \
{                                                                                                                      \
    o[0] = type(3).__x; o[1] = type((short)-3).__x; o[2] = type(1ull << 63).__x; o[3] = type(17u).__x;                 \
}
KERNELS(E4M3, __nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3, __NV_E4M3)
KERNELS(E5M2, __nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2, __NV_E5M2)
extern "C" __global__ void scales(const float* x, unsigned char* out, float* back, int n)
{
    LOOP {
        unsigned char* o = out + 6 * i;
        o[0] = __nv_cvt_float_to_e8m0(x[i], __NV_SATFINITE, cudaRoundPosInf);
        o[1] = __nv_cvt_float_to_e8m0(x[i], __NV_SATFINITE, cudaRoundZero);
        o[2] = __nv_cvt_float_to_e8m0(x[i], __NV_NOSAT, cudaRoundNearest);
        o[3] = __nv_fp8_e8m0(x[i]).__x;
        o[4] = __nv_cvt_double2_to_e8m0x2(make_double2(0, x[i]), __NV_SATFINITE, cudaRoundMinInf) >> 8;
        o[5] = __nv_cvt_float_to_e8m0(x[i], __NV_NOSAT, cudaRoundPosInf);
        back[i] = float(__nv_bfloat16(__nv_cvt_e8m0_to_bf16raw(o[0])));
    }
}
"""


@pytest.fixture(autouse=True)
def quiet():
    """References compute with infinity and NaN on purpose."""
    with np.errstate(all="ignore"):
        yield


@pytest.fixture(scope="module")
def code(driver):
    context = driver.cuDevicePrimaryCtxRetain(0)
    driver.cuCtxSetCurrent(context)
    code = Code(driver, Program(SOURCE, "-arch=sm_90").image)
    yield code
    code.close()
    driver.cuDevicePrimaryCtxRelease(0)


def without_nan(kind, bits):
    """Return bits as integers, -1 for NaN."""
    return np.where(np.isnan(TABLES[kind][bits]), -1, bits.astype(int))


@pytest.mark.parametrize("kind", FORMATS)
def test_all_values_are_widened_exactly(code, kind):
    out, halves = np.zeros((256, 5), np.float32), np.zeros((256, 3), np.float16)
    bfloats, integers = np.zeros((256, 2), np.uint16), np.zeros((256, 3), np.int32)
    code(f"wide_{kind}", 1, 256, out, halves, bfloats, integers)
    table = TABLES[kind]
    for column in [*out.T, *halves.T, *(bfloats.astype(np.uint32) << 16).view(np.float32).T]:
        np.testing.assert_array_equal(column, table)
        np.testing.assert_array_equal(np.signbit(column)[table == 0], [False, True])
    clipped = np.clip(np.trunc(np.nan_to_num(table, nan=0.0)), -(2**31), 2**31 - 1)
    np.testing.assert_array_equal(integers[:, 0], clipped)
    np.testing.assert_array_equal(integers[:, 1], np.clip(clipped, -(2**15), 2**15 - 1))
    np.testing.assert_array_equal(integers[:, 2], table != 0)


@pytest.mark.parametrize("kind", FORMATS)
def test_numbers_are_rounded_to_the_nearest_value(code, rng, kind):
    finite = TABLES[kind][np.isfinite(TABLES[kind])]
    middle = (np.sort(finite)[1:] + np.sort(finite)[:-1]) / 2
    x = np.concatenate([finite, middle, middle * (1 + 1e-6), middle * (1 - 1e-6), rng.normal(size=20_000) * 300,
                        [464, 465, 61440, 61439, 1e30, np.inf, np.nan]])  # fmt: skip
    x = np.concatenate([x, -x]).astype(np.float32).astype(np.float64)
    out = np.zeros((x.size, 10), np.uint8)
    code(f"narrow_{kind}", 32, 128, x, x.astype(np.float32), out, x.size)
    for index, column in enumerate(out.T):
        expected = nearest(kind, x, saturate=index not in (1, 3))
        np.testing.assert_array_equal(without_nan(kind, column), expected)
    assert set(out[np.isnan(x)].ravel()) == {0x7F}


@pytest.mark.parametrize("kind", FORMATS)
def test_doubles_are_rounded_once(code, kind):
    x = np.array([1.0625 + 1e-12, 1.0625 - 1e-12, 1.125 + 1e-12, 1.125 - 1e-12])
    out = np.zeros((x.size, 10), np.uint8)
    code(f"narrow_{kind}", 1, 32, x, x.astype(np.float32), out, x.size)
    np.testing.assert_array_equal(out[:, 4], nearest(kind, x, saturate=True))


@pytest.mark.parametrize("kind", FORMATS)
def test_all_halves_are_narrowed(code, kind):
    bits = np.arange(1 << 16, dtype=np.uint16)
    out = np.zeros((bits.size, 6), np.uint8)
    code(f"halves_{kind}", 64, 128, bits, bits, out, bits.size)
    for values, columns in (
        (bits.view(np.float16), out[:, :3]),
        ((bits.astype(np.uint32) << 16).view(np.float32), out[:, 3:]),
    ):
        values = values.astype(np.float64)
        for index, column in enumerate(columns.T):
            np.testing.assert_array_equal(without_nan(kind, column), nearest(kind, values, saturate=index > 0))


@pytest.mark.parametrize("kind", FORMATS)
def test_integers_are_rounded_and_saturate(code, kind):
    out = np.zeros(4, np.uint8)
    code(f"integers_{kind}", 1, 1, out)
    assert out.tolist() == nearest(kind, np.array([3.0, -3.0, 2.0**63, 17.0]), saturate=True).tolist()


def test_scales_are_powers_of_two(code, rng):
    x = np.concatenate([np.exp2(rng.uniform(-130, 128, 2000)), [1, 2, 1.5, 1.25, 3, 0, 2.0**-127, 2.0**-149, 2.0**127]])
    x = np.concatenate([x, -x]).astype(np.float32)
    out, back = np.zeros((x.size, 6), np.uint8), np.zeros(x.size, np.float32)
    code("scales", 8, 128, x, out, back, x.size)
    exponent = np.log2(np.abs(x.astype(np.float64)))
    up, down = (np.clip(f(exponent), -127, 127) + 127 for f in (np.ceil, np.floor))
    size = np.abs(x.astype(np.float64))
    near = np.where(size >= 1.5 * np.exp2(np.floor(exponent)), np.floor(exponent) + 1, np.floor(exponent))
    near = np.where(near > 127, 255, np.clip(near, -127, 127) + 127)
    over = np.where(np.ceil(exponent) > 127, 255, up)
    for column, expected in zip(out.T, (up, down, near, up, down, over), strict=True):
        np.testing.assert_array_equal(column, expected)
    np.testing.assert_array_equal(back, np.exp2(up - 127).astype(np.float32))

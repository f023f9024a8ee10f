# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The mathematical functions of kernels, compared with Python and NumPy."""

import math
import statistics
import struct

import numpy as np
import pytest

from support.compiled import Code, Program

X = np.array([0.001, 0.2, 0.5, 0.75, 0.999, 1.0, 1.5, 2.25, 3.0, 7.7, 20.0, -0.3, -0.9, -2.5, 0.0])
NORMAL = statistics.NormalDist()


def python(function, *extra):
    """Return a function of arrays from one of floats; its result is NaN where Python raises."""

    def call(x):
        try:
            return function(float(x), *extra)
        except (ValueError, OverflowError, ZeroDivisionError):
            return math.nan

    return lambda xs: np.array([call(x) for x in xs])


ONE = {
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "atanh": np.arctanh,
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "exp10": lambda x: 10.0**x, "log1p": np.log1p,
    "sqrt": np.sqrt, "cbrt": np.cbrt, "fabs": np.fabs, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
    "rint": np.rint, "nearbyint": np.rint, "erf": python(math.erf), "erfc": python(math.erfc),
    "normcdf": python(NORMAL.cdf),
    "sinpi": lambda x: np.sin(np.pi * np.fmod(x, 2)), "cospi": lambda x: np.cos(np.pi * np.fmod(x, 2)),
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
}  # fmt: skip
POSITIVE = {
    "log": np.log, "log2": np.log2, "log10": np.log10, "rsqrt": lambda x: x**-0.5, "rcbrt": lambda x: 1 / np.cbrt(x),
    "lgamma": python(math.lgamma), "tgamma": python(math.gamma), "logb": lambda x: np.floor(np.log2(x)),
    "acosh": lambda x: np.arccosh(x),
}  # fmt: skip
UNIT = {"normcdfinv": python(NORMAL.inv_cdf), "erfinv": lambda x: python(NORMAL.inv_cdf)((x + 1) / 2) / math.sqrt(2),
        "erfcinv": lambda x: -python(NORMAL.inv_cdf)(x / 2) / math.sqrt(2)}  # fmt: skip
TWO = {
    "pow": np.power, "atan2": np.arctan2, "hypot": np.hypot, "fmod": np.fmod, "fmin": np.fmin, "fmax": np.fmax,
    "copysign": np.copysign, "fdim": lambda x, y: np.maximum(x - y, 0), "nextafter": np.nextafter,
    "remainder": lambda x, y: np.array([math.remainder(a, b) for a, b in zip(x, y, strict=True)]),
    "min": np.fmin, "max": np.fmax,
}  # fmt: skip


def unary(table, inputs):
    return [(name, reference, inputs) for name, reference in table.items()]


CASES = unary(ONE, X) + unary(POSITIVE, X[(X > 0)]) + unary(UNIT, np.array([1e-4, 0.02, 0.3, 0.5, 0.9, 0.9999]))


@pytest.fixture(scope="module")
def code(driver):
    """One kernel for each function and precision."""
    lines = []
    for kind, letter in (("float", "f"), ("double", "d")):
        for name, _, _ in CASES:
            lines.append(
                f'extern "C" __global__ void {name}_{letter}({kind}* x) {{ x += threadIdx.x; *x = {name}(*x); }}'
            )
        for name in TWO:
            lines.append(
                f'extern "C" __global__ void {name}_{letter}({kind}* x, {kind}* y) '
                f"{{ int i = threadIdx.x; x[i] = {name}(x[i], y[i]); }}"
            )
    lines += [f'extern "C" __global__ void i{n}({SLOT}) {{ {body} }}' for n, (body, _) in enumerate(INTRINSICS)]
    context = driver.cuDevicePrimaryCtxRetain(0)
    driver.cuCtxSetCurrent(context)
    code = Code(driver, Program("\n".join(lines), "-arch=sm_90").image)
    yield code
    code.close()
    driver.cuDevicePrimaryCtxRelease(0)


@pytest.mark.parametrize(("letter", "dtype", "tolerance"), [("f", np.float32, 3e-6), ("d", np.float64, 3e-14)])
def test_functions_of_one_number_agree_with_python(context, code, letter, dtype, tolerance):
    for name, reference, inputs in CASES:
        values = inputs.astype(dtype)
        with np.errstate(all="ignore"):
            expected = reference(values.astype(np.float64))
        code(f"{name}_{letter}", 1, values.size, values)
        np.testing.assert_allclose(values, expected, rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize(("letter", "dtype", "tolerance"), [("f", np.float32, 1e-6), ("d", np.float64, 1e-15)])
def test_functions_of_two_numbers_agree_with_numpy(context, code, letter, dtype, tolerance):
    for name, reference in TWO.items():
        x, y = np.array([0.5, 2.0, 3.75, -1.5, 9.25], dtype), np.array([1.25, 3.0, -2.0, 2.0, 0.5], dtype)
        expected = reference(x, y)
        code(f"{name}_{letter}", 1, x.size, x, y)
        np.testing.assert_allclose(x, expected, rtol=tolerance, err_msg=name)


def bits(value, kind="<f"):
    return struct.unpack("<I" if kind == "<f" else "<Q", struct.pack(kind, value))[0]


SLOT = "long long* o, double* d"
# The statements of a kernel and the values they must store, from the CUDA documentation.
INTRINSICS = [
    ("o[0] = __popc(0xf0f0u); o[1] = __popcll(~0ull);", [8, 64]),
    ("o[0] = __clz(1); o[1] = __clz(0); o[2] = __clzll(1ll << 40);", [31, 32, 23]),
    ("o[0] = __ffs(0); o[1] = __ffs(8); o[2] = __ffsll(1ll << 40);", [0, 4, 41]),
    ("o[0] = __brev(1u); o[1] = __brevll(2ull) >> 1;", [1 << 31, 1 << 61]),
    ("o[0] = __byte_perm(0x33221100, 0x77665544, 0x7531);", [0x77553311]),
    ("o[0] = __funnelshift_l(0x80000000u, 1u, 1); o[1] = __funnelshift_r(3u, 1u, 1);", [3, 0x80000001]),
    ("o[0] = __funnelshift_lc(5u, 1u, 40); o[1] = __funnelshift_rc(3u, 9u, 33);", [5, 9]),
    ("o[0] = __mulhi(1 << 30, 1 << 30); o[1] = __umulhi(1u << 31, 4u);", [1 << 28, 2]),
    ("o[0] = __mul64hi(1ll << 62, 1ll << 62); o[1] = __umul64hi(1ull << 63, 4);", [1 << 60, 2]),
    ("o[0] = __mul24(-3, 5); o[1] = __umul24(0x1000003u, 2u);", [-15, 6]),
    ("o[0] = __sad(-5, 7, 100u); o[1] = __usad(9u, 2u, 1u);", [112, 8]),
    ("o[0] = __hadd(-3, 2); o[1] = __rhadd(3, 4); o[2] = __uhadd(~0u, 1u);", [-1, 4, 1 << 31]),
    ("o[0] = __dp4a(0x01020304, 0x01010101, 10); o[1] = __dp4a(0xff000000u, 0x02000000u, 0u);", [20, 510]),
    ("o[0] = __fns(0xf0u, 0, 2); o[1] = __fns(0xf0u, 7, -2); o[2] = (int)__fns(1u, 3, 1);", [5, 6, -1]),
    ("o[0] = __float_as_int(1.0f); o[1] = __float_as_uint(-0.0f);", [bits(1.0), bits(-0.0)]),
    (
        "o[0] = __double_as_longlong(1.5); o[1] = __double2hiint(1.0); o[2] = __double2loint(1.0);",
        [bits(1.5, "<d"), 0x3FF00000, 0],
    ),
    ("o[0] = __hiloint2double(0x40000000, 0) == 2.0; o[1] = __int_as_float(0x40400000) == 3.0f;", [1, 1]),
    (
        "o[0] = __float2int_rn(2.5f); o[1] = __float2int_rz(-2.9f);"
        "o[2] = __float2int_ru(2.1f); o[3] = __float2int_rd(-2.1f);",
        [2, -2, 3, -3],
    ),
    (
        "o[0] = __float2int_rz(1e20f); o[1] = __float2int_rz(-1e20f); o[2] = __float2uint_rz(-5.f);",
        [2**31 - 1, -(2**31), 0],
    ),
    ('o[0] = __float2int_rn(nanf("")); o[1] = __double2ll_rz(1e300);', [0, 2**63 - 1]),
    ("o[0] = __double2int_rn(3.5); o[1] = __double2uint_ru(3.1); o[2] = __float2ll_rd(-1.5f);", [4, 4, -2]),
    (
        "o[0] = __float_as_int(__int2float_rz(16777217)); o[1] = __float_as_int(__int2float_ru(16777217));",
        [bits(16777216.0), bits(16777218.0)],
    ),
    (
        "o[0] = __float_as_int(__fadd_ru(1.0f, 1e-10f)); o[1] = __float_as_int(__fadd_rd(1.0f, -1e-10f));",
        [bits(1.0) + 1, bits(1.0) - 1],
    ),
    ("o[0] = __float_as_int(__fmul_rz(1.1f, 1.1f)) - __float_as_int(__fmul_ru(1.1f, 1.1f));", [-1]),
    ("o[0] = __double_as_longlong(__ddiv_ru(1.0, 3.0)) - __double_as_longlong(__ddiv_rd(1.0, 3.0));", [1]),
    ("o[0] = __double_as_longlong(__dsqrt_ru(2.0)) - __double_as_longlong(__dsqrt_rd(2.0));", [1]),
    ("o[0] = __float_as_int(__double2float_ru(0.1)) - __float_as_int(__double2float_rd(0.1));", [1]),
    (
        "o[0] = __fmaf_rn(2.f, 3.f, 4.f) == 10.f; o[1] = fma(2.0, 3.0, 4.0) == 10.0;"
        "o[2] = __fma_rz(2.0, 3.0, 4.0) == 10.0;",
        [1, 1, 1],
    ),
    ('o[0] = __saturatef(1.5f) == 1.f; o[1] = __saturatef(nanf("")) == 0.f;', [1, 1]),
    (
        "o[0] = min(3, 5); o[1] = max(-1, 1u); o[2] = min(5ll, 3ll); o[3] = abs(-4); o[4] = llabs(-5ll);",
        [3, 2**32 - 1, 3, 4, 5],
    ),
    (
        "float s, c; sincosf(0.f, &s, &c); o[0] = s == 0 && c == 1; int e; o[1] = frexp(8.0, &e) == 0.5; o[2] = e;",
        [1, 1, 4],
    ),
    ('o[0] = isnan(nan("")); o[1] = isinf(1.f / 0.f); o[2] = isfinite(1.0); o[3] = signbit(-0.0);', [1, 1, 1, 1]),
    (
        "o[0] = norm3d(2.0, 3.0, 6.0) == 7.0; o[1] = norm4df(1, 1, 1, 1) == 2.f; o[2] = rhypot(3.0, 4.0) == 0.2;",
        [1, 1, 1],
    ),
    ("o[0] = lrint(2.5); o[1] = llround(2.5); o[2] = ilogb(10.0); o[3] = ldexpf(1.f, 3) == 8.f;", [2, 3, 3, 1]),
]


def test_intrinsics_return_documented_values(context, code):
    for index, (body, expected) in enumerate(INTRINSICS):
        out = np.zeros(8, np.int64)
        code(f"i{index}", 1, 1, out, np.zeros(1))
        assert out[: len(expected)].tolist() == expected, body

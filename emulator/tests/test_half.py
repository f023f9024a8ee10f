# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""cuda_fp16.h and cuda_bf16.h: every function, compared with exactly rounded results."""

import re

import numpy as np
import pytest

from support.compiled import Code, Program
from support.narrow_floats import BFLOAT16, CANONICAL_NAN, HALF, ROUND

ALL = np.arange(1 << 16, dtype=np.uint16)
FORMATS = [HALF, BFLOAT16]
ids = {"ids": lambda value: getattr(value, "name", None)}


def unit_range(x):
    return np.where(x > 0, np.minimum(x, 1.0), 0.0)


def least(x, y):
    smaller = np.where((x == y) & np.signbit(x), x, np.fmin(x, y))
    return np.where((x == y) & np.signbit(y), y, smaller)


UNARY = {
    "hsqrt": np.sqrt, "hrcp": lambda x: 1 / x, "hfloor": np.floor, "hceil": np.ceil, "htrunc": np.trunc,
    "hrint": np.rint, "hrsqrt": lambda x: 1 / np.sqrt(x),
}  # fmt: skip
TRANSCENDENTAL = {
    "hexp": np.exp, "hexp2": np.exp2, "hexp10": lambda x: np.power(10.0, x), "hlog": np.log, "hlog2": np.log2,
    "hlog10": np.log10, "hsin": np.sin, "hcos": np.cos, "htanh": np.tanh, "htanh_approx": np.tanh,
}  # fmt: skip
BINARY = {
    "__hadd": np.add, "__hsub": np.subtract, "__hmul": np.multiply, "__hdiv": np.divide,
    "__hadd_rn": np.add, "__hsub_rn": np.subtract, "__hmul_rn": np.multiply,
    "__hadd_sat": lambda x, y: unit_range(x + y), "__hsub_sat": lambda x, y: unit_range(x - y),
    "__hmul_sat": lambda x, y: unit_range(x * y),
    "__hmin": least, "__hmax": lambda x, y: -least(-x, -y),
    "__hmin_nan": lambda x, y: np.where(np.isnan(x + y) & (np.isnan(x) | np.isnan(y)), np.nan, least(x, y)),
    "__hmax_nan": lambda x, y: np.where(np.isnan(x) | np.isnan(y), np.nan, -least(-x, -y)),
}  # fmt: skip
COMPARISONS = {
    "eq": np.equal, "le": np.less_equal, "ge": np.greater_equal, "lt": np.less, "gt": np.greater,
    "ne": lambda x, y: (x < y) | (x > y), "neu": np.not_equal, "equ": lambda x, y: ~((x < y) | (x > y)),
    "leu": lambda x, y: ~(x > y), "geu": lambda x, y: ~(x < y), "ltu": lambda x, y: ~(x >= y),
    "gtu": lambda x, y: ~(x <= y),
}  # fmt: skip
OPERATORS = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
INTEGERS = {
    "short": np.int16, "ushort": np.uint16, "int": np.int32, "uint": np.uint32, "ll": np.int64, "ull": np.uint64
}  # fmt: skip
C_NAMES = {"ushort": "unsigned short", "uint": "unsigned", "ll": "long long", "ull": "unsigned long long"}


def pair_name(name):
    """Return the name of a function's form for pairs: __hadd2_sat, h2sqrt."""
    if name == "__hdiv":
        return "__h2div"
    if not name.startswith("__"):
        return "h2" + name[1:]
    head, _, tail = name[2:].partition("_")
    return f"__{head}2_{tail}".rstrip("_")


def loop(name, parameters, body):
    return (
        f'extern "C" __global__ void {name}({parameters}, int n) {{\n'
        f"for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {{ {body} }} }}\n"
    )


def arithmetic(form, count, names):
    """Return kernels that apply each function to numbers, and its form for pairs to pairs."""
    out = []
    arguments = ", ".join(f"{letter}[i]" for letter in "abc"[:count])
    for name in names:
        for kind, function, suffix in ((form.type, name, ""), (form.type + "2", pair_name(name), "_pairs")):
            parameters = f"const {kind}* a, const {kind}* b, const {kind}* c, {kind}* out"
            out.append(loop(name + suffix, parameters, f"out[i] = {function}({arguments});"))
    return out


def unary_source(form):
    return arithmetic(form, 1, [*UNARY, "__hneg", "__habs"])


def transcendental_source(form):
    return arithmetic(form, 1, TRANSCENDENTAL)


def binary_source(form):
    return arithmetic(form, 2, BINARY)


def fused_source(form):
    return arithmetic(form, 3, ["__hfma", "__hfma_sat", "__hfma_relu"])


def comparison_source(form):
    number, pair, out = form.type, form.type + "2", []
    parameters = f"const {pair}* p, const {pair}* q, {pair}* ones, unsigned* masks, unsigned char* flags"
    for name in COMPARISONS:
        body = (
            f"{number} a = p[i].x, b = q[i].x;"
            f"ones[i] = __h{name}2(p[i], q[i]); masks[i] = __h{name}2_mask(p[i], q[i]);"
            f"flags[i] = __h{name}(a, b) | __hb{name}2(p[i], q[i]) << 1;"
        )
        out.append(loop(f"compare_{name}", parameters, body))
    return out


def conversion_source(form):
    number, name, out = form.type, form.name, []
    for mode in ROUND:
        out.append(
            loop(f"from_float_{mode}", f"const float* x, {number}* out", f"out[i] = __float2{name}_{mode}(x[i]);")
        )
        for integer in INTEGERS:
            kind = C_NAMES.get(integer, integer)
            out.append(
                loop(
                    f"to_{integer}_{mode}",
                    f"const {number}* x, {kind}* out",
                    f"out[i] = __{name}2{integer}_{mode}(x[i]);",
                )
            )
            out.append(
                loop(
                    f"from_{integer}_{mode}",
                    f"const {kind}* x, {number}* out",
                    f"out[i] = __{integer}2{name}_{mode}(x[i]);",
                )
            )
    out.append(loop("from_double", f"const double* x, {number}* out", f"out[i] = __double2{name}(x[i]);"))
    out.append(
        loop(
            "to_float",
            f"const {number}* x, float* out, float* cast, signed char* c, unsigned char* u, bool* b",
            f"out[i] = __{name}2float(x[i]); cast[i] = x[i]; c[i] = __{name}2char_rz(x[i]);"
            f"u[i] = __{name}2uchar_rz(x[i]); b[i] = x[i];",
        )
    )
    return out


def operator_source(form):
    number, pair, out = form.type, form.type + "2", []
    for symbol, word in OPERATORS.items():
        for kind, suffix in ((number, ""), (pair, "_pairs")):
            parameters = f"const {kind}* a, const {kind}* b, {kind}* out, {kind}* changed"
            body = f"out[i] = a[i] {symbol} b[i]; {kind} t = a[i]; t {symbol}= b[i]; changed[i] = t;"
            out.append(loop(f"operator_{word}{suffix}", parameters, body))
    relations = " | ".join(f"(a[i] {symbol} b[i]) << {n}" for n, symbol in enumerate(RELATIONS))
    for kind, suffix in ((number, ""), (pair, "_pairs")):
        out.append(loop(f"relations{suffix}", f"const {kind}* a, const {kind}* b, int* out", f"out[i] = {relations};"))
    return out


RELATIONS = {"==": np.equal, "!=": np.not_equal, "<": np.less, ">": np.greater, "<=": np.less_equal,
             ">=": np.greater_equal}  # fmt: skip


@pytest.fixture(autouse=True)
def quiet():
    """References overflow, and divide by zero, on purpose."""
    with np.errstate(all="ignore"):
        yield


@pytest.fixture(scope="module")
def codes(driver):
    """A function that returns the kernels that a function above writes for a format; each is compiled once."""
    context = driver.cuDevicePrimaryCtxRetain(0)
    driver.cuCtxSetCurrent(context)
    known = {}

    def get(write, form):
        if (write, form) not in known:
            source = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n" + "".join(write(form))
            known[write, form] = Code(driver, Program(source, "-arch=sm_90").image)
        return known[write, form]

    yield get
    for code in known.values():
        code.close()
    driver.cuDevicePrimaryCtxRelease(0)


def run(code, name, *arrays, count=None):
    code(name, 32, 128, *arrays, count or arrays[0].size)


def random_bits(rng, form, count):
    """Random bits, a tenth of them special values."""
    bits = rng.integers(0, 1 << 16, count, np.uint16)
    special = np.array([0, 1, 0x3C00, 0x3F80, form.infinity - 1, form.infinity, form.infinity + 1], np.uint16)
    chosen = rng.random(count) < 0.1
    return np.where(chosen, rng.choice(special, count) | (bits & 0x8000), bits).astype(np.uint16)


def calls(code, name, *operands):
    """Return the results of the function of numbers, after comparing the form for pairs with it."""
    out, pairs = np.zeros_like(operands[0]), np.zeros_like(operands[0])
    arguments = [operands[min(i, len(operands) - 1)] for i in range(3)]
    run(code, name, *arguments, out)
    run(code, name + "_pairs", *arguments, pairs, count=out.size // 2)
    np.testing.assert_array_equal(pairs, out)
    return out


@pytest.mark.parametrize("form", FORMATS, **ids)
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_number_are_rounded_once(codes, name, form):
    expected = form.rounded(UNARY[name](form.values(ALL)))
    np.testing.assert_array_equal(calls(codes(unary_source, form), name, ALL), expected)


@pytest.mark.parametrize("form", FORMATS, **ids)
@pytest.mark.parametrize("name", TRANSCENDENTAL)
def test_transcendental_functions_err_by_one_unit_at_most(codes, name, form):
    expected = form.rounded(TRANSCENDENTAL[name](form.values(ALL)))
    result = calls(codes(transcendental_source, form), name, ALL)
    assert np.abs(result.astype(int) - expected).max() <= 1


@pytest.mark.parametrize("form", FORMATS, **ids)
def test_signs_are_changed(codes, form):
    code = codes(unary_source, form)
    is_nan = np.isnan(form.values(ALL))
    np.testing.assert_array_equal(calls(code, "__hneg", ALL), np.where(is_nan, CANONICAL_NAN, ALL ^ 0x8000))
    np.testing.assert_array_equal(calls(code, "__habs", ALL), np.where(is_nan, CANONICAL_NAN, ALL & 0x7FFF))


@pytest.mark.parametrize("form", FORMATS, **ids)
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_numbers_are_rounded_once(codes, rng, name, form):
    a, b = random_bits(rng, form, 100_000), random_bits(rng, form, 100_000)
    expected = form.rounded(BINARY[name](form.values(a), form.values(b)))
    np.testing.assert_array_equal(calls(codes(binary_source, form), name, a, b), expected)


def test_half_arithmetic_agrees_with_numpy(codes, rng):
    a, b = random_bits(rng, HALF, 100_000), random_bits(rng, HALF, 100_000)
    for name in ("__hadd", "__hsub", "__hmul", "__hdiv"):
        expected = BINARY[name](a.view(np.float16), b.view(np.float16))
    result = calls(codes(binary_source, HALF), name, a, b).view(np.float16)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("form", FORMATS, **ids)
def test_fused_multiply_add_is_rounded_once(codes, rng, form):
    a, b, c = (rng.integers(0, form.infinity, 100_000, np.uint16) | (rng.integers(0, 2, 100_000, np.uint16) << 15)
               for _ in range(3))  # fmt: skip
    c[:10_000] = form.rounded(-form.values(a[:10_000]) * form.values(b[:10_000]))  # cancellation
    c[:10_000][c[:10_000] & 0x7FFF >= form.infinity] = 1
    # The product is halfway between two numbers; the third operand, too small for a double, decides.
    one, more = form.encoded(np.array([1.0, 1.5]))
    a[-2:], b[-2:], c[-2:] = one + 1, more, np.array([1, 0x8001])
    result = calls(codes(fused_source, form), "__hfma", a, b, c)
    expected = form.fused(form.values(a), form.values(b), form.values(c))
    zero = (expected & 0x7FFF) == 0  # zeros have a sign in IEEE 754, but not as integers
    np.testing.assert_array_equal(np.where(zero, result & 0x7FFF, result), np.where(zero, 0, expected))


@pytest.mark.parametrize("form", FORMATS, **ids)
def test_fused_multiply_add_saturates_and_rectifies(codes, rng, form):
    a, b, c = (random_bits(rng, form, 50_000) for _ in range(3))
    code = codes(fused_source, form)
    plain = form.values(calls(code, "__hfma", a, b, c))
    np.testing.assert_array_equal(calls(code, "__hfma_sat", a, b, c), form.encoded(unit_range(plain)))
    rectified = np.where(plain <= 0, 0.0, plain)
    np.testing.assert_array_equal(calls(code, "__hfma_relu", a, b, c), form.encoded(rectified))


@pytest.mark.parametrize("form", FORMATS, **ids)
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_treat_nan_as_documented(codes, rng, name, form):
    a, b = random_bits(rng, form, 20_000), random_bits(rng, form, 20_000)
    a[::3] = b[::3]
    expected = COMPARISONS[name](form.values(a), form.values(b)).reshape(-1, 2)
    ones, masks, flags = np.zeros_like(a), np.zeros(a.size // 2, np.uint32), np.zeros(a.size // 2, np.uint8)
    run(codes(comparison_source, form), f"compare_{name}", a, b, ones, masks, flags, count=masks.size)
    np.testing.assert_array_equal(ones, form.encoded(expected.ravel().astype(np.float64)))
    np.testing.assert_array_equal(masks.view(np.uint16), expected.ravel() * np.uint16(0xFFFF))
    np.testing.assert_array_equal(flags, expected[:, 0] | expected.all(axis=1) << 1)


def between(form):
    """Every value of a format, the points halfway to the next, and the neighbors of these as float32."""
    values = form.values(ALL).astype(np.float32)
    middle = values + (np.roll(values, -1) - values) / 2
    neighbors = [np.nextafter(middle, sign * np.float32(np.inf)) for sign in (-1, 1)]
    return np.concatenate([values, middle, *neighbors]).astype(np.float32)


@pytest.mark.parametrize("form", FORMATS, **ids)
@pytest.mark.parametrize("mode", ROUND)
def test_floats_are_rounded_in_each_mode(codes, mode, form):
    x = between(form)
    out = np.zeros(x.size, np.uint16)
    run(codes(conversion_source, form), f"from_float_{mode}", x, out)
    np.testing.assert_array_equal(out, form.rounded(x, mode))


@pytest.mark.parametrize("form", FORMATS, **ids)
def test_doubles_are_rounded_once(codes, form):
    x = between(form).astype(np.float64)
    x = np.concatenate([np.nextafter(x, -np.inf), x, np.nextafter(x, np.inf), [5e-324, 1.7e308, -1e-320]])
    out = np.zeros(x.size, np.uint16)
    run(codes(conversion_source, form), "from_double", x, out)
    np.testing.assert_array_equal(out, form.rounded(x))


@pytest.mark.parametrize("form", FORMATS, **ids)
def test_conversions_to_float_are_exact(codes, form):
    out, cast = np.zeros(ALL.size, np.float32), np.zeros(ALL.size, np.float32)
    small, unsigned, flags = (np.zeros(ALL.size, kind) for kind in (np.int8, np.uint8, np.bool_))
    run(codes(conversion_source, form), "to_float", ALL, out, cast, small, unsigned, flags)
    values = form.values(ALL)
    np.testing.assert_array_equal(out, values.astype(np.float32))
    np.testing.assert_array_equal(cast, out)
    np.testing.assert_array_equal(flags, ~(values == 0))
    clipped = np.where(np.isnan(values), 0, np.trunc(values))
    np.testing.assert_array_equal(small, np.clip(clipped, -128, 127))
    np.testing.assert_array_equal(unsigned, np.clip(clipped, 0, 255))


@pytest.mark.parametrize("form", FORMATS, **ids)
@pytest.mark.parametrize("mode", ROUND)
@pytest.mark.parametrize("integer", INTEGERS)
def test_conversions_to_integers_saturate(codes, integer, mode, form):
    dtype = INTEGERS[integer]
    out = np.zeros(ALL.size, dtype)
    run(codes(conversion_source, form), f"to_{integer}_{mode}", ALL, out)
    limits = np.iinfo(dtype)
    nan = 1 << 63 if dtype(0).itemsize == 8 else 0

    def expected(value):
        if np.isnan(value):
            return nan - (1 << 64) if nan and limits.min < 0 else nan
        return limits.max if value == np.inf else max(limits.min, min(int(max(value, -1e300)), limits.max))

    assert out.tolist() == [expected(value) for value in ROUND[mode](form.values(ALL)).tolist()]


@pytest.mark.parametrize("form", FORMATS, **ids)
@pytest.mark.parametrize("mode", ROUND)
@pytest.mark.parametrize("integer", INTEGERS)
def test_integers_are_rounded_once_in_each_mode(codes, rng, integer, mode, form):
    dtype = INTEGERS[integer]
    limits = np.iinfo(dtype)
    sizes = rng.integers(0, limits.bits, 5000)
    x = rng.integers(limits.min, limits.max, 5000, dtype, endpoint=True) >> sizes.astype(dtype)
    x = np.concatenate([x, np.array([0, 1, limits.min, limits.max, limits.max - 1, limits.max // 2 + 1], dtype)])
    out = np.zeros(x.size, np.uint16)
    run(codes(conversion_source, form), f"from_{integer}_{mode}", x, out)
    # Rounded to 30 digits by integers, with a last digit that is odd if something was cut off.
    exact = []
    for value in map(int, x):
        size, shift = abs(value), max(abs(value).bit_length() - 30, 0)
        size = (size >> shift | (size & ((1 << shift) - 1) != 0)) << shift
        exact.append(float(size if value >= 0 else -size))
    np.testing.assert_array_equal(out, form.rounded(exact, mode))


@pytest.mark.parametrize("form", FORMATS, **ids)
def test_operators_are_those_functions(codes, rng, form):
    a, b = random_bits(rng, form, 20_000), random_bits(rng, form, 20_000)
    code = codes(operator_source, form)
    x, y = form.values(a), form.values(b)
    for word in OPERATORS.values():
        expected = form.rounded(BINARY[f"__h{word}"](x, y))
    for suffix, count in (("", a.size), ("_pairs", a.size // 2)):
        out, changed = np.zeros_like(a), np.zeros_like(a)
        run(code, f"operator_{word}{suffix}", a, b, out, changed, count=count)
        np.testing.assert_array_equal(out, expected)
        np.testing.assert_array_equal(changed, expected)
    out, pairs = np.zeros(a.size, np.int32), np.zeros(a.size // 2, np.int32)
    run(code, "relations", a, b, out)
    run(code, "relations_pairs", a, b, pairs, count=pairs.size)
    for bit, relation in enumerate(RELATIONS.values()):
        np.testing.assert_array_equal(out >> bit & 1, relation(x, y))
        np.testing.assert_array_equal(pairs >> bit & 1, relation(x, y).reshape(-1, 2).all(axis=1))


# Statements about values of the type T (H in names), its pair T2, and an int array `o` that stays 1 where they hold.
STATEMENTS = r"""
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#define IS(n, x) o[n] = (x)
extern "C" __global__ void check(int* o)
{
    T one = __float2H(1.0f), two = T(2.0), three = T(3);
    T2 pair = __floats2H2_rn(1.0f, 2.0f), other = make_H2(three, one);
    IS(0, __low2float(pair) == 1.0f && __high2float(pair) == 2.0f && __H22float2(other).x == 3.0f);
    IS(1, __lows2H2(pair, other) == __floats2H2_rn(1, 3) && __highs2H2(pair, other) == __floats2H2_rn(2, 1));
    IS(2, __low2H2(pair) == __H2H2(one) && __high2H2(pair) == __float2H2_rn(2) && __high2H(pair) == two);
    IS(3, __lowhigh2highlow(pair) == __halves2H2_(two, one) && __low2H(pair) == one);
    IS(4, __H_as_ushort(T(1)) == (sizeof(T) == 2 ? ONE : 0) && __ushort_as_H(ONE) == one && __H_as_short(one) == ONE);
    IS(5, __hisinf(INF) == 1 && __hisinf(-INF) == -1 && __hisinf(one) == 0 && __hisnan(NAN_) && !__hisnan(INF));
    T2 both = __hisnan2(make_H2(NAN_, one));
    IS(6, both.x == one && both.y == T(0) && __short_as_H((short)ONE) == one);
    T t = one;
    IS(7, t++ == one && t == two && ++t == three && t-- == three && --t == one && -t == T(-1) && +t == one);
    T2 p = pair;
    IS(8, ++p == __floats2H2_rn(2, 3) && p-- == __floats2H2_rn(2, 3) && p == pair && -p == __hneg2(pair) && +p == p);
    IS(9, __hcmadd(pair, other, __float2H2_rn(10.0f)) == __floats2H2_rn(11.0f, 17.0f));
    T2_raw raw = pair; T_raw single = three;
    IS(10, T2(raw) == pair && T(single) == three && __float22H2_rn(make_float2(1, 2)) == pair);
    __shared__ T cells[2];
    __stwt(cells, two); __stcg(cells + 1, three);
    IS(11, __ldcv(cells) == two && __ldg(cells + 1) == three && __ldca(cells) == two && __ldcs(cells) == two);
    volatile T seen = two; T_raw copy = seen; seen = single;
    IS(12, T(copy) == two && T(T_raw(seen)) == three);
    IS(13, (int)T(-2.75f) == -2 && (unsigned)T(7.5) == 7 && (long long)T(5) == 5 && (bool)two && !(bool)T(-0.0f));
    t = 4; IS(14, t == T(4)); t = 2.5f; IS(15, float(t) == 2.5f); t = 3.0; IS(16, t == three);
    IS(17, !(NAN_ == NAN_) && NAN_ != NAN_ && make_H2(NAN_, two) != make_H2(NAN_, one));
    IS(18, float(OTHER(two)) == 2.0f && T(OTHER(3.0f)) == three && sqrt(T(4)) == 2.0f);
    IS(19, !__hisinf(MOST) && __hisinf(MOST + MOST) == 1);
    p = raw; IS(20, p == pair); p = {}; IS(21, p == T2(T(0), T(0))); p = {three, one}; IS(22, p == other);
}
extern "C" __global__ void warp(T* x, T2* y, T* sum, T2* sums)
{
    int i = threadIdx.x;
    T v = x[i]; T2 w = y[i];
    v = __shfl_xor_sync(~0u, v, 1); v = __shfl_up_sync(~0u, v, 1); v = __shfl_sync(~0u, v, (i + 3) % 32);
    w = __shfl_down_sync(~0u, w, 2, 8); w = __shfl_sync(~0u, w, i ^ 4);
    atomicAdd(sum, T(1)); atomicAdd(sums, __float2H2_rn(0.5f));
    x[i] = v; y[i] = w;
}
"""


def statements(form):
    other = BFLOAT16 if form is HALF else HALF
    suffix = "FP16" if form is HALF else "BF16"
    source = STATEMENTS.replace("__halves2H2_", f"__halves2{form.name}2")
    for word, text in (("T2_raw", f"{form.type}2_raw"), ("T_raw", f"{form.type}_raw"), ("OTHER", other.type),
                       ("ONE", hex(form.encoded(np.ones(1))[0])), ("NAN_", f"CUDART_NAN_{suffix}"),
                       ("MOST", f"CUDART_MAX_NORMAL_{suffix}"), ("INF)", f"CUDART_INF_{suffix})")):  # fmt: skip
        source = source.replace(word, text)
    source = re.sub(r"\bT2\b", f"{form.type}2", re.sub(r"\bT\b", form.type, source))
    return [re.sub(r"(?<=[2_])H(?=[\s(2_])|H(?=_as)", form.name, source)]


@pytest.mark.parametrize("form", FORMATS, **ids)
def test_types_have_their_documented_members_and_conversions(codes, form):
    out = np.full(23, -1, np.int32)
    codes(statements, form)("check", 1, 1, out)
    assert out.tolist() == [1] * 23


@pytest.mark.parametrize("form", FORMATS, **ids)
def test_warps_exchange_and_atomics_add(codes, form):
    lanes = np.arange(32)
    x = form.encoded(lanes.astype(np.float64))
    y = form.encoded(np.stack([lanes, lanes + 100], axis=1).astype(np.float64))
    total, totals = np.zeros(1, np.uint16), np.zeros(2, np.uint16)
    codes(statements, form)("warp", 1, 32, x, y, total, totals)
    v = lanes ^ 1
    v = np.where(lanes == 0, v, np.roll(v, 1))[(lanes + 3) % 32]
    w = np.where(lanes % 8 < 6, lanes + 2, lanes)[lanes ^ 4]
    assert form.values(x).tolist() == v.tolist()
    assert form.values(y.ravel()).reshape(-1, 2)[:, 0].tolist() == w.tolist()
    assert form.values(total).tolist() == [32.0]
    assert form.values(totals).tolist() == [16.0, 16.0]


def test_invalid_operations_return_the_canonical_nan(codes):
    a = np.array([0xFE01, 0x7C00, 0x0000, 0xFC00], np.uint16)
    b = np.array([0x0000, 0xFC00, 0xFFFF, 0x7C00], np.uint16)
    assert calls(codes(binary_source, HALF), "__hadd", a, b).tolist() == [CANONICAL_NAN] * 4

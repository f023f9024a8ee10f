# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Functions of 2 halves or 4 bytes of a word, and fused minima and maxima, compared with NumPy."""

import numpy as np
import pytest

from support.compiled import Code, Program

TYPES = {2: (np.int16, np.uint16), 4: (np.int8, np.uint8)}


def clamped(values, dtype):
    return np.clip(values, np.iinfo(dtype).min, np.iinfo(dtype).max)


# The letter after an entry's name is the signedness of its elements, "s" or "u". Results are truncated to their bits.
ELEMENTS = {
    "add u": lambda x, y, t: x + y, "sub u": lambda x, y, t: x - y,
    "addss s": lambda x, y, t: clamped(x + y, t), "addus u": lambda x, y, t: clamped(x + y, t),
    "subss s": lambda x, y, t: clamped(x - y, t), "subus u": lambda x, y, t: clamped(x - y, t),
    # Halves are rounded away from zero, as seen on an H100.
    "avgs s": lambda x, y, t: (np.sign(x + y) * ((np.abs(x + y) + 1) // 2)),
    "avgu u": lambda x, y, t: (x + y + 1) // 2, "haddu u": lambda x, y, t: (x + y) // 2,
    "absdiffs s": lambda x, y, t: np.abs(x - y), "absdiffu u": lambda x, y, t: np.abs(x - y),
    "mins s": lambda x, y, t: np.minimum(x, y), "minu u": lambda x, y, t: np.minimum(x, y),
    "maxs s": lambda x, y, t: np.maximum(x, y), "maxu u": lambda x, y, t: np.maximum(x, y),
    "abs s": lambda x, y, t: np.abs(x), "absss s": lambda x, y, t: clamped(np.abs(x), t),
    "neg s": lambda x, y, t: -x, "negss s": lambda x, y, t: clamped(-x, t),
}  # fmt: skip
RELATIONS = {
    "eq": np.equal, "ne": np.not_equal, "ge": np.greater_equal, "gt": np.greater, "le": np.less_equal, "lt": np.less,
}  # fmt: skip
for relation, function in RELATIONS.items():
    for letter in "su":
        name = relation if relation in ("eq", "ne") else relation + letter
        ELEMENTS[f"cmp{name} {letter}"] = lambda x, y, t, f=function: -f(x, y).astype(int)
        ELEMENTS[f"set{name} {letter}"] = lambda x, y, t, f=function: f(x, y).astype(int)
ONE = ("abs", "absss", "neg", "negss")

EXTREMA = {"max": np.maximum, "min": np.minimum}
KINDS = {"s32": np.int32, "u32": np.uint32, "s16x2": np.int16, "u16x2": np.uint16}


def kernel(name, call):
    return (
        f'extern "C" __global__ void {name}(const unsigned* a, const unsigned* b, const unsigned* c, unsigned* out)\n'
        f"{{ int i = threadIdx.x; out[i] = {call}; }}\n"
    )


def source():
    out = []
    for count in TYPES:
        for name in {entry.split()[0]: None for entry in ELEMENTS}:
            out.append(kernel(f"{name}_{count}", f"__v{name}{count}(a[i]{'' if name in ONE else ', b[i]'})"))
        for letter in "su":
            out.append(kernel(f"sad{letter}_{count}", f"__vsad{letter}{count}(a[i], b[i])"))
    for word in EXTREMA:
        for kind in KINDS:
            for relu in ("", "_relu") if kind[0] == "s" else ("",):
                out.append(kernel(f"add{word}_{kind}{relu}", f"__viadd{word}_{kind}{relu}(a[i], b[i], c[i])"))
                out.append(kernel(f"{word}3_{kind}{relu}", f"__vi{word}3_{kind}{relu}(a[i], b[i], c[i])"))
            if kind[0] == "s":
                out.append(kernel(f"{word}_{kind}_relu", f"__vi{word}_{kind}_relu(a[i], b[i])"))
            flags = "&high, &low" if "x2" in kind else "&low"
            out.append(
                kernel(
                    f"b{word}_{kind}",
                    f"0; bool high = false, low; unsigned r = __vib{word}_{kind}(a[i], b[i], {flags});"
                    "out[i] = c[i] ? r : high * 2 + low",
                )
            )
    return "".join(out)


@pytest.fixture(scope="module")
def code(driver):
    context = driver.cuDevicePrimaryCtxRetain(0)
    driver.cuCtxSetCurrent(context)
    code = Code(driver, Program(source(), "-arch=sm_90").image)
    yield code
    code.close()
    driver.cuDevicePrimaryCtxRelease(0)


@pytest.fixture
def words(rng):
    """Three arrays of 512 words, with limits of the elements among them."""
    edges = np.array([0, 0x80008000, 0x7FFF7FFF, 0x80808080, 0x7F7F7F7F, 0xFFFFFFFF, 1, 0x00FF0100], np.uint32)
    arrays = [rng.integers(0, 1 << 32, 512, np.uint32) for _ in range(3)]
    arrays[0][:64], arrays[1][:64] = np.repeat(edges, 8), np.tile(edges, 8)
    arrays[1][64:128] = arrays[0][64:128]
    return arrays


def run(code, name, words):
    out = np.zeros(512, np.uint32)
    code(name, 1, 512, *words, out)
    return out


@pytest.mark.parametrize("count", TYPES)
def test_functions_of_elements(code, words, count):
    signed, unsigned = TYPES[count]
    for entry, reference in ELEMENTS.items():
        name, letter = entry.split()
        dtype = signed if letter == "s" else unsigned
        x, y = (word.view(dtype).astype(int) for word in words[:2])
        result = run(code, f"{name}_{count}", words).view(unsigned)
        np.testing.assert_array_equal(result, reference(x, y, dtype).astype(unsigned), name)


@pytest.mark.parametrize("count", TYPES)
def test_sums_of_differences(code, words, count):
    for letter, dtype in zip("su", TYPES[count], strict=True):
        x, y = (word.view(dtype).astype(int).reshape(-1, count) for word in words[:2])
        result = run(code, f"sad{letter}_{count}", words)
        np.testing.assert_array_equal(result, np.abs(x - y).sum(axis=1))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("word", EXTREMA)
def test_fused_minima_and_maxima(code, words, word, kind):
    dtype, f = KINDS[kind], EXTREMA[word]
    a, b, c = (array.view(dtype) for array in words)
    three, added = f(f(a, b), c), f(a + b, c)
    for relu in ("", "_relu") if kind[0] == "s" else ("",):
        least = 0 if relu else np.iinfo(dtype).min
        np.testing.assert_array_equal(run(code, f"{word}3_{kind}{relu}", words).view(dtype), np.maximum(three, least))
        np.testing.assert_array_equal(run(code, f"add{word}_{kind}{relu}", words).view(dtype), np.maximum(added, least))
    if kind[0] == "s":
        result = run(code, f"{word}_{kind}_relu", words).view(dtype)
        np.testing.assert_array_equal(result, np.maximum(f(a, b), 0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("word", EXTREMA)
def test_minima_and_maxima_report_chosen_operand(code, words, word, kind):
    dtype, f = KINDS[kind], EXTREMA[word]
    a, b = (array.view(dtype) for array in words[:2])
    ones, zeros = np.ones(512, np.uint32), np.zeros(512, np.uint32)
    result = run(code, f"b{word}_{kind}", [*words[:2], ones]).view(dtype)
    np.testing.assert_array_equal(result, f(a, b))
    first = (f(a, b) == a).reshape(512, -1)
    flags = run(code, f"b{word}_{kind}", [*words[:2], zeros])
    np.testing.assert_array_equal(flags, first @ (1 << np.arange(first.shape[1])))

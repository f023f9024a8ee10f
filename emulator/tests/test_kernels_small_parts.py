# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Video instructions, conversions of at most 8 bits, atomic functions with scopes, barriers, on any device."""

import numpy as np
import pytest

from support.kernel_files import KernelFile

pytestmark = pytest.mark.requires(nvrtc=True, compute=(9, 0))

parts = KernelFile("small_parts.cu")
few_bits = KernelFile("few_bits.cu")
scoped = KernelFile("scoped.cu", headers=True)


def lanes(x, count, signed):
    kind = {2: "u2", 4: "u1"}[count]
    return x.view(kind.replace("u", "i") if signed else kind).reshape(-1, count).astype(np.int64)


def packed(values, count):
    return values.astype({2: "u2", 4: "u1"}[count]).reshape(-1).view(np.int32)


def test_video_instructions(stream, rng):
    a, b, c = rng.integers(-(2**31), 2**31, (3, 200), np.int32)
    out = np.empty((10, 200), np.int32)
    parts(stream, "video_parts", 2, 128, a, b, c, out, 200)
    wide, unsigned = [x.astype(np.int64) for x in (a, b, c)], [x.view(np.uint32).astype(np.int64) for x in (a, b, c)]
    np.testing.assert_array_equal(out[0], np.clip(wide[0] + wide[1], -(2**31), 2**31 - 1))
    np.testing.assert_array_equal(out[1].view(np.uint32), np.clip(unsigned[0] - unsigned[1], 0, None))
    difference = np.abs(lanes(a, 4, False)[:, 1] - lanes(b, 4, False)[:, 3])
    np.testing.assert_array_equal(out[2].view(np.uint32), (difference + unsigned[2]) % 2**32)
    np.testing.assert_array_equal(out[3], np.minimum(lanes(a, 2, True)[:, 1], lanes(b, 2, False)[:, 0]))
    np.testing.assert_array_equal(out[4], np.maximum(np.maximum(a, b), c))
    np.testing.assert_array_equal(out[5], packed(lanes(a, 4, False) + lanes(b, 4, False), 4))
    np.testing.assert_array_equal(out[6], packed(np.clip(lanes(a, 4, True) + lanes(b, 4, True), -128, 127), 4))
    sums = np.abs(lanes(a, 4, False) - lanes(b, 4, False)).sum(axis=1) + unsigned[2]
    np.testing.assert_array_equal(out[7].view(np.uint32), sums % 2**32)
    np.testing.assert_array_equal(out[8], packed(lanes(a, 2, True) - lanes(b, 2, True), 2))
    np.testing.assert_array_equal(out[9], packed(np.maximum(lanes(a, 2, False), lanes(b, 2, False)), 2))


def part(x, name, signed):
    """The part b0 to b3, h0 or h1 of each number."""
    return lanes(x, 4 if name[0] == "b" else 2, signed)[:, int(name[1])]


def merged(c, values, kind, places):
    """A copy of c whose given parts are those of ``values``."""
    out = lanes(c, kind, False)
    out[:, places] = values[:, places]
    return packed(out, kind)


def wrapped(x):
    return (np.asarray(x) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


def test_video_instructions_with_masks_shifts_and_products(stream, rng):
    a, b, c = rng.integers(-(2**31), 2**31, (3, 200), np.int32)
    out = np.empty((18, 200), np.int32)
    parts(stream, "more_video_parts", 2, 128, a, b, c, out, 200)
    x, y, z = (v.astype(np.int64) for v in (a, b, c))
    ux, uy, uz = (v.view(np.uint32).astype(np.int64) for v in (a, b, c))
    low, high = -(2**31), 2**31 - 1
    np.testing.assert_array_equal(out[0], wrapped(part(a, "h0", True) * part(b, "b1", False) + z))
    product = -part(a, "h1", False) * part(b, "h0", False)
    np.testing.assert_array_equal(out[1], np.clip((product + z) >> 7, low, high))
    np.testing.assert_array_equal(out[3], wrapped(part(a, "b2", True) * part(b, "b0", True) - z))
    np.testing.assert_array_equal(out[5], wrapped((x << (uy & 31)) + z))
    np.testing.assert_array_equal(out[6], x >> (part(b, "b1", False) & 31))
    np.testing.assert_array_equal(out[7], wrapped(ux >> np.minimum(part(b, "b1", False), 32)))
    np.testing.assert_array_equal(out[8], part(a, "h0", True) < part(b, "b3", False))
    np.testing.assert_array_equal(out[9], wrapped((ux >= uy) + uz))
    total = lanes(a, 2, True) + lanes(b, 2, True)
    np.testing.assert_array_equal(out[12], packed((total + (total >= 0)) >> 1, 2))
    total = lanes(a, 4, False) + lanes(b, 4, False)
    np.testing.assert_array_equal(out[13], wrapped(((total + 1) >> 1).sum(axis=1) + uz))
    np.testing.assert_array_equal(out[14], merged(c, lanes(a, 4, True) > lanes(b, 4, True), 4, [0, 2]))
    np.testing.assert_array_equal(out[15], wrapped((part(a, "h1", False) != part(b, "h1", False)) + uz))
    both = np.hstack([lanes(a, 4, False), lanes(b, 4, False)])
    np.testing.assert_array_equal(out[16], packed(np.minimum(both[:, [0, 1, 6, 7]], both[:, [3, 2, 1, 0]]), 4))
    both = np.hstack([lanes(a, 2, True), lanes(b, 2, True)])
    sums = np.clip(both[:, [3, 1]] + both[:, [0, 2]], -(2**15), 2**15 - 1)
    np.testing.assert_array_equal(out[17], merged(c, sums, 2, [0]))


# The code that ptxas 13.0 makes for sm_90 takes unsigned words before a shift for signed, saturates after a shift has lost
# bits, saturates negative bytes to 127, and stores the upper half of a result in .h1. The PTX ISA says otherwise.
@pytest.mark.requires(software=True)
def test_video_instructions_follow_the_isa_where_ptxas_does_not(stream, rng):
    a, b, c = rng.integers(-(2**31), 2**31, (3, 200), np.int32)
    out = np.empty((18, 200), np.int32)
    parts(stream, "more_video_parts", 2, 128, a, b, c, out, 200)
    x, y, z = (v.view(np.uint32).astype(np.int64) for v in (a, b, c))
    np.testing.assert_array_equal(out[2], wrapped((x * part(b, "b3", False) + z + 1) >> 15))
    sums = np.zeros((200, 4), np.int64)
    sums[:, 2] = np.clip(part(a, "b0", True) + part(b, "b1", True), -128, 127)
    np.testing.assert_array_equal(out[10], merged(c, sums, 4, [2]))
    np.testing.assert_array_equal(out[11], wrapped((x - y) << 16 | (z & 0xFFFF)))
    shift = np.minimum(part(b, "b0", False), 32)
    np.testing.assert_array_equal(out[4].view(np.uint32), np.minimum(part(a, "h1", False) << shift, 2**32 - 1))


def test_rarely_used_syntax(stream, rng):
    a, b, c = rng.integers(-(2**31), 2**31, (3, 200), np.int32)
    out = np.empty((19, 200), np.int32)
    parts(stream, "more_words", 2, 128, a, b, c, out, 200)
    x, y, z = (v.astype(np.int64) for v in (a, b, c))
    ux, uy, uz = (v.view(np.uint32).astype(np.int64) for v in (a, b, c))
    np.testing.assert_array_equal(out[0], np.clip(x + y, -(2**31), 2**31 - 1))
    np.testing.assert_array_equal(out[1], np.clip(x - y, -(2**31), 2**31 - 1))
    np.testing.assert_array_equal(out[2], wrapped(((x << 40) >> 40) * ((y << 40) >> 40)))
    np.testing.assert_array_equal(out[3], wrapped(((ux & 0xFFFFFF) * (uy & 0xFFFFFF) >> 16) + uz))
    low, high = lanes(b, 4, False)[:, :2], lanes(b, 4, True)[:, 2:]
    np.testing.assert_array_equal(out[4], wrapped((lanes(a, 2, True) * low).sum(axis=1) + z))
    np.testing.assert_array_equal(out[5], wrapped((lanes(a, 2, False) * high).sum(axis=1) + z))
    both, way, every = np.hstack([lanes(a, 4, False), lanes(b, 4, False)]), uz[:, None] & 3, np.arange(4)
    orders = [way + every, (way - every) % 8, way + 0 * every, np.maximum(way, every), np.minimum(way, every)]
    for row, order in zip(out[6:], [*orders, 2 * (way & 1) + every % 2], strict=False):
        np.testing.assert_array_equal(row, packed(np.take_along_axis(both, order, axis=1), 4))
    count = uy & 31
    np.testing.assert_array_equal(out[12], np.where(count, (x << (64 - count) % 64) >> (64 - count) % 64, 0))
    np.testing.assert_array_equal(out[13], wrapped(ux & (1 << np.minimum(uy & 63, 32)) - 1))
    np.testing.assert_array_equal(out[14], packed(np.clip(np.stack([y, x >> 14], 1), -(2**15), 2**15 - 1), 2))
    bytes_ = np.clip(np.stack([y, x >> 22], 1), 0, 255)
    np.testing.assert_array_equal(out[15], wrapped(uz << 16 | bytes_[:, 1] << 8 | bytes_[:, 0]))
    np.testing.assert_array_equal(out[16], packed(lanes(a, 2, False) + lanes(b, 2, False), 2))
    np.testing.assert_array_equal(out[17], packed(np.minimum(lanes(a, 2, True), lanes(b, 2, True)), 2))
    np.testing.assert_array_equal(out[18], packed(np.maximum(lanes(a, 2, False), lanes(b, 2, False)), 2))


def test_kinds_of_floats(stream):
    x = np.array([0, -1.5, 1e-40, np.inf, -np.inf, np.nan], np.float32)
    out, rectified = np.empty(6, np.int32), np.empty(6, np.uint32)
    parts(stream, "kinds", 1, 6, x, out, rectified)
    assert out.tolist() == [0b010101, 0b010101, 0b100101, 0b000110, 0b000110, 0b001000]
    halves = rectified.view(np.float16).reshape(-1, 2)
    np.testing.assert_array_equal(halves, np.stack([np.maximum(-x, 0), np.maximum(x, 0)], 1).astype(np.float16))


def table(digits, largest, bits=7):
    """The values of the codes 0 to ``largest``; ``digits`` of the ``bits`` besides the sign are of the significand."""
    codes = np.arange(largest + 1)
    exponent, fraction = codes >> digits, codes & ((1 << digits) - 1)
    bias = 2 ** (bits - 1 - digits) - 1
    normal = (1 + fraction / 2**digits) * 2.0 ** (exponent - bias)
    return np.where(exponent > 0, normal, fraction * 2.0 ** (1 - bias - digits))


FORMATS = {"e4m3": table(3, 0x7E), "e5m2": table(2, 0x7B)}


def nearest(x, values, sign=0x80):
    """The codes of the nearest values; halfway, the even code."""
    x = np.clip(x, -1e6, 1e6)
    distance = np.abs(np.abs(x.astype(np.float64))[:, None] - values)
    best = distance.argmin(axis=1)
    tie = (best < len(values) - 1) & (
        distance[np.arange(len(x)), np.minimum(best + 1, len(values) - 1)] == distance.min(axis=1)
    )
    return (best + (tie & (best % 2 == 1)) | np.signbit(x) * sign).astype(np.uint8)


def test_floats_become_bytes(stream, rng):
    exact = np.concatenate([values for values in FORMATS.values()])
    x = np.concatenate(
        [rng.normal(size=400) * 10.0 ** rng.integers(-6, 6, 400), exact, -exact, (exact[1:] + exact[:-1]) / 2]
    )
    x = np.append(x, [np.inf, -np.inf, 0.0, -0.0]).astype(np.float32)
    x = x[: len(x) // 2 * 2]
    e4m3, e5m2, relu = np.empty((3, len(x) // 2), np.uint16)
    parts(stream, "to_bytes", 8, 128, x, e4m3, e5m2, relu, len(x) // 2)
    np.testing.assert_array_equal(e4m3.view(np.uint8), nearest(x, FORMATS["e4m3"]))
    np.testing.assert_array_equal(e5m2.view(np.uint8), nearest(x, FORMATS["e5m2"]))
    np.testing.assert_array_equal(relu.view(np.uint8), nearest(np.where(x > 0, x, np.float32(0)), FORMATS["e4m3"]))


def test_bytes_become_halves(stream):
    codes = np.arange(256, dtype=np.uint8)
    e4m3, e5m2 = np.empty((2, 128), np.uint32)
    again = np.empty(128, np.uint16)
    parts(stream, "from_bytes", 1, 128, codes.view(np.uint16), e4m3, e5m2, again, 128)
    for out, values in ((e4m3, FORMATS["e4m3"]), (e5m2, FORMATS["e5m2"])):
        halves = out.view(np.float16)
        np.testing.assert_array_equal(halves[: len(values)], values)
        np.testing.assert_array_equal(halves[128 : 128 + len(values)], -values)
    assert np.isnan(e4m3.view(np.float16)[[0x7F, 0xFF]]).all()
    np.testing.assert_array_equal(again.view(np.uint8)[:0x7C], codes[:0x7C])


FEW_BITS = {"e2m3": table(3, 31, 5), "e3m2": table(2, 31, 5), "e2m1": table(1, 7, 3)}


@pytest.mark.requires(software=True)  # a GPU needs compute capability 10.0a
def test_floats_become_numbers_of_6_and_4_bits(stream, rng):
    exact = np.concatenate([values for values in FEW_BITS.values()])
    halfway, special = (exact[1:] + exact[:-1]) / 2, [np.inf, -np.inf, 0.0, -0.0]
    x = np.concatenate([rng.normal(size=400) * 4, exact, -exact, halfway, special])
    x = x[: len(x) // 2 * 2].astype(np.float32)
    e2m3, e3m2 = np.empty((2, len(x) // 2), np.uint16)
    e2m1 = np.empty(len(x) // 2, np.uint8)
    few_bits(stream, "to_few_bits", 8, 128, x, e2m3, e3m2, e2m1, len(x) // 2)
    np.testing.assert_array_equal(e2m3.view(np.uint8), nearest(x, FEW_BITS["e2m3"], 0x20))
    positive = np.where(x > 0, x, np.float32(0))
    np.testing.assert_array_equal(e3m2.view(np.uint8), nearest(positive, FEW_BITS["e3m2"], 0x20))
    codes = nearest(x, FEW_BITS["e2m1"], 0x8)
    np.testing.assert_array_equal(e2m1, codes[::2] | codes[1::2] << 4)


@pytest.mark.requires(software=True)
def test_numbers_of_6_and_4_bits_become_halves(stream):
    e2m3, e3m2, e2m1 = np.empty((3, 256), np.uint32)
    few_bits(stream, "from_few_bits", 1, 64, e2m3, e3m2, e2m1)
    codes = np.arange(64)
    signed = {name: np.concatenate([values, -values]) for name, values in FEW_BITS.items()}
    halves = e2m3[:64].view(np.float16).reshape(-1, 2)
    np.testing.assert_array_equal(halves, np.stack([signed["e2m3"][codes ^ 1], signed["e2m3"]], axis=1))
    np.testing.assert_array_equal(e3m2[:64].view(np.float16)[1::2], np.maximum(signed["e3m2"], 0))
    halves = e2m1[:64].view(np.float16).reshape(-1, 2)
    np.testing.assert_array_equal(halves, np.stack([signed["e2m1"][codes & 15], signed["e2m1"][codes >> 4]], axis=1))


@pytest.mark.requires(software=True)
def test_numbers_become_exponents(stream, rng):
    x = np.exp2(rng.uniform(-126, 127, 64)).astype(np.float32) * rng.choice([-1, 1], 64).astype(np.float32)
    x[:8] = 0, np.nan, np.inf, 3e38, 1, 2.0**-126, 1e-39, np.nextafter(np.float32(1), np.float32(2))
    bits = x.view(np.uint32)
    pairs = bits[::2] >> 16 | bits[1::2] & 0xFFFF0000
    out, back = np.zeros((32, 4, 2), np.uint8), np.zeros(32, np.uint32)
    few_bits(stream, "to_exponents", 1, 32, x, pairs, out, back)
    nan = np.isnan(x)
    part, exponent = np.frexp(np.where(np.isfinite(x), np.abs(x.astype(np.float64)), 2.0**128))
    exponent = np.where(x == 0, 0, np.maximum(exponent + 126, -1))
    exponent, up = np.maximum(exponent, 0), np.maximum(exponent + (part > 0.5), 0)
    expected = [np.minimum(exponent, 254), np.minimum(up, 254), np.minimum(up, 255), np.minimum(exponent, 254)]
    for n, codes in enumerate(expected):
        np.testing.assert_array_equal(out[:, n].ravel(), np.where(nan, 255, codes))
    values = (back.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    np.testing.assert_array_equal(
        values, np.where(nan, np.float32(np.nan), np.exp2(expected[0] - 127.0).astype(np.float32))
    )


def test_floats_become_tensor_floats(stream):
    x = np.array([0x3F801000, 0x3F803000, 0xBF800FFF, 0x7F7FFFFF, 0xFF800000, 0x7F800001], np.uint32)
    away, even, zero = np.empty((3, 6), np.uint32)
    parts(stream, "to_tensor_floats", 1, 6, x, away, even, zero)
    assert [hex(v) for v in away[:5]] == ["0x3f802000", "0x3f804000", "0xbf800000", "0x7f800000", "0xff800000"]
    assert [hex(v) for v in even[:5]] == ["0x3f800000", "0x3f804000", "0xbf800000", "0x7f800000", "0xff800000"]
    assert [hex(v) for v in zero[:5]] == ["0x3f800000", "0x3f802000", "0xbf800000", "0x7f7fe000", "0xff800000"]
    assert [hex(v[5]) for v in (away, even, zero)] == ["0x7f800000", "0x7fffe000", "0x7fffe000"]  # of NaN


@pytest.mark.requires(nvrtc_version=(12, 8))
def test_atomic_functions_with_orders_and_scopes(stream):
    x, total = np.zeros(10, np.int32), np.zeros(1, np.float32)
    scoped(stream, "orders", 1, 64, x, total)
    assert x.tolist() == [64, 63, -63, -1, 0, -128, 64, 7, 5, 67]
    assert total[0] == 32


def test_threads_leave_a_split_barrier(stream):
    x, out = np.arange(64, dtype=np.int32) * 7, np.empty((3, 64), np.int32)
    scoped(stream, "leave", 1, 64, x, out)
    assert out[0].tolist() == [x.sum()] * 40 + [-1] * 24
    assert out[1].tolist() == [x[:40].sum()] * 20 + [-1] * 44
    assert out[2].tolist() == [x[:20].sum()] * 20 + [-1] * 44


def test_reductions_of_named_barriers(stream):
    out = np.zeros((3, 128), np.int32)
    scoped(stream, "reductions", 1, 128, out)
    assert out[0].tolist() == [22] * 64 + [21] * 64
    assert out[1].tolist() == [1] * 64 + [0] * 64
    assert out[2].tolist() == [0] * 64 + [1] * 64


def test_spaces_of_addresses(stream):
    out = np.zeros((2, 5), np.int32)
    scoped(stream, "spaces", 2, 1, out)
    assert out.tolist() == [[0b1000, 0b0011, 0b0010, 0b0100, 0b1000]] * 2


def test_split_barriers_as_functions(stream):
    x, out = np.arange(64, dtype=np.int32) * 7, np.empty((3, 64), np.int32)
    scoped(stream, "split", 1, 64, x, out)
    np.testing.assert_array_equal(out, x[::-1] + np.arange(3)[:, None])


def test_blocks_of_a_cluster_read_each_other(stream):
    out = np.zeros(6, np.int32)
    scoped(stream, "neighbors", 2, 1, out)
    assert out.tolist() == [1011, 1000, 1011, 1000, 1011, 1000]


def test_cluster_blocks_access_each_other_by_32_bit_addresses(stream):
    out = np.zeros((4, 32), np.int32)
    scoped(stream, "window", 4, 32, out)
    lane, block = np.arange(32), np.arange(4)[:, None]
    np.testing.assert_array_equal(out, 1000 * ((block + 3) % 4) + lane + 5)

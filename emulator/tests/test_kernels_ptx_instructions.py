# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Rare PTX instructions, compared with NumPy on any device: halves, barriers of other blocks, address spaces."""

import numpy as np
import pytest

from support.kernel_files import KernelFile

pytestmark = [
    pytest.mark.requires(nvrtc=True, compute=(9, 0)),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # of NumPy, about NaN and overflow
]

words = KernelFile("ptx_instructions.cu")
FTZ = 2.0**-14


def flushed(x):
    return np.where(np.abs(x) < FTZ, np.copysign(0.0, x), x)


def relu(x):
    return np.where(x <= 0, 0.0, x)


def least(x, y):
    return np.where((x == 0) & (y == 0) & (np.signbit(x) | np.signbit(y)), -0.0, np.minimum(x, y))


def xorsign(choose, x, y):
    return np.copysign(choose(np.abs(x), np.abs(y)), np.where(np.signbit(x) != np.signbit(y), -1.0, 1.0))


def bits_of(values, bfloat=False):
    """Return the bits of halves, with the NaN of a GPU for each NaN."""
    if not bfloat:
        bits = values.astype(np.float16).view(np.uint16)
        return np.where(np.isnan(values), 0x7FFF, bits).astype(np.uint16)
    bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    rounded = bits + 0x7FFF + (bits >> np.uint64(16) & np.uint64(1)) >> np.uint64(16)
    return np.where(np.isnan(values), 0x7FFF, rounded).astype(np.uint16)


def inputs(rng, bfloat=False):
    x = rng.normal(size=(3, 32, 2))
    x[:, 0] = [[1e-5, 2.0], [3e-5, -1e-6], [0.0, -4.0]]
    x[:, 1] = [[np.nan, -0.0], [1.0, 0.0], [0.0, 0.0]]
    x[:, 2] = [[2.0, 6e-5], [np.nan, -6.2e-5], [1.0, 1.0]]
    x[:2, 3] = x[0, 3]
    bits = bits_of(x, bfloat)
    if bfloat:
        return bits, (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return bits, bits.view(np.float16).astype(np.float64)


def test_arithmetic_and_comparisons_of_halves(stream, rng):
    bits, (a, b, c) = inputs(rng)
    out = np.zeros((13, 32), np.uint32)
    words(stream, "half_words", 1, 32, *np.ascontiguousarray(bits).view(np.uint32), out)
    mask = np.where(np.ascontiguousarray(bits[2]).view(np.uint32)[:, 0] > 0x80000000, 0, 1)
    nan = np.isnan(a) | np.isnan(b)
    expected = [
        relu(a * b + c), np.clip(np.nan_to_num(a * b + c), 0, 1), least(a, b), xorsign(np.fmax, a, b),
        flushed(flushed(a) + flushed(b)), relu(a * b + c), flushed(flushed(a) + flushed(b)),
        np.where(nan, np.nan, xorsign(np.minimum, a, b)), (a < b).astype(float),
    ]  # fmt: skip
    got = out.view(np.uint16).reshape(13, 32, 2)
    for n, values in enumerate(expected):
        if n in (5, 6, 7):
            values = np.repeat(values[:, :1], 2, axis=1)
        np.testing.assert_array_equal(got[n], bits_of(values), str(n))
    np.testing.assert_array_equal(got[9], np.where(nan | (a >= b), 0xFFFF, 0))
    np.testing.assert_array_equal(out[10], ((a < b) @ [1, 2]) * mask)
    np.testing.assert_array_equal(out[11], nan @ [1, 2])
    np.testing.assert_array_equal(got[12, :, 0], bits_of((a > b)[:, 0].astype(float)))


def test_arithmetic_of_bfloat16(stream, rng):
    bits, (a, b, c) = inputs(rng, bfloat=True)
    out = np.zeros((4, 32), np.uint32)
    words(stream, "bfloat_words", 1, 32, *np.ascontiguousarray(bits).view(np.uint32), out)
    nan = np.isnan(a) | np.isnan(b)
    small = np.repeat(xorsign(np.fmin, a, b)[:, :1], 2, axis=1)
    for got, values in zip(
        out.view(np.uint16).reshape(4, 32, 2),
        [relu(a * b + c), np.maximum(a, b), ((a != b) & ~nan).astype(float), small],
        strict=True,
    ):
        np.testing.assert_array_equal(got, bits_of(values, bfloat=True))


def test_choices_of_floats(stream, rng):
    x, y = rng.normal(size=(2, 32)).astype(np.float32)
    x[:4], y[:4] = [np.nan, 1e-39, 0.0, -0.0], [1.0, 2e-39, -0.0, 0.0]
    out, less = np.zeros((3, 32), np.float32), np.zeros(32, np.int32)
    words(stream, "float_words", 1, 32, x, y, out, less)
    np.testing.assert_array_equal(out[0], np.minimum(x, y))
    assert out[0, :1].view(np.uint32) == 0x7FFFFFFF
    np.testing.assert_array_equal(out[1], xorsign(np.fmax, x, y).astype(np.float32))
    np.testing.assert_array_equal(out[2], np.fmin(x, y))
    assert np.signbit(out[2, 2:4]).all()
    np.testing.assert_array_equal(less, (x < y) & (np.arange(32) != 1))


def test_atomic_operations_of_halves_and_vectors(stream):
    h, pairs, f = np.zeros(2, np.uint16), np.zeros(2, np.uint32), np.zeros(12, np.float32)
    eight, out = np.full(16, 0x4400, np.uint16), np.zeros((2, 32), np.uint32)
    eight[:8] = 0
    words(stream, "half_atomics", 1, 32, h, pairs, f, eight, out)
    assert h[:1].view(np.float16) == 32 and h[1] == 0x4200  # 32 in bfloat16
    assert pairs.view(np.uint16).tolist() == [0xD000, 0x5000, 0xC200, 0x4200]
    assert f[:4].tolist() == [496, 496, -496, -496]
    assert f[4:6].tolist() == [1.5, -2] and f[8:10].tolist() == [0, 0]
    most = 0x3C00 + 31
    assert eight.tolist() == [
        most,
        0x3C00,
        most,
        0x3C00,
        most,
        0x3C00,
        most,
        most,
        0xBC00,
        0x3C00,
        0x4000,
        0x4000,
        *4 * [0x4400],
    ]
    assert sorted((out[0].astype(np.uint32) << 16).view(np.float32)) == list(range(32))
    assert sorted((out[1] & 0xFFFF0000).view(np.float32)) == list(range(32))


def test_blocks_of_a_cluster_arrive_at_barriers_of_each_other(stream):
    out = np.zeros((4, 32), np.uint32)
    words(stream, "cluster_ring", 4, 32, out)
    np.testing.assert_array_equal(out, (np.arange(-1, 3) % 4 * 100)[:, None] + np.arange(32))
    words(stream, "cluster_copies", 4, 32, out)
    np.testing.assert_array_equal(out, (np.arange(-1, 3) % 4 * 1000)[:, None] + np.arange(32))


def test_spaces_of_addresses_and_pending_counts(stream):
    out = np.zeros(8, np.int32)
    words(stream, "spaces", 1, 1, out, np.zeros(2, np.int32))
    assert out[:7].tolist() == [3, 4, 8, 16, 4, 5, 2]


def test_bulk_reductions(stream):
    sums, bits = np.ones(32, np.uint32), np.zeros(32, np.uint64)
    halves, floats = np.full(32, 0x3D00, np.uint16), np.ones(32, np.float32)
    words(stream, "bulk_sums", 3, 32, sums, bits, halves, floats)
    lane = np.arange(32)
    np.testing.assert_array_equal(sums, 1 + 3 * lane)
    np.testing.assert_array_equal(bits, sum(1 << lane.astype(np.uint64) + np.uint64(7 * n) for n in range(3)))
    np.testing.assert_array_equal(halves, np.maximum(0x3D00, 0x3C00 + 48 * lane))
    np.testing.assert_array_equal(floats, 1 + 1.5 * lane)

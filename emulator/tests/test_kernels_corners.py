# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Whole kernels with rare corners of the language: ciphers, alignments, tables, machines, stencils, locks."""

import base64
import itertools

import numpy as np
import pytest

from support.kernel_files import KernelFile

pytestmark = pytest.mark.requires(nvrtc=True, compute=(9, 0))

corners = KernelFile("corners.cu", "forces")
MASK = 2**32 - 1


def chacha_block(key, counter):
    def quarter(s, a, b, c, d):
        for x, y, z, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            s[x] = (s[x] + s[y]) & MASK
            t = s[z] ^ s[x]
            s[z] = (t << n | t >> (32 - n)) & MASK

    start = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *key, counter, 0x09000000, 0x4A000000, 0]
    s = start.copy()
    for _ in range(10):
        for i in range(4):
            quarter(s, i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(s, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return [(a + b) & MASK for a, b in zip(s, start, strict=True)]


def test_stream_cipher(stream):
    key = np.frombuffer(bytes(range(32)), np.uint32).copy()
    out = np.zeros((16, 16), np.uint32)
    corners(stream, "chacha", 2, 32, key, out, np.uint32(1))
    assert out.tolist() == [chacha_block(key.tolist(), 1 + n) for n in range(16)]
    assert out[0, 0] == 0xE4E7F110  # of RFC 8439


def test_sums_of_256_bits(stream, rng):
    a, b = rng.integers(0, 2**64, (2, 50, 4), np.uint64)
    a[0], b[0] = 2**64 - 1, [1, 0, 0, 0]
    total, fields = np.zeros_like(a), np.zeros(50, np.uint32)
    corners(stream, "add_big", 1, 32, a, b, total, fields, 50)
    for x, y, z, field in zip(a, b, total, fields.tolist(), strict=True):
        exact = int.from_bytes(x.tobytes(), "little") + int.from_bytes(y.tobytes(), "little")
        assert int.from_bytes(z.tobytes(), "little") == exact % 2**256
        assert field == (int(x[0]) >> 5 & 0xFFF) | exact >> 256 << 31


def test_powers_modulo_a_prime(stream, rng):
    prime = 2**61 - 1
    base, exponent = rng.integers(0, prime, 32, np.uint64), rng.integers(0, 2**32, 32, np.uint32)
    out = np.zeros(32, np.uint64)
    corners(stream, "powers", 1, 32, base, exponent, out)
    assert out.tolist() == [pow(x, e, prime) for x, e in zip(base.tolist(), exponent.tolist(), strict=True)]


def test_local_alignment(stream, rng):
    a, b = rng.choice(list(b"ACGT"), 32).astype(np.uint8), rng.choice(list(b"ACGT"), 50).astype(np.uint8)
    b[10:30] = a[5:25]
    score = np.zeros((33, 51), int)
    for i, j in itertools.product(range(32), range(50)):
        step = 3 if a[i] == b[j] else -2
        score[i + 1, j + 1] = max(0, score[i, j] + step, score[i, j + 1] - 4, score[i + 1, j] - 4)
    best = np.zeros(1, np.int32)
    corners(stream, "align_words", 1, 32, a, b, 50, best)
    assert best[0] == score.max() >= 60


def test_table_with_open_addressing(stream, rng):
    keys = rng.integers(-20, 20, 500, np.int32)
    table = np.zeros((61, 2), np.uint32)
    corners(stream, "count_words", 2, 64, keys, 500, table, 61)
    values, counts = np.unique(keys, return_counts=True)
    found = {int(np.int32(np.uint32(key).view(np.int32))): count for key, count in table.tolist() if count}
    assert found == dict(zip(values.tolist(), counts.tolist(), strict=True))


def test_filter_of_bits(stream, rng):
    inside = rng.integers(0, 2**32, 40, np.uint32)
    asked = np.concatenate([inside, rng.integers(0, 2**32, 200, np.uint32)])
    bits, found = np.zeros(16, np.uint64), np.zeros(240, np.bool_)
    corners(stream, "bloom", 1, 64, inside, 40, asked, 240, bits, found)
    assert found[:40].all() and found[40:].sum() < 20


def test_base64(stream, rng):
    data = rng.integers(0, 256, 300, np.uint8)
    out = np.zeros(400, np.uint8)
    corners(stream, "base64", 2, 64, data, out, 100)
    assert out.tobytes() == base64.b64encode(data.tobytes())


def test_runs_of_equal_bytes(stream, rng):
    x = np.repeat(rng.integers(0, 256, 40, np.uint8), rng.integers(1, 90, 40))
    values, lengths, runs = np.zeros(x.size, np.uint8), np.zeros(x.size, np.int32), np.zeros(1, np.int32)
    corners(stream, "run_lengths", 1, 32, x, x.size, values, lengths, runs)
    expected = [(value, len(list(group))) for value, group in itertools.groupby(x.tolist())]
    assert list(zip(values[: runs[0]].tolist(), lengths[: runs[0]].tolist(), strict=True)) == expected


def test_bounds_of_a_series(stream, rng):
    x, out = rng.uniform(-2, 2, 32), np.zeros((32, 2))
    corners(stream, "bounds", 1, 32, x, out, 30)
    assert (out[:, 0] <= np.exp(x)).all() and (np.exp(x) <= out[:, 1]).all()
    assert (out[:, 1] - out[:, 0] < 1e-13).all()


def test_elimination_with_pivots(stream, rng):
    systems = rng.normal(size=(3, 16, 17)).astype(np.float32)
    systems[:, 0, 0] = 0
    x = np.zeros((3, 16), np.float32)
    corners(stream, "eliminate", 3, 16, systems, x)
    residual = np.einsum("nij,nj->ni", systems[:, :, :16].astype(np.float64), x) - systems[:, :, 16]
    assert np.abs(residual).max() < 1e-2


def test_speckle_reduction(stream, rng):
    image = rng.uniform(0.5, 1.5, (13, 21)).astype(np.float32)
    out = np.zeros_like(image)
    corners(stream, "srad", (2, 2), (16, 8), image, out, 13, 21, np.float32(0.3))
    padded = np.pad(image.astype(np.float64), 1, "edge")
    total = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:] - 4 * padded[1:-1, 1:-1]
    c = 1 / (1 + ((total / image) ** 2 - 0.3) / (0.3 * 1.3))
    np.testing.assert_allclose(out, image + 0.25 * np.clip(c, 0, 1) * total, rtol=2e-4)


def test_particles_in_boxes_and_sums_of_columns(stream, rng):
    particles = rng.random((40, 4)).astype(np.float32)
    boxes = np.array([[0, 17], [17, 3], [20, 20]], np.int32)
    out = np.zeros((40, 4), np.float32)
    corners(stream, "forces", 3, 64, particles, boxes, 3, out, shared=20 * 16)
    d = particles[:, None, :3].astype(np.float64) - particles[None, :, :3]
    w = particles[:, None, 3] * particles[None, :, 3] * np.exp(-(d**2).sum(axis=2))
    np.testing.assert_allclose(out[:, :3], (w[..., None] * d).sum(axis=1), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(out[:, 3], w.sum(axis=1), rtol=1e-3)
    x = rng.normal(size=(100, 8))
    total = np.zeros(8)
    corners(stream, "reduce_columns", 1, (8, 4), x, total, 100, shared=8 * 4 * 8)
    np.testing.assert_allclose(total, x.sum(axis=0), rtol=1e-12)


def test_machine_of_member_pointers(stream):
    # x = 2 * x + 3 until it is at least 100
    program = np.array([[0, 2], [2, 0], [0, 3], [3, 0], [1, 0], [4, 100], [5, 0]], np.uint8)
    x, out = np.arange(1, 33, dtype=np.int32), np.zeros(32, np.int32)
    corners(stream, "interpret", 1, 32, program, x, out)

    def run(value):
        value = 2 * value + 3
        return value if value >= 100 else run(value)

    assert out.tolist() == [run(value) for value in x.tolist()]


def test_life_by_bits(stream, rng):
    cells = rng.integers(0, 2, (20, 32))
    words = (cells.astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(axis=1).astype(np.uint32)
    out = np.zeros(20, np.uint32)
    corners(stream, "life_bits", 1, 20, words, out, 20)
    near = sum(np.roll(cells, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - cells
    np.testing.assert_array_equal(out[:, None] >> np.arange(32) & 1, (near == 3) | ((near == 2) & (cells == 1)))


def test_shapes_on_the_heap(stream, rng):
    kinds, sizes = rng.integers(0, 3, 32, np.int32), rng.random(32).astype(np.float32)
    out = np.zeros(32, np.float32)
    corners(stream, "areas", 1, 32, kinds, sizes, out)
    np.testing.assert_allclose(out, sizes**2 * np.array([1, 0.5, 1], np.float32)[kinds], rtol=1e-6)


def test_medians_by_a_network(stream, rng):
    x = rng.normal(size=200).astype(np.float32)
    out = np.zeros_like(x)
    corners(stream, "medians", 2, 128, x, out, 200)
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, 2, "edge"), 5)
    np.testing.assert_array_equal(out, np.median(windows, axis=1))


def test_lanes_acquire_lock_in_turn(stream):
    order, total = np.zeros(96, np.int32), np.zeros(1, np.int32)
    corners(stream, "take_turns", 3, 32, order, total)
    assert sorted(order) == list(range(96)) and total[0] == 96


def test_sums_of_equal_keys(stream, rng):
    keys, values = rng.integers(0, 7, 96, np.int32), rng.integers(-100, 100, 96, np.int32)
    sums = np.zeros(7, np.int32)
    corners(stream, "sum_by_key", 1, 96, keys, values, sums)
    np.testing.assert_array_equal(sums, np.bincount(keys, weights=values, minlength=7))


def test_space_filling_curve(stream):
    distance, out = np.arange(256, dtype=np.uint32), np.zeros((256, 2), np.int16)
    corners(stream, "hilbert", 4, 64, distance, out, 4)
    assert len({tuple(place) for place in out.tolist()}) == 256 and out.min() == 0 and out.max() == 15
    assert (np.abs(np.diff(out, axis=0)).sum(axis=1) == 1).all()


def test_noise_from_a_constant_table(stream, rng):
    at, out = rng.uniform(-5, 5, (64, 2)).astype(np.float32), np.zeros(64, np.float32)
    corners(stream, "noise", 1, 64, at, out)
    table = (np.arange(256) * 167 + 13) % 256
    cell = np.floor(at).astype(int)
    x, y = (at - cell).astype(np.float64).T

    def corner(dx, dy):
        h = table[(table[(cell[:, 0] + dx) & 255] + cell[:, 1] + dy) & 255]
        return np.where(h & 1, -(x - dx), x - dx) + np.where(h & 2, -(y - dy), y - dy)

    u, v = (t**3 * (t * (t * 6 - 15) + 10) for t in (x, y))
    low, high = (corner(0, k) + u * (corner(1, k) - corner(0, k)) for k in (0, 1))
    np.testing.assert_allclose(out, low + v * (high - low), atol=1e-5)


def test_loop_of_inline_ptx(stream):
    x, steps = np.arange(1, 65, dtype=np.uint32), np.zeros(64, np.uint32)
    corners(stream, "steps_to_one", 1, 64, x, steps)

    def count(n):
        return 0 if n == 1 else 1 + count(n // 2 if n % 2 == 0 else 3 * n + 1)

    assert steps.tolist() == [count(n) for n in x.tolist()]


def test_rarely_used_functions(stream, rng):
    x = rng.integers(0, 2**32, (32, 4), np.uint32)
    f = rng.normal(size=(32, 3)).astype(np.float32)
    f[:4, 0] = np.nan, np.inf, -np.inf, -0.0
    out, facts = np.zeros((32, 4, 4), np.uint32), np.zeros(32, np.int32)
    corners(stream, "rare_functions", 1, 32, x, f, out, facts)
    expected = np.stack([x[:, 0].byteswap(), x[:, 1].astype(np.uint16).byteswap(), x[:, 1].byteswap(), x[:, 3]], axis=1)
    np.testing.assert_array_equal(out[:, 0], expected)
    a, b, c = (np.ascontiguousarray(x[:, n]) for n in range(3))
    for n, (half, byte) in enumerate([(np.uint16, np.uint8), (np.int16, np.int8)]):
        products = np.tile(a.view(half).reshape(32, 2), 2).astype(np.int64) * b.view(byte).reshape(32, 4)
        sums = (products.reshape(32, 2, 2).sum(axis=2) + c[:, None]).astype(np.uint32)
        np.testing.assert_array_equal(out[:, 1, 2 * n : 2 * n + 2], sums)
        np.testing.assert_array_equal(out[:, 2, 2 * n : 2 * n + 2], sums)
    nearest, zero, down, up = out[4:, 3].view(np.float32).T
    exact = f[4:, 0].astype(np.float64) * f[4:, 1] + f[4:, 2]
    np.testing.assert_array_equal(nearest, exact.astype(np.float32))
    assert (down <= exact).all() and (exact <= up).all() and (up - down <= 2 * np.spacing(np.abs(down))).all()
    np.testing.assert_array_equal(zero, np.where(exact > 0, down, up))
    kinds = [[np.isfinite, np.isnan, np.isinf, np.signbit, np.isnan, np.isinf][n](f[:, 0]) << n for n in range(6)]
    np.testing.assert_array_equal(facts[1:], sum(kinds)[1:])  # the sign of NaN is not specified

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Idioms of CUDA samples and forums: transforms, look-back, aggregated atomics, pipelines, metaprogramming, lists."""

import zlib

import numpy as np
import pytest

from support.kernel_files import KernelFile

pytestmark = pytest.mark.requires(nvrtc=True, compute=(8, 0))

reduce_names = [f"reduce6<{n}>" for n in (64, 256)]
idioms = KernelFile("idioms.cu", *reduce_names, "transform<Affine>", headers=True)


def test_fourier_transform_in_shared_memory(stream, rng):
    x = (rng.normal(size=(3, 256)) + 1j * rng.normal(size=(3, 256))).astype(np.complex64)
    out = np.empty_like(x)
    idioms(stream, "fft256", 3, 128, x, out)
    np.testing.assert_allclose(out, np.fft.fft(x, axis=1), atol=1e-3)


def test_scan_looks_back_at_other_blocks(stream, rng):
    x = rng.integers(-100, 100, 1000, np.int32)
    out, ticket, states = np.zeros(1000, np.int32), np.zeros(1, np.uint32), np.zeros((16, 3), np.int32)
    idioms(stream, "scan_lookback", 16, 64, x, out, 1000, ticket, states, shared=(2 * 64 + 2) * 4)
    np.testing.assert_array_equal(out, np.cumsum(x))


def test_participating_lanes_share_an_atomic_operation(stream, rng):
    x = rng.normal(size=1000).astype(np.float32)
    out, negative, counts = np.zeros(1000, np.float32), np.zeros(1000, np.float32), np.zeros(2, np.int32)
    idioms(stream, "filter_positive", 2, 96, x, 1000, out, negative, counts)
    assert counts.tolist() == [(x > 0).sum(), (x <= 0).sum()]
    np.testing.assert_array_equal(np.sort(out[: counts[0]]), np.sort(x[x > 0]))
    np.testing.assert_array_equal(np.sort(negative[: counts[1]]), np.sort(x[x <= 0]))


@pytest.mark.parametrize("block", [64, 256])
def test_last_warp_reduces_by_volatile_accesses(stream, rng, block):
    x, out = rng.integers(-1000, 1000, 5003, np.int32), np.zeros(3, np.int32)
    idioms(stream, f"reduce6<{block}>", 3, block, x, out, np.uint32(len(x)), shared=block * 4)
    assert out.sum() == x.sum()


def test_copies_in_two_stages(stream, rng):
    x, out = rng.integers(-1000, 1000, (5, 32, 4), np.int32), np.empty((32, 4), np.int32)
    idioms(stream, "pipelined_sum", 1, 32, x, out, 5)
    y = x[:, ::-1]
    np.testing.assert_array_equal(out[:, :2], y[:, :, :2].sum(axis=0))
    np.testing.assert_array_equal(out[:, 2], np.bitwise_xor.reduce(y[:, :, 2], axis=0))
    np.testing.assert_array_equal(out[:, 3], np.maximum(y[:, :, 3].max(axis=0), 0))


def test_stencil_of_pairs_of_halves(stream, rng):
    x = rng.normal(size=200).astype(np.float16)
    out = np.empty_like(x)
    idioms(stream, "half2_blur", 2, 64, x, out, 100)
    padded = np.pad(x, 1, "edge").astype(np.float32)
    np.testing.assert_allclose(out, 0.5 * padded[1:-1] + 0.25 * (padded[:-2] + padded[2:]), atol=2e-3)


def test_constant_structures_unions_and_bit_fields(stream):
    kinds = np.array([0, 1, 2, 1, 0], np.int32)
    out, exponents = np.empty(5, np.float32), np.empty(5, np.uint32)
    idioms(stream, "shade", 1, 32, kinds, out, exponents, 5)
    albedo = np.array([[1, 2, 3], [4, 5, 9], [7, 8, 9]], np.float32) / np.float32(10)
    roughness = np.array([0.5, 0.25, 1], np.float32)
    value = (albedo[:, 0] * roughness + albedo[:, 1] - albedo[:, 2] * np.arange(3, dtype=np.float32))[kinds]
    np.testing.assert_allclose(out, 2 * np.abs(value), rtol=1e-5)
    assert (exponents >> 8).tolist() == np.signbit(value).tolist()


def test_monte_carlo_estimate(stream):
    hits = np.zeros(1, np.uint32)
    idioms(stream, "estimate_pi", 2, 64, hits, 50)
    state = np.arange(128, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(1)
    inside = 0
    for _ in range(50):
        pair = []
        for _ in range(2):
            state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            pair.append((state >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24))
        inside += (pair[0] ** 2 + pair[1] ** 2 < 1).sum()
    assert abs(int(hits[0]) - inside) <= 2


def test_tables_at_compile_time_and_folds(stream):
    words = [b"", b"123456789", b"CUDA", b"software device"]
    text = np.frombuffer(b"".join(words), np.uint8)
    begins = np.cumsum([0] + [len(word) for word in words]).astype(np.int32)
    out, sums = np.empty(4, np.uint32), np.empty(4, np.int32)
    idioms(stream, "crc32", 1, 32, text, begins, out, sums, 4)
    assert out.tolist() == [zlib.crc32(word) for word in words]
    pi = [3, 1, 4, 1, 5]
    assert sums.tolist() == [pi[i] + 2 * i + (1 + i) * (2 + i) * (3 + i) * (97 + i) for i in range(4)]


def test_functor_is_a_parameter(stream, rng):
    x, out = rng.integers(-100, 100, (50, 2), np.int32), np.empty(50, np.int32)
    functor = np.array((3, 7), np.dtype([("scale", "i4"), ("offset", "i4")]))[()]
    idioms(stream, "transform<Affine>", 1, 32, x, out, 50, functor)
    np.testing.assert_array_equal(out, 3 * x[:, 0] + x[:, 1] + 7)


def test_lists_and_visitors_on_the_heap(stream, rng):
    x = rng.integers(-1000, 1000, (40, 9), np.int32)
    sums, largest = np.empty(40, np.int64), np.empty(40, np.int32)
    idioms(stream, "lists", 1, 40, x, sums, largest, 9)
    np.testing.assert_array_equal(sums, x.sum(axis=1) * 1000 + np.median(x, axis=1).astype(int))
    np.testing.assert_array_equal(largest, x.max(axis=1))


def test_blocks_add_under_a_lock(stream):
    x, mutex, total = np.arange(8 * 32, dtype=np.float64), np.zeros(1, np.int32), np.zeros(1)
    idioms(stream, "locked_sum", 8, 32, mutex, total, x)
    assert total[0] == x.sum()


def test_hash_table_with_open_addresses(stream, rng):
    keys = rng.integers(0, 100, 1000).astype(np.uint32)
    slots, counts = np.full(256, 0xFFFFFFFF, np.uint32), np.zeros(256, np.int32)
    idioms(stream, "hash_insert", 8, 128, keys, 1000, slots, counts, np.uint32(256))
    found = {int(key): int(count) for key, count in zip(slots, counts, strict=True) if count}
    assert found == dict(zip(*[values.tolist() for values in np.unique(keys, return_counts=True)], strict=True))


def test_last_block_adds_the_sums_of_all(stream, rng):
    x = rng.integers(0, 100, 3000).astype(np.float32)
    for _ in range(2):
        partial, out = np.zeros(20, np.float32), np.zeros(1, np.float32)
        idioms(stream, "last_block", 20, 32, x, partial, out, 3000)
        assert out[0] == x.sum()


def test_runs_in_a_warp(stream, rng):
    x = rng.integers(0, 2, 64, np.int32)
    heads, lengths, scans = np.empty((3, 64), np.int32)
    idioms(stream, "compact_runs", 1, 64, x, heads, lengths, scans)
    for begin in (0, 32):
        part = x[begin : begin + 32]
        starts = np.flatnonzero(np.append(True, part[1:] != part[:-1]))
        ends = np.append(starts[1:], 32)
        run = np.searchsorted(starts, np.arange(32), side="right") - 1
        assert heads[begin : begin + 32].tolist() == starts[run].tolist()
        assert lengths[begin : begin + 32].tolist() == (ends - starts)[run].tolist()
        same = np.where(part == 1, part.sum(), 32 - part.sum())
        assert scans[begin : begin + 32].tolist() == ((np.cumsum(part) - part) * 100 + same).tolist()


def test_products_of_256_bits(stream, rng):
    a, b = rng.integers(0, 2**64, (2, 20, 2), np.uint64, endpoint=False)
    a[0] = b[0] = 2**64 - 1
    out = np.empty((20, 4), np.uint64)
    idioms(stream, "multiply_128", 1, 20, a, b, out)
    whole = [sum(int(v) << 64 * k for k, v in enumerate(row)) for row in out]
    assert whole == [
        (int(x[0]) + (int(x[1]) << 64)) * (int(y[0]) + (int(y[1]) << 64)) for x, y in zip(a, b, strict=True)
    ]


def test_warp_produces_for_another(stream):
    x, out = np.arange(7 * 32, dtype=np.int32).reshape(7, 32), np.empty(32, np.int32)
    idioms(stream, "specialized", 1, 64, x, out, 7)
    np.testing.assert_array_equal(out, (2 * x).sum(axis=0)[np.arange(32) ^ 1] + 21)


def test_warps_sort_by_shuffles(stream, rng):
    keys, values = rng.integers(0, 2**64, 64, np.uint64, endpoint=False), rng.normal(size=64)
    expected = np.sort(keys.reshape(2, 32)).ravel(), np.sort(values.reshape(2, 32)).ravel()
    idioms(stream, "sort_warps", 1, 64, keys, values)
    np.testing.assert_array_equal(keys, expected[0])
    np.testing.assert_array_equal(values, expected[1])


def test_bodies_attract_each_other(stream, rng):
    p = rng.normal(size=(100, 4)).astype(np.float32)
    out = np.empty_like(p)
    idioms(stream, "bodies", 4, 32, p, out, 100, shared=32 * 16)
    d = p[None, :, :3] - p[:, None, :3]
    weight = p[None, :, 3] / ((d**2).sum(axis=2) + 0.01) ** 1.5
    np.testing.assert_allclose(out[:, :3], (weight[:, :, None] * d).sum(axis=1), rtol=1e-3, atol=1e-2)


def test_grid_synchronizes_between_steps(stream, rng):
    a = rng.normal(size=100).astype(np.float32)
    b, expected = np.zeros_like(a), a.astype(np.float64)
    idioms(stream, "heat_grid", 2, 32, a, b, 100, 4, cooperative=True)
    for _ in range(4):
        expected[1:-1] = 0.25 * expected[:-2] + 0.5 * expected[1:-1] + 0.25 * expected[2:]
    np.testing.assert_allclose(a, expected, rtol=1e-4, atol=1e-5)


def test_formats_of_printf(stream, capfd):
    idioms(stream, "tell_all", 1, 1, 42, np.float32(1.5))
    assert capfd.readouterr().out.splitlines() == [
        "   42|42   |00042|+42|2a|0X2A|52",
        "   1.500|1.50e+00|1.5|0x1.8p+0",
        "text|c|%|(nil)|-5|18446744073709551615|-3|    42",
    ]


@pytest.mark.requires(software=True)  # a GPU prints another message
def test_more_formats_of_printf(stream, capfd):
    idioms(stream, "tell_more", 1, 1, np.float32(1.5))
    assert capfd.readouterr().out == "-3|16|1.50\n"

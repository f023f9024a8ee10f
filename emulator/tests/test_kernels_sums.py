# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Reductions, scans and cooperative groups, compared with NumPy, on any device."""

import numpy as np
import pytest

from support.kernel_files import KernelFile

pytestmark = pytest.mark.requires(nvrtc=True)

reductions = KernelFile("reductions.cu", "reduce<int, Least, 64>", "reduce<double, Product, 128>")
scans = KernelFile("scans.cu", "scan_by_tree<int, 256>", "scan_by_tree<double, 64>")
groups = KernelFile("groups.cu", headers=True)


def test_sum_by_a_tree_in_shared_memory(stream, rng):
    x = rng.integers(-(2**31), 2**31, 10_000, np.int32)
    partial = np.empty(6, np.int64)
    reductions(stream, "tree_sum", 6, 128, x, partial, x.size, shared=128 * 8)
    assert partial.sum() == x.sum(dtype=np.int64)


def test_dot_product_by_shuffles(stream, rng):
    a, b = rng.standard_normal((2, 5000))
    out = np.zeros(1)
    reductions(stream, "dot", 4, 256, a, b, out, 5000)
    np.testing.assert_allclose(out[0], a @ b, rtol=1e-12, atol=1e-11)


def test_reductions_by_templates(stream, rng):
    x, least = rng.integers(-1000, 1000, 777, np.int32), np.zeros(1, np.int32)
    reductions(stream, "reduce<int, Least, 64>", 1, 64, x, least, 777)
    assert least[0] == x.min()
    y, product = rng.uniform(0.9, 1.1, 300), np.zeros(1)
    reductions(stream, "reduce<double, Product, 128>", 1, 128, y, product, 300)
    np.testing.assert_allclose(product[0], y.prod(), rtol=1e-13)


def test_index_of_the_largest_element(stream, rng):
    x = rng.standard_normal(3000).astype(np.float32)
    x[[1234, 2345]] = x.max() + 1
    best = np.zeros(1, np.uint64)
    reductions(stream, "largest", 12, 256, x, best, 3000)
    assert ~best.astype(np.uint32)[0] == 1234


def test_last_block_adds_the_sums_of_all_blocks(stream, rng):
    x = rng.integers(0, 1000, 5000, np.int32)
    for _ in range(2):  # the kernel resets its counter
        out = np.zeros(1, np.int32)
        reductions(stream, "last_block_sum", 9, 64, x, np.empty(9, np.int32), out, 5000)
        assert out[0] == x.sum()


@pytest.mark.parametrize("n", [1, 33, 500])
def test_prefix_sums_by_doubling(stream, rng, n):
    x = rng.integers(-99, 99, n, np.int32)
    out = np.empty_like(x)
    scans(stream, "scan_by_doubling", 1, n, x, out, shared=2 * n * 4)
    np.testing.assert_array_equal(out, np.cumsum(x))


@pytest.mark.parametrize(("name", "kind", "n"), [("int, 256", np.int32, 256), ("double, 64", np.float64, 64)])
def test_prefix_sums_by_a_tree(stream, rng, name, kind, n):
    x = rng.integers(-99, 99, n).astype(kind)
    out = np.empty_like(x)
    scans(stream, f"scan_by_tree<{name}>", 1, n // 2, x, out)
    np.testing.assert_array_equal(out, np.cumsum(x) - x)


def test_prefix_sums_by_blocks_waiting_for_the_previous(stream, rng):
    n, blocks = 4_000, 16
    x = rng.integers(-99, 99, n, np.int32)
    out = np.empty_like(x)
    is_ready, sums = np.zeros((2, blocks), np.int32)
    scans(stream, "chained_scan", blocks, 256, x, out, n, np.zeros(1, np.int32), is_ready, sums)
    np.testing.assert_array_equal(out, np.cumsum(x))


def test_stream_compaction_by_votes(stream, rng):
    x = rng.integers(-3, 4, 1000, np.int32)
    out, count = np.zeros_like(x), np.zeros(1, np.int32)
    scans(stream, "compact", 1, 128, x, out, count, 1000)
    assert out[: count[0]].tolist() == x[x != 0].tolist()


def test_summed_area_table(stream, rng):
    picture = rng.integers(0, 256, (45, 70), np.uint8)
    sums = np.empty((45, 70), np.uint32)
    scans(stream, "along_rows", 2, 32, picture, sums, 70, 45)
    scans(stream, "along_columns", 3, 32, sums, 70, 45)
    np.testing.assert_array_equal(sums, picture.cumsum(0, dtype=np.uint32).cumsum(1))


@pytest.mark.requires(cuda_headers=True, cooperative=True)
class TestGroups:
    def test_mean_and_variance_in_one_launch_of_a_cooperative_grid(self, stream, rng):
        x = rng.normal(5, 2, 3000)
        result = np.zeros(2)
        groups(stream, "variance", 6, 128, x, result, 3000, cooperative=True)
        np.testing.assert_allclose(result, [x.mean(), x.var()], rtol=1e-12)

    def test_sums_of_tiles(self, stream, rng):
        x = rng.integers(0, 1000, 4 * 64, np.int32)
        out = np.zeros(32, np.int32)
        groups(stream, "sums_of_eight", 4, 64, x, out)
        np.testing.assert_array_equal(out, x.reshape(32, 8).sum(1))

    def test_coalesced_threads_share_one_atomic_addition(self, stream, rng):
        x = rng.integers(0, 1000, 1000, np.int32)
        out, count = np.zeros_like(x), np.zeros(1, np.int32)
        groups(stream, "gather_odd", 8, 128, x, out, count, 1000)
        assert sorted(out[: count[0]]) == sorted(x[x % 2 == 1])

    def test_cooperative_grid_synchronizes_many_times(self, stream, rng):
        x = rng.random(500)
        expected = x.copy()
        for _ in range(20):
            expected = expected / 2 + (np.roll(expected, 1) + np.roll(expected, -1)) / 4
        groups(stream, "diffuse", 4, 64, x, np.empty_like(x), 500, 20, cooperative=True)
        np.testing.assert_allclose(x, expected, rtol=1e-13)

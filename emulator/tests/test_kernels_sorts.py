# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Sorts, histograms, queues and locks, compared with NumPy, on any device."""

import numpy as np
import pytest

from support.kernel_files import KernelFile

pytestmark = pytest.mark.requires(nvrtc=True)

sorts = KernelFile("sorts.cu", "bitonic_sort<int, 256>", "bitonic_sort<double, 128>")
counting = KernelFile("counting.cu")


@pytest.mark.parametrize(("name", "kind", "n"), [("int, 256", np.int32, 256), ("double, 128", np.float64, 128)])
def test_bitonic_sort(stream, rng, name, kind, n):
    x = rng.integers(-50, 50, n).astype(kind)
    expected = np.sort(x)
    sorts(stream, f"bitonic_sort<{name}>", 1, n, x)
    np.testing.assert_array_equal(x, expected)


def test_radix_sort_is_stable(stream, rng):
    x = rng.integers(0, 2**32, 256, np.uint32)
    x[::3] = x[0]
    before, order = x.copy(), np.empty(256, np.int32)
    sorts(stream, "radix_sort", 1, 256, x, order, shared=256 * 8)
    np.testing.assert_array_equal(order, np.argsort(before, kind="stable"))
    np.testing.assert_array_equal(x, before[order])


def test_odd_even_sort_ends_when_nothing_changes(stream, rng):
    x = rng.random(101, np.float32)
    expected, rounds = np.sort(x), np.zeros(1, np.int32)
    sorts(stream, "neighbor_sort", 1, 64, x, 101, rounds)
    np.testing.assert_array_equal(x, expected)
    assert 2 <= rounds[0] <= 52


def test_merge_by_binary_search(stream, rng):
    a, b = np.sort(rng.integers(0, 500, 700, np.int32)), np.sort(rng.integers(0, 500, 450, np.int32))
    out = np.zeros(1150, np.int32)
    sorts(stream, "merge", 6, 128, a, 700, b, 450, out)
    np.testing.assert_array_equal(out, np.sort(np.concatenate([a, b])))


def test_quicksort_with_a_stack_in_each_thread(stream, rng):
    rows = rng.integers(-999, 999, (70, 55), np.int16)
    expected = np.sort(rows)
    sorts(stream, "sort_rows", 3, 32, rows, 55, 70)
    np.testing.assert_array_equal(rows, expected)


def test_histogram_by_shared_atomics(stream, rng):
    x = rng.integers(0, 256, 20_000, np.uint8)
    counts = np.zeros(256, np.uint32)
    counting(stream, "histogram", 5, 192, x, counts, x.size)
    np.testing.assert_array_equal(counts, np.bincount(x, minlength=256))


def test_sums_and_extremes_of_groups_by_atomics(stream, rng):
    group, value = rng.integers(0, 10, 2000, np.int32), rng.integers(-(2**31), 2**31, 2000, np.int32)
    sums, least, largest = np.zeros(10, np.int64), np.full(10, 2**31 - 1, np.int32), np.full(10, -(2**31), np.int32)
    counting(stream, "by_group", 8, 256, group, value, sums, least, largest, 2000)
    members = [value[group == k] for k in range(10)]
    assert sums.tolist() == [member.sum(dtype=np.int64) for member in members]
    assert least.tolist() == [member.min() for member in members]
    assert largest.tolist() == [member.max() for member in members]


def test_threads_pop_tasks_until_none_is_left(stream, rng):
    tasks = rng.integers(0, 60, 500, np.int32)
    result, following = np.zeros(500, np.int32), np.zeros(1, np.int32)
    counting(stream, "take_tasks", 3, 64, tasks, 500, following, result)
    assert result.tolist() == [sum(k * k % 7 for k in range(1, task + 1)) for task in tasks]
    assert following[0] == 500 + 3 * 64


def test_blocks_pass_numbers_through_a_queue(stream):
    each, producers = 10, 3
    slots, total = np.zeros(64, np.int32), np.zeros(1, np.int64)
    put, taken = np.zeros((2, 1), np.int32)
    counting(stream, "relay", 2 * producers, 1, slots, put, taken, each, total)
    assert total[0] == sum(range(1, each * producers + 1))


def test_spin_lock(stream):
    account = np.array([0, 1000], np.int32)
    counting(stream, "guarded", 4, 32, np.zeros(1, np.int32), account, 3)
    assert account.tolist() == [4 * 32 * 3, 1000 - 4 * 32 * 3]


def test_linked_lists_in_device_heap(stream):
    sums, failed = np.zeros(128, np.int32), np.zeros(1, np.int32)
    counting(stream, "lists", 2, 64, 20, sums, failed)
    assert failed[0] == 0
    np.testing.assert_array_equal(sums, 190 * (np.arange(128) % 64))

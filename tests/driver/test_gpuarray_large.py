# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays of more than 2**31 elements: each operation reaches the last of them."""

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import cumath, gpuarray
from cuda.core.driver.elementwise import ElementwiseKernel
from cuda.core.driver.reduction import ReductionKernel
from cuda.core.driver.scan import ExclusiveScanKernel, InclusiveScanKernel

pytestmark = [pytest.mark.requires(memory=24 << 30), pytest.mark.usefixtures("context")]

N = 2**31 + 12347
INDICES = np.array([0, 1, N // 2, 2**31 - 1, 2**31, N - 2, N - 1])
PERIOD = 251
# The elements at these indices.
VALUES = (INDICES % PERIOD).astype(np.uint8)


def sum_before(index):
    """Return the sum of the elements before an index."""
    whole, rest = divmod(int(index), PERIOD)
    return whole * (PERIOD * (PERIOD - 1) // 2) + rest * (rest - 1) // 2


@pytest.fixture
def array():
    made = gpuarray.empty(N, np.uint8)
    ElementwiseKernel("unsigned char *z", f"z[i] = (unsigned char)(i % {PERIOD})", "pattern")(made)
    return made


def at(array):
    """Return the elements at the indices."""
    return np.array([array[int(index)].get() for index in INDICES])


@pytest.mark.parametrize(
    "compute, expected",
    [
        (lambda a: a, VALUES),
        (lambda a: a + a, VALUES + VALUES),
        (lambda a: a + 1, VALUES + np.uint8(1)),
        (lambda a: -a, -VALUES),
        (lambda a: a.__iadd__(a), VALUES + VALUES),
        (lambda a: a > 100, (VALUES > 100).astype(np.uint8)),
        (lambda a: gpuarray.maximum(a, 7), np.maximum(VALUES, 7)),
        (lambda a: gpuarray.if_positive(a, a, a), VALUES),
        (lambda a: a.reverse(), ((N - 1 - INDICES) % PERIOD).astype(np.uint8)),
        (lambda a: a[::-1].copy(), ((N - 1 - INDICES) % PERIOD).astype(np.uint8)),
        (lambda a: a.copy().fill(9), np.full(len(INDICES), 9)),
        (lambda a: a.astype(np.uint16) * 3, VALUES.astype(np.uint16) * np.uint16(3)),
        (lambda a: cumath.fabs(a), VALUES),
        (lambda a: gpuarray.concatenate([a[:100], a[100:]]), VALUES),
        (lambda a: a.reshape(5, N // 5).T.copy().T.ravel(), VALUES),
    ],
)
def test_elements_over_31_bits_are_computed(array, compute, expected):
    assert N % 5 == 0 and np.array_equal(at(compute(array)), expected)


def test_elements_at_unaligned_addresses_are_computed(array):
    found = (array[1:] + array[:-1])[-2:].get()
    assert found.tolist() == [((N - 3) % PERIOD + (N - 2) % PERIOD) % 256, ((N - 2) % PERIOD + (N - 1) % PERIOD) % 256]


def test_reductions_take_all_elements(array):
    total = sum_before(N)
    assert gpuarray.sum(array, dtype=np.int64).get() == total
    assert gpuarray.sum(array[1:], dtype=np.int64).get() == total  # the first element is 0
    assert gpuarray.max(array).get() == PERIOD - 1 and not array.all().get()
    assert gpuarray.dot(array, gpuarray.ones_like(array), dtype=np.int64).get() == total
    assert array.reshape(5, N // 5).sum(axis=1, dtype=np.int64).get().sum() == total
    last = ReductionKernel(np.int64, "0", "a > b ? a : b", "x[i] == 7 ? (long long)i : 0", "unsigned char *x")
    assert last(array).get() == (N - 1) - (N - 1 - 7) % PERIOD


def test_elementwise_kernels_reach_all_indices(array):
    add = ElementwiseKernel("unsigned char *x", "if (i % 2) x[i] += 1", "add_to_odd")
    add(array)
    expected = VALUES + (INDICES % 2).astype(np.uint8)
    assert np.array_equal(at(array), expected)
    add(array, range=slice(N - 1, 2**31 - 2, -1))
    assert np.array_equal(at(array), expected + (INDICES % 2 * (INDICES >= 2**31 - 1)).astype(np.uint8))


def test_scans_reach_elements_over_31_bits(array):
    expected = np.array([sum_before(index) % 256 for index in INDICES], np.uint8)
    assert np.array_equal(at(InclusiveScanKernel(np.uint8, "a + b")(array, "new")), expected + VALUES)
    assert np.array_equal(at(ExclusiveScanKernel(np.uint8, "a + b", 0)(array)), expected)


def test_take_and_subset_sum_use_64_bit_indices(array):
    indices = gpuarray.to_gpu(INDICES)
    assert np.array_equal(gpuarray.take(array, indices).get(), VALUES)
    assert gpuarray.subset_sum(indices, array, dtype=np.int64).get() == VALUES.sum()


def test_fills_and_copies_reach_bytes_over_31_bits(array):
    memory = drv.mem_alloc(N)
    drv.memset_d8(memory, 7, N)
    drv.memcpy_dtod(array.gpudata, memory, N)
    assert at(array).tolist() == [7] * len(INDICES)

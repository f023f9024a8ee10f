# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Cooperative groups as programs use them, compared with NumPy, on any device."""

import numpy as np
import pytest

from support.kernel_files import KernelFile

pytestmark = pytest.mark.requires(nvrtc=True)

samples = KernelFile("group_samples.cu", headers=True)


@pytest.fixture
def x(rng):
    return rng.integers(0, 1000, 256).astype(np.int32)


def of_warp(values):
    return np.repeat(values, 32)


def test_reductions_and_scans_accept_any_callable(stream, x):
    out = np.zeros((11, 256), np.int32)
    samples(stream, "reductions", 1, 256, x, out)
    warps, eights = x.reshape(8, 32), x.reshape(32, 8)
    exclusive = warps.cumsum(1) - warps
    most, least = warps.max(1), warps.min(1)
    np.testing.assert_array_equal(out[0], of_warp(warps.sum(1)))
    np.testing.assert_array_equal(out[2], warps.cumsum(1).ravel())
    np.testing.assert_array_equal(out[3:5], [exclusive.ravel()] * 2)
    np.testing.assert_array_equal(out[5], of_warp(least))
    np.testing.assert_array_equal(out[[1, 6, 7, 8]], [of_warp(most)] * 4)
    np.testing.assert_array_equal(out[9], np.tile(np.repeat(np.arange(4) * 100 + 4, 8), 8))
    mixed = eights.max(1) + eights.min(1) + np.bitwise_xor.reduce(eights, 1)
    np.testing.assert_array_equal(out[10], np.repeat(mixed, 8))


def test_groups_whose_type_is_known_at_run_time(stream, x):
    out, count = np.zeros(400, np.int32), np.zeros(1, np.int32)
    samples(stream, "thread_groups", 1, 256, x, out, count)
    odd = x[x % 2 == 1]
    assert out[0] == x.sum()
    np.testing.assert_array_equal(out[1:9], x.reshape(8, 32).sum(1))
    assert (out[16:80] == 4).all()
    assert count[0] == len(odd)
    np.testing.assert_array_equal(np.sort(out[100 : 100 + len(odd)]), np.sort(odd))


def test_async_copies_labeled_partitions_and_invoke_one(stream, x):
    out = np.zeros(700, np.int32)
    samples(stream, "partitions", 1, 128, x, out)
    np.testing.assert_array_equal(out[:256], x.reshape(2, 128)[:, ::-1].ravel())
    for i in range(128):
        warp = x[i // 32 * 32 :][:32]
        assert out[256 + i] == warp[warp % 3 == x[i] % 3].sum()
        same = warp % 2 == x[i] % 2
        assert out[384 + i] == same.sum() * 100 + same[: i % 32].sum()
        assert out[512 + i] == warp[0]
    assert out[640] == 77

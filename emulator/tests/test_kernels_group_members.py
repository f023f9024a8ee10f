# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The interface of cooperative groups, each member compared with NumPy, on any device."""

import itertools

import numpy as np
import pytest

from support.kernel_files import KernelFile

pytestmark = pytest.mark.requires(nvrtc=True, cccl=True)

KERNELS = [
    "block_members",
    "single_thread",
    "tile_members",
    "operators",
    "coalesced",
    "updates",
    "once",
    "copies",
    "batches",
]
samples = KernelFile(
    "group_members.cu",
    *KERNELS,
    *["grid_members", "large_tiles", "cluster_members"],
    headers=True,
    cccl=True,
)
lanes = np.arange(128)


@pytest.fixture
def x(rng):
    return rng.integers(0, 1000, 128).astype(np.int32)


def test_blocks(stream):
    out = np.zeros((128, 4), np.int32)
    samples(stream, "block_members", 2, (4, 16), out, shared=256)
    ranks = np.tile(np.arange(64), 2)
    np.testing.assert_array_equal(out[:, :2], np.stack([ranks, 64 + 16 + 64 + ranks], 1))
    assert out[::64, 2].tolist() == [64, 64]
    assert (out[::8, 3] == 804).all()


def test_single_threads(stream):
    out = np.zeros(128, np.int32)
    samples(stream, "single_thread", 1, 128, out)
    assert (out == 1105).all()


def test_tiles(stream, x):
    out = np.zeros((10, 128), np.int32)
    samples(stream, "tile_members", 1, 128, x, out)
    fours = x.reshape(-1, 4)
    rank, odd = lanes % 4, fours % 2
    np.testing.assert_array_equal(out[0], np.repeat(fours[:, 2], 4))
    np.testing.assert_array_equal(out[1], fours[:, [0, 0, 1, 2]].ravel())
    np.testing.assert_array_equal(out[2], fours[:, [1, 2, 3, 3]].ravel())
    np.testing.assert_array_equal(out[3], fours[:, ::-1].ravel())
    ballot = (odd << np.arange(4)).sum(1)
    votes = 4 * (fours % 4 == 0).any(1) + 2 * (odd == 0).all(1) + 8 * ballot
    np.testing.assert_array_equal(out[4], np.repeat(votes, 4))
    np.testing.assert_array_equal(out[5], np.where(odd, ballot[:, None], 15 - ballot[:, None]).ravel())
    equal = (odd == odd[:, :1]).all(1)
    np.testing.assert_array_equal(out[6], np.repeat(np.where(equal, 31, 0), 4))
    np.testing.assert_array_equal(out[7], 800 + lanes // 4 % 8)
    np.testing.assert_array_equal(out[8], 800 + lanes // 4 % 8 + rank)
    np.testing.assert_array_equal(out[9], np.repeat(x[5::32], 32))


def test_operators(stream, x):
    out = np.zeros((12, 128), np.int32)
    samples(stream, "operators", 1, 128, x, out)
    eights = x.reshape(-1, 8)
    reduced = [np.add, np.minimum, np.maximum, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.add]
    np.testing.assert_array_equal(out[:7], [np.repeat(operation.reduce(eights, 1), 8) for operation in reduced])
    exclusive_or = np.hstack([np.zeros((16, 1), int), np.bitwise_or.accumulate(eights, 1)[:, :-1]])
    scans = [eights.cumsum(1), eights.cumsum(1) - eights, np.maximum.accumulate(eights, 1), exclusive_or]
    scans.append(np.minimum.accumulate(eights, 1))
    np.testing.assert_array_equal(out[7:], [scan.ravel() for scan in scans])


def test_coalesced_threads_and_their_partitions(stream, x):
    out, count = np.zeros((8, 128), np.int32), np.zeros(1, np.int32)
    samples(stream, "coalesced", 1, 128, x, out, count)
    chosen = x % 3 == 0
    assert sorted(out[0, chosen]) == list(range(chosen.sum())) and count[0] == chosen.sum()
    for first in range(0, 128, 32):
        at = [i for i in range(first, first + 32) if chosen[i]]
        values = x[at]
        odd, label = values % 2, values % 5
        for rank, i in enumerate(at):
            same = odd == odd[rank]
            assert out[1, i] == values.sum()
            assert out[2, i] == 1000 * same.sum() + 100 * len(set(odd)) + same[:rank].sum()
            equal = (label == label[rank]).sum()
            assert out[3, i] // 1000 == equal and out[3, i] // 10 % 100 == len(set(label))
            assert out[4, i] == 10 * min(2, len(at) - rank // 2 * 2) + rank % 2
            assert out[5, i] & 6 == 4 * odd.any() + 2 * odd.all()
            assert out[6, i] == values[max(rank - 1, 0)] - values[min(rank + 1, len(at) - 1)]
            assert out[7, i] == equal
        groups = {label[rank]: out[3, i] % 10 for rank, i in enumerate(at)}
        assert sorted(groups.values()) == list(range(len(groups)))


def test_results_in_atomic_objects(stream, x):
    x, results, out = x[:32], np.array([7, 500, -1, 3, 4], np.int32), np.zeros((2, 32), np.int32)
    samples(stream, "updates", 1, 32, x, results, out)
    wanted = [7 + x.sum(), max(500, x.max()), np.bitwise_or.reduce(x), 3 + x.sum(), 4 + x.sum()]
    assert results.tolist() == wanted
    np.testing.assert_array_equal(out, [3 + x.cumsum() - x, 4 + x.cumsum()])


def test_one_thread_is_chosen(stream):
    out = np.zeros((2, 128), np.int32)
    samples(stream, "once", 1, 128, out)
    assert (out[1] == 42).all()
    warps = out[0].reshape(4, 32)
    assert (warps == warps[:, :1]).all() and sorted(warps[:, 0]) == [905, 906, 907, 908]


def test_copies(stream, x):
    out = np.zeros((4, 128), np.int32)
    samples(stream, "copies", 1, 128, x, out)
    np.testing.assert_array_equal(out[:2], [x[::-1]] * 2)
    np.testing.assert_array_equal(out[2], np.tile(x[:64], 2))
    np.testing.assert_array_equal(out[3], x.reshape(4, 32)[:, ::-1].ravel())


def test_batches_of_copies(stream, x):
    out = np.zeros((2, 32, 4), np.int32)
    samples(stream, "batches", 1, 32, x, out)
    fours = x.reshape(32, 4)[::-1]
    np.testing.assert_array_equal(out, [fours, fours * [1, 1, 0, 0]])


def test_grids(stream):
    out, count = np.zeros((128, 4), np.int32), np.zeros(1, np.int32)
    samples(stream, "grid_members", (2, 2), 32, out, count, cooperative=True)
    assert (out[:, 0] == 128).all() and (out[:, 1] == 10256).all()
    for (y, x, i), row in zip(itertools.product(range(2), range(2), range(32)), out, strict=True):
        assert row[2] == 1000 * y + 32 * x + i + 100000 * 64 + 10000000 * 2
        block = x + 2 * y
        assert row[3] == 4 + 20 + 100 * block + 1000 * block + 40000 + 100000


def test_tiles_larger_than_a_warp(stream, x):
    out = np.zeros((5, 128), np.int32)
    samples(stream, "large_tiles", 1, 128, x, out)
    halves = x.reshape(2, 64)
    np.testing.assert_array_equal(out[0], np.repeat(halves.sum(1), 64))
    np.testing.assert_array_equal(out[1], halves.cumsum(1).ravel())
    np.testing.assert_array_equal(out[2], np.repeat(halves[:, 40], 64))
    assert (out[3] == 2).all()
    np.testing.assert_array_equal(out[4], 200 + lanes // 64)


@pytest.mark.requires(compute=(9, 0))
def test_clusters(stream, x):
    out = np.zeros((4, 64, 3), np.int32)
    samples(stream, "cluster_members", 4, 64, x[:4].copy(), out)
    block = np.arange(4)[:, None]
    rank = block % 2
    assert (out[:, :, 0] == x[block ^ 1]).all()
    assert (out[:, :, 1] == 10 * (1 - rank) + rank).all()
    assert (out[:, :, 2] == 64 * rank + np.arange(64) + 12000).all()

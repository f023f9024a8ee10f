# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of shapes and strides, compared with NumPy where NumPy has the same function."""

import itertools

import numpy as np
import pytest

from cuda.core import _layout_ops as ops

SHAPES = [(), (1,), (4,), (2, 3), (1, 5, 1), (2, 0, 3), (2, 3, 4)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_dense_strides_match_numpy(shape):
    if 0 in shape:
        assert ops.c_strides(shape) == (0,) * len(shape)
    else:
        assert ops.c_strides(shape) == np.empty(shape, np.int8).strides
        order = tuple(reversed(range(len(shape))))
        assert ops.dense_strides(shape, order) == np.empty(shape, np.int8, order="F").strides


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
def test_dense_strides_have_the_order_that_they_were_made_with(order):
    shape = (2, 3, 4)
    strides = ops.dense_strides(shape, order)
    assert ops.stride_order(shape, strides) == order
    assert ops.is_contiguous(shape, strides, order)


def test_overlapping_elements_are_not_unique():
    assert ops.is_unique((2, 3), (3, 1))
    assert not ops.is_unique((2, 3), (2, 1))
    assert not ops.is_unique((4,), (0,))
    assert ops.is_unique((0, 4), (0, 0))


def test_bounds_hold_all_offsets():
    shape, strides, start = (3, 4), (-4, 2), 10
    offsets = [start + i * strides[0] + j * strides[1] for i in range(3) for j in range(4)]
    assert ops.offset_bounds(shape, strides, start) == (min(offsets), max(offsets))
    assert ops.offset_bounds((0,), (1,), 5) == (0, -1)


@pytest.mark.parametrize("target", [(24,), (6, 4), (2, 12), (4, 3, 2), (-1, 8), (1, 24, 1)], ids=str)
def test_reshape_matches_numpy(target):
    array = np.arange(24, dtype=np.int8).reshape(2, 3, 4)
    shape, strides = ops.reshaped(array.shape, array.strides, target)
    expected = array.reshape(target)
    assert (shape, strides) == (expected.shape, expected.strides)


@pytest.mark.parametrize(
    "target, message",
    [((5, 5), "25 elements"), ((-1, 7), "do not fill"), ((-1, -1), "one -1"), ((-2, 12), "at most one -1")],
    ids=str,
)
def test_reshape_rejects_other_volumes(target, message):
    with pytest.raises(ValueError, match=message):
        ops.reshaped((24,), (1,), target)


def test_reshapes_that_need_a_copy_are_rejected():
    with pytest.raises(ValueError, match="without a copy"):
        ops.reshaped((2, 3), (1, 2), (6,))


def test_broadcast_repeats_with_no_stride():
    assert ops.broadcast((3, 1), (1, 1), (2, 3, 4)) == (0, 1, 0)
    with pytest.raises(ValueError, match="cannot be broadcast"):
        ops.broadcast((3,), (1,), (4,))


@pytest.mark.parametrize(
    "items", [1, -1, slice(1, None), slice(None, None, -1), (0, slice(0, 2)), (slice(5, 9), 1)], ids=str
)
def test_slices_match_numpy(items):
    array = np.arange(12, dtype=np.int8).reshape(3, 4)
    shape, strides, start = ops.slice_layout(array.shape, array.strides, items)
    expected = array[items]
    assert shape == expected.shape
    if expected.size:
        assert (strides, array.reshape(-1)[start]) == (expected.strides, expected.reshape(-1)[0])


@pytest.mark.parametrize(
    "items, error, message",
    [
        (3, ValueError, "out of range"),
        ((0, 0, 0), ValueError, "at most"),
        ("a", TypeError, "must be an int or a slice"),
    ],
    ids=str,
)
def test_slices_that_do_not_fit_are_rejected(items, error, message):
    with pytest.raises(error, match=message):
        ops.slice_layout((3, 4), (4, 1), items)


def test_new_axes_are_inserted_at_their_positions():
    assert ops.unsqueezed_axes(2, (3, 0)) == (0, 3)
    with pytest.raises(ValueError, match="must be unique"):
        ops.unsqueezed_axes(2, (0, 0))


def test_axes_that_continue_each_other_merge():
    assert ops.flatten((2, 3, 4), (12, 4, 1), ops.mergeable_axes((2, 3, 4), (12, 4, 1))) == ((24,), (1,))
    assert ops.mergeable_axes((2, 3), (1, 2)) == 0
    assert ops.flatten((), (), 0) == ((1,), (1,))


@pytest.mark.parametrize("order", ["A", (0, 0), (0,), "K"], ids=str)
def test_invalid_orders_are_rejected(order):
    with pytest.raises(ValueError, match="permutation of the 2 axes"):
        ops.parse_stride_order(order, 2)

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Shapes, strides, reshaping and indexing: as NumPy does them."""

import itertools

import numpy as np
import pytest

from cuda.core.driver import _array_layout as layout

SHAPES = [(), (0,), (1,), (7,), (3, 4), (3, 1), (1, 4), (2, 3, 4), (2, 0, 3), (1, 1, 5), (2, 1, 3, 2)]
SAMPLE = np.arange(120, dtype=np.int32).reshape(4, 5, 6)
KEYS = [
    0,
    -1,
    np.int64(2),
    slice(None),
    slice(1, 3),
    slice(None, None, -1),
    slice(3, 0, -2),
    slice(10, 20),
    slice(2, 2),
    (1, 2),
    (1, 2, 3),
    (slice(1, 3), 2),
    (Ellipsis, 1),
    (1, Ellipsis),
    (0, Ellipsis, 5),
    (Ellipsis,),
    (slice(None), slice(None, None, 2), slice(4, None, -1)),
    None,
    (None, 1, None, slice(2)),
    (Ellipsis, None),
    (),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_strides_and_contiguity_match_numpy(shape):
    for order, strides_of in (("C", layout.c_byte_strides), ("F", layout.f_byte_strides)):
        array = np.zeros(shape, np.float64, order)
        if array.size:
            strides = strides_of(shape, 8)
            kept = [axis for axis in range(len(shape)) if shape[axis] != 1]
            assert [strides[axis] for axis in kept] == [array.strides[axis] for axis in kept]
        assert layout.is_c_contiguous(shape, array.strides, 8) == array.flags.c_contiguous
        assert layout.is_f_contiguous(shape, array.strides, 8) == array.flags.f_contiguous


@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))), ids=str)
def test_new_strides_keep_the_order_of_axes_and_leave_no_gaps(axes):
    array = np.zeros((3, 4, 5), np.float32).transpose(axes)
    gaps = np.zeros((6, 8, 10), np.float32)[::2, ::2, ::2].transpose(axes)
    assert layout.kept_order_strides(array.shape, array.strides, 4) == array.strides
    assert layout.kept_order_strides(gaps.shape, gaps.strides, 4) == array.strides


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_indexing_matches_numpy(key):
    expected = SAMPLE[key]
    offset, shape, strides = layout.indexed(SAMPLE.shape, SAMPLE.strides, key)
    assert shape == np.shape(expected)
    flat = SAMPLE.reshape(-1)
    found = np.lib.stride_tricks.as_strided(flat[offset // 4 :], shape, strides)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    "key", [4, -5, (0, 0, 6), (0, 0, 0, 0), 1.5, "a", [1, 2], True, np.array([1, 2]), (Ellipsis, Ellipsis)], ids=repr
)
def test_invalid_indices_raise_index_error(key):
    with pytest.raises(IndexError, match=r"index|indices|integers|ellipsis"):
        layout.indexed(SAMPLE.shape, SAMPLE.strides, key)


def test_shapes_are_made_from_all_kinds_of_integers():
    assert layout.checked_array_shape(3) == (3,)
    assert layout.checked_array_shape(np.int32(3)) == (3,)
    assert layout.checked_array_shape([2, np.int64(3)]) == (2, 3)
    assert layout.checked_array_shape(np.array([2, 3])) == (2, 3)
    assert layout.checked_array_shape(np.array(4)) == (4,)
    assert layout.checked_array_shape(()) == ()


@pytest.mark.parametrize("shape", [2.5, None, "ab", (1, 2.5), [None]], ids=repr)
def test_shape_must_hold_integers(shape):
    with pytest.raises(TypeError, match="shape must"):
        layout.checked_array_shape(shape)


def test_shape_must_not_be_negative():
    with pytest.raises(ValueError, match="negative"):
        layout.checked_array_shape((2, -1))


def test_negative_axes_count_from_the_end():
    assert layout.checked_axis(-1, 3) == 2
    with pytest.raises(np.exceptions.AxisError, match="out of bounds"):
        layout.checked_axis(3, 3)
    with pytest.raises(TypeError):
        layout.checked_axis(1.5, 3)


@pytest.mark.parametrize(
    "shapes", [((3, 4), (4,)), ((3, 1), (1, 4)), ((), (2, 3)), ((5, 1, 2), (4, 1)), ((0, 3), (1, 3))], ids=str
)
def test_broadcasting_matches_numpy(shapes):
    expected = np.broadcast_shapes(*shapes)
    assert layout.broadcast_shape(*shapes) == expected
    for shape in shapes:
        array = np.zeros(shape, np.int16)
        seen = layout.broadcast_strides(array.shape, array.strides, expected)
        wanted = np.broadcast_to(array, expected).strides
        assert [step for step, extent in zip(seen, expected, strict=True) if extent > 1] == [
            step for step, extent in zip(wanted, expected, strict=True) if extent > 1
        ]


def test_shapes_that_do_not_broadcast_are_rejected():
    with pytest.raises(ValueError, match=r"\(3,\) and \(4,\)"):
        layout.broadcast_shape((3,), (4,))


def test_dimensions_without_gaps_are_merged():
    extents, rows = layout.joined_dimensions((2, 3, 4), [(48, 16, 4), (96, 32, 8)])
    assert (extents, rows) == ([24], [[4], [8]])
    extents, rows = layout.joined_dimensions((2, 3, 4), [(48, 16, 4), (0, 16, 4)])
    assert (extents, rows) == ([2, 12], [[48, 4], [0, 4]])
    assert layout.joined_dimensions((1, 1), [(8, 8)]) == ([], [[]])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    ("view", "shape"),
    [
        (lambda a: a, (20, 6)),
        (lambda a: a, (120,)),
        (lambda a: a, (2, 2, 5, 3, 2)),
        (lambda a: a[::2], (2, 30)),
        (lambda a: a[:, :, ::2], (20, 3)),
        (lambda a: a[:, ::2], (4, 18)),
        (lambda a: a.T, (30, 4)),
        (lambda a: a[::-1], (4, 1, 30)),
        (lambda a: a[1:1], (0, 7)),
    ],
)
def test_reshaping_is_a_view_where_numpy_has_one(view, shape, order):
    array = view(SAMPLE)
    expected = array.reshape(shape, order=order)
    strides = layout.reshaped_strides(array.shape, array.strides, shape, 4, order)
    if strides is None:
        assert not np.shares_memory(expected, SAMPLE)
    else:
        found = np.lib.stride_tricks.as_strided(array, shape, strides)
        assert np.array_equal(found, expected)


def test_one_unknown_extent_is_computed():
    assert layout.completed_shape((-1, 4), 12) == (3, 4)
    assert layout.completed_shape((12,), 12) == (12,)
    for wanted in ((5, -1), (-1, -1), (-2, 6), (5,), (0, -1)):
        with pytest.raises(ValueError, match="shape"):
            layout.completed_shape(wanted, 12)


def test_range_of_memory_reaches_from_the_first_to_the_last_byte():
    assert layout.memory_range((3, 4), (16, 4), 4) == (0, 48)
    assert layout.memory_range((3,), (-8,), 4) == (-16, 4)
    assert layout.memory_range((3, 0), (8, 8), 4) == (0, 0)

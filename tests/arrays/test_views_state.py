# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Shapes and strides of arrays, which are read once and checked."""

from itertools import product

import numpy as np
import pytest

from cuda.core.utils import StridedMemoryView
from support.tensors import CudaInterface


def view_of(shape, strides=None, typestr="<f4"):
    array = CudaInterface(np.zeros(1), shape=shape, strides=strides, typestr=typestr)
    return StridedMemoryView.from_cuda_array_interface(array, -1)


SHAPES = [(), (0,), (3,), (1, 1), (2, 0, 3), (2**30, 4), (2**40,)]


@pytest.mark.parametrize(("shape", "unit"), list(product(SHAPES, [1, 4, -4])))
def test_extents_of_all_sizes_are_read(shape, unit):
    strides = tuple([unit * 4 * i for i in range(len(shape))])
    view = view_of(shape, strides)
    assert (view.shape, view.strides) == (shape, tuple([unit * i for i in range(len(shape))]) if shape else None)


def test_extents_of_other_integer_types_become_ints():
    view = view_of((np.int64(2), True, np.uint8(3)), (np.int32(16), 8, np.int8(4)))
    assert (view.shape, view.strides) == ((2, 1, 3), (4, 2, 1))
    assert all(type(extent) is int for extent in view.shape)


def test_at_most_64_axes_are_allowed():
    assert view_of((1,) * 64).shape == (1,) * 64
    with pytest.raises(ValueError, match="at most 64 axes"):
        view_of((1,) * 65)


@pytest.mark.parametrize(
    ("shape", "strides", "error", "message"),
    [
        ((-1,), None, ValueError, "must not have negative extents"),
        ((2**70,), None, OverflowError, "below 2"),
        ((2**62, 2**62), None, ValueError, "larger than the address space"),
        ((2, 2), (2**62, 2**62), ValueError, "larger than the address space"),
        ((2,), (2**70,), OverflowError, "strides must be from"),
        ((2,), (4, 4), ValueError, "strides must have 1 items, one per axis, not 2"),
        ((2, 2), (4,), ValueError, "strides must have 2 items, one per axis, not 1"),
        ((2.0,), None, TypeError, "has a float"),
        ([2], None, TypeError, "shape must be a tuple"),
        ((2,), [4], TypeError, "strides must be a tuple"),
        ((2,), (3,), ValueError, "in bytes must be multiples of the item size 4"),
    ],
)
def test_impossible_extents_are_rejected(shape, strides, error, message):
    with pytest.raises(error, match=message):
        view_of(shape, strides)


def test_item_size_of_0_is_rejected():
    with pytest.raises(ValueError, match="itemsize must be positive"):
        view_of((2,), typestr="<f0")

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Plans of fills: the rows of each layout, against NumPy."""

import itertools

import numpy as np
import pytest

from cuda.core._arrays._fills import plan_fill
from cuda.core._arrays._strided_boxes import MAX_PITCH


def filled(shape, strides, itemsize, size, start):
    """Return which bytes a plan writes, as an array of how often."""
    memory = np.zeros(size, np.uint8)
    width, rows, pitch, offsets = plan_fill(shape, strides, itemsize)
    for offset in offsets:
        for row in range(rows):
            memory[start + offset + row * pitch : start + offset + row * pitch + width] += 1
    return memory


@pytest.mark.parametrize("itemsize", [1, 4, 12])
def test_plans_write_each_element_once(itemsize):
    whole = np.arange(4 * 5 * 6).reshape(4, 5, 6)
    steps = [slice(None), slice(None, None, 2), slice(None, None, -1), slice(1, 3), 2]
    for key in itertools.product(steps, repeat=3):
        part = whole[key]
        strides = tuple(stride // 8 for stride in part.strides)
        start = int(part.flat[0]) * itemsize
        expected = np.zeros((whole.size, itemsize), np.uint8)
        expected[part.ravel()] = 1
        memory = filled(part.shape, strides, itemsize, whole.size * itemsize, start)
        assert np.array_equal(memory, expected.ravel()), key


def test_broadcast_axes_are_filled_once():
    assert plan_fill((3, 2), (0, 1), 4)[:3] == (8, 1, 8)


def test_rows_of_a_large_pitch_are_separate():
    width, rows, _, offsets = plan_fill((2, 3), (MAX_PITCH + 1, 1), 1)
    assert (width, rows, list(offsets)) == (3, 1, [0, MAX_PITCH + 1])

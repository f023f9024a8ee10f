# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Plans of copies and fills, carried out on bytes and compared with NumPy."""

import itertools
import math
import random

import numpy as np
import pytest

from cuda.core._arrays._fills import plan_fill
from cuda.core._arrays._strided_boxes import MAX_PITCH, layouts_overlap, plan_copy
from cuda.core._layout_ops import c_strides

# --- Copies ----------------------------------------------------------------------------------------


C = (24, 6, 1)  # strides of shape (5, 4, 6)


def carry_out(plan, target, source, target_start, source_start):
    """Copy as the plan says, between arrays of bytes."""
    for to, origin in plan.offsets():
        for plane in range(plan.planes[0]):
            for row in range(plan.rows[0]):
                t = target_start + to + plane * plan.planes[1] + row * plan.rows[1]
                s = source_start + origin + plane * plan.planes[2] + row * plan.rows[2]
                target[t : t + plan.width] = source[s : s + plan.width]


def random_view(rng, shape, is_target):
    """Return a strided view of an array, the array, and the offset of the view in bytes."""
    order = rng.sample(range(len(shape)), len(shape))
    steps = [rng.choice([1, 1, 2]) for _ in shape]
    base = np.arange(np.prod([n * s for n, s in zip(shape, steps, strict=True)]) or 1, dtype=np.int32)
    part = base.reshape([shape[k] * steps[k] for k in order]).transpose(np.argsort(order))
    part = part[(..., *[slice(None, None, step * rng.choice([1, 1, 1, -1])) for step in steps])]
    if not is_target and rng.random() < 0.2 and len(shape) > 1:
        part = np.broadcast_to(part[:1], shape)
    if is_target:
        base[:] = -1
    return part, base, part.__array_interface__["data"][0] - base.ctypes.data


@pytest.mark.parametrize("seed", range(60))
def test_plan_moves_every_element_to_its_place(seed):
    rng = random.Random(seed)
    shape = tuple(rng.randint(1, 4) for _ in range(rng.randint(0, 4)))
    source, source_base, source_start = random_view(rng, shape, is_target=False)
    target, target_base, target_start = random_view(rng, shape, is_target=True)
    untouched = target_base.copy()
    plan = plan_copy(shape, [s // 4 for s in target.strides], [s // 4 for s in source.strides], 4)
    carry_out(plan, target_base.view(np.uint8), source_base.view(np.uint8), target_start, source_start)
    assert np.array_equal(target, source)
    assert (target_base != untouched).sum() == target.size


@pytest.mark.parametrize(
    ("target", "source", "pieces", "width", "rows", "planes"),
    [
        (C, C, 1, 480, 1, 1),  # contiguous
        ((-24, -6, -1), (-24, -6, -1), 1, 480, 1, 1),  # backwards in both
        (C, (48, 12, 1), 1, 24, 20, 1),  # rows of 6
        (C, (48, 6, 1), 1, 96, 5, 1),  # planes of 24
        (C, (60, 12, 1), 1, 24, 4, 5),  # planes of rows
        (C, (0, 6, 1), 5, 96, 1, 1),  # broadcast
        (C, (-24, 6, 1), 5, 96, 1, 1),  # backwards in one
        (C, (24, 1, 4), 4, 4, 6, 5),  # a transposition
    ],
)
def test_boxes_are_as_large_as_they_can_be(target, source, pieces, width, rows, planes):
    plan = plan_copy((5, 4, 6), target, source, 4)
    assert (plan.box_count, plan.width, plan.rows[0], plan.planes[0]) == (pieces, width, rows, planes)


def test_single_element_is_one_box():
    plan = plan_copy((), (), (), 8)
    assert (plan.width, plan.box_count, list(plan.offsets())) == (8, 1, [(0, 0)])


def test_pitch_over_the_driver_limit_is_not_used():
    plan = plan_copy((3, 2), (2**31, 1), (2**31, 1), 1)
    assert (plan.width, plan.rows[0], plan.box_count) == (2, 1, 3)


def test_overlapping_destinations_are_rejected():
    with pytest.raises(ValueError, match="overlap"):
        plan_copy((2, 3), (0, 1), (3, 1), 4)


def bytes_of(start, shape, strides, itemsize):
    """The addresses of all bytes of a layout."""
    return {
        start + sum(i * stride for i, stride in zip(index, strides, strict=True)) * itemsize + byte
        for index in np.ndindex(*shape)
        for byte in range(itemsize)
    }


@pytest.mark.parametrize("seed", range(60))
def test_common_bytes_are_found(seed):
    rng = random.Random(seed)
    shape = tuple(rng.randint(1, 4) for _ in range(rng.randint(0, 3)))
    itemsize = rng.choice([1, 3, 4])
    layouts = [
        (4096 + rng.randint(-12, 12), tuple(rng.choice([-5, -2, -1, 0, 1, 2, 3, 7]) for _ in shape)) for _ in range(2)
    ]
    first, second = (bytes_of(start, shape, strides, itemsize) for start, strides in layouts)
    assert layouts_overlap(shape, *layouts[0], *layouts[1], itemsize) is bool(first & second)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((4096, (2,)), (4100, (2,)), False),  # the even and the odd elements
        ((4096, (2,)), (4099, (2,)), True),
        ((4096, (1,)), (4096 + 32, (1,)), False),  # one after the other
        ((4096, (1,)), (4096 + 31, (1,)), True),
        ((4096 + 28, (-1,)), (4096, (1,)), True),
        ((2**62, (2**40,)), (2**62 + 4, (2**40,)), False),
    ],
)
def test_interlocking_layouts_have_no_common_bytes(first, second, expected):
    assert layouts_overlap((8,), *first, *second, 4) is expected


def test_layouts_too_slow_to_compare_count_as_overlapping(monkeypatch):
    def give_up(*arrays, max_work):
        raise RuntimeError("Exceeded max_work")

    monkeypatch.setattr(np, "shares_memory", give_up)
    assert layouts_overlap((8,), 4096, (2,), 4100, (2,), 4) is True
    assert layouts_overlap((8,), 4096, (2,), 8192, (2,), 4) is False


@pytest.mark.parametrize(
    ("shape", "strides", "itemsize"),
    [((4, 4), (1, 1), 1), ((4, 4), (-1, 1), 4), ((3, 4), (3, 2), 1), ((2, 2, 3), (5, 3, 1), 2), ((3, 3), (0, 1), 1)],
)
def test_destination_with_overlapping_elements_is_rejected(shape, strides, itemsize):
    with pytest.raises(ValueError, match="elements of the destination overlap"):
        plan_copy(shape, strides, c_strides(shape), itemsize)


@pytest.mark.parametrize(
    ("shape", "strides"), [((2, 3), (3, 2)), ((2, 3), (-3, 2)), ((3, 2), (2, 3)), ((1, 4), (0, 1))]
)
def test_destinations_whose_elements_interlock_are_accepted(shape, strides):
    offsets = {sum(i * s for i, s in zip(index, strides, strict=True)) for index in np.ndindex(shape)}
    assert len(offsets) == math.prod(shape)
    assert plan_copy(shape, strides, c_strides(shape), 1).width >= 1


# --- Fills -----------------------------------------------------------------------------------------


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

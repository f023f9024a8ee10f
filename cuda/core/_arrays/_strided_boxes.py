# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Plans for copies between two strided layouts: boxes that ``cuMemcpy3DAsync`` can copy, and their offsets."""

from __future__ import annotations

import importlib
import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

from cuda.core._layout_ops import is_unique

__all__ = ["CopyPlan", "layouts_overlap", "plan_copy"]

# The largest pitch that every driver accepts.
MAX_PITCH = 2**31 - 1

# Any address but null, which NumPy rejects for an array with elements.
ANY_ADDRESS = 4096

# An axis: its extent, and its strides in bytes in the destination and in the source.
Axis = tuple[int, int, int]


class CopyPlan(NamedTuple):
    """Boxes of equal size, one at each of :meth:`offsets`: ``planes`` of ``rows`` of ``width`` contiguous bytes.

    ``outer`` lists the axes along which the boxes repeat, and ``start`` the offsets of the first box in the destination
    and in the source, in bytes.
    """

    width: int
    rows: Axis
    planes: Axis
    outer: tuple[Axis, ...]
    start: tuple[int, int]

    @property
    def box_count(self) -> int:
        """The number of boxes."""
        return math.prod(axis[0] for axis in self.outer)

    @property
    def is_one_row(self) -> bool:
        """Whether all bytes are contiguous, in the destination and in the source."""
        return self.box_count == self.rows[0] == self.planes[0] == 1

    def offsets(self) -> Iterator[tuple[int, int]]:
        """Yield the offset of each box in bytes, in the destination and in the source."""
        for index in itertools.product(*[range(axis[0]) for axis in self.outer]):
            steps = list(zip(index, self.outer, strict=True))
            yield (
                self.start[0] + sum(i * axis[1] for i, axis in steps),
                self.start[1] + sum(i * axis[2] for i, axis in steps),
            )


def plan_copy(shape, target_strides, source_strides, itemsize: int) -> CopyPlan:
    """Return the plan for a copy between layouts of the same shape, with at least one element.

    Parameters
    ----------
    shape : tuple[int, ...]
        The extents.
    target_strides, source_strides : tuple[int, ...]
        The strides in elements.
    itemsize : int
        The size of an element in bytes.

    Raises
    ------
    ValueError
        If elements of the destination overlap.
    """
    if _elements_overlap(shape, target_strides, itemsize):
        raise ValueError(f"the elements of the destination overlap: its strides are {target_strides}")
    axes: list[Axis] = []
    start = [0, 0]
    for extent, target, source in zip(shape, target_strides, source_strides, strict=True):
        if extent == 1:
            continue
        if target < 0 and source < 0:
            start[0] += target * (extent - 1) * itemsize
            start[1] += source * (extent - 1) * itemsize
            target, source = -target, -source
        axes.append((extent, target * itemsize, source * itemsize))
    axes = _merge_axes(sorted(axes, key=lambda axis: (-abs(axis[1]), -abs(axis[2]))))
    width = itemsize
    if axes and axes[-1][1:] == (itemsize, itemsize):
        width *= axes.pop()[0]
    rows, planes = _best_box(axes, width)
    for axis in (rows, planes):
        if axis in axes:
            axes.remove(axis)
    return CopyPlan(width, rows, planes, tuple(axes), (start[0], start[1]))


def layouts_overlap(shape, first, first_strides, second, second_strides, itemsize: int) -> bool:
    """Return whether two layouts of the same shape, with at least one element, have bytes in common.

    Parameters
    ----------
    shape : tuple[int, ...]
        The extents.
    first, second : int
        The addresses of the elements with index 0. The memory is not read.
    first_strides, second_strides : tuple[int, ...]
        The strides in elements.
    itemsize : int
        The size of an element in bytes.
    """
    ranges = [
        _address_range(shape, address, strides, itemsize)
        for address, strides in ((first, first_strides), (second, second_strides))
    ]
    if ranges[0][1] <= ranges[1][0] or ranges[1][1] <= ranges[0][0]:
        return False
    return _share_bytes((shape, first, first_strides), (shape, second, second_strides), itemsize)


def _elements_overlap(shape, strides, itemsize: int) -> bool:
    """Return whether two elements of one layout, with at least one element, have bytes in common."""
    if is_unique(shape, strides):
        return False
    axes = [(extent, abs(stride)) for extent, stride in zip(shape, strides, strict=True) if extent > 1]
    if any(stride == 0 for _, stride in axes):
        return True
    # For each axis i, compare elements whose indices differ first in axis i: those with index 0 there with all others.
    return any(
        _share_bytes(
            (tuple([n for n, _ in axes[i + 1 :]]), ANY_ADDRESS, tuple([s for _, s in axes[i + 1 :]])),
            (
                (axes[i][0] - 1, *[n for n, _ in axes[i + 1 :]]),
                ANY_ADDRESS + axes[i][1] * itemsize,
                tuple([s for _, s in axes[i:]]),
            ),
            itemsize,
        )
        for i in range(len(axes) - 1)
    )


def _share_bytes(first, second, itemsize: int) -> bool:
    """Return whether two layouts, as (shape, address, strides), have bytes in common.

    ``numpy.shares_memory`` solves this. If it exceeds its work limit, the result is True.
    """
    numpy = importlib.import_module("numpy")
    arrays = [
        numpy.asarray(_ArrayInterface(shape, address, [stride * itemsize for stride in strides], itemsize))
        for shape, address, strides in (first, second)
    ]
    try:
        return numpy.shares_memory(*arrays, max_work=100_000)
    except RuntimeError:
        return True


def _address_range(shape, address: int, strides, itemsize: int) -> tuple[int, int]:
    """Return the address of the first byte, and the address after the last byte."""
    steps = [(extent - 1) * stride * itemsize for extent, stride in zip(shape, strides, strict=True)]
    return address + sum(s for s in steps if s < 0), address + sum(s for s in steps if s > 0) + itemsize


class _ArrayInterface:
    """An object from which NumPy creates an array with a given layout, without accessing its memory."""

    def __init__(self, shape, address: int, strides, itemsize: int):
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "strides": tuple(strides),
            "typestr": f"|V{itemsize}",
            "data": (address, False),
        }


def _merge_axes(axes: list[Axis]) -> list[Axis]:
    """Merge each axis with the one before, if that is possible in both layouts."""
    merged: list[Axis] = []
    for extent, target, source in axes:
        if merged and merged[-1][1:] == (extent * target, extent * source):
            merged[-1] = (merged[-1][0] * extent, target, source)
        else:
            merged.append((extent, target, source))
    return merged


def _best_box(axes: list[Axis], width: int) -> tuple[Axis, Axis]:
    """Return the two axes for rows and planes that make the largest box, with extent 1 for a missing axis."""
    best: tuple[Axis, Axis] = ((1, width, width), (1, 0, 0))
    for rows in axes:
        if not (width <= rows[1] <= MAX_PITCH and width <= rows[2] <= MAX_PITCH):
            continue
        best = max(best, (rows, (1, 0, 0)), key=_volume)
        for planes in axes:
            if planes is rows:
                continue
            if _is_plane_stride(planes[1], rows[1], rows[0]) and _is_plane_stride(planes[2], rows[2], rows[0]):
                best = max(best, (rows, planes), key=_volume)
    return best


def _volume(box: tuple[Axis, Axis]) -> int:
    return box[0][0] * box[1][0]


def _is_plane_stride(stride: int, pitch: int, rows: int) -> bool:
    """Return whether planes at this stride do not overlap. The driver expects a number of rows."""
    return stride > 0 and stride % pitch == 0 and stride // pitch >= rows

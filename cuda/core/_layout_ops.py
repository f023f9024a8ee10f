# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on shapes and strides (in elements): pure functions of tuples."""

from __future__ import annotations

import math

from cuda.core._utils.validators import int_argument, shown

__all__ = [
    "broadcast",
    "c_strides",
    "dense_strides",
    "derived_strides",
    "flatten",
    "is_contiguous",
    "is_permutation",
    "is_unique",
    "mergeable_axes",
    "offset_bounds",
    "parse_stride_order",
    "reshaped",
    "slice_layout",
    "stride_order",
    "unsqueezed_axes",
]


Ints = tuple[int, ...]


def c_strides(shape: Ints) -> Ints:
    """Return the strides of a dense layout in C order."""
    return dense_strides(shape, tuple(range(len(shape))))


def dense_strides(shape: Ints, order: Ints) -> Ints:
    """Return the strides of a dense layout, all 0 without elements. ``order`` lists the axes, the fastest last."""
    strides = [0] * len(shape)
    if 0 not in shape:
        step = 1
        for axis in reversed(order):
            strides[axis] = step
            step *= shape[axis]
    return tuple(strides)


def derived_strides(shape: Ints, strides: Ints) -> Ints:
    """Return the strides of a derived layout, all 0 if it has no elements."""
    return (0,) * len(shape) if 0 in shape else tuple(strides)


def stride_order(shape: Ints, strides: Ints) -> Ints:
    """Return the axes from the largest stride to the smallest, and for equal strides the larger extent first."""
    return tuple(sorted(range(len(strides)), key=lambda axis: (-abs(strides[axis]), -shape[axis], axis)))


def parse_stride_order(order: str | Ints, ndim: int, like: Ints | None = None) -> Ints:
    """Turn ``'C'``, ``'F'``, ``'K'`` (only with ``like``) or a permutation into a permutation.

    Raises
    ------
    ValueError
        If ``order`` is none of these.
    """
    if order == "C":
        return tuple(range(ndim))
    if order == "F":
        return tuple(reversed(range(ndim)))
    if order == "K" and like is not None:
        return like
    if not is_permutation(order, ndim):
        names = "'C', 'F', 'K'" if like is not None else "'C', 'F'"
        raise ValueError(f"stride_order must be {names} or a permutation of the {ndim} axes, not {shown(order)}")
    return tuple(order)


def is_permutation(order, ndim: int) -> bool:
    """Return whether ``order`` contains each axis once."""
    try:
        return not isinstance(order, str) and sorted(order) == list(range(ndim))
    except TypeError:
        return False


def is_contiguous(shape: Ints, strides: Ints, order: Ints) -> bool:
    """Return whether the layout, ignoring axes of extent 1, is dense in this order of axes, the fastest last."""
    if 0 in shape:
        return True
    expected = dense_strides(shape, order)
    return all(n == 1 or s == e for n, s, e in zip(shape, strides, expected, strict=True))


def is_unique(shape: Ints, strides: Ints) -> bool:
    """Return whether no two indices have the same offset. Can be a false negative if axes interleave."""
    if 0 in shape:
        return True
    reach = 0
    for stride, extent in sorted((abs(s), n) for n, s in zip(shape, strides, strict=True) if n > 1):
        if stride <= reach:
            return False
        reach += stride * (extent - 1)
    return True


def offset_bounds(shape: Ints, strides: Ints, start: int) -> tuple[int, int]:
    """Return the lowest and the highest offset of an element, or ``(0, -1)`` without elements."""
    if 0 in shape:
        return (0, -1)
    spans = [s * (n - 1) for n, s in zip(shape, strides, strict=True)]
    return (start + sum(span for span in spans if span < 0), start + sum(span for span in spans if span > 0))


def mergeable_axes(shape: Ints, strides: Ints) -> int:
    """Return a bit mask of the axes that can be merged with the axis before them."""
    if 0 in shape:
        return sum(1 << axis for axis in range(1, len(shape)))
    mask = 0
    for axis in range(1, len(shape)):
        if strides[axis - 1] == strides[axis] * shape[axis]:
            mask |= 1 << axis
    return mask


def flatten(shape: Ints, strides: Ints, mask: int) -> tuple[Ints, Ints]:
    """Merge each axis in ``mask`` with the axis before it, if possible. A layout without axes gets one of extent 1."""
    if not shape:
        return (1,), (1,)
    mask &= mergeable_axes(shape, strides)
    new_shape: list[int] = []
    new_strides: list[int] = []
    for axis, (extent, stride) in enumerate(zip(shape, strides, strict=True)):
        if axis and mask >> axis & 1:
            new_shape[-1] *= extent
            new_strides[-1] = stride
        else:
            new_shape.append(extent)
            new_strides.append(stride)
    return tuple(new_shape), tuple(new_strides)


def reshaped(shape: Ints, strides: Ints, target: Ints) -> tuple[Ints, Ints]:
    """Return the shape, with -1 filled in, and the strides of the same elements in another shape (C order of indices).

    Raises
    ------
    ValueError
        If the numbers of elements differ, or the elements would have to be copied.
    """
    target = _fill_unknown(math.prod(shape), target)
    if 0 in target:
        return target, c_strides(target)
    if target == shape:
        return shape, strides
    old = [(n, s) for n, s in zip(shape, strides, strict=True) if n != 1]
    new_strides = [0] * len(target)
    i = axis = 0
    while axis < len(target) or i < len(old):
        first_old, first_new = i, axis
        old_volume = old[i][0] if i < len(old) else 1
        new_volume = target[axis] if axis < len(target) else 1
        i, axis = i + (i < len(old)), axis + (axis < len(target))
        while old_volume != new_volume:
            if old_volume < new_volume:
                old_volume, i = old_volume * old[i][0], i + 1
            else:
                new_volume, axis = new_volume * target[axis], axis + 1
        group = old[first_old:i]
        if any(group[k][1] != group[k + 1][1] * group[k + 1][0] for k in range(len(group) - 1)):
            raise ValueError(f"shape {shape} with strides {strides} cannot become {target} without a copy")
        if group:
            step = group[-1][1]
        else:
            # Unit axes at the end have the stride of the axis before them, as in NumPy.
            step = new_strides[first_new - 1] if first_new else 1
        for k in reversed(range(first_new, axis)):
            new_strides[k] = step
            step *= target[k]
    return target, tuple(new_strides)


def _fill_unknown(volume: int, target: Ints) -> Ints:
    known = math.prod(n for n in target if n != -1)
    if any(n < -1 for n in target) or list(target).count(-1) > 1:
        raise ValueError(f"shape must contain non-negative sizes and at most one -1, not {shown(target)}")
    if -1 in target:
        if known == 0 or volume % known:
            raise ValueError(f"{volume} elements do not fill shape {shown(target)}")
        target = tuple(volume // known if n == -1 else n for n in target)
    elif known != volume:
        raise ValueError(f"shape {shown(target)} has {shown(known)} elements, not {volume}")
    return target


def broadcast(shape: Ints, strides: Ints, target: Ints) -> Ints:
    """Return the strides of the layout broadcast to the shape ``target``, aligned at the last axis.

    Raises
    ------
    ValueError
        If an extent is neither 1 nor equal to the target's.
    """
    extra = len(target) - len(shape)
    if extra < 0 or any(n not in (1, t) for n, t in zip(shape, target[extra:], strict=True)):
        raise ValueError(f"shape {shape} cannot be broadcast to {shown(target)}")
    kept = [s if n == t else 0 for n, s, t in zip(shape, strides, target[extra:], strict=True)]
    return (0,) * extra + tuple(kept)


def unsqueezed_axes(ndim: int, axis: int | Ints) -> Ints:
    """Return the positions of the new axes in the result, sorted.

    Raises
    ------
    ValueError
        If an axis is repeated or out of range.
    """
    axes = tuple([int_argument("axis", a) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))])
    if len(set(axes)) != len(axes) or any(not 0 <= a < ndim + len(axes) for a in axes):
        raise ValueError(f"axes must be unique and from 0 to {ndim + len(axes) - 1}, not {shown(axes)}")
    return tuple(sorted(axes))


def slice_layout(shape: Ints, strides: Ints, slices) -> tuple[Ints, Ints, int]:
    """Return the shape, the strides and the offset of a slice: integers and slices for the first axes.

    Raises
    ------
    TypeError
        If an item is neither an integer nor a slice.
    ValueError
        If an integer is out of range, or there are more items than axes.
    """
    items = slices if isinstance(slices, tuple) else (slices,)
    if len(items) > len(shape):
        raise ValueError(f"a layout of {len(shape)} axes accepts at most {len(shape)} slices, not {len(items)}")
    start, new_shape, new_strides = 0, [], []
    for axis, item in enumerate(items):
        extent, stride = shape[axis], strides[axis]
        if isinstance(item, slice):
            low, high, step = item.indices(extent)
            count = len(range(low, high, step))
            start += low * stride if count else 0
            new_shape.append(count)
            new_strides.append(stride * step)
        elif isinstance(item, int) and not isinstance(item, bool):
            if not -extent <= item < extent:
                raise ValueError(f"index {shown(item)} is out of range for axis {axis} of extent {extent}")
            start += (item % extent) * stride
        else:
            raise TypeError(f"a layout index must be an int or a slice, not {type(item).__name__}")
    return (*new_shape, *shape[len(items) :]), (*new_strides, *strides[len(items) :]), start

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Shapes and strides by NumPy's rules: contiguity, broadcasting, reshaping and indexing. No device is needed."""

from __future__ import annotations

import operator

import numpy as np

from cuda.core._classic import shown

__all__ = [
    "ORDERS",
    "broadcast_shape",
    "broadcast_strides",
    "c_byte_strides",
    "checked_array_shape",
    "checked_axis",
    "completed_shape",
    "element_count",
    "f_byte_strides",
    "indexed",
    "is_c_contiguous",
    "is_f_contiguous",
    "joined_dimensions",
    "kept_order_strides",
    "memory_range",
    "reshaped_strides",
    "viewed_layout",
]

ORDERS = ("C", "F", "A", "K")
MAX_DIMENSIONS = 64


def checked_array_shape(shape) -> tuple[int, ...]:
    """Return a shape as a tuple of ints, from an int, a sequence of ints, or an array with up to one dimension.

    Raises
    ------
    TypeError
        If ``shape`` is none of these.
    ValueError
        If a size is negative, or there are more than 64 dimensions.
    """
    if type(shape) is not tuple:
        if isinstance(shape, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"shape must be an int or a sequence of ints, not {type(shape).__name__}")
        if isinstance(shape, np.ndarray):
            shape = shape.tolist()
        try:
            shape = (operator.index(shape),)
        except TypeError:
            try:
                shape = tuple(shape)
            except TypeError:
                raise TypeError(f"shape must be an int or a sequence of ints, not {type(shape).__name__}") from None
    try:
        shape = tuple([operator.index(extent) for extent in shape])
    except TypeError:
        raise TypeError(f"shape must contain ints, not {shown(shape)}") from None
    if len(shape) > MAX_DIMENSIONS:
        raise ValueError(f"shape must have at most {MAX_DIMENSIONS} dimensions, not {len(shape)}")
    for extent in shape:
        if extent < 0:
            raise ValueError(f"shape must contain non-negative sizes, got {shown(shape)}")
    return shape


def checked_axis(axis, ndim: int, name: str = "axis") -> int:
    """Return the non-negative index of an axis. A negative ``axis`` counts from the end.

    Raises
    ------
    numpy.exceptions.AxisError
        If there is no such axis. AxisError is both a ValueError and an IndexError.
    """
    number = operator.index(axis)
    if not -ndim <= number < ndim:
        raise np.exceptions.AxisError(number, ndim, name if name != "axis" else None)
    return number % ndim


def element_count(shape) -> int:
    """Return the number of elements in an array of this shape."""
    count = 1
    for extent in shape:
        count *= extent
    return count


def c_byte_strides(shape, itemsize: int) -> tuple[int, ...]:
    """Return the strides in bytes of a C-contiguous array."""
    strides, step = [], itemsize
    for extent in reversed(shape):
        strides.append(step)
        step *= extent if extent > 1 else 1
    return tuple(reversed(strides))


def f_byte_strides(shape, itemsize: int) -> tuple[int, ...]:
    """Return the strides in bytes of a Fortran-contiguous array."""
    strides, step = [], itemsize
    for extent in shape:
        strides.append(step)
        step *= extent if extent > 1 else 1
    return tuple(strides)


def kept_order_strides(shape, strides, itemsize: int) -> tuple[int, ...]:
    """Return the strides of a contiguous array with the same order of axes in memory (NumPy's order K)."""
    order = sorted(range(len(shape)), key=lambda axis: (-abs(strides[axis]), axis))
    packed, step = [0] * len(shape), itemsize
    for axis in reversed(order):
        packed[axis] = step
        step *= shape[axis] if shape[axis] > 1 else 1
    return tuple(packed)


def is_c_contiguous(shape, strides, itemsize: int) -> bool:
    """Return whether the elements are contiguous in C order. Axes of size 1 do not count."""
    step = itemsize
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent == 0:
            return True
        if extent != 1:
            if stride != step:
                return 0 in shape
            step *= extent
    return True


def is_f_contiguous(shape, strides, itemsize: int) -> bool:
    """Return whether the elements are contiguous in Fortran order."""
    return is_c_contiguous(shape[::-1], strides[::-1], itemsize)


def memory_range(shape, strides, itemsize: int) -> tuple[int, int]:
    """Return the offsets of an array's first byte and of the byte past its last, relative to its first element."""
    if 0 in shape:
        return 0, 0
    low = sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True) if stride < 0)
    high = sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True) if stride > 0)
    return low, high + itemsize


def broadcast_shape(*shapes) -> tuple[int, ...]:
    """Return the shape that all shapes broadcast to.

    Raises
    ------
    ValueError
        If the shapes cannot be broadcast together.
    """
    ndim = max(map(len, shapes))
    result = [1] * ndim
    for shape in shapes:
        for place, extent in enumerate(shape, ndim - len(shape)):
            if extent != 1:
                if result[place] not in (1, extent):
                    listed = " and ".join(map(str, shapes))
                    raise ValueError(f"operands could not be broadcast together: shapes {listed}")
                result[place] = extent
    return tuple(result)


def broadcast_strides(shape, strides, target) -> tuple[int, ...]:
    """Return an array's strides after broadcasting it to another shape."""
    if shape == target:
        return strides
    seen = [0 if extent == 1 else stride for extent, stride in zip(shape, strides, strict=True)]
    return (0,) * (len(target) - len(shape)) + tuple(seen)


def joined_dimensions(shape, strides_of_all):
    """Merge adjacent dimensions that every array can step through with a single stride.

    Returns
    -------
    (list of int, list of list of int)
        The sizes of the remaining dimensions, and the strides of each array.
    """
    extents: list[int] = []
    rows: list[list[int]] = [[] for _ in strides_of_all]
    for axis, extent in enumerate(shape):
        if extent == 1:
            continue
        if extents and all(
            row[-1] == strides[axis] * extent for row, strides in zip(rows, strides_of_all, strict=True)
        ):
            extents[-1] *= extent
            for row, strides in zip(rows, strides_of_all, strict=True):
                row[-1] = strides[axis]
        else:
            extents.append(extent)
            for row, strides in zip(rows, strides_of_all, strict=True):
                row.append(strides[axis])
    return extents, rows


def completed_shape(shape, size: int) -> tuple[int, ...]:
    """Return a shape of ``size`` elements, with a size of -1 replaced by the missing factor."""
    wanted = tuple([operator.index(extent) for extent in shape])
    unknown = wanted.count(-1)
    known = element_count(extent for extent in wanted if extent != -1)
    if unknown > 1 or any(extent < -1 for extent in wanted):
        raise ValueError(f"shape must contain non-negative sizes and at most one -1, got {shown(wanted)}")
    if (unknown and (known == 0 or size % known)) or (not unknown and known != size):
        raise ValueError(f"cannot reshape an array of {size} elements to shape {shown(wanted)}")
    return tuple([size // known if extent == -1 else extent for extent in wanted]) if unknown else wanted


def reshaped_strides(shape, strides, new_shape, itemsize: int, order: str) -> tuple[int, ...] | None:
    """Return the strides of a view in another shape, or None if only a copy has that shape."""
    if order == "F":
        found = reshaped_strides(shape[::-1], strides[::-1], new_shape[::-1], itemsize, "C")
        return None if found is None else found[::-1]
    if 0 in shape:
        return c_byte_strides(new_shape, itemsize)
    old, rows = joined_dimensions(shape, [strides])
    row = rows[0]
    result: list[int] = []
    place = 0
    left = 1
    for extent in new_shape[::-1]:
        if extent == 1:
            result.append(result[-1] if result else itemsize)
            continue
        if left == 1:
            place += 1
            left, stride = old[-place], row[-place]
        if left % extent:
            return None
        result.append(stride)
        left //= extent
        stride *= extent
    return tuple(reversed(result))


def viewed_layout(shape, strides, old: int, new: int):
    """Return the shape and strides of a view whose elements have another size.

    The axis of smallest stride changes its size.

    Parameters
    ----------
    shape, strides : tuple of int
        The shape, and the strides in bytes.
    old, new : int
        The element size of the array and of the view, in bytes.

    Raises
    ------
    ValueError
        If the bytes along that axis are not contiguous, or are not a multiple of ``new``.
    """
    if old == new:
        return shape, strides
    ndim = len(shape)
    given, shape, strides = shape, list(shape), list(strides)
    dense = [axis for axis in range(ndim) if strides[axis] == old and shape[axis] != 1]
    if not dense and ndim:
        dense = [min(range(ndim), key=lambda axis: (abs(strides[axis]), -axis))]
        if shape[dense[0]] != 1:
            raise ValueError(f"{old}-byte elements must be contiguous to be viewed as {new}-byte elements")
    if not dense or shape[dense[-1]] * old % new:
        raise ValueError(f"elements of {old} bytes cannot be viewed as elements of {new} bytes in shape {given}")
    axis = dense[-1]
    shape[axis] = shape[axis] * old // new
    strides[axis] = new
    return tuple(shape), tuple(strides)


def indexed(shape, strides, key):
    """Return the layout of the view that basic indexing selects.

    Parameters
    ----------
    shape, strides : tuple of int
        The array's shape, and its strides in bytes.
    key : int, slice, None, Ellipsis, or a tuple of them
        The index.

    Returns
    -------
    (int, tuple of int, tuple of int)
        The view's offset in bytes, its shape, and its strides in bytes.

    Raises
    ------
    IndexError
        If there are too many indices, or one is out of bounds or has another type.
    """
    keys = key if isinstance(key, tuple) else (key,)
    given = sum(item is not None and item is not Ellipsis for item in keys)
    dots = sum(item is Ellipsis for item in keys)
    if dots > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if given > len(shape):
        raise IndexError(f"too many indices: the array has {len(shape)} dimensions, but {given} were indexed")
    offset, axis, new_shape, new_strides = 0, 0, [], []
    for item in keys if dots else (*keys, Ellipsis):
        if item is None:
            new_shape.append(1)
            new_strides.append(0)
        elif item is Ellipsis:
            end = axis + len(shape) - given
            new_shape += shape[axis:end]
            new_strides += strides[axis:end]
            axis = end
        elif isinstance(item, slice):
            start, stop, step = item.indices(shape[axis])
            count = len(range(start, stop, step))
            offset += start * strides[axis] if count else 0
            new_shape.append(count)
            new_strides.append(strides[axis] * step)
            axis += 1
        else:
            offset += checked_index(item, axis, shape[axis]) * strides[axis]
            axis += 1
    return offset, tuple(new_shape), tuple(new_strides)


def checked_index(item, axis: int, extent: int) -> int:
    try:
        if isinstance(item, (bool, np.bool_)):
            raise TypeError
        index = operator.index(item)
    except TypeError:
        raise IndexError(
            f"only integers, slices, ellipsis (...) and newaxis (None) are valid indices, not {type(item).__name__}"
        ) from None
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {extent}")
    return index % extent

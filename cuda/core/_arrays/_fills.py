# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Fills of strided arrays: the bytes of the value, and the rows that they are written to."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterator

from cuda.core._arrays._strided_boxes import MAX_PITCH
from cuda.core._utils.validators import shown

__all__ = ["element_bytes", "plan_fill"]


def element_bytes(value, dtype) -> bytes:
    """Return the bytes of one element of a type that holds ``value``.

    Raises
    ------
    TypeError
        If ``value`` is not a scalar, or values of its type do not convert to the element type.
    OverflowError
        If ``value`` is out of range.
    """
    numpy = importlib.import_module("numpy")
    try:
        given = numpy.asarray(value, dtype if dtype.names else None)
    except (OverflowError, TypeError) as error:
        if dtype.names:
            raise
        raise TypeError(f"value must be a scalar, not {shown(value)}") from error  # a malformed array interface
    if given.ndim != 0:
        raise TypeError(f"value must be a scalar, not {shown(value)}")
    if given.dtype == dtype:
        return given.tobytes()
    if dtype.kind in "iu" and given.dtype.kind in "biuO" and isinstance(given.item(), int):
        limits = numpy.iinfo(dtype)
        if not limits.min <= given.item() <= limits.max:
            raise OverflowError(f"value must fit {dtype}, but {shown(value)} does not")
        return numpy.array(given.item(), dtype).tobytes()
    is_number = (
        given.dtype.kind in "biuf" and dtype.kind == "V" and dtype.names is None and dtype.type is not numpy.void
    )
    if not (is_number or numpy.can_cast(given.dtype, dtype, "same_kind")):
        raise TypeError(f"value must convert to {dtype}, not be {shown(value)}")
    with numpy.errstate(over="ignore"):
        converted = given.astype(dtype)
    if given.dtype.kind in "fc" and numpy.isfinite(given) and not numpy.isfinite(converted):
        raise OverflowError(f"value must fit {dtype}, but {shown(value)} does not")
    return converted.tobytes()


def plan_fill(shape, strides, itemsize: int) -> tuple[int, int, int, Iterator[int]]:
    """Return the width of a row in bytes, the number of rows and their pitch, and the offsets of these groups of rows.

    ``strides`` are in elements. There is at least one element.
    """
    start, axes = 0, []
    for extent, stride in zip(shape, strides, strict=True):
        step = stride * itemsize
        if step < 0:
            start += (extent - 1) * step
        if extent != 1 and step != 0:
            axes.append((abs(step), extent))
    axes.sort()
    width = itemsize
    while axes and axes[0][0] == width:
        width *= axes.pop(0)[1]
    pitch, rows = axes.pop(0) if axes and width < axes[0][0] <= MAX_PITCH else (width, 1)
    # Rows of one pitch may continue along the next axis.
    while axes and axes[0][0] == pitch * rows:
        rows *= axes.pop(0)[1]
    offsets = (
        start + sum(place * step for place, (step, _) in zip(places, axes, strict=True))
        for places in itertools.product(*[range(extent) for _, extent in axes])
    )
    return width, rows, pitch, offsets

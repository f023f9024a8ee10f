# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Typed views of buffers: the implementation of ``Buffer.view()``."""

from __future__ import annotations

import math
import operator

from cuda.core._memoryview import StridedMemoryView
from cuda.core._utils.validators import dtype_argument, shown

__all__ = ["view_of_buffer"]


def view_of_buffer(buffer, shape, dtype) -> StridedMemoryView:
    """Implement :meth:`~cuda.core.Buffer.view`."""
    dtype = dtype_argument("u1" if dtype is None else dtype)
    if dtype.hasobject:
        raise TypeError(f"dtype must be a type of plain bytes, not {dtype}, whose elements refer to Python objects")
    if dtype.itemsize == 0:
        raise ValueError(f"dtype must have an item size above 0, unlike {dtype}; give the length, as in 'S8'")
    address, size = buffer.handle, buffer.size
    if address % dtype.alignment != 0:
        raise ValueError(
            f"a buffer of {dtype} must begin at a multiple of {dtype.alignment} bytes, and this begins at {address:#x}"
        )
    shape = _extents(shape, size, dtype.itemsize)
    needed = math.prod(shape) * dtype.itemsize
    if needed > size:
        raise ValueError(f"shape {shown(shape)} of {dtype} needs {shown(needed)} bytes, and the buffer has {size}")
    return StridedMemoryView.from_buffer(buffer, shape, dtype=dtype)


def _extents(shape, size: int, itemsize: int) -> tuple[int, ...]:
    """Return the shape as a tuple, with the extent for -1 filled in; None means ``(-1,)``."""
    shape = _integers((-1,) if shape is None else shape)
    if len(shape) > 64:
        raise ValueError(f"at most 64 axes are supported, not {len(shape)}")
    if shape.count(-1) > 1 or min(shape, default=0) < -1:
        raise ValueError(f"shape must have extents from 0 on and at most one of -1, not {shown(shape)}")
    if -1 not in shape:
        return shape
    unit = -math.prod(shape) * itemsize
    if unit == 0 or size % unit != 0:
        raise ValueError(
            f"shape has no extent for -1: the buffer's {size} bytes are no multiple of {shown(unit)} bytes"
        )
    return tuple(size // unit if extent == -1 else extent for extent in shape)


def _integers(shape) -> tuple[int, ...]:
    if type(shape) is tuple and all([type(extent) is int for extent in shape]):
        return shape
    try:
        return tuple(operator.index(extent) for extent in (shape if hasattr(type(shape), "__iter__") else (shape,)))
    except TypeError:
        raise TypeError(f"shape must be an int, a tuple of int or None, not {shown(shape)}") from None

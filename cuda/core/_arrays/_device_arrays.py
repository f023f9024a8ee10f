# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""New arrays for the methods of Device: views of buffers that are allocated for them."""

from __future__ import annotations

import importlib
import math
import operator
from typing import TYPE_CHECKING

from cuda.core._stream import used_stream
from cuda.core._utils import slots
from cuda.core._utils.late import LateModule
from cuda.core._utils.validators import dtype_argument, shown

if TYPE_CHECKING:
    from cuda.core.utils import StridedMemoryView

__all__ = ["copied", "empty", "new_zeros"]

_page_locked = LateModule("cuda.core._memory._page_locked")


def empty(device, shape, dtype, stream, pinned) -> StridedMemoryView:
    """Implement :meth:`~cuda.core.Device.empty`."""
    dtype = dtype_argument(dtype)
    shape = _shape(shape)
    size = math.prod(shape) * dtype.itemsize
    if not isinstance(pinned, bool):
        raise TypeError(f"pinned must be a bool, not {type(pinned).__name__}")
    if pinned:
        return _page_locked.LegacyPinnedMemoryResource().allocate(size, stream=stream).view(shape, dtype)
    stream = used_stream(device.device_id) if stream is None else stream
    if stream is None:
        return _completed(device, lambda stream: empty(device, shape, dtype, stream, False))
    return device.allocate(size, stream=stream).view(shape, dtype)


def new_zeros(device, shape, dtype, stream, pinned) -> StridedMemoryView:
    """Implement :meth:`~cuda.core.Device.zeros`."""
    if stream is None and pinned is False:
        stream = used_stream(device.device_id)
    if stream is None and pinned is False:
        return _completed(device, lambda stream: new_zeros(device, shape, dtype, stream, False))
    array = empty(device, shape, dtype, stream, pinned)
    buffer = array.exporting_obj
    if buffer.size and pinned:
        importlib.import_module("numpy").asarray(buffer).fill(0)
    elif buffer.size:
        buffer.fill(0, stream=stream)
    return array


def copied(device, array, stream) -> StridedMemoryView:
    """Implement :meth:`~cuda.core.Device.to_device`."""
    stream = used_stream(device.device_id) if stream is None else stream
    if stream is None:
        return _completed(device, lambda stream: copied(device, array, stream))
    numpy = importlib.import_module("numpy")
    source = array if isinstance(array, (numpy.ndarray, numpy.generic)) else slots.get("view of array")(array)
    if source.dtype is None:
        raise TypeError("array must have an element type; create the view with a dtype")
    if isinstance(source, numpy.ma.MaskedArray) and numpy.ma.is_masked(source):
        raise ValueError("array has masked elements; pass array.filled(value), or array.data to ignore the mask")
    target = empty(device, source.shape, source.dtype, stream, False)
    if source.size:
        target.exporting_obj.copy_from(array, stream=stream)
    return target


def _completed(device, make):
    """Call ``make`` with the default stream, and wait for it, so that work on any stream can use the result."""
    device.context  # noqa: B018 (raises before set_current())
    with device:
        array = make(device.default_stream)
        device.default_stream.sync()
    return array


def _shape(shape) -> tuple[int, ...]:
    try:
        if isinstance(shape, (str, bytes, bytearray)):
            raise TypeError
        sizes = shape if hasattr(type(shape), "__iter__") else (shape,)
        sizes = tuple([operator.index(size) for size in sizes])
    except TypeError:
        raise TypeError(f"shape must be an int or a tuple of int, not {shown(shape)}") from None
    if len(sizes) > 64:
        raise ValueError(f"shape must have at most 64 axes, not {len(sizes)}")
    if min(sizes, default=0) < 0:
        raise ValueError(f"shape must contain non-negative sizes, not {shown(shape)}")
    return sizes

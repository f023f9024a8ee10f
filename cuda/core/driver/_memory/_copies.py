# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies between contexts, copies into new memory, and memsets of pitched rows."""

from __future__ import annotations

import numpy

from cuda.core._memory._buffer import Buffer
from cuda.core._utils.validators import shown
from cuda.core.driver._checks import MAX_BYTES, dtype_of, host_memory, ndarray_argument, ordered, shape_of, whole
from cuda.core.driver._context import Context, current_context, handle_of
from cuda.core.driver._device_memory import DeviceAllocation, as_pointer, mem_alloc
from cuda.core.driver._errors import INVALID_VALUE, call, logic_error
from cuda.core.driver._memory._linear_copies import (
    memcpy_dtod,
    memcpy_dtod_async,
    memcpy_dtoh,
    memcpy_dtoh_async,
    memcpy_htod,
    memcpy_htod_async,
    memset_d8,
    memset_d8_async,
    memset_d16,
    memset_d16_async,
    memset_d32,
    memset_d32_async,
    pattern,
)
from cuda.core.driver._streams import stream_of

__all__ = [
    "from_device",
    "from_device_like",
    "memcpy_dtod",
    "memcpy_dtod_async",
    "memcpy_dtoh",
    "memcpy_dtoh_async",
    "memcpy_htod",
    "memcpy_htod_async",
    "memcpy_peer",
    "memcpy_peer_async",
    "memset_d2d8",
    "memset_d2d8_async",
    "memset_d2d16",
    "memset_d2d16_async",
    "memset_d2d32",
    "memset_d2d32_async",
    "memset_d8",
    "memset_d8_async",
    "memset_d16",
    "memset_d16_async",
    "memset_d32",
    "memset_d32_async",
    "to_device",
]


def memcpy_peer(dest, src, size: int, dest_context=None, src_context=None) -> None:
    """Copy ``size`` bytes between two contexts, each the current one if None (``cuMemcpyPeer``)."""
    _copy_between("cuMemcpyPeer", dest, src, size, dest_context, src_context)


def memcpy_peer_async(dest, src, size: int, dest_context=None, src_context=None, stream=None) -> None:
    """Copy ``size`` bytes between two contexts in stream order (``cuMemcpyPeerAsync``)."""
    _copy_between("cuMemcpyPeerAsync", dest, src, size, dest_context, src_context, stream_of(stream))


def _copy_between(api: str, dest, src, size, dest_context, src_context, *stream) -> None:
    contexts = [current_context(api) if one is None else one for one in (dest_context, src_context)]
    there, origin = (handle_of(one, api) for one in contexts)
    size = whole("size", size)
    check_room(api, dest, size, "destination")
    check_room(api, src, size, "source")
    arguments = as_pointer(dest), there, as_pointer(src), origin, size, *stream
    if Context.get_current() is not None:
        call(api, *arguments)
        return
    # The driver requires a current context.
    contexts[0].push()
    try:
        call(api, *arguments)
    finally:
        Context.pop()


def to_device(buffer) -> DeviceAllocation:
    """Return a new allocation with a copy of a buffer. Arrays that are not contiguous are copied in C order."""
    try:
        size = host_memory(buffer)[1]
    except ValueError:
        buffer = numpy.ascontiguousarray(buffer)
        size = buffer.nbytes
    allocation = mem_alloc(size)
    memcpy_htod(allocation, buffer)
    return allocation


def from_device(devptr, shape, dtype, order: str = "C") -> numpy.ndarray:
    """Return a new array with a copy of device memory (``cuMemcpyDtoH``).

    Parameters
    ----------
    devptr : device pointer
        The address of the memory.
    shape : int | tuple of int
        The shape of the array.
    dtype : dtype
        The data type of the elements.
    order : str, optional
        The memory layout, ``"C"`` or ``"F"``. Default is ``"C"``.
    """
    dtype = dtype_of(dtype)
    array = numpy.empty(shape_of(shape, dtype.itemsize), dtype, ordered(order))
    memcpy_dtoh(array, devptr)
    return array


def from_device_like(devptr, other_ary: numpy.ndarray) -> numpy.ndarray:
    """Return a new array with the shape, data type and order of another, and a copy of device memory."""
    array = numpy.empty_like(ndarray_argument("other_ary", other_ary))
    memcpy_dtoh(array, devptr)
    return array


def memset_d2d8(dest, pitch: int, data: int, width: int, height: int) -> None:
    """Set ``height`` rows of ``width`` bytes to ``data``; rows begin ``pitch`` bytes apart (``cuMemsetD2D8``)."""
    _fill_rows("cuMemsetD2D8", 1, dest, pitch, data, width, height)


def memset_d2d16(dest, pitch: int, data: int, width: int, height: int) -> None:
    """Set rows of 16-bit elements (``cuMemsetD2D16``); see :func:`memset_d2d8`."""
    _fill_rows("cuMemsetD2D16", 2, dest, pitch, data, width, height)


def memset_d2d32(dest, pitch: int, data: int, width: int, height: int) -> None:
    """Set rows of 32-bit elements (``cuMemsetD2D32``); see :func:`memset_d2d8`."""
    _fill_rows("cuMemsetD2D32", 4, dest, pitch, data, width, height)


def memset_d2d8_async(dest, pitch: int, data: int, width: int, height: int, stream=None) -> None:
    """Set rows of bytes in stream order (``cuMemsetD2D8Async``); see :func:`memset_d2d8`."""
    _fill_rows("cuMemsetD2D8Async", 1, dest, pitch, data, width, height, stream_of(stream))


def memset_d2d16_async(dest, pitch: int, data: int, width: int, height: int, stream=None) -> None:
    """Set rows of 16-bit elements in stream order (``cuMemsetD2D16Async``); see :func:`memset_d2d8`."""
    _fill_rows("cuMemsetD2D16Async", 2, dest, pitch, data, width, height, stream_of(stream))


def memset_d2d32_async(dest, pitch: int, data: int, width: int, height: int, stream=None) -> None:
    """Set rows of 32-bit elements in stream order (``cuMemsetD2D32Async``); see :func:`memset_d2d8`."""
    _fill_rows("cuMemsetD2D32Async", 4, dest, pitch, data, width, height, stream_of(stream))


def _fill_rows(api: str, size: int, dest, pitch, data, width, height, *stream) -> None:
    current_context(api)
    limits = (0, MAX_BYTES, api)
    pitch, width, height = (
        whole("pitch", pitch, *limits),
        whole("width", width, *limits),
        whole("height", height, *limits),
    )
    pointer = as_pointer(dest)
    if width and height:
        check_room(api, dest, (height - 1) * pitch + width * size, "destination")
        call(api, pointer, pitch, pattern(api, data, size), width, height, *stream)


def check_room(api: str, memory, size: int, what: str) -> None:
    """Raise LogicError if a size is negative, or exceeds an allocation whose size is known."""
    if size < 0:
        raise logic_error(api, INVALID_VALUE, f"the number of bytes must not be negative: {shown(size)}")
    if isinstance(memory, Buffer) and size > memory.size:
        raise logic_error(api, INVALID_VALUE, f"the {what} has {memory.size} bytes, fewer than {shown(size)}")

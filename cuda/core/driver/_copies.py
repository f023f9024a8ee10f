# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies and fills of linear memory."""

from __future__ import annotations

import numpy

from cuda.core._memory._buffer import Buffer
from cuda.core._utils.validators import shown
from cuda.core.driver._checks import MOST_BYTES, dtype_of, ndarray_argument, ordered, shape_of, whole
from cuda.core.driver._context import current_context, handle_of
from cuda.core.driver._errors import INVALID_VALUE, call, logic_error
from cuda.core.driver._memory import DeviceAllocation, as_pointer, mem_alloc
from cuda.core.driver._streams import keep_until_done, stream_of

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


def memcpy_htod(dest, src) -> None:
    """Copy from the host to a device, and wait (``cuMemcpyHtoD``).

    Parameters
    ----------
    dest : device pointer
        The destination.
    src : buffer
        The source: an array or bytes without gaps, in C or F order. All of it is copied.

    Raises
    ------
    LogicError
        If the destination is known to be smaller.
    ValueError
        If the source has gaps.
    """
    current_context("cuMemcpyHtoD")
    address, size = host_memory(src)
    pointer = as_pointer(dest)
    check_room("cuMemcpyHtoD", dest, size, "destination")
    if size:
        call("cuMemcpyHtoD", pointer, address, size)


def memcpy_htod_async(dest, src, stream=None) -> None:
    """Copy from the host to a device in stream order (``cuMemcpyHtoDAsync``).

    The host goes on at once where ``src`` is page-locked. It is kept alive until the copy is done.
    """
    current_context("cuMemcpyHtoDAsync")
    address, size = host_memory(src)
    pointer = as_pointer(dest)
    check_room("cuMemcpyHtoDAsync", dest, size, "destination")
    inner = stream_of(stream)
    if size:
        call("cuMemcpyHtoDAsync", pointer, address, size, inner.handle)
        keep_until_done(inner, "cuMemcpyHtoDAsync", src)


def memcpy_dtoh(dest, src) -> None:
    """Copy from a device to the host, and wait (``cuMemcpyDtoH``).

    Parameters
    ----------
    dest : writable buffer
        The destination: an array without gaps, in C or F order. All of it is written.
    src : device pointer
        The source.

    Raises
    ------
    LogicError
        If the source is known to be smaller.
    ValueError, BufferError
        If the destination has gaps, or cannot be written to.
    """
    current_context("cuMemcpyDtoH")
    address, size = host_memory(dest, is_written=True)
    pointer = as_pointer(src)
    check_room("cuMemcpyDtoH", src, size, "source")
    if size:
        call("cuMemcpyDtoH", address, pointer, size)


def memcpy_dtoh_async(dest, src, stream=None) -> None:
    """Copy from a device to the host in stream order (``cuMemcpyDtoHAsync``).

    The host goes on at once where ``dest`` is page-locked. It is kept alive until the copy is done.
    """
    current_context("cuMemcpyDtoHAsync")
    address, size = host_memory(dest, is_written=True)
    pointer = as_pointer(src)
    check_room("cuMemcpyDtoHAsync", src, size, "source")
    inner = stream_of(stream)
    if size:
        call("cuMemcpyDtoHAsync", address, pointer, size, inner.handle)
        keep_until_done(inner, "cuMemcpyDtoHAsync", dest)


def memcpy_dtod(dest, src, size: int) -> None:
    """Copy ``size`` bytes within a device on the NULL stream; the host does not wait (``cuMemcpyDtoD``)."""
    _between_devices("cuMemcpyDtoD", dest, src, size)


def memcpy_dtod_async(dest, src, size: int, stream=None) -> None:
    """Copy ``size`` bytes within a device in stream order (``cuMemcpyDtoDAsync``)."""
    _between_devices("cuMemcpyDtoDAsync", dest, src, size, stream_of(stream).handle)


def _between_devices(api: str, dest, src, size, *stream) -> None:
    current_context(api)
    size = whole("size", size)
    pointers = as_pointer(dest), as_pointer(src)
    check_room(api, dest, size, "destination")
    check_room(api, src, size, "source")
    if size:
        call(api, *pointers, size, *stream)


def memcpy_peer(dest, src, size: int, dest_context=None, src_context=None) -> None:
    """Copy ``size`` bytes between two contexts, by default the current one (``cuMemcpyPeer``)."""
    call("cuMemcpyPeer", *_peers("cuMemcpyPeer", dest, src, size, dest_context, src_context))


def memcpy_peer_async(dest, src, size: int, dest_context=None, src_context=None, stream=None) -> None:
    """Copy ``size`` bytes between two contexts in stream order (``cuMemcpyPeerAsync``)."""
    arguments = _peers("cuMemcpyPeerAsync", dest, src, size, dest_context, src_context)
    call("cuMemcpyPeerAsync", *arguments, stream_of(stream).handle)


def _peers(api: str, dest, src, size, dest_context, src_context) -> tuple:
    here = current_context(api)
    size = whole("size", size)
    check_room(api, dest, size, "destination")
    check_room(api, src, size, "source")
    there, origin = (handle_of(here if one is None else one, api) for one in (dest_context, src_context))
    return as_pointer(dest), there, as_pointer(src), origin, size


def to_device(buffer) -> DeviceAllocation:
    """Return a new allocation with a copy of any buffer, also of an array with gaps, in C order."""
    try:
        address, size = host_memory(buffer)
    except ValueError:
        buffer = numpy.ascontiguousarray(buffer)
        address, size = host_memory(buffer)
    allocation = mem_alloc(size)
    call("cuMemcpyHtoD", allocation.handle, address, size)
    return allocation


def from_device(devptr, shape, dtype, order: str = "C") -> numpy.ndarray:
    """Return a new array with a copy of device memory.

    Parameters
    ----------
    devptr : device pointer
        Where it is.
    shape : int | tuple of int
        The extents.
    dtype : dtype
        The type of the elements.
    order : str, optional
        ``"C"`` or ``"F"``.
    """
    dtype = dtype_of(dtype)
    array = numpy.empty(shape_of(shape, dtype.itemsize), dtype, ordered(order))
    memcpy_dtoh(array, devptr)
    return array


def from_device_like(devptr, other_ary: numpy.ndarray) -> numpy.ndarray:
    """Return a new array with the shape, type and order of another, and a copy of device memory."""
    array = numpy.empty_like(ndarray_argument("other_ary", other_ary))
    memcpy_dtoh(array, devptr)
    return array


def memset_d8(dest, data: int, count: int | None = None, *, size: int | None = None) -> None:
    """Fill ``count`` bytes with ``data`` (``cuMemsetD8``); ``size`` is another name of ``count``."""
    _fill("cuMemsetD8", 1, dest, data, _only(count, size))


def memset_d16(dest, data: int, count: int | None = None, *, size: int | None = None) -> None:
    """Fill ``count`` elements of 16 bits with ``data`` (``cuMemsetD16``)."""
    _fill("cuMemsetD16", 2, dest, data, _only(count, size))


def memset_d32(dest, data: int, count: int | None = None, *, size: int | None = None) -> None:
    """Fill ``count`` elements of 32 bits with ``data`` (``cuMemsetD32``)."""
    _fill("cuMemsetD32", 4, dest, data, _only(count, size))


def memset_d8_async(dest, data: int, count: int | None = None, stream=None, *, size: int | None = None) -> None:
    """Fill ``count`` bytes with ``data`` in stream order (``cuMemsetD8Async``)."""
    _fill("cuMemsetD8Async", 1, dest, data, _only(count, size), stream_of(stream).handle)


def memset_d16_async(dest, data: int, count: int | None = None, stream=None, *, size: int | None = None) -> None:
    """Fill ``count`` elements of 16 bits with ``data`` in stream order (``cuMemsetD16Async``)."""
    _fill("cuMemsetD16Async", 2, dest, data, _only(count, size), stream_of(stream).handle)


def memset_d32_async(dest, data: int, count: int | None = None, stream=None, *, size: int | None = None) -> None:
    """Fill ``count`` elements of 32 bits with ``data`` in stream order (``cuMemsetD32Async``)."""
    _fill("cuMemsetD32Async", 4, dest, data, _only(count, size), stream_of(stream).handle)


def memset_d2d8(dest, pitch: int, data: int, width: int, height: int) -> None:
    """Fill ``height`` rows of ``width`` bytes, ``pitch`` bytes apart, with ``data`` (``cuMemsetD2D8``)."""
    _fill_rows("cuMemsetD2D8", 1, dest, pitch, data, width, height)


def memset_d2d16(dest, pitch: int, data: int, width: int, height: int) -> None:
    """Fill rows of elements of 16 bits (``cuMemsetD2D16``); see :func:`memset_d2d8`."""
    _fill_rows("cuMemsetD2D16", 2, dest, pitch, data, width, height)


def memset_d2d32(dest, pitch: int, data: int, width: int, height: int) -> None:
    """Fill rows of elements of 32 bits (``cuMemsetD2D32``); see :func:`memset_d2d8`."""
    _fill_rows("cuMemsetD2D32", 4, dest, pitch, data, width, height)


def memset_d2d8_async(dest, pitch: int, data: int, width: int, height: int, stream=None) -> None:
    """Fill rows of bytes in stream order (``cuMemsetD2D8Async``); see :func:`memset_d2d8`."""
    _fill_rows("cuMemsetD2D8Async", 1, dest, pitch, data, width, height, stream_of(stream).handle)


def memset_d2d16_async(dest, pitch: int, data: int, width: int, height: int, stream=None) -> None:
    """Fill rows of elements of 16 bits in stream order (``cuMemsetD2D16Async``); see :func:`memset_d2d8`."""
    _fill_rows("cuMemsetD2D16Async", 2, dest, pitch, data, width, height, stream_of(stream).handle)


def memset_d2d32_async(dest, pitch: int, data: int, width: int, height: int, stream=None) -> None:
    """Fill rows of elements of 32 bits in stream order (``cuMemsetD2D32Async``); see :func:`memset_d2d8`."""
    _fill_rows("cuMemsetD2D32Async", 4, dest, pitch, data, width, height, stream_of(stream).handle)


def _only(count, size) -> int:
    if (count is None) == (size is None):
        raise TypeError("one of count and size is needed: the number of elements")
    return whole("count", size if count is None else count)


def _fill(api: str, width: int, dest, data, count: int, *stream) -> None:
    current_context(api)
    pointer = as_pointer(dest)
    check_room(api, dest, count * width, "destination")
    if count:
        call(api, pointer, _pattern(api, data, width), count, *stream)


def _fill_rows(api: str, size: int, dest, pitch, data, width, height, *stream) -> None:
    current_context(api)
    limits = (0, MOST_BYTES, api)
    pitch, width, height = (
        whole("pitch", pitch, *limits),
        whole("width", width, *limits),
        whole("height", height, *limits),
    )
    pointer = as_pointer(dest)
    if width and height:
        check_room(api, dest, (height - 1) * pitch + width * size, "destination")
        call(api, pointer, pitch, _pattern(api, data, size), width, height, *stream)


def _pattern(api: str, data, width: int) -> int:
    number = whole("data", data)
    if not -(1 << 8 * width - 1) <= number < 1 << 8 * width:
        raise logic_error(api, INVALID_VALUE, f"data must fit {8 * width} bits, and {shown(number)} does not")
    return number & (1 << 8 * width) - 1


def host_memory(obj, is_written: bool = False) -> tuple[int, int]:
    """Return the address and the bytes of host memory without gaps.

    Raises
    ------
    ValueError
        If it has gaps, or is to be written and cannot be.
    TypeError
        If ``obj`` is no host memory, or its elements are Python objects.
    """
    if not isinstance(obj, numpy.ndarray):
        view = memoryview(obj)
        if not view.contiguous:
            raise ValueError(f"the memory of the {type(obj).__name__} has gaps; a contiguous copy is needed")
        if is_written and view.readonly:
            raise ValueError(f"the memory of the {type(obj).__name__} cannot be written to")
        if not view.nbytes:
            return 0, 0
        return numpy.asarray(view).__array_interface__["data"][0], view.nbytes
    if not obj.flags.forc:
        raise ValueError("the ndarray is not contiguous; copy it first, such as with numpy.ascontiguousarray")
    if is_written and not obj.flags.writeable:
        raise ValueError("the ndarray is read-only, and it is to be written to")
    if obj.dtype.hasobject:
        raise TypeError("the ndarray has elements that are Python objects")
    return obj.__array_interface__["data"][0], obj.nbytes


def check_room(api: str, memory, size: int, what: str) -> None:
    """Refuse a size that is negative, or more than device memory of known size has."""
    if size < 0:
        raise logic_error(api, INVALID_VALUE, f"the number of bytes must not be negative, and is {shown(size)}")
    if isinstance(memory, Buffer) and size > memory.size:
        raise logic_error(api, INVALID_VALUE, f"the {what} has {memory.size} bytes, and {shown(size)} are to be copied")

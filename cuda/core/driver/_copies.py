# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies between contexts and to new memory, 2D and 3D copies, and memsets of pitched rows."""

from __future__ import annotations

import importlib

import numpy

from cuda.core import Buffer
from cuda.core._classic import shown
from cuda.core.driver._calls import (
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
from cuda.core.driver._checks import (
    MAX_BYTES,
    checked_int,
    host_memory,
    host_shape,
    ndarray_argument,
    numpy_dtype,
    ordered,
)
from cuda.core.driver._constants import memory_type
from cuda.core.driver._context import Context, context_for, handle_of
from cuda.core.driver._device_memory import DeviceAllocation, as_pointer, mem_alloc
from cuda.core.driver._errors import INVALID_VALUE, call, logic_error
from cuda.core.driver._streams import core_stream, keep_until_done

__all__ = [
    "Memcpy2D",
    "Memcpy3D",
    "Memcpy3DPeer",
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
    "memset_d16",
    "memset_d16_async",
    "memset_d2d16",
    "memset_d2d16_async",
    "memset_d2d32",
    "memset_d2d32_async",
    "memset_d2d8",
    "memset_d2d8_async",
    "memset_d32",
    "memset_d32_async",
    "memset_d8",
    "memset_d8_async",
    "to_device",
]


def memcpy_peer(dest, src, size: int, dest_context=None, src_context=None) -> None:
    """Copy between the memory of two contexts (``cuMemcpyPeer``).

    Parameters
    ----------
    dest, src : int | :class:`DeviceAllocation` | :class:`GPUArray`
        The destination and the source.
    size : int
        The number of bytes.
    dest_context, src_context : :class:`Context`, optional
        The contexts of the destination and the source. Default to the current context.

    Raises
    ------
    LogicError
        If ``size`` is negative, the destination or the source is known to be smaller, or a context is missing or
        detached.
    """
    _copy_between("cuMemcpyPeer", dest, src, size, dest_context, src_context)


def memcpy_peer_async(dest, src, size: int, dest_context=None, src_context=None, stream=None) -> None:
    """Copy between the memory of two contexts in stream order (``cuMemcpyPeerAsync``).

    Parameters
    ----------
    dest, src, size, dest_context, src_context
        As for :func:`memcpy_peer`.
    stream : :class:`Stream`, optional
        The stream to enqueue the copy on. Defaults to the NULL stream.

    Raises
    ------
    LogicError
        As for :func:`memcpy_peer`.
    """
    _copy_between("cuMemcpyPeerAsync", dest, src, size, dest_context, src_context, core_stream(stream))


def _copy_between(api: str, dest, src, size, dest_context, src_context, *stream) -> None:
    contexts = [context_for(api) if one is None else one for one in (dest_context, src_context)]
    there, origin = (handle_of(one, api) for one in contexts)
    size = checked_int("size", size)
    check_memory_room(api, dest, size, "destination")
    check_memory_room(api, src, size, "source")
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
    """Return a new allocation with a copy of a buffer (``cuMemcpyHtoD``).

    Parameters
    ----------
    buffer : buffer
        Bytes, or an array. Arrays that are not contiguous are copied in C order.

    Raises
    ------
    TypeError
        If ``buffer`` does not support the buffer protocol, or its elements are Python objects.
    LogicError
        If the buffer is empty, or no context is current.
    MemoryError
        If the device does not have enough memory.
    """
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
    devptr : int | :class:`DeviceAllocation` | :class:`GPUArray`
        The address of the memory.
    shape : int | tuple of int
        The array shape.
    dtype : dtype
        The data type of the elements.
    order : str, optional
        The memory layout, ``"C"`` or ``"F"``. Defaults to ``"C"``.

    Raises
    ------
    TypeError, ValueError
        If ``shape``, ``dtype`` or ``order`` is invalid.
    LogicError
        If the memory is known to be smaller, or no context is current.
    """
    dtype = numpy_dtype(dtype)
    array = numpy.empty(host_shape(shape, dtype.itemsize), dtype, ordered(order))
    memcpy_dtoh(array, devptr)
    return array


def from_device_like(devptr, other_ary: numpy.ndarray) -> numpy.ndarray:
    """Return a new array like another array, with a copy of device memory (``cuMemcpyDtoH``).

    Parameters
    ----------
    devptr : int | :class:`DeviceAllocation` | :class:`GPUArray`
        The address of the memory.
    other_ary : numpy.ndarray
        The array that defines the shape, data type and order.

    Raises
    ------
    TypeError
        If ``other_ary`` is not a NumPy array.
    LogicError
        If the memory is known to be smaller, or no context is current.
    """
    array = numpy.empty_like(ndarray_argument("other_ary", other_ary))
    memcpy_dtoh(array, devptr)
    return array


def memset_d2d8(dest, pitch: int, data: int, width: int, height: int) -> None:
    """Set rows of bytes of device memory to a value (``cuMemsetD2D8``).

    Parameters
    ----------
    dest : int | :class:`DeviceAllocation` | :class:`GPUArray`
        The address of the first row.
    pitch : int
        The distance between the starts of two rows, in bytes.
    data : int
        The value, as a signed or unsigned int of the element's width.
    width : int
        The number of elements per row.
    height : int
        The number of rows.

    Raises
    ------
    LogicError
        If ``data`` does not fit in an element, a size is negative, the destination is known to be smaller, or no
        context is current.
    """
    _fill_rows("cuMemsetD2D8", 1, dest, pitch, data, width, height)


def memset_d2d16(dest, pitch: int, data: int, width: int, height: int) -> None:
    """Set rows of 16-bit elements (``cuMemsetD2D16``). See :func:`memset_d2d8`."""
    _fill_rows("cuMemsetD2D16", 2, dest, pitch, data, width, height)


def memset_d2d32(dest, pitch: int, data: int, width: int, height: int) -> None:
    """Set rows of 32-bit elements (``cuMemsetD2D32``). See :func:`memset_d2d8`."""
    _fill_rows("cuMemsetD2D32", 4, dest, pitch, data, width, height)


def memset_d2d8_async(dest, pitch: int, data: int, width: int, height: int, stream=None) -> None:
    """Set rows of bytes in stream order (``cuMemsetD2D8Async``).

    Parameters
    ----------
    dest, pitch, data, width, height
        As for :func:`memset_d2d8`.
    stream : :class:`Stream`, optional
        The stream to enqueue the fill on. Defaults to the NULL stream.

    Raises
    ------
    LogicError
        As for :func:`memset_d2d8`.
    """
    _fill_rows("cuMemsetD2D8Async", 1, dest, pitch, data, width, height, core_stream(stream))


def memset_d2d16_async(dest, pitch: int, data: int, width: int, height: int, stream=None) -> None:
    """Set rows of 16-bit elements in stream order (``cuMemsetD2D16Async``). See :func:`memset_d2d8_async`."""
    _fill_rows("cuMemsetD2D16Async", 2, dest, pitch, data, width, height, core_stream(stream))


def memset_d2d32_async(dest, pitch: int, data: int, width: int, height: int, stream=None) -> None:
    """Set rows of 32-bit elements in stream order (``cuMemsetD2D32Async``). See :func:`memset_d2d8_async`."""
    _fill_rows("cuMemsetD2D32Async", 4, dest, pitch, data, width, height, core_stream(stream))


def _fill_rows(api: str, size: int, dest, pitch, data, width, height, *stream) -> None:
    context_for(api)
    limits = (0, MAX_BYTES, api)
    pitch, width, height = (
        checked_int("pitch", pitch, *limits),
        checked_int("width", width, *limits),
        checked_int("height", height, *limits),
    )
    pointer = as_pointer(dest)
    if width and height:
        check_memory_room(api, dest, (height - 1) * pitch + width * size, "destination")
        call(api, pointer, pitch, pattern(api, data, size), width, height, *stream)


def check_memory_room(api: str, memory, size: int, what: str) -> None:
    """Raise LogicError if a size is negative or exceeds an allocation of known size."""
    if size < 0:
        raise logic_error(api, INVALID_VALUE, f"the number of bytes must not be negative: {shown(size)}")
    if isinstance(memory, Buffer) and size > memory.size:
        text = f"the {what} has {memory.size} bytes, fewer than the {shown(size)} to copy or fill"
        raise logic_error(api, INVALID_VALUE, text)


def native(kind: str, *arguments):
    """Return a structure or a handle of ``cuda.bindings.driver``."""
    return getattr(importlib.import_module("cuda.bindings.driver"), kind)(*arguments)


class _Copy:
    """Base class with the source and destination fields, which are ints initialized to 0."""

    # Maps field names to the names in the driver's structure.
    _names = {
        "src_x_in_bytes": "srcXInBytes",
        "src_y": "srcY",
        "src_pitch": "srcPitch",
        "dst_x_in_bytes": "dstXInBytes",
        "dst_y": "dstY",
        "dst_pitch": "dstPitch",
        "width_in_bytes": "WidthInBytes",
        "height": "Height",
    }
    _structure = ""

    def __init__(self):
        for name in (*self._names, "src_memory_type", "dst_memory_type", "src_device", "dst_device"):
            setattr(self, name, 0)
        self._sides = {}

    def __repr__(self):
        values = ", ".join(f"{name}={getattr(self, name)}" for name in self._names)
        return f"<cuda.core.driver.{type(self).__name__} {values}>"

    def set_src_host(self, buf) -> None:
        """Set the source to the address of a host buffer, which need not be contiguous.

        Parameters
        ----------
        buf : buffer
            The host memory.
        """
        self._set("src", memory_type.HOST, "Host", _address(buf), buf)

    def set_dst_host(self, buf) -> None:
        """Set the destination to the address of a writable host buffer, which need not be contiguous.

        Parameters
        ----------
        buf : buffer
            The host memory.
        """
        self._set("dst", memory_type.HOST, "Host", _address(buf, is_written=True), buf)

    def set_src_device(self, devptr) -> None:
        """Set the source to a device pointer.

        Parameters
        ----------
        devptr : int | :class:`DeviceAllocation` | :class:`GPUArray`
            The address.
        """
        self.src_device = as_pointer(devptr)
        self._set("src", memory_type.DEVICE, None, None, devptr)

    def set_dst_device(self, devptr) -> None:
        """Set the destination to a device pointer.

        Parameters
        ----------
        devptr : int | :class:`DeviceAllocation` | :class:`GPUArray`
            The address.
        """
        self.dst_device = as_pointer(devptr)
        self._set("dst", memory_type.DEVICE, None, None, devptr)

    def set_src_array(self, ary) -> None:
        """Set the source to an :class:`Array`.

        Parameters
        ----------
        ary : :class:`Array`
            The array.
        """
        self._set("src", memory_type.ARRAY, "Array", ary.handle, ary)

    def set_dst_array(self, ary) -> None:
        """Set the destination to an :class:`Array`.

        Parameters
        ----------
        ary : :class:`Array`
            The array.
        """
        self._set("dst", memory_type.ARRAY, "Array", ary.handle, ary)

    def set_src_unified(self, buf) -> None:
        """Set the source to a buffer at a unified address, valid on the host and on devices.

        Parameters
        ----------
        buf : buffer
            The host memory.
        """
        self.src_device = _address(buf)
        self._set("src", memory_type.UNIFIED, None, None, buf)

    def set_dst_unified(self, buf) -> None:
        """Set the destination to a writable buffer at a unified address, valid on the host and on devices.

        Parameters
        ----------
        buf : buffer
            The host memory.
        """
        self.dst_device = _address(buf, is_written=True)
        self._set("dst", memory_type.UNIFIED, None, None, buf)

    def _set(self, side: str, kind: memory_type, member: str | None, value, kept) -> None:
        setattr(self, f"{side}_memory_type", kind)
        self._sides[side] = (member, value, kept)

    def _filled(self, api: str, pins: list):
        """Return the driver's structure, and append the objects that must outlive the call to ``pins``."""
        context_for(api)
        record = native(self._structure)
        for name, member in self._names.items():
            setattr(record, member, checked_int(name, getattr(self, name), 0, MAX_BYTES, api))
        for side in ("src", "dst"):
            kind = int(getattr(self, f"{side}_memory_type"))
            if kind in memory_type.values:
                setattr(record, f"{side}MemoryType", native("CUmemorytype", kind))
            setattr(record, f"{side}Device", native("CUdeviceptr", int(getattr(self, f"{side}_device"))))
            member, value, kept = self._sides.get(side, (None, None, None))
            if member == "Array":
                pins.append(kept._pin())
                value = pins[-1].handle
            if member is not None:
                setattr(record, f"{side}{member}", value)
        return record

    def _call(self, api: str, *stream) -> None:
        pins = []
        call(api, self._filled(api, pins), *stream)

    def _enqueue(self, api: str, stream) -> None:
        inner = core_stream(stream)
        self._call(api, inner)
        keep_until_done(inner, api, *(kept for _, _, kept in self._sides.values()))


class Memcpy2D(_Copy):
    """A two-dimensional copy (``CUDA_MEMCPY2D``), which is executed by calling the object.

    Attributes
    ----------
    src_x_in_bytes, src_y, dst_x_in_bytes, dst_y : int
        The start in the source and in the destination: an offset in bytes within a row, and a row.
    src_pitch, dst_pitch : int
        The distance between the starts of two rows, in bytes.
    width_in_bytes, height : int
        The number of bytes to copy per row, and the number of rows.
    src_memory_type, dst_memory_type : memory_type
        The kind of memory.
    src_device, dst_device : int
        The address, for device and unified memory.
    """

    _structure = "CUDA_MEMCPY2D"

    def __call__(self, aligned=True, *, stream=None) -> None:
        """Copy and wait (``cuMemcpy2D``), or enqueue the copy on a stream (``cuMemcpy2DAsync``).

        Parameters
        ----------
        aligned : bool | :class:`Stream`, optional
            False allows pitches that are not aligned for the device (``cuMemcpy2DUnaligned``). A stream is also
            accepted here. Defaults to True.
        stream : :class:`Stream`, optional
            The stream to enqueue the copy on. By default, the call waits for the copy.

        Raises
        ------
        LogicError
            If the driver rejects the fields.
        """
        if stream is None and not isinstance(aligned, (bool, int, numpy.bool_)):
            stream = aligned
        if stream is not None:
            self._enqueue("cuMemcpy2DAsync", stream)
        else:
            api = "cuMemcpy2D" if aligned else "cuMemcpy2DUnaligned"
            self._call(api)


class Memcpy3D(_Copy):
    """A three-dimensional copy (``CUDA_MEMCPY3D``), which is executed by calling the object.

    Attributes
    ----------
    src_x_in_bytes, src_y, src_z, src_lod, dst_x_in_bytes, dst_y, dst_z, dst_lod : int
        The start in the source and in the destination: an offset in bytes within a row, a row, a slice, and a level
        of detail, which must be 0.
    src_pitch, src_height, dst_pitch, dst_height : int
        The distance between the starts of two rows in bytes, and the number of rows from one slice to the next. Not
        needed for arrays.
    width_in_bytes, height, depth : int
        The number of bytes to copy per row, the number of rows, and the number of slices.
    src_memory_type, dst_memory_type : memory_type
        The kind of memory.
    src_device, dst_device : int
        The address, for device and unified memory.
    """

    _structure = "CUDA_MEMCPY3D"
    _names = {
        **_Copy._names,
        "src_z": "srcZ",
        "src_lod": "srcLOD",
        "src_height": "srcHeight",
        "dst_z": "dstZ",
        "dst_lod": "dstLOD",
        "dst_height": "dstHeight",
        "depth": "Depth",
    }
    _api = "cuMemcpy3D"

    def __call__(self, stream=None) -> None:
        """Copy and wait (``cuMemcpy3D``), or enqueue the copy on a stream (``cuMemcpy3DAsync``).

        Parameters
        ----------
        stream : :class:`Stream`, optional
            The stream to enqueue the copy on. By default, the call waits for the copy.

        Raises
        ------
        LogicError
            If the driver rejects the fields.
        """
        if stream is not None:
            self._enqueue(f"{self._api}Async", stream)
        else:
            self._call(self._api)


class Memcpy3DPeer(Memcpy3D):
    """A three-dimensional copy between contexts (``CUDA_MEMCPY3D_PEER``), with the fields of :class:`Memcpy3D`."""

    __doc__ += "\n" + Memcpy3D.__doc__.partition("\n")[2]
    _structure = "CUDA_MEMCPY3D_PEER"
    _api = "cuMemcpy3DPeer"

    def set_src_context(self, ctx) -> None:
        """Set the context of the source, or raise LogicError if the context is detached.

        Parameters
        ----------
        ctx : :class:`Context`
            The context.
        """
        handle_of(ctx, self._api)
        self._contexts["src"] = ctx

    def set_dst_context(self, ctx) -> None:
        """Set the context of the destination, or raise LogicError if the context is detached.

        Parameters
        ----------
        ctx : :class:`Context`
            The context.
        """
        handle_of(ctx, self._api)
        self._contexts["dst"] = ctx

    def __init__(self):
        super().__init__()
        self._contexts = {}

    def _filled(self, api, pins):
        record = super()._filled(api, pins)
        here = context_for(api)
        for side in ("src", "dst"):
            pins.append(handle_of(self._contexts.get(side, here), api)._pin())
            setattr(record, f"{side}Context", pins[-1].handle)
        return record


def _address(obj, is_written: bool = False) -> int:
    """Return the address of a buffer, or of :mod:`cuda.core` memory."""
    array = obj if isinstance(obj, numpy.ndarray) else numpy.asarray(memoryview(obj))
    if is_written and not array.flags.writeable:
        raise ValueError(f"the memory of the {type(obj).__name__} is read-only; it must be writable")
    return array.__array_interface__["data"][0]

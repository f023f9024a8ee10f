# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies of two and three dimensions: objects whose fields are set, and which are then called."""

from __future__ import annotations

import importlib

import numpy

from cuda.core.driver._checks import MAX_BYTES, whole
from cuda.core.driver._constants import memory_type
from cuda.core.driver._context import current_context, handle_of
from cuda.core.driver._device_memory import as_pointer
from cuda.core.driver._errors import call
from cuda.core.driver._held import hold
from cuda.core.driver._streams import keep_until_done, stream_of

__all__ = ["Memcpy2D", "Memcpy3D", "Memcpy3DPeer"]


def native(kind: str, *arguments):
    """Return a structure or a handle of ``cuda.bindings.driver``."""
    return getattr(importlib.import_module("cuda.bindings.driver"), kind)(*arguments)


class _Copy:
    """Base class: fields of source and destination, ints that are 0 at first."""

    # The names of the fields, and their names in the driver's structure.
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
        """Set the source to the address of a host buffer, which need not be contiguous."""
        self._set("src", memory_type.HOST, "Host", _address(buf), buf)

    def set_dst_host(self, buf) -> None:
        """Set the destination to the address of a writable host buffer, which need not be contiguous."""
        self._set("dst", memory_type.HOST, "Host", _address(buf, is_written=True), buf)

    def set_src_device(self, devptr) -> None:
        """Set the source to a device pointer."""
        self.src_device = as_pointer(devptr)
        self._set("src", memory_type.DEVICE, None, None, devptr)

    def set_dst_device(self, devptr) -> None:
        """Set the destination to a device pointer."""
        self.dst_device = as_pointer(devptr)
        self._set("dst", memory_type.DEVICE, None, None, devptr)

    def set_src_array(self, ary) -> None:
        """Set the source to an :class:`Array`."""
        self._set("src", memory_type.ARRAY, "Array", ary.handle, ary)

    def set_dst_array(self, ary) -> None:
        """Set the destination to an :class:`Array`."""
        self._set("dst", memory_type.ARRAY, "Array", ary.handle, ary)

    def set_src_unified(self, buf) -> None:
        """Set the source to a buffer at a unified address, valid on the host and on devices."""
        self.src_device = _address(buf)
        self._set("src", memory_type.UNIFIED, None, None, buf)

    def set_dst_unified(self, buf) -> None:
        """Set the destination to a writable buffer at a unified address, valid on the host and on devices."""
        self.dst_device = _address(buf, is_written=True)
        self._set("dst", memory_type.UNIFIED, None, None, buf)

    def _set(self, side: str, kind: memory_type, member: str | None, value, kept) -> None:
        setattr(self, f"{side}_memory_type", kind)
        self._sides[side] = (member, value, kept)

    def _filled(self, api: str, held: list):
        """Return the driver's structure; what has to live until the call returns is added to ``held``."""
        current_context(api)
        record = native(self._structure)
        for name, member in self._names.items():
            setattr(record, member, whole(name, getattr(self, name), 0, MAX_BYTES, api))
        for side in ("src", "dst"):
            kind = int(getattr(self, f"{side}_memory_type"))
            if kind in memory_type.values:
                setattr(record, f"{side}MemoryType", native("CUmemorytype", kind))
            setattr(record, f"{side}Device", native("CUdeviceptr", int(getattr(self, f"{side}_device"))))
            member, value, kept = self._sides.get(side, (None, None, None))
            if member == "Array":
                # The attribute raises a LogicError for an array that was freed since.
                held.append(hold(kept._array if kept.handle else None))
                value = held[-1].handle
            if member is not None:
                setattr(record, f"{side}{member}", value)
        return record

    def _call(self, api: str, *stream) -> None:
        held = []
        call(api, self._filled(api, held), *stream)

    def _enqueue(self, api: str, stream) -> None:
        inner = stream_of(stream)
        self._call(api, inner)
        keep_until_done(inner, api, *(kept for _, _, kept in self._sides.values()))


class Memcpy2D(_Copy):
    """A two-dimensional copy (``CUDA_MEMCPY2D``): set the fields, then call the object.

    Attributes
    ----------
    src_x_in_bytes, src_y, dst_x_in_bytes, dst_y : int
        The start in the source and the destination: an offset in bytes within a row, and a row.
    src_pitch, dst_pitch : int
        The distance between the starts of two rows, in bytes.
    width_in_bytes, height : int
        The bytes of a row to copy, and the number of rows.
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
            False allows pitches that the device does not align (``cuMemcpy2DUnaligned``). May also be the stream.
        stream : :class:`Stream`, optional
            The stream on which the copy is enqueued. If None, the call waits for the copy.

        Raises
        ------
        LogicError
            If the driver refuses the fields.
        """
        if stream is None and not isinstance(aligned, (bool, int, numpy.bool_)):
            stream = aligned
        if stream is not None:
            self._enqueue("cuMemcpy2DAsync", stream)
        else:
            api = "cuMemcpy2D" if aligned else "cuMemcpy2DUnaligned"
            self._call(api)


class Memcpy3D(_Copy):
    """A three-dimensional copy (``CUDA_MEMCPY3D``): set the fields, then call the object.

    Attributes
    ----------
    src_x_in_bytes, src_y, src_z, src_lod, dst_x_in_bytes, dst_y, dst_z, dst_lod : int
        The start in the source and the destination: an offset in bytes within a row, a row, a slice, and a level
        of detail, which must be 0.
    src_pitch, src_height, dst_pitch, dst_height : int
        The distance between the starts of two rows in bytes, and the number of rows from one slice to the next;
        not needed for arrays.
    width_in_bytes, height, depth : int
        The bytes of a row to copy, the number of rows, and the number of slices.
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
            The stream on which the copy is enqueued. If None, the call waits for the copy.

        Raises
        ------
        LogicError
            If the driver refuses the fields.
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
        """Set the context of the source."""
        handle_of(ctx, self._api)
        self._contexts["src"] = ctx

    def set_dst_context(self, ctx) -> None:
        """Set the context of the destination."""
        handle_of(ctx, self._api)
        self._contexts["dst"] = ctx

    def __init__(self):
        super().__init__()
        self._contexts = {}

    def _filled(self, api, held):
        record = super()._filled(api, held)
        here = current_context(api)
        for side in ("src", "dst"):
            held.append(hold(handle_of(self._contexts.get(side, here), api)))
            setattr(record, f"{side}Context", held[-1].handle)
        return record


def _address(obj, is_written: bool = False) -> int:
    """Return the address of a buffer, or of memory of :mod:`cuda.core`."""
    array = obj if isinstance(obj, numpy.ndarray) else numpy.asarray(memoryview(obj))
    if is_written and not array.flags.writeable:
        raise ValueError(f"the memory of the {type(obj).__name__} cannot be written to")
    return array.__array_interface__["data"][0]

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies of two and three dimensions: records that are filled, and then called."""

from __future__ import annotations

import importlib

import numpy

from cuda.core.driver._checks import MOST_BYTES, whole
from cuda.core.driver._constants import memory_type
from cuda.core.driver._contexts._context import current_context, handle_of
from cuda.core.driver._contexts._streams import keep_until_done, stream_of
from cuda.core.driver._errors import call
from cuda.core.driver._held import hold
from cuda.core.driver._memory._device_memory import as_pointer

__all__ = ["Memcpy2D", "Memcpy3D", "Memcpy3DPeer"]


def native(kind: str, *arguments):
    """Return a structure or a handle of the driver's bindings."""
    return getattr(importlib.import_module("cuda.bindings.driver"), kind)(*arguments)


class _Copy:
    """The fields of both sides; all are ints, and 0 at first."""

    # The names here, and those of the structure of the driver.
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
        """Copy from the host, from the address of a buffer, which need not be contiguous."""
        self._set("src", memory_type.HOST, "Host", _address(buf), buf)

    def set_dst_host(self, buf) -> None:
        """Copy to the host, to the address of a buffer that can be written to, and need not be contiguous."""
        self._set("dst", memory_type.HOST, "Host", _address(buf, is_written=True), buf)

    def set_src_device(self, devptr) -> None:
        """Copy from a device pointer."""
        self.src_device = as_pointer(devptr)
        self._set("src", memory_type.DEVICE, None, None, devptr)

    def set_dst_device(self, devptr) -> None:
        """Copy to a device pointer."""
        self.dst_device = as_pointer(devptr)
        self._set("dst", memory_type.DEVICE, None, None, devptr)

    def set_src_array(self, ary) -> None:
        """Copy from an :class:`Array`."""
        self._set("src", memory_type.ARRAY, "Array", ary.handle, ary)

    def set_dst_array(self, ary) -> None:
        """Copy to an :class:`Array`."""
        self._set("dst", memory_type.ARRAY, "Array", ary.handle, ary)

    def set_src_unified(self, buf) -> None:
        """Copy from an address that host and devices share."""
        self.src_device = _address(buf)
        self._set("src", memory_type.UNIFIED, None, None, buf)

    def set_dst_unified(self, buf) -> None:
        """Copy to an address that host and devices share."""
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
            setattr(record, member, whole(name, getattr(self, name), 0, MOST_BYTES, api))
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
    """A copy of rows: fill the fields, then call it.

    Attributes
    ----------
    src_x_in_bytes, src_y, src_pitch, dst_x_in_bytes, dst_y, dst_pitch : int
        Where each side begins, and the bytes from one row to the next.
    width_in_bytes, height : int
        The bytes of a row, and the number of rows.
    src_memory_type, dst_memory_type : memory_type
        Where the sides are.
    src_device, dst_device : int
        The addresses of sides on a device.
    """

    _structure = "CUDA_MEMCPY2D"

    def __call__(self, aligned=True, *, stream=None) -> None:
        """Copy, and wait; or copy in the order of a stream, given instead of ``aligned`` or by name.

        Parameters
        ----------
        aligned : bool | :class:`Stream`, optional
            False allows pitches that do not suit the device (``cuMemcpy2DUnaligned``).
        stream : :class:`Stream`, optional
            The stream, on which the host does not wait (``cuMemcpy2DAsync``).

        Raises
        ------
        LogicError
            If the driver refuses.
        """
        if stream is None and not isinstance(aligned, (bool, int, numpy.bool_)):
            stream = aligned
        if stream is not None:
            self._enqueue("cuMemcpy2DAsync", stream)
        else:
            api = "cuMemcpy2D" if aligned else "cuMemcpy2DUnaligned"
            self._call(api)


class Memcpy3D(_Copy):
    """A copy of slices of rows: fill the fields, then call it.

    Attributes
    ----------
    src_x_in_bytes, src_y, src_z, src_lod, src_pitch, src_height : int
        Where the source begins, the bytes from one row to the next, and the rows from one slice to the next;
        the last two are not needed for arrays.
    dst_x_in_bytes, dst_y, dst_z, dst_lod, dst_pitch, dst_height : int
        The same of the destination.
    width_in_bytes, height, depth : int
        The bytes of a row, the number of rows, and that of slices.
    src_memory_type, dst_memory_type : memory_type
        Where the sides are.
    src_device, dst_device : int
        The addresses of sides on a device.
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
        """Copy, and wait; or copy in the order of a stream, on which the host does not wait.

        Raises
        ------
        LogicError
            If the driver refuses.
        """
        if stream is not None:
            self._enqueue(f"{self._api}Async", stream)
        else:
            self._call(self._api)


class Memcpy3DPeer(Memcpy3D):
    """A copy of slices between contexts; the fields are those of :class:`Memcpy3D`."""

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

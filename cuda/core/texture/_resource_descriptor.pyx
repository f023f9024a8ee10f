# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Resource descriptors (``CUDA_RESOURCE_DESC``): the array or memory behind a texture or a surface."""

from __future__ import annotations

from libc.string cimport memset

from cuda.core._handles._handles cimport Keep, KeptAllocation, KeptArray, KeptMipmappedArray
from cuda.core._memory._buffer cimport Buffer
from cuda.core._memory.ranges._memory_range cimport MemoryRange_keep
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport make_hasattr_safe
from cuda.core.texture._array cimport Array_keep, OpaqueArray
from cuda.core.texture._elements cimport element_size
from cuda.core.texture._mipmapped_array cimport MipmappedArray, MipmappedArray_keep
from cuda.core.texture._sampling cimport Elements

import operator

from cuda.core._utils.enums import ARRAY_FORMAT
from cuda.core._utils.signatures import ConstructorSignature
from cuda.core._utils.validators import shown
from cuda.core.texture._elements import FLOATS, checked_channels, checked_count, checked_format
from cuda.core.typing import ArrayFormatType

__all__ = ["ResourceDescriptor"]


cdef class ResourceDescriptor:
    """The memory behind a texture or a surface: an array, a mipmapped array, or a buffer.

    Descriptors come from the ``from_`` methods; there is no direct construction. A descriptor keeps its source
    alive.
    """

    __signature__ = ConstructorSignature()

    def __init__(self, *args, **kwargs):
        """Raise RuntimeError: use one of the ``from_`` methods."""
        raise RuntimeError(
            "ResourceDescriptor cannot be constructed directly; use ResourceDescriptor.from_opaque_array(), "
            "from_mipmapped_array(), from_linear() or from_pitch2d()"
        )

    def __repr__(self):
        if self._format is None:
            return f"ResourceDescriptor(kind={self._kind!r})"
        shape = f"size_bytes={self._size_bytes}"
        if self._kind == "pitch2d":
            shape = f"width={self._width}, height={self._height}, pitch_bytes={self._pitch_bytes}"
        return (
            f"ResourceDescriptor(kind={self._kind!r}, format={self._format.name}, "
            f"num_channels={self._num_channels}, {shape})"
        )

    def __reduce__(self):
        raise TypeError("ResourceDescriptor objects cannot be pickled or copied: they belong to this process")

    @classmethod
    def from_opaque_array(cls, array: OpaqueArray) -> ResourceDescriptor:
        """Describe an array, for textures and surfaces (``CU_RESOURCE_TYPE_ARRAY``).

        Parameters
        ----------
        array : :class:`OpaqueArray`
            The array. Surfaces need one created with ``is_surface_load_store=True``.

        Raises
        ------
        TypeError
            If ``array`` is not an :class:`OpaqueArray`.
        RuntimeError
            If the array is closed.
        """
        cdef KeptArray kept
        if not isinstance(array, OpaqueArray):
            raise TypeError(f"array must be an OpaqueArray, not {type(array).__name__}")
        Array_keep(<OpaqueArray>array, &kept)
        return ResourceDescriptor_new(cls, "array", array)

    @classmethod
    def from_mipmapped_array(cls, mipmapped_array: MipmappedArray) -> ResourceDescriptor:
        """Describe a mipmapped array, for textures (``CU_RESOURCE_TYPE_MIPMAPPED_ARRAY``).

        Parameters
        ----------
        mipmapped_array : :class:`MipmappedArray`
            The mipmapped array.

        Raises
        ------
        TypeError
            If ``mipmapped_array`` is not a :class:`MipmappedArray`.
        RuntimeError
            If the mipmapped array is closed.
        """
        cdef KeptMipmappedArray kept
        if not isinstance(mipmapped_array, MipmappedArray):
            raise TypeError(f"mipmapped_array must be a MipmappedArray, not {type(mipmapped_array).__name__}")
        MipmappedArray_keep(<MipmappedArray>mipmapped_array, &kept)
        return ResourceDescriptor_new(cls, "mipmapped_array", mipmapped_array)

    @classmethod
    def from_linear(
        cls, buffer: Buffer, *, format: ArrayFormatType | str, num_channels: int, size_bytes: int | None = None
    ) -> ResourceDescriptor:
        """Describe linear memory, which kernels read with ``tex1Dfetch``, unfiltered (``CU_RESOURCE_TYPE_LINEAR``).

        Parameters
        ----------
        buffer : :class:`Buffer`
            The memory. Its address must be a multiple of :attr:`DeviceProperties.texture_alignment`.
        format : :class:`~cuda.core.typing.ArrayFormatType` | str | numpy.dtype
            The data type of one channel.
        num_channels : int
            The number of channels of an element: 1, 2 or 4.
        size_bytes : int, optional
            The number of bytes that the texture covers, a multiple of the element size. If None, the whole buffer.

        Raises
        ------
        TypeError
            If ``buffer`` is not a :class:`Buffer`, or ``size_bytes`` is not an int.
        ValueError
            If the format, the number of channels or the size is not valid.
        RuntimeError
            If the buffer is closed.
        """
        cdef KeptAllocation memory
        cdef ResourceDescriptor self
        keep_buffer(buffer, &memory)
        format = checked_format(format)
        num_channels = checked_channels(num_channels)
        element = element_size(format, num_channels)
        capacity = memory.value().size
        size = capacity if size_bytes is None else operator.index(size_bytes)
        if not element <= size <= capacity or size % element:
            raise ValueError(
                f"size_bytes must be a multiple of {element} bytes, the size of an element, up to the {capacity} bytes "
                f"of the buffer, not {shown(size)}"
            )
        self = ResourceDescriptor_new(cls, "linear", buffer)
        self._format = format
        self._num_channels = num_channels
        self._size_bytes = size
        return self

    @classmethod
    def from_pitch2d(
        cls,
        buffer: Buffer,
        *,
        format: ArrayFormatType | str,
        num_channels: int,
        width: int,
        height: int,
        pitch_bytes: int,
    ) -> ResourceDescriptor:
        """Describe a two-dimensional image in pitched linear memory (``CU_RESOURCE_TYPE_PITCH2D``).

        Parameters
        ----------
        buffer : :class:`Buffer`
            The memory. Its address must be a multiple of :attr:`DeviceProperties.texture_alignment`.
        format : :class:`~cuda.core.typing.ArrayFormatType` | str | numpy.dtype
            The data type of one channel.
        num_channels : int
            The number of channels of an element: 1, 2 or 4.
        width : int
            The number of elements in a row.
        height : int
            The number of rows.
        pitch_bytes : int
            The distance between the starts of two rows, in bytes. The driver requires a multiple of
            :attr:`DeviceProperties.texture_pitch_alignment`.

        Raises
        ------
        TypeError
            If ``buffer`` is not a :class:`Buffer`, or an extent or the pitch is not an int.
        ValueError
            If the format, the number of channels, an extent or the pitch is not valid, or the rows do not fit the
            buffer.
        RuntimeError
            If the buffer is closed.
        """
        cdef KeptAllocation memory
        cdef ResourceDescriptor self
        keep_buffer(buffer, &memory)
        format = checked_format(format)
        num_channels = checked_channels(num_channels)
        width = checked_count("width", width)
        height = checked_count("height", height)
        pitch_bytes = checked_count("pitch_bytes", pitch_bytes)
        row = width * element_size(format, num_channels)
        capacity = memory.value().size
        if pitch_bytes < row:
            raise ValueError(f"pitch_bytes must be at least {row}, the bytes of a row, not {pitch_bytes}")
        if pitch_bytes * height > capacity:
            raise ValueError(
                f"{height} rows of {pitch_bytes} bytes take {pitch_bytes * height} bytes; the buffer has {capacity}"
            )
        self = ResourceDescriptor_new(cls, "pitch2d", buffer)
        self._format = format
        self._num_channels = num_channels
        self._width = width
        self._height = height
        self._pitch_bytes = pitch_bytes
        return self

    @property
    def kind(self) -> str:
        """The resource type: ``"array"``, ``"mipmapped_array"``, ``"linear"`` or ``"pitch2d"``."""
        return self._kind

    @property
    def source(self) -> OpaqueArray | MipmappedArray | Buffer:
        """The array, the mipmapped array or the buffer."""
        return self._source

    @property
    def format(self) -> ArrayFormatType | None:
        """The data type of one channel in a buffer; None for arrays, which have their own."""
        return self._format

    @property
    def num_channels(self) -> int | None:
        """The number of channels of an element in a buffer; None for arrays, which have their own."""
        return self._num_channels

    @property
    def size_bytes(self) -> int | None:
        """The number of bytes that a ``"linear"`` resource covers; None for other kinds."""
        return self._size_bytes

    @property
    def width(self) -> int | None:
        """The number of elements in a row of a ``"pitch2d"`` resource; None for other kinds."""
        return self._width

    @property
    def height(self) -> int | None:
        """The number of rows of a ``"pitch2d"`` resource; None for other kinds."""
        return self._height

    @property
    def pitch_bytes(self) -> int | None:
        """The distance between the starts of two rows of a ``"pitch2d"`` resource, in bytes; None for other kinds."""
        return self._pitch_bytes


cdef ResourceDescriptor ResourceDescriptor_new(type cls, str kind, object source):
    cdef ResourceDescriptor self = cls.__new__(cls)
    self._kind = kind
    self._source = source
    return self


cdef int keep_buffer(object buffer, KeptAllocation* memory) except -1:
    if not isinstance(buffer, Buffer):
        raise TypeError(f"buffer must be a Buffer, not {type(buffer).__name__}")
    return MemoryRange_keep(<Buffer>buffer, memory)


cdef Elements ResourceDescriptor_elements(ResourceDescriptor self) except *:
    cdef Elements out
    if self._kind == "array":
        set_axes(&out, (<OpaqueArray>self._source)._shape, (<OpaqueArray>self._source)._flags)
        out.are_floats = (<OpaqueArray>self._source)._format in FLOATS
    elif self._kind == "mipmapped_array":
        set_axes(&out, (<MipmappedArray>self._source)._shape, (<MipmappedArray>self._source)._flags)
        out.are_floats = (<MipmappedArray>self._source)._format in FLOATS
    else:
        out.axes = 1 if self._kind == "linear" else 2
        out.are_cubes = False
        out.are_floats = self._format in FLOATS
    return out


cdef int set_axes(Elements* out, tuple shape, unsigned int flags) except -1:
    out.axes = len(shape) - (1 if flags & (cydriver.CUDA_ARRAY3D_LAYERED | cydriver.CUDA_ARRAY3D_CUBEMAP) else 0)
    out.are_cubes = flags & cydriver.CUDA_ARRAY3D_CUBEMAP != 0
    return 0


cdef int ResourceDescriptor_describe(
    ResourceDescriptor self, cydriver.CUDA_RESOURCE_DESC* c_description, Keep* keep
) except -1:
    cdef KeptArray array
    cdef KeptMipmappedArray mipmap
    memset(c_description, 0, sizeof(cydriver.CUDA_RESOURCE_DESC))
    if self._kind == "array":
        Array_keep(<OpaqueArray>self._source, &array)
        keep[0] = array.keep()
        c_description.resType = cydriver.CUresourcetype.CU_RESOURCE_TYPE_ARRAY
        c_description.res.array.hArray = array.value().raw
    elif self._kind == "mipmapped_array":
        MipmappedArray_keep(<MipmappedArray>self._source, &mipmap)
        keep[0] = mipmap.keep()
        c_description.resType = cydriver.CUresourcetype.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
        c_description.res.mipmap.hMipmappedArray = mipmap.value().raw
    else:
        describe_memory(self, c_description, keep)
    return 0


cdef bint ResourceDescriptor_has_own_array(ResourceDescriptor self) noexcept:
    cdef KeptArray array
    cdef KeptMipmappedArray mipmap
    if self._kind == "array":
        return array.hold((<OpaqueArray>self._source)._h_array) and array.is_owner()
    if self._kind == "mipmapped_array":
        return mipmap.hold((<MipmappedArray>self._source)._h_mipmap) and mipmap.is_owner()
    return False


cdef int describe_memory(ResourceDescriptor self, cydriver.CUDA_RESOURCE_DESC* c_description, Keep* keep) except -1:
    cdef KeptAllocation memory
    cdef cydriver.CUarray_format c_format = <cydriver.CUarray_format><int>ARRAY_FORMAT.to_driver(self._format)
    MemoryRange_keep(<Buffer>self._source, &memory)
    keep[0] = memory.keep()
    if self._kind == "linear":
        c_description.resType = cydriver.CUresourcetype.CU_RESOURCE_TYPE_LINEAR
        c_description.res.linear.devPtr = memory.value().pointer
        c_description.res.linear.format = c_format
        c_description.res.linear.numChannels = self._num_channels
        c_description.res.linear.sizeInBytes = self._size_bytes
    else:
        c_description.resType = cydriver.CUresourcetype.CU_RESOURCE_TYPE_PITCH2D
        c_description.res.pitch2D.devPtr = memory.value().pointer
        c_description.res.pitch2D.format = c_format
        c_description.res.pitch2D.numChannels = self._num_channels
        c_description.res.pitch2D.width = self._width
        c_description.res.pitch2D.height = self._height
        c_description.res.pitch2D.pitchInBytes = self._pitch_bytes
    return 0


make_hasattr_safe(ResourceDescriptor)

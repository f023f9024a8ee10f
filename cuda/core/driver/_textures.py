# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Texture and surface references, implemented with texture and surface objects.

A source declares ``texture<float, 2> image``, which a header in this package turns into a global variable for a texture
object. A reference collects the settings. Before the module's next launch, it creates the object and writes its handle
to the variable.
"""

from __future__ import annotations

import operator

import numpy
import numpy as np

from cuda.core import Buffer
from cuda.core.driver._array_base import ArrayBase
from cuda.core.driver._checks import checked_int
from cuda.core.driver._constants import (
    TRSF_NORMALIZED_COORDINATES,
    TRSF_READ_AS_INTEGER,
    address_mode,
    array_format,
    filter_mode,
)
from cuda.core.driver._context import classic_member, context_for
from cuda.core.driver._cuda_arrays import FORMATS, Array, array_of, dtype_to_array_format, matrix_to_array
from cuda.core.driver._device_memory import as_pointer
from cuda.core.driver._errors import INVALID_VALUE, call, logic_error, translated
from cuda.core.texture import ResourceDescriptor, TextureObjectOptions

__all__ = ["SurfaceReference", "TextureReference", "bind_array_to_texref", "matrix_to_texref"]

_CHANNEL_BYTES = {format_: numpy.dtype(name).itemsize for format_, name in FORMATS.items()}


class _Reference:
    """Base class: a module's global variable for a texture or surface object, which is created before a launch."""

    def __init__(self):
        self._variable = None
        self._object = None
        self._is_changed = False

    def __repr__(self):
        return f"<cuda.core.driver.{type(self).__name__}{'' if self._variable is None else ' of a module'}>"

    def _flush(self) -> None:
        """Create the object and write its handle to the variable, if a setting has changed."""
        if self._variable is None or not self._is_changed:
            return
        made = self._make()
        if made is not None:
            # The copy is synchronous, because running kernels use the previous object, which is destroyed afterwards.
            handle = numpy.array([made.handle], numpy.uint64)
            call("cuMemcpyHtoD", int(self._variable), handle.__array_interface__["data"][0], 8)
            self._object = made
        self._is_changed = False

    @staticmethod
    def _device():
        context = context_for("cuTexObjectCreate")
        context._make_current()
        return context._device._core


class TextureReference(_Reference):
    """A texture reference, returned by :meth:`Module.get_texref`, which binds an array or linear memory to a texture.

    Settings persist until they are changed. A bound :class:`Array` is kept alive, but linear memory is not.
    """

    def __init__(self):
        super().__init__()
        self._source = None
        self._format = (array_format.FLOAT, 1)
        self._address_modes = [address_mode.WRAP] * 3
        self._filter_mode = filter_mode.POINT
        self._flags = 0

    def set_array(self, ary: Array) -> None:
        """Bind an array, and set the format to the array's format.

        Parameters
        ----------
        ary : :class:`Array`
            The array.

        Raises
        ------
        TypeError
            If ``ary`` is not an Array.
        LogicError
            If the array was freed, or its context is detached.
        """
        array_of(ary, "cuTexRefSetArray")
        descriptor = ary.get_descriptor()
        self._source = ("array", ary)
        self._set(_format=(descriptor.format, descriptor.num_channels))

    def set_address(self, devptr, bytes: int, allow_offset: bool = False) -> int:
        """Bind linear memory, for ``tex1Dfetch``.

        Parameters
        ----------
        devptr : int | :class:`DeviceAllocation` | :class:`GPUArray`
            The address of the memory.
        bytes : int
            The size of the memory in bytes.
        allow_offset : bool, optional
            Whether to accept a ``devptr`` that is not aligned for textures. The texture then begins at the preceding
            aligned address. Defaults to False.

        Returns
        -------
        int
            The offset of ``devptr`` in the texture, in bytes.

        Raises
        ------
        LogicError
            If the address is not aligned and ``allow_offset`` is False.
        """
        pointer = as_pointer(devptr)
        alignment = context_for("cuTexRefSetAddress")._device.texture_alignment
        offset = pointer % alignment
        if offset and not allow_offset:
            raise logic_error(
                "cuTexRefSetAddress",
                INVALID_VALUE,
                f"the address is not a multiple of {alignment} bytes; pass allow_offset=True",
            )
        self._source = ("linear", pointer - offset, operator.index(bytes) + offset)
        self._set()
        return offset

    def set_address_2d(self, devptr, descr, pitch: int) -> None:
        """Bind pitched linear memory.

        Parameters
        ----------
        devptr : int | :class:`DeviceAllocation` | :class:`GPUArray`
            The address of the first row.
        descr : :class:`ArrayDescriptor`
            The width, the height, the format and the number of channels.
        pitch : int
            The distance between the starts of two rows, in bytes.

        Raises
        ------
        LogicError
            If the format is unknown.
        """
        format_ = classic_member(array_format, descr.format, "cuTexRefSetAddress2D")
        self._source = ("pitch", as_pointer(devptr), int(descr.width), int(descr.height), operator.index(pitch))
        self._set(_format=(format_, int(descr.num_channels)))

    def set_format(self, fmt: int, num_components: int) -> None:
        """Set the element format.

        Parameters
        ----------
        fmt : array_format | int
            The data type of a channel.
        num_components : int
            The number of channels.

        Raises
        ------
        LogicError
            If ``fmt`` is unknown.
        """
        self._set(_format=(classic_member(array_format, fmt, "cuTexRefSetFormat"), operator.index(num_components)))

    def set_address_mode(self, dim: int, am: int) -> None:
        """Set the address mode of an axis.

        Parameters
        ----------
        dim : int
            The axis: 0, 1 or 2.
        am : address_mode | int
            The address mode.

        Raises
        ------
        LogicError
            If ``dim`` or ``am`` is invalid.
        """
        self._address_modes[self._axis(dim)] = classic_member(address_mode, am, "cuTexRefSetAddressMode")
        self._set()

    def set_filter_mode(self, fm: int) -> None:
        """Set the filter mode.

        Parameters
        ----------
        fm : filter_mode | int
            The filter mode.

        Raises
        ------
        LogicError
            If ``fm`` is unknown.
        """
        self._set(_filter_mode=classic_member(filter_mode, fm, "cuTexRefSetFilterMode"))

    def set_flags(self, flags: int) -> None:
        """Set the flags.

        Parameters
        ----------
        flags : int
            A combination of ``TRSF_READ_AS_INTEGER`` and ``TRSF_NORMALIZED_COORDINATES``.
        """
        self._set(_flags=operator.index(flags))

    def get_array(self) -> Array:
        """Return the bound array, or raise LogicError if none is bound."""
        return self._bound("array")

    def get_address(self) -> int:
        """Return the address of the bound linear memory, or raise LogicError if none is bound."""
        return self._bound("linear", "pitch")

    def get_format(self) -> tuple[array_format, int]:
        """Return the data type of a channel, and the number of channels."""
        return self._format

    def get_address_mode(self, dim: int) -> address_mode:
        """Return the address mode of an axis, or raise LogicError if ``dim`` is not 0, 1 or 2."""
        return self._address_modes[self._axis(dim)]

    def get_filter_mode(self) -> filter_mode:
        """Return the filter mode."""
        return self._filter_mode

    def get_flags(self) -> int:
        """Return the flags."""
        return self._flags

    def _set(self, **values) -> None:
        vars(self).update(values)
        self._is_changed = True

    def _bound(self, *kinds: str):
        if self._source is None or self._source[0] not in kinds:
            raise logic_error("the texture reference", INVALID_VALUE, f"no {kinds[0]} memory is bound to it")
        return self._source[1]

    @staticmethod
    def _axis(dim: int) -> int:
        dim = operator.index(dim)
        if not 0 <= dim < 3:
            raise logic_error("the texture reference", INVALID_VALUE, f"dim must be 0, 1 or 2, not {dim}")
        return dim

    @translated
    def _make(self):
        if self._source is None:
            return None
        format_, channels = self._format
        is_normalized = bool(self._flags & TRSF_NORMALIZED_COORDINATES)
        # The wrap and mirror modes require normalized coordinates. For other coordinates, the driver clamps.
        modes = [
            address_mode.CLAMP if not is_normalized and mode in (address_mode.WRAP, address_mode.MIRROR) else mode
            for mode in self._address_modes
        ]
        is_converted = (
            _CHANNEL_BYTES[format_] < 4 and format_ != array_format.HALF and not self._flags & TRSF_READ_AS_INTEGER
        )
        options = TextureObjectOptions(
            address_mode=tuple(mode.name.lower() for mode in modes),
            filter_mode=self._filter_mode.name.lower(),
            read_mode="normalized_float" if is_converted else "element_type",
            normalized_coords=is_normalized,
        )
        return self._device().create_texture_object(
            resource=self._resource(FORMATS[format_], channels), options=options
        )

    def _resource(self, format_: str, channels: int) -> ResourceDescriptor:
        kind, source, *extents = self._source
        try:
            if kind == "array":
                return ResourceDescriptor.from_opaque_array(array_of(source, "cuTexRefSetArray"))
            if kind == "linear":
                element = numpy.dtype(format_).itemsize * channels
                size = extents[0] // element * element
                memory = Buffer.from_handle(source, size)
                return ResourceDescriptor.from_linear(memory, format=format_, num_channels=channels)
            width, height, pitch = extents
            return ResourceDescriptor.from_pitch2d(
                Buffer.from_handle(source, pitch * height),
                format=format_,
                num_channels=channels,
                width=width,
                height=height,
                pitch_bytes=pitch,
            )
        except ValueError as error:
            raise logic_error("cuTexObjectCreate", INVALID_VALUE, str(error)) from None


class SurfaceReference(_Reference):
    """A surface reference, returned by :meth:`Module.get_surfref`, which binds an array to a surface."""

    def __init__(self):
        super().__init__()
        self._array = None

    def set_array(self, array: Array, flags: int = 0) -> None:
        """Bind an array.

        Parameters
        ----------
        array : :class:`Array`
            An array created with ``SURFACE_LDST``.
        flags : int, optional
            Ignored.

        Raises
        ------
        TypeError
            If ``array`` is not an Array.
        LogicError
            If the array was freed, or its context is detached.
        """
        array_of(array, "cuSurfRefSetArray")
        self._array = array
        self._is_changed = True

    def get_array(self) -> Array:
        """Return the bound array, or raise LogicError if none is bound."""
        if self._array is None:
            raise logic_error("cuSurfRefGetArray", INVALID_VALUE, "no array is bound to the surface reference")
        return self._array

    @translated
    def _make(self):
        if self._array is None:
            return None
        try:
            resource = ResourceDescriptor.from_opaque_array(array_of(self._array, "cuSurfRefSetArray"))
            return self._device().create_surface_object(resource=resource)
        except ValueError as error:
            raise logic_error("cuSurfObjectCreate", INVALID_VALUE, str(error)) from None


def bind_array_to_texref(ary: Array, texref: TextureReference) -> None:
    """Bind a two-dimensional array with address mode ``CLAMP`` and filter mode ``POINT``.

    Parameters
    ----------
    ary : :class:`Array`
        The array.
    texref : :class:`TextureReference`
        The texture reference.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    LogicError
        If the array was freed, or its context is detached.
    """
    if not isinstance(texref, TextureReference):
        raise TypeError(f"texref must be a TextureReference, not {type(texref).__name__}")
    texref.set_array(ary)
    texref.set_address_mode(0, address_mode.CLAMP)
    texref.set_address_mode(1, address_mode.CLAMP)
    texref.set_filter_mode(filter_mode.POINT)


def matrix_to_texref(matrix: numpy.ndarray, texref: TextureReference, order: str) -> None:
    """Bind a new array that contains a copy of a matrix.

    See :func:`matrix_to_array` and :func:`bind_array_to_texref` for the parameters and errors.
    """
    bind_array_to_texref(matrix_to_array(matrix, order), texref)


# The integer channels of element types that textures do not support (the fp_tex_ types of pycuda-helpers.hpp).
_SPLIT = {
    np.dtype(np.float64): (array_format.SIGNED_INT32, 2),
    np.dtype(np.complex64): (array_format.UNSIGNED_INT32, 2),
    np.dtype(np.complex128): (array_format.SIGNED_INT32, 4),
}


def bind_memory(array: ArrayBase, texref: TextureReference, allow_offset: bool = False) -> int:
    """Bind an array's memory to a texture reference, keeping the reference's format.

    Parameters
    ----------
    array : GPUArray
        A contiguous array.
    texref : TextureReference
        The texture reference.
    allow_offset : bool, optional
        Whether the array can begin at an address that is not aligned for textures. Defaults to False.

    Returns
    -------
    int
        The offset of the array in the texture, in elements.

    Raises
    ------
    LogicError
        If the array is not contiguous or has no elements, or if the offset is nonzero but not allowed, or is not a
        multiple of the element size.
    TypeError
        If ``texref`` is not a TextureReference.
    """
    if not isinstance(texref, TextureReference):
        raise TypeError(f"texref must be a TextureReference, not {type(texref).__name__}")
    if not (array._is_c or array._is_f):
        raise logic_error("cuTexRefSetAddress", INVALID_VALUE, "the array is not contiguous; bind a copy()")
    if not array.size:
        raise logic_error("cuTexRefSetAddress", INVALID_VALUE, "the array has no elements")
    offset = texref.set_address(array.ptr, array.nbytes, allow_offset)
    if offset % array.itemsize:
        raise logic_error(
            "cuTexRefSetAddress",
            INVALID_VALUE,
            f"the array begins {offset} bytes past an aligned address, between two elements; bind a copy()",
        )
    texref._elements = array  # keeps the array alive, because set_address() keeps only an address
    return offset // array.itemsize


def bind_elements(
    array: ArrayBase,
    texref: TextureReference,
    channels: int = 1,
    allow_double_hack: bool = False,
    allow_complex_hack: bool = False,
    allow_offset: bool = False,
) -> int:
    """Bind an array to a texture reference, with the format of its data type. See :func:`bind_memory`.

    Raises
    ------
    ValueError
        If ``channels`` is not 1, 2 or 4, or is not 1 for elements that are split into channels.
    TypeError
        If textures do not support the data type.
    """
    channels = checked_int("channels", channels)
    if channels not in (1, 2, 4):
        raise ValueError(f"channels must be 1, 2 or 4, not {channels}")
    split = _SPLIT.get(array.dtype)
    if split is not None:
        kind, flag = ("complex", "allow_complex_hack") if array.dtype.kind == "c" else ("double", "allow_double_hack")
        if not (allow_complex_hack if kind == "complex" else allow_double_hack):
            raise TypeError(f"textures do not support {array.dtype} elements; pass {flag}=True to split them")
        if channels != 1:
            raise ValueError(f"channels must be 1 for elements of type {array.dtype}, not {channels}")
        format_, channels = split
    else:
        format_ = dtype_to_array_format(array.dtype)
    if not isinstance(texref, TextureReference):
        raise TypeError(f"texref must be a TextureReference, not {type(texref).__name__}")
    texref.set_format(format_, channels)
    if array.dtype.kind != "f" or split is not None:
        texref.set_flags(texref.get_flags() | TRSF_READ_AS_INTEGER)
    return bind_memory(array, texref, allow_offset)

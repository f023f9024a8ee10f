# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Texture objects and resource descriptors."""

from __future__ import annotations

cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport intptr_t
from libc.string cimport memcpy, memset

from cuda.core._context cimport Context_enter, Context_enter_to_release, Context_leave
from cuda.core._device cimport Device, Device_find, Device_keep_context
from cuda.core._handles._driver_object cimport DriverObject, refuse_closed
from cuda.core._handles._handles cimport Keep, KeptAllocation, KeptArray, KeptContext, KeptMipmappedArray
from cuda.core._handles._idle_ends cimport deferrable_resources, end_later, end_when_idle, has_work_for
from cuda.core._handles._images cimport Image, KeptTexture, TextureHandle
from cuda.core._handles._launches cimport launch_list
from cuda.core._launch._arguments cimport FITS, WRONG_SIZE, register_argument_type
from cuda.core._memory._buffer cimport Buffer
from cuda.core._memory.ranges._memory_range cimport MemoryRange_keep
from cuda.core._utils cimport cydriver
from cuda.core._utils._capture_mode cimport CaptureModeScope, relax_capture_mode
from cuda.core._utils._cpython cimport answer_hasattr
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, WARN_RETURN, check_or_create_options
from cuda.core.texture._array cimport Array_keep, OpaqueArray
from cuda.core.texture._mipmapped_array cimport MipmappedArray, MipmappedArray_keep
from cuda.core.texture._sampling cimport Elements, describe_sampling

import operator

from cuda.core._utils.enums import ARRAY_FORMAT
from cuda.core._utils.options import Options, options_class
from cuda.core._utils.signatures import ConstructorSignature
from cuda.core._utils.validators import shown
from cuda.core.texture._elements import FLOATS, checked_channels, checked_count, checked_format, element_size
from cuda.core.texture._sampling import enum_member, normalize_address_modes
from cuda.core.typing import AddressModeType, ArrayFormatType, FilterModeType, ReadModeType

__all__ = ["ResourceDescriptor", "TextureObject", "TextureObjectOptions"]


cdef class TextureObject(DriverObject):
    """A texture: a resource, and the options with which kernels read it.

    Textures come from :meth:`Device.create_texture_object`; there is no direct construction. A kernel takes the
    object itself, or its :attr:`handle`, for a parameter of type ``cudaTextureObject_t``. The texture keeps its
    resource alive. When it is closed or dropped, it is destroyed after the work in flight on streams of this library,
    which may still use it. As a context manager a texture closes itself at the end of the block.
    """

    _made_by = "Device.create_texture_object()"

    def __repr__(self):
        return f"TextureObject(handle={self.handle:#x})"

    @property
    def handle(self) -> int:
        """The ``CUtexObject``, which kernels take; 0 when closed."""
        cdef KeptTexture texture
        return texture.value().for_work() if texture.hold(self._h_texture) else 0

    @property
    def resource(self) -> ResourceDescriptor | None:
        """The resource of the texture; None when closed."""
        return self._resource

    @property
    def options(self) -> TextureObjectOptions:
        """The options of the texture."""
        with cython.critical_section(self):
            if self._options is None:
                self._options = TextureObjectOptions()
            return self._options

    @property
    def device(self) -> Device:
        """The :class:`Device` of the texture."""
        return Device_find(self._device_id)

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return not self._h_texture

    cdef intptr_t _address(self) noexcept:
        cdef KeptTexture texture
        return <intptr_t>texture.value().for_work() if texture.hold(self._h_texture) else 0

    cdef void _release(self) noexcept:
        launch_list().keep_memory_of(<PyObject*>self, self._h_texture)
        self._h_texture.reset()
        self._resource = None

    cdef object _identity(self):
        return id(self)


@options_class
class TextureObjectOptions(Options):
    """Options of a texture.

    Attributes
    ----------
    address_mode : :class:`~cuda.core.typing.AddressModeType` | str | tuple, optional
        What reads outside the texture return, for all axes, or one entry per axis; the last one applies to further
        axes. ``"wrap"`` and ``"mirror"`` need normalised coordinates. Default is ``"clamp"``. Checked when
        the texture is made.
    filter_mode : :class:`~cuda.core.typing.FilterModeType` | str, optional
        Whether a read returns the nearest element, or interpolates its neighbours with weights of 8 fractional bits.
        Default is ``"point"``. ``"linear"`` needs elements that are read as floats.
    read_mode : :class:`~cuda.core.typing.ReadModeType` | str, optional
        Whether integers of 8 and 16 bits are read as they are, or as floats in [0, 1], signed ones in [-1, 1].
        Default is ``"element_type"``.
    normalized_coords : bool, optional
        Whether coordinates are in [0, 1] instead of in elements. Default is False.
    srgb : bool, optional
        Whether 8-bit colours are converted from sRGB when they are read as floats. Default is False.
    disable_trilinear_optimization : bool, optional
        Whether the driver must filter between levels exactly. Default is False.
    seamless_cubemap : bool, optional
        Whether filtering crosses the edges between the faces of a cube; only for arrays made with ``is_cubemap``.
        Default is False. Checked when the texture is made.
    max_anisotropy : int, optional
        The maximum number of samples for anisotropic filtering. Default is 0, which is off.
        Checked when the texture is made.
    mipmap_filter_mode : :class:`~cuda.core.typing.FilterModeType` | str, optional
        Whether a read uses the nearest level, or interpolates two. Default is ``"point"``.
    mipmap_level_bias : float, optional
        An offset that is added to the level of a read. Default is 0.
    min_mipmap_level_clamp, max_mipmap_level_clamp : float, optional
        The lowest and the highest level that is read. Default is 0: the first level only.
    border_color : tuple[float, float, float, float], optional
        The element outside the texture with ``"border"``; None, the default, means zeros. For textures that return
        integers, floats with the same bits. Checked when the texture is created.
    """

    address_mode: AddressModeType | str | tuple[AddressModeType | str, ...] = AddressModeType.CLAMP
    filter_mode: FilterModeType | str = FilterModeType.POINT
    read_mode: ReadModeType | str = ReadModeType.ELEMENT_TYPE
    normalized_coords: bool = False
    srgb: bool = False
    disable_trilinear_optimization: bool = False
    seamless_cubemap: bool = False
    max_anisotropy: int = 0
    mipmap_filter_mode: FilterModeType | str = FilterModeType.POINT
    mipmap_level_bias: float = 0.0
    min_mipmap_level_clamp: float = 0.0
    max_mipmap_level_clamp: float = 0.0
    border_color: tuple[float, ...] | None = None

    def __post_init__(self):
        for name, enum_class in _ENUMS:
            value = getattr(self, name)
            if type(value) is not enum_class:
                setattr(self, name, enum_member(name, value, enum_class))


_ENUMS = (("filter_mode", FilterModeType), ("read_mode", ReadModeType), ("mipmap_filter_mode", FilterModeType))


cdef class ResourceDescriptor:
    """The resource of a texture or a surface: an array or memory.

    Descriptors come from the ``from_`` methods; there is no direct construction. A descriptor keeps its source.
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
        """Describe an array, for textures, and for surfaces if it was made for them.

        Raises
        ------
        TypeError
            If ``array`` is no :class:`OpaqueArray`.
        RuntimeError
            If it is closed.
        """
        cdef KeptArray kept
        if not isinstance(array, OpaqueArray):
            raise TypeError(f"array must be an OpaqueArray, not {type(array).__name__}")
        Array_keep(<OpaqueArray>array, &kept)
        return ResourceDescriptor_new(cls, "array", array)

    @classmethod
    def from_mipmapped_array(cls, mipmapped_array: MipmappedArray) -> ResourceDescriptor:
        """Describe a mipmapped array, for textures.

        Raises
        ------
        TypeError
            If ``mipmapped_array`` is no :class:`MipmappedArray`.
        RuntimeError
            If it is closed.
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
        """Describe memory that ``tex1Dfetch`` reads, by the index of an element and without a filter.

        Parameters
        ----------
        buffer : :class:`Buffer`
            The memory.
        format : :class:`~cuda.core.typing.ArrayFormatType` | str | numpy.dtype
            The format of a channel.
        num_channels : int
            The channels of an element: 1, 2 or 4.
        size_bytes : int, optional
            How many bytes of the buffer to read, a multiple of an element; all if None.

        Raises
        ------
        TypeError
            If ``buffer`` is no :class:`Buffer`, or ``size_bytes`` no int.
        ValueError
            If the format, the channels or the size is out of range.
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
        """Describe memory that a texture reads as rows of an image.

        Parameters
        ----------
        buffer : :class:`Buffer`
            The memory.
        format : :class:`~cuda.core.typing.ArrayFormatType` | str | numpy.dtype
            The format of a channel.
        num_channels : int
            The channels of an element: 1, 2 or 4.
        width, height : int
            The elements of a row, and the number of rows.
        pitch_bytes : int
            The bytes from row to row. The driver wants multiples of
            :attr:`DeviceProperties.texture_pitch_alignment`.

        Raises
        ------
        TypeError
            If ``buffer`` is no :class:`Buffer`, or a number no int.
        ValueError
            If the format, the channels or a number is out of range, or the rows do not fit the buffer.
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
        """``"array"``, ``"mipmapped_array"``, ``"linear"`` or ``"pitch2d"``."""
        return self._kind

    @property
    def source(self) -> OpaqueArray | MipmappedArray | Buffer:
        """The array or the buffer."""
        return self._source

    @property
    def format(self) -> ArrayFormatType | None:
        """The format of a channel in a buffer; None for arrays, which tell it themselves."""
        return self._format

    @property
    def num_channels(self) -> int | None:
        """The channels of an element in a buffer; None for arrays, which tell it themselves."""
        return self._num_channels

    @property
    def size_bytes(self) -> int | None:
        """How many bytes ``"linear"`` reads; None for other kinds."""
        return self._size_bytes

    @property
    def width(self) -> int | None:
        """The elements of a row of ``"pitch2d"``; None for other kinds."""
        return self._width

    @property
    def height(self) -> int | None:
        """The rows of ``"pitch2d"``; None for other kinds."""
        return self._height

    @property
    def pitch_bytes(self) -> int | None:
        """The bytes from row to row of ``"pitch2d"``; None for other kinds."""
        return self._pitch_bytes


def create_texture_object(
    Device device, resource: ResourceDescriptor, options: TextureObjectOptions | None
) -> TextureObject:
    """Return the texture of :meth:`Device.create_texture_object`."""
    cdef KeptContext context
    cdef Keep keep
    cdef Image[cydriver.CUtexObject] value
    cdef cydriver.CUDA_RESOURCE_DESC c_resource
    cdef cydriver.CUDA_TEXTURE_DESC c_texture
    cdef Elements elements
    cdef TextureObject self
    if not isinstance(resource, ResourceDescriptor):
        raise TypeError(f"resource must be a ResourceDescriptor, not {type(resource).__name__}")
    elements = elements_of(resource)
    if options is None:
        describe_defaults(&elements, &c_texture)
    else:
        if type(options) is not TextureObjectOptions:
            options = check_or_create_options(TextureObjectOptions, options, "texture options")
        describe_sampling(options, &elements, &c_texture)
    ResourceDescriptor_describe(resource, &c_resource, &keep)
    Device_keep_context(device, &context)
    value.h_context = context.handle()
    value.needs = keep
    create_in_context(value, &c_resource, &c_texture)
    self = TextureObject.__new__(TextureObject)
    deferrable_resources.fetch_add(1)
    self._h_texture.set(TextureHandle.own(value, &Texture_end, Keep()))
    self._resource = resource
    self._options = options
    self._device_id = device._id
    return self


# Of textures without options: by far the most, and described once for each of both kinds of elements.
cdef cydriver.CUDA_TEXTURE_DESC[2] c_defaults
cdef bint[2] has_defaults
has_defaults[:] = [False, False]


cdef int describe_defaults(const Elements* elements, cydriver.CUDA_TEXTURE_DESC* c_texture) except -1:
    cdef int kind = elements.are_floats
    if not has_defaults[kind]:
        describe_sampling(TextureObjectOptions(), elements, &c_defaults[kind])
        has_defaults[kind] = True
    c_texture[0] = c_defaults[kind]
    return 0


cdef int create_in_context(
    Image[cydriver.CUtexObject]& value,
    const cydriver.CUDA_RESOURCE_DESC* c_resource,
    const cydriver.CUDA_TEXTURE_DESC* c_texture,
) except -1:
    cdef int is_entered = 0
    with nogil:
        is_entered = Context_enter(value.h_context.get())
        try:
            HANDLE_RETURN(
                cydriver.cuTexObjectCreate(&value.raw, c_resource, c_texture, NULL), b"cuTexObjectCreate"
            )
        finally:
            Context_leave(is_entered)
    return 0


cdef void Texture_end(Image[cydriver.CUtexObject] value) noexcept nogil:
    end_when_idle(value, &Texture_destroy, has_work_for, end_later)


cdef void Texture_destroy(Image[cydriver.CUtexObject] value) noexcept nogil:
    cdef CaptureModeScope mode
    cdef int is_entered = Context_enter_to_release(value.h_context.get())
    deferrable_resources.fetch_sub(1)
    if is_entered >= 0:
        relax_capture_mode(mode)
        WARN_RETURN(cydriver.cuTexObjectDestroy(value.raw), b"cuTexObjectDestroy")
        Context_leave(is_entered)


cdef ResourceDescriptor ResourceDescriptor_new(type cls, str kind, object source):
    cdef ResourceDescriptor self = cls.__new__(cls)
    self._kind = kind
    self._source = source
    return self


cdef int keep_buffer(object buffer, KeptAllocation* memory) except -1:
    if not isinstance(buffer, Buffer):
        raise TypeError(f"buffer must be a Buffer, not {type(buffer).__name__}")
    return MemoryRange_keep(<Buffer>buffer, memory)


cdef Elements elements_of(ResourceDescriptor self) except *:
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


# Other packages import it under this name.
_normalize_address_modes = normalize_address_modes


# Kernels take the number of the texture.
cdef int write_texture(PyObject* argument, size_t natural_size, char* cell, size_t size) except -1:
    cdef KeptTexture texture
    cdef cydriver.CUtexObject c_texture
    if not texture.hold((<TextureObject>argument)._h_texture):
        refuse_closed(<object>argument)
    if size != sizeof(c_texture):
        return WRONG_SIZE
    c_texture = texture.value().for_work()
    memcpy(cell, &c_texture, sizeof(c_texture))
    return FITS


register_argument_type(TextureObject, &write_texture, 8)
answer_hasattr(TextureObject)
answer_hasattr(ResourceDescriptor)

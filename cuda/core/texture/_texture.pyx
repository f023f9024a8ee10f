# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Texture and surface objects, and the descriptors of their memory and sampling; arrays are the part ``_array.pxi``."""

from __future__ import annotations

cimport cython
from libc.stdint cimport intptr_t, uintptr_t
from libc.string cimport memcpy, memset

from cpython.object cimport PyObject

from cuda.core._context cimport Context_enter, Context_enter_to_release, Context_leave, Context_leave_to_release
from cuda.core._device cimport Device, Device_find, Device_pin_context
from cuda.core._kernel_arg_handler cimport FITS, WRONG_SIZE, register_argument_type
from cuda.core._memory._buffer cimport Buffer, Buffer_pin
from cuda.core._native._cuda_core cimport (
    AllocationPin,
    Anchor,
    ArrayPin,
    CaptureModeScope,
    ContextPin,
    DriverObject,
    MipmappedArrayPin,
    SurfaceField,
    SurfaceHandle,
    SurfacePin,
    TextureField,
    TextureHandle,
    TexturePin,
    launch_list,
    refuse_closed,
    relax_capture_mode,
    retire,
)
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport check_self_in_methods
from cuda.core._utils.cuda_utils cimport LEAVE_RETURN, WARN_RETURN, check_or_create_options

import operator

from cuda.core._code._loading import explain
from cuda.core._utils import slots
from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils.enums import ADDRESS_MODE, ARRAY_FORMAT, FILTER_MODE
from cuda.core._utils.options import Options, options
from cuda.core._utils.signatures import ConstructorSignature
from cuda.core._utils.validators import find_str_enum, int_argument, shown
from cuda.core.typing import AddressModeType, ArrayFormatType, FilterModeType, ReadModeType

__all__ = [
    "MipmappedArray",
    "MipmappedArrayOptions",
    "OpaqueArray",
    "OpaqueArrayOptions",
    "ResourceDescriptor",
    "SurfaceObject",
    "TextureObject",
    "TextureObjectOptions",
]

include "_array.pxi"


cdef class ResourceDescriptor


# What the validity of texture options depends on.
cdef struct Elements:
    int axes            # the number of coordinates of a fetch, without the index of a layer or face
    bint are_floats
    bint are_cubes


cdef class TextureObject(DriverObject):
    """A texture object (``CUtexObject``): memory and the options with which kernels sample it.

    A texture cannot be constructed directly: :meth:`Device.create_texture_object` returns one. A kernel accepts the
    object itself, or its :attr:`handle`, for a parameter of type ``cudaTextureObject_t``. The texture keeps its
    resource alive. A closed or dropped texture is destroyed after the work in flight on this library's streams, which
    might still use it. As a context manager, a texture closes when the ``with`` block exits.

    Examples
    --------
    >>> import numpy as np
    >>> from cuda.core import Device
    >>> from cuda.core.texture import OpaqueArrayOptions, ResourceDescriptor, TextureObjectOptions
    >>> device = Device()
    >>> device.set_current()
    >>> array = device.create_opaque_array(OpaqueArrayOptions(shape=(4, 2), format=np.float32, num_channels=1))
    >>> texture = device.create_texture_object(
    ...     resource=ResourceDescriptor.from_opaque_array(array), options=TextureObjectOptions(filter_mode="linear")
    ... )
    >>> texture.close()
    """

    cdef:
        TextureField _h_texture
        ResourceDescriptor _resource
        object _options
        int _device_id

    _made_by = "Device.create_texture_object()"

    def __repr__(self):
        return f"TextureObject(handle={self.handle:#x})"

    @property
    def handle(self) -> int:
        """The ``CUtexObject`` as an int, or 0 if closed."""
        cdef TexturePin texture
        return texture.value().raw if texture.hold(self._h_texture) else 0

    @property
    def resource(self) -> ResourceDescriptor | None:
        """The descriptor of the memory, or None if closed."""
        with cython.critical_section(self):
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
        cdef TexturePin texture
        return <intptr_t>texture.value().raw if texture.hold(self._h_texture) else 0

    cdef void _release(self) noexcept:
        launch_list().keep_memory_of(<PyObject*>self, self._h_texture)
        self._h_texture.reset()
        self._resource = None

    cdef object _identity(self):
        return id(self)


@options
class TextureObjectOptions(Options):
    """Options of :meth:`Device.create_texture_object`.

    Attributes
    ----------
    address_mode : :class:`~cuda.core.typing.AddressModeType` | str | tuple, optional
        The result of a fetch outside the texture: one mode for all axes, or a tuple of up to three, whose last entry
        applies to further axes. ``"wrap"`` and ``"mirror"`` need normalized coordinates. Defaults to ``"clamp"``.
        Checked when the texture is created.
    filter_mode : :class:`~cuda.core.typing.FilterModeType` | str, optional
        Whether a fetch returns the nearest element (``"point"``, the default) or interpolates between neighbors with
        weights of 8 fractional bits (``"linear"``), which needs elements that are read as floats.
    read_mode : :class:`~cuda.core.typing.ReadModeType` | str, optional
        Whether 8-bit and 16-bit integers are read as integers (``"element_type"``, the default), or as floats in
        [0, 1], or [-1, 1] if signed (``"normalized_float"``).
    normalized_coords : bool, optional
        Whether coordinates are in [0, 1) instead of [0, extent). Defaults to False.
    srgb : bool, optional
        Whether 8-bit colors are converted from sRGB when they are read as floats. Defaults to False.
    disable_trilinear_optimization : bool, optional
        Whether the driver must not approximate trilinear filtering. Defaults to False.
    seamless_cubemap : bool, optional
        Whether filtering crosses the edges between the faces of a cube. The array must have been created with
        ``is_cubemap``. Defaults to False. Checked when the texture is created.
    max_anisotropy : int, optional
        The maximum anisotropy ratio, which is the maximum number of samples of a fetch. Defaults to 0, which disables
        anisotropic filtering. Checked when the texture is created.
    mipmap_filter_mode : :class:`~cuda.core.typing.FilterModeType` | str, optional
        Whether a fetch uses the nearest level (``"point"``, the default) or interpolates between two (``"linear"``).
    mipmap_level_bias : float, optional
        The offset added to the level of a fetch. Defaults to 0.
    min_mipmap_level_clamp, max_mipmap_level_clamp : float, optional
        The lowest and the highest level that a fetch uses. Both default to 0: level 0 only.
    border_color : tuple[float, float, float, float], optional
        The result of a fetch outside the texture with the address mode ``"border"``. Defaults to zeros. A texture of
        integers returns the bits of these floats. Checked when the texture is created.
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

    def _check(self):
        for name, enum_class in _ENUMS:
            value = getattr(self, name)
            if type(value) is not enum_class:
                setattr(self, name, enum_member(name, value, enum_class))


_ENUMS = (("filter_mode", FilterModeType), ("read_mode", ReadModeType), ("mipmap_filter_mode", FilterModeType))


def create_texture_object(
    Device device, resource: ResourceDescriptor, options: TextureObjectOptions | None
) -> TextureObject:
    """Create a texture (:meth:`Device.create_texture_object`)."""
    cdef ContextPin context
    cdef Anchor anchor
    cdef InContext[cydriver.CUtexObject] value
    cdef cydriver.CUDA_RESOURCE_DESC c_resource
    cdef cydriver.CUDA_TEXTURE_DESC c_texture
    cdef Elements elements
    cdef TextureHandle h_texture
    cdef TextureObject self
    if not isinstance(resource, ResourceDescriptor):
        raise TypeError(f"resource must be a ResourceDescriptor, not {type(resource).__name__}")
    elements = ResourceDescriptor_elements(resource)
    if options is None:
        describe_defaults(&elements, &c_texture)
    else:
        options = check_or_create_options(TextureObjectOptions, options, "texture options")
        describe_sampling(options, &elements, &c_texture)
    ResourceDescriptor_describe(resource, &c_resource, &anchor)
    Device_pin_context(device, &context)
    value.h_context = context.handle()
    value.needs = anchor
    try:
        create_texture_in_context(value, &c_resource, &c_texture, &h_texture)
    except CUDAError as error:
        ResourceDescriptor_explain(resource, device, error)
        raise
    self = TextureObject.__new__(TextureObject)
    self._h_texture.set(h_texture)
    self._resource = resource
    self._options = options
    self._device_id = device._id
    return self


# The descriptors of textures without options, the most frequent case: one for integers and one for floats.
cdef cydriver.CUDA_TEXTURE_DESC[2] c_defaults
cdef bint[2] has_defaults


cdef int describe_defaults(const Elements* elements, cydriver.CUDA_TEXTURE_DESC* c_texture) except -1:
    cdef int kind = elements.are_floats
    if not has_defaults[kind]:
        describe_sampling(TextureObjectOptions(), elements, &c_defaults[kind])
        has_defaults[kind] = True
    c_texture[0] = c_defaults[kind]
    return 0


cdef int create_texture_in_context(
    InContext[cydriver.CUtexObject]& value,
    const cydriver.CUDA_RESOURCE_DESC* c_resource,
    const cydriver.CUDA_TEXTURE_DESC* c_texture,
    TextureHandle* h_texture,
) except -1:
    cdef int is_entered = 0
    cdef cydriver.CUresult err, left
    with nogil:
        is_entered = Context_enter(value.h_context.get())
        err = cydriver.cuTexObjectCreate(&value.raw, c_resource, c_texture, NULL)
        left = Context_leave(is_entered)
    if err == cydriver.CUresult.CUDA_SUCCESS:
        h_texture[0] = TextureHandle.own(value, &Texture_end, Anchor())
    return LEAVE_RETURN(err, b"cuTexObjectCreate", left)


cdef void Texture_end(InContext[cydriver.CUtexObject] value) noexcept nogil:
    if not retire(value, &Texture_destroy, Anchor()):
        Texture_destroy(value)


cdef void Texture_destroy(InContext[cydriver.CUtexObject] value) noexcept nogil:
    cdef CaptureModeScope mode
    cdef int is_entered = Context_enter_to_release(value.h_context.get())
    if is_entered >= 0:
        relax_capture_mode(mode)
        WARN_RETURN(cydriver.cuTexObjectDestroy(value.raw), b"cuTexObjectDestroy", <void*><uintptr_t>value.raw)
        Context_leave_to_release(is_entered)


# Writes a kernel argument: the 64-bit CUtexObject.
cdef int write_texture(PyObject* argument, size_t natural_size, char* target, size_t size) except -1:
    cdef TexturePin texture
    cdef cydriver.CUtexObject c_texture
    if not texture.hold((<TextureObject>argument)._h_texture):
        refuse_closed(<object>argument)
    if size != sizeof(c_texture):
        return WRONG_SIZE
    c_texture = texture.value().raw
    memcpy(target, &c_texture, sizeof(c_texture))
    return FITS


cdef class SurfaceObject(DriverObject):
    """A surface object (``CUsurfObject``): an array whose elements kernels read and write by coordinates.

    A surface cannot be constructed directly: :meth:`Device.create_surface_object` returns one. A kernel accepts the
    object itself, or its :attr:`handle`, for a parameter of type ``cudaSurfaceObject_t``. The surface keeps the array
    alive. A closed or dropped surface is destroyed after the work in flight on this library's streams, which might
    still use it. As a context manager, a surface closes when the ``with`` block exits.

    Examples
    --------
    >>> import numpy as np
    >>> from cuda.core import Device
    >>> from cuda.core.texture import OpaqueArrayOptions, ResourceDescriptor
    >>> device = Device()
    >>> device.set_current()
    >>> options = OpaqueArrayOptions(shape=(4, 2), format=np.float32, num_channels=1, is_surface_load_store=True)
    >>> array = device.create_opaque_array(options)
    >>> surface = device.create_surface_object(resource=ResourceDescriptor.from_opaque_array(array))
    >>> surface.close()
    """

    cdef:
        SurfaceField _h_surface
        ResourceDescriptor _resource
        int _device_id

    _made_by = "Device.create_surface_object()"

    def __repr__(self):
        return f"SurfaceObject(handle={self.handle:#x})"

    @property
    def handle(self) -> int:
        """The ``CUsurfObject`` as an int, or 0 if closed."""
        cdef SurfacePin surface
        return surface.value().raw if surface.hold(self._h_surface) else 0

    @property
    def resource(self) -> ResourceDescriptor | None:
        """The descriptor of the array, or None if closed."""
        with cython.critical_section(self):
            return self._resource

    @property
    def device(self) -> Device:
        """The :class:`Device` of the surface."""
        return Device_find(self._device_id)

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return not self._h_surface

    cdef intptr_t _address(self) noexcept:
        cdef SurfacePin surface
        return <intptr_t>surface.value().raw if surface.hold(self._h_surface) else 0

    cdef void _release(self) noexcept:
        launch_list().keep_memory_of(<PyObject*>self, self._h_surface)
        self._h_surface.reset()
        self._resource = None

    cdef object _identity(self):
        return id(self)


def create_surface_object(Device device, resource: ResourceDescriptor) -> SurfaceObject:
    """Create a surface (:meth:`Device.create_surface_object`)."""
    cdef ContextPin context
    cdef Anchor anchor
    cdef InContext[cydriver.CUsurfObject] value
    cdef cydriver.CUDA_RESOURCE_DESC c_resource
    cdef SurfaceHandle h_surface
    cdef SurfaceObject self
    if not isinstance(resource, ResourceDescriptor):
        raise TypeError(f"resource must be a ResourceDescriptor, not {type(resource).__name__}")
    if (<ResourceDescriptor>resource)._kind != "array":
        raise ValueError(f"the resource of a surface must be of kind 'array', not {shown(resource.kind)}")
    if not (<OpaqueArray>(<ResourceDescriptor>resource)._source)._flags & cydriver.CUDA_ARRAY3D_SURFACE_LDST:
        raise ValueError("the array of a surface must be created with is_surface_load_store=True")
    ResourceDescriptor_describe(resource, &c_resource, &anchor)
    Device_pin_context(device, &context)
    value.h_context = context.handle()
    value.needs = anchor
    create_surface_in_context(value, &c_resource, &h_surface)
    self = SurfaceObject.__new__(SurfaceObject)
    self._h_surface.set(h_surface)
    self._resource = resource
    self._device_id = device._id
    return self


cdef int create_surface_in_context(
    InContext[cydriver.CUsurfObject]& value,
    const cydriver.CUDA_RESOURCE_DESC* c_resource,
    SurfaceHandle* h_surface,
) except -1:
    cdef int is_entered = 0
    cdef cydriver.CUresult err, left
    with nogil:
        is_entered = Context_enter(value.h_context.get())
        err = cydriver.cuSurfObjectCreate(&value.raw, c_resource)
        left = Context_leave(is_entered)
    if err == cydriver.CUresult.CUDA_SUCCESS:
        h_surface[0] = SurfaceHandle.own(value, &Surface_end, Anchor())
    return LEAVE_RETURN(err, b"cuSurfObjectCreate", left)


cdef void Surface_end(InContext[cydriver.CUsurfObject] value) noexcept nogil:
    if not retire(value, &Surface_destroy, Anchor()):
        Surface_destroy(value)


cdef void Surface_destroy(InContext[cydriver.CUsurfObject] value) noexcept nogil:
    cdef CaptureModeScope mode
    cdef int is_entered = Context_enter_to_release(value.h_context.get())
    if is_entered >= 0:
        relax_capture_mode(mode)
        WARN_RETURN(cydriver.cuSurfObjectDestroy(value.raw), b"cuSurfObjectDestroy", <void*><uintptr_t>value.raw)
        Context_leave_to_release(is_entered)


# Writes a kernel argument: the 64-bit CUsurfObject.
cdef int write_surface(PyObject* argument, size_t natural_size, char* target, size_t size) except -1:
    cdef SurfacePin surface
    cdef cydriver.CUsurfObject c_surface
    if not surface.hold((<SurfaceObject>argument)._h_surface):
        refuse_closed(<object>argument)
    if size != sizeof(c_surface):
        return WRONG_SIZE
    c_surface = surface.value().raw
    memcpy(target, &c_surface, sizeof(c_surface))
    return FITS


cdef class ResourceDescriptor:
    """The memory of a texture or a surface: an array, a mipmapped array, or a buffer.

    A descriptor cannot be constructed directly: the ``from_`` methods return one. It keeps its source alive.

    Examples
    --------
    >>> import numpy as np
    >>> from cuda.core import Device
    >>> from cuda.core.texture import ResourceDescriptor
    >>> device = Device()
    >>> device.set_current()
    >>> buffer = device.allocate(64, stream=device.default_stream)
    >>> resource = ResourceDescriptor.from_linear(buffer, format=np.float32, num_channels=1)
    >>> device.create_texture_object(resource=resource).close()
    """

    cdef readonly object _size_bytes
    cdef:
        str _kind
        object _source
        object _format
        object _num_channels
        object _width
        object _height
        object _pitch_bytes

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
        cdef ArrayPin pin
        if not isinstance(array, OpaqueArray):
            raise TypeError(f"array must be an OpaqueArray, not {type(array).__name__}")
        Array_pin(<OpaqueArray>array, &pin)
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
        cdef MipmappedArrayPin pin
        if not isinstance(mipmapped_array, MipmappedArray):
            raise TypeError(f"mipmapped_array must be a MipmappedArray, not {type(mipmapped_array).__name__}")
        MipmappedArray_pin(<MipmappedArray>mipmapped_array, &pin)
        return ResourceDescriptor_new(cls, "mipmapped_array", mipmapped_array)

    @classmethod
    def from_linear(
        cls, buffer: Buffer, *, format: ArrayFormatType | Any, num_channels: int, size_bytes: int | None = None
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
            The number of bytes that the texture covers, a multiple of the element size. Defaults to the whole buffer.

        Raises
        ------
        TypeError
            If ``buffer`` is not a :class:`Buffer`, or ``size_bytes`` is not an int.
        ValueError
            If the format, the number of channels or the size is not valid.
        RuntimeError
            If the buffer is closed.
        """
        cdef AllocationPin memory
        cdef ResourceDescriptor self
        pin_buffer(buffer, &memory)
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
        format: ArrayFormatType | Any,
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
            The distance between row starts, in bytes. The driver requires a multiple of
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
        cdef AllocationPin memory
        cdef ResourceDescriptor self
        pin_buffer(buffer, &memory)
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
                f"{height} rows of {pitch_bytes} bytes need {pitch_bytes * height} bytes, but the buffer has {capacity}"
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
        """The data type of one channel in a buffer, or None for arrays, which have their own."""
        return self._format

    @property
    def num_channels(self) -> int | None:
        """The number of channels of an element in a buffer, or None for arrays, which have their own."""
        return self._num_channels

    @property
    def size_bytes(self) -> int | None:
        """The number of bytes that a ``"linear"`` resource covers, or None for other kinds."""
        return self._size_bytes

    @property
    def width(self) -> int | None:
        """The number of elements in a row of a ``"pitch2d"`` resource, or None for other kinds."""
        return self._width

    @property
    def height(self) -> int | None:
        """The number of rows of a ``"pitch2d"`` resource, or None for other kinds."""
        return self._height

    @property
    def pitch_bytes(self) -> int | None:
        """The distance between row starts of a ``"pitch2d"`` resource in bytes, or None for other kinds."""
        return self._pitch_bytes


FLOATS = frozenset(member for member in ArrayFormatType if member.startswith("float"))


cdef ResourceDescriptor ResourceDescriptor_new(type cls, str kind, object source):
    cdef ResourceDescriptor self = cls.__new__(cls)
    self._kind = kind
    self._source = source
    return self


cdef int pin_buffer(object buffer, AllocationPin* memory) except -1:
    if not isinstance(buffer, Buffer):
        raise TypeError(f"buffer must be a Buffer, not {type(buffer).__name__}")
    return Buffer_pin(<Buffer>buffer, memory)


# Adds the alignment that the memory of a resource lacks to the driver's error, which names none.
cdef int ResourceDescriptor_explain(ResourceDescriptor self, Device device, object error) except -1:
    cdef AllocationPin memory
    if error.name != "CUDA_ERROR_INVALID_VALUE" or self._kind not in ("linear", "pitch2d"):
        return 0
    pin_buffer(self._source, &memory)
    pitch = self._pitch_bytes or 0
    for what, value, name in (
        (f"the address of the buffer, {memory.value().pointer:#x},", memory.value().pointer, "texture_alignment"),
        (f"pitch_bytes, {pitch},", pitch, "texture_pitch_alignment"),
    ):
        alignment = getattr(device.properties, name)
        if value % alignment:
            explain(error, f"{what} is not a multiple of device.properties.{name}, {alignment}")
    return 0


# Returns what decides which texture options are valid for the resource.
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


# Fills the driver's descriptor, and the anchor that keeps the source alive. RuntimeError if the source is closed.
cdef int ResourceDescriptor_describe(
    ResourceDescriptor self, cydriver.CUDA_RESOURCE_DESC* c_description, Anchor* anchor
) except -1:
    cdef ArrayPin array
    cdef MipmappedArrayPin mipmap
    memset(c_description, 0, sizeof(cydriver.CUDA_RESOURCE_DESC))
    if self._kind == "array":
        Array_pin(<OpaqueArray>self._source, &array)
        anchor[0] = array.anchor()
        c_description.resType = cydriver.CUresourcetype.CU_RESOURCE_TYPE_ARRAY
        c_description.res.array.hArray = array.value().raw
    elif self._kind == "mipmapped_array":
        MipmappedArray_pin(<MipmappedArray>self._source, &mipmap)
        anchor[0] = mipmap.anchor()
        c_description.resType = cydriver.CUresourcetype.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
        c_description.res.mipmap.hMipmappedArray = mipmap.value().raw
    else:
        describe_memory(self, c_description, anchor)
    return 0


cdef int describe_memory(ResourceDescriptor self, cydriver.CUDA_RESOURCE_DESC* c_description, Anchor* anchor) except -1:
    cdef AllocationPin memory
    cdef cydriver.CUarray_format c_format = <cydriver.CUarray_format><int>ARRAY_FORMAT.to_driver(self._format)
    Buffer_pin(<Buffer>self._source, &memory)
    anchor[0] = memory.anchor()
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


# ---------------------------------------------------------------------------------------------
# Sampling

# Module variables: looking a member up in its enum class takes longer.
cdef object CLAMP = AddressModeType.CLAMP
cdef object ELEMENT_TYPE = ReadModeType.ELEMENT_TYPE
cdef object ZERO = 0


# Fills the driver's texture descriptor from a TextureObjectOptions, and checks its fields. Programs create textures in
# loops, so values that already have the final type need no Python call.
cdef int describe_sampling(object options, const Elements* elements, cydriver.CUDA_TEXTURE_DESC* c_texture) except -1:
    memset(c_texture, 0, sizeof(cydriver.CUDA_TEXTURE_DESC))
    if options.seamless_cubemap:
        if not elements.are_cubes:
            raise ValueError("seamless_cubemap needs an array created with is_cubemap=True")
        c_texture.flags |= cydriver.CU_TRSF_SEAMLESS_CUBEMAP
    describe_modes(options.address_mode, elements.axes, c_texture)
    c_texture.filterMode = <cydriver.CUfilter_mode>number_of(FILTER_MODE, options.filter_mode)
    c_texture.mipmapFilterMode = <cydriver.CUfilter_mode>number_of(FILTER_MODE, options.mipmap_filter_mode)
    anisotropy = options.max_anisotropy
    c_texture.maxAnisotropy = anisotropy if anisotropy is ZERO else checked_anisotropy(anisotropy)
    c_texture.mipmapLevelBias = float_of(options, "mipmap_level_bias")
    c_texture.minMipmapLevelClamp = float_of(options, "min_mipmap_level_clamp")
    c_texture.maxMipmapLevelClamp = float_of(options, "max_mipmap_level_clamp")
    describe_border(options.border_color, c_texture)
    # The flag is for integer formats only, because float elements are always read as floats.
    if not elements.are_floats and options.read_mode is ELEMENT_TYPE:
        c_texture.flags |= cydriver.CU_TRSF_READ_AS_INTEGER
    if options.normalized_coords:
        c_texture.flags |= cydriver.CU_TRSF_NORMALIZED_COORDINATES
    if options.srgb:
        c_texture.flags |= cydriver.CU_TRSF_SRGB
    if options.disable_trilinear_optimization:
        c_texture.flags |= cydriver.CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION
    return 0


cdef inline float float_of(object options, str name) except? -1:
    value = getattr(options, name)
    return <float><double>value if type(value) is float else <float><double>checked_number(name, value)


cdef int describe_modes(object modes, int axes, cydriver.CUDA_TEXTURE_DESC* c_texture) except -1:
    cdef int axis
    cdef int number
    cdef tuple members = None if type(modes) is AddressModeType else normalize_address_modes(modes)
    for axis in range(3):
        # Hardware also filters 1D textures along a second axis: with "border", half of each result would be border.
        mode = CLAMP if axis >= axes else modes if members is None else members[axis]
        number = number_of(ADDRESS_MODE, mode)
        c_texture.addressMode[axis] = <cydriver.CUaddress_mode>number
    return 0


cdef int describe_border(object color, cydriver.CUDA_TEXTURE_DESC* c_texture) except -1:
    if color is not None:
        for axis, value in enumerate(checked_color(color)):
            c_texture.borderColor[axis] = value
    return 0


# The driver's values by enum member: converting a member takes a microsecond.
cdef dict _numbers = {}


cdef int number_of(object names, object member) except? -1:
    number = _numbers.get(member)
    if number is None:
        number = _numbers[member] = int(names.to_driver(member))
    return number


def normalize_address_modes(mode) -> tuple[AddressModeType, AddressModeType, AddressModeType]:
    """Return the address modes of three axes for one to three modes.

    Raises
    ------
    TypeError
        If ``mode`` is neither a mode nor iterable.
    ValueError
        If there are not 1 to 3 modes, or one is not an :class:`AddressModeType`.
    """
    if isinstance(mode, str):
        modes = (mode,)
    else:
        try:
            modes = tuple(mode)
        except TypeError:
            raise TypeError(f"address_mode must be a mode or a tuple of 1 to 3, not {type(mode).__name__}") from None
        if not 1 <= len(modes) <= 3:
            raise ValueError(f"address_mode must be a mode or a tuple of 1 to 3, not of {len(modes)}")
    members = [enum_member("address_mode", one, AddressModeType) for one in modes]
    return tuple((members + [members[-1]] * 2)[:3])


def enum_member(name: str, value, enum_class):
    """Return the enum member for a member or its string. Raises ValueError for other values of the option ``name``."""
    if type(value) is enum_class:
        return value
    members = _members.get(enum_class)
    if members is None:
        members = _members[enum_class] = {member.value: member for member in enum_class}
    if type(value) is str and value in members:
        return members[value]
    return members[find_str_enum(value, members, name)]


# The members of each enum by their strings.
cdef dict _members = {}


def checked_anisotropy(value) -> int:
    """Return the option ``max_anisotropy``. Raises TypeError if it is not an int, ValueError if not of 32 bits."""
    if type(value) is int and 0 <= value < 1 << 32:
        return value
    number = int_argument("max_anisotropy", value)
    if not 0 <= number < 1 << 32:
        raise ValueError(f"max_anisotropy must be from 0 to 2**32 - 1, not {shown(number)}")
    return number


def checked_number(name: str, value) -> float:
    """Return an argument as a float. Raises TypeError if it is not a number."""
    if isinstance(value, str) or (not hasattr(type(value), "__float__") and not hasattr(type(value), "__index__")):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    return float(value)


def checked_color(color) -> tuple[float, ...]:
    """Return the option ``border_color`` as four floats. None means zeros.

    Raises
    ------
    TypeError
        If it is not a sequence of numbers.
    ValueError
        If there are not four of them.
    """
    if color is None:
        return (0.0, 0.0, 0.0, 0.0)
    try:
        values = tuple(color)
    except TypeError:
        raise TypeError(f"border_color must be a tuple of four numbers, not {type(color).__name__}") from None
    numbers = tuple(checked_number(f"border_color[{axis}]", value) for axis, value in enumerate(values))
    if len(numbers) != 4:
        raise ValueError(f"border_color must have four numbers, not {len(numbers)}")
    return numbers


# Other packages import the function under this name.
_normalize_address_modes = normalize_address_modes


register_argument_type(TextureObject, &write_texture, 8)
register_argument_type(SurfaceObject, &write_surface, 8)
slots.register("surface object", create_surface_object)
slots.register("texture object", create_texture_object)
check_self_in_methods(globals())

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Texture objects and their options."""

from __future__ import annotations

cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport intptr_t
from libc.string cimport memcpy

from cuda.core._context cimport Context_enter, Context_enter_to_release, Context_leave
from cuda.core._device cimport Device, Device_find
from cuda.core._device_contexts cimport Device_keep_context
from cuda.core._handles._capture_mode cimport CaptureModeScope, relax_capture_mode
from cuda.core._handles._deferred_destruction cimport (
    add_to_batch,
    are_streams_idle,
    batch_or_postpone,
    can_batch,
    destroy_later,
    find_work,
)
from cuda.core._handles._driver_object cimport DriverObject, refuse_closed
from cuda.core._handles._handles cimport Keep, KeptContext
from cuda.core._handles._images cimport Image, KeptTexture, TextureHandle
from cuda.core._handles._launches cimport launch_list
from cuda.core._launch._arguments cimport FITS, WRONG_SIZE, register_argument_type
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport make_hasattr_safe
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, WARN_RETURN, check_or_create_options
from cuda.core.texture._resource_descriptor cimport (
    ResourceDescriptor as CResourceDescriptor,
    ResourceDescriptor_describe,
    ResourceDescriptor_elements,
    ResourceDescriptor_has_own_array,
)
from cuda.core.texture._sampling cimport Elements, describe_sampling

from cuda.core._utils.options import Options, options_class
from cuda.core.texture._resource_descriptor import ResourceDescriptor
from cuda.core.texture._sampling import enum_member, normalize_address_modes
from cuda.core.typing import AddressModeType, FilterModeType, ReadModeType

__all__ = ["ResourceDescriptor", "TextureObject", "TextureObjectOptions"]


cdef class TextureObject(DriverObject):
    """A texture object (``CUtexObject``): memory and the options with which kernels sample it.

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
        """The ``CUtexObject`` as an int; 0 when closed."""
        cdef KeptTexture texture
        return texture.value().for_work() if texture.hold(self._h_texture) else 0

    @property
    def resource(self) -> ResourceDescriptor | None:
        """The descriptor of the memory; None when closed."""
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
    """Options of :meth:`Device.create_texture_object`.

    Attributes
    ----------
    address_mode : :class:`~cuda.core.typing.AddressModeType` | str | tuple, optional
        What a fetch outside the texture returns: one mode for all axes, or a tuple of up to three, whose last entry
        applies to further axes. ``"wrap"`` and ``"mirror"`` need normalized coordinates. Default is ``"clamp"``.
        Checked when the texture is created.
    filter_mode : :class:`~cuda.core.typing.FilterModeType` | str, optional
        Whether a fetch returns the nearest element (``"point"``, the default) or interpolates between neighbors with
        weights of 8 fractional bits (``"linear"``). The latter needs elements that are read as floats.
    read_mode : :class:`~cuda.core.typing.ReadModeType` | str, optional
        Whether 8-bit and 16-bit integers are read as integers (``"element_type"``, the default), or as floats in
        [0, 1], signed ones in [-1, 1] (``"normalized_float"``).
    normalized_coords : bool, optional
        Whether coordinates are in [0, 1) instead of [0, extent). Default is False.
    srgb : bool, optional
        Whether 8-bit colors are converted from sRGB when they are read as floats. Default is False.
    disable_trilinear_optimization : bool, optional
        Whether the driver must not approximate trilinear filtering. Default is False.
    seamless_cubemap : bool, optional
        Whether filtering crosses the edges between the faces of a cube. The array must have been created with
        ``is_cubemap``. Default is False. Checked when the texture is created.
    max_anisotropy : int, optional
        The maximum anisotropy ratio, which is the maximum number of samples of a fetch. Default is 0, which disables
        anisotropic filtering. Checked when the texture is created.
    mipmap_filter_mode : :class:`~cuda.core.typing.FilterModeType` | str, optional
        Whether a fetch uses the nearest level (``"point"``, the default) or interpolates between two (``"linear"``).
    mipmap_level_bias : float, optional
        The offset that is added to the level of a fetch. Default is 0.
    min_mipmap_level_clamp, max_mipmap_level_clamp : float, optional
        The lowest and the highest level that a fetch uses. Both default to 0: level 0 only.
    border_color : tuple[float, float, float, float], optional
        What a fetch outside the texture returns with the address mode ``"border"``. Default is None, which means
        zeros. A texture that returns integers returns the bits of these floats. Checked when the texture is created.
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


def create_texture_object(
    Device device, resource: ResourceDescriptor, options: TextureObjectOptions | None
) -> TextureObject:
    """Create a texture (:meth:`Device.create_texture_object`)."""
    cdef KeptContext context
    cdef Keep keep
    cdef Image[cydriver.CUtexObject] value
    cdef cydriver.CUDA_RESOURCE_DESC c_resource
    cdef cydriver.CUDA_TEXTURE_DESC c_texture
    cdef Elements elements
    cdef TextureObject self
    if not isinstance(resource, CResourceDescriptor):
        raise TypeError(f"resource must be a ResourceDescriptor, not {type(resource).__name__}")
    elements = ResourceDescriptor_elements(resource)
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
    value.is_small = ResourceDescriptor_has_own_array(resource)
    create_in_context(value, &c_resource, &c_texture)
    self = TextureObject.__new__(TextureObject)
    self._h_texture.set(TextureHandle.own(value, &Texture_end, Keep()))
    self._resource = resource
    self._options = options
    self._device_id = device._id
    return self


# The descriptors of textures without options, the most frequent case: one for integer and one for float elements.
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
    if not value.may_be_in_use() or are_streams_idle() or not batch_or_postpone(
        value, &Texture_destroy, can_batch(value.is_small, value.h_context), add_to_batch, find_work, destroy_later
    ):
        Texture_destroy(value)


cdef void Texture_destroy(Image[cydriver.CUtexObject] value) noexcept nogil:
    cdef CaptureModeScope mode
    cdef int is_entered = Context_enter_to_release(value.h_context.get())
    if is_entered >= 0:
        relax_capture_mode(mode)
        WARN_RETURN(cydriver.cuTexObjectDestroy(value.raw), b"cuTexObjectDestroy")
        Context_leave(is_entered)


# Other packages import the function under this name.
_normalize_address_modes = normalize_address_modes


# Writes a kernel argument: the 64-bit CUtexObject.
cdef int write_texture(PyObject* argument, size_t natural_size, char* target, size_t size) except -1:
    cdef KeptTexture texture
    cdef cydriver.CUtexObject c_texture
    if not texture.hold((<TextureObject>argument)._h_texture):
        refuse_closed(<object>argument)
    if size != sizeof(c_texture):
        return WRONG_SIZE
    c_texture = texture.value().for_work()
    memcpy(target, &c_texture, sizeof(c_texture))
    return FITS


register_argument_type(TextureObject, &write_texture, 8)
make_hasattr_safe(TextureObject)

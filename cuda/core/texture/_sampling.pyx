# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Sampling of textures: from options to the driver's texture descriptor (``CUDA_TEXTURE_DESC``)."""

from __future__ import annotations

from libc.string cimport memset

from cuda.core._utils cimport cydriver

from cuda.core._utils.enums import ADDRESS_MODE, FILTER_MODE
from cuda.core._utils.validators import find_str_enum
from cuda.core.texture._elements import checked_anisotropy, checked_color, checked_number
from cuda.core.typing import AddressModeType, ReadModeType

__all__ = ["enum_member", "normalize_address_modes"]

# Module variables: looking a member up in its enum class takes longer.
cdef object CLAMP = AddressModeType.CLAMP
cdef object ELEMENT_TYPE = ReadModeType.ELEMENT_TYPE
cdef object ZERO = 0

# Programs create textures in loops, so values that already have the final type take no Python call.


cdef int describe_sampling(object options, const Elements* elements, cydriver.CUDA_TEXTURE_DESC* c_texture) except -1:
    memset(c_texture, 0, sizeof(cydriver.CUDA_TEXTURE_DESC))
    describe_fields(options, options.__dict__, elements, c_texture)
    return 0


cdef int describe_fields(
    object options, dict values, const Elements* elements, cydriver.CUDA_TEXTURE_DESC* c_texture
) except -1:
    if field(options, values, "seamless_cubemap"):
        if not elements.are_cubes:
            raise ValueError("seamless_cubemap is for arrays made with is_cubemap=True")
        c_texture.flags |= cydriver.CU_TRSF_SEAMLESS_CUBEMAP
    describe_modes(field(options, values, "address_mode"), elements.axes, c_texture)
    c_texture.filterMode = <cydriver.CUfilter_mode>number_of(FILTER_MODE, field(options, values, "filter_mode"))
    c_texture.mipmapFilterMode = <cydriver.CUfilter_mode>number_of(
        FILTER_MODE, field(options, values, "mipmap_filter_mode")
    )
    anisotropy = field(options, values, "max_anisotropy")
    c_texture.maxAnisotropy = anisotropy if anisotropy is ZERO else checked_anisotropy(anisotropy)
    c_texture.mipmapLevelBias = float_field(options, values, "mipmap_level_bias")
    c_texture.minMipmapLevelClamp = float_field(options, values, "min_mipmap_level_clamp")
    c_texture.maxMipmapLevelClamp = float_field(options, values, "max_mipmap_level_clamp")
    describe_border(field(options, values, "border_color"), c_texture)
    # The flag is for integer formats only; float elements are always read as floats.
    if not elements.are_floats and field(options, values, "read_mode") is ELEMENT_TYPE:
        c_texture.flags |= cydriver.CU_TRSF_READ_AS_INTEGER
    if field(options, values, "normalized_coords"):
        c_texture.flags |= cydriver.CU_TRSF_NORMALIZED_COORDINATES
    if field(options, values, "srgb"):
        c_texture.flags |= cydriver.CU_TRSF_SRGB
    if field(options, values, "disable_trilinear_optimization"):
        c_texture.flags |= cydriver.CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION
    return 0


# The value of an option; for objects without __init__ (from __new__) the default, a class attribute.
cdef inline object field(object options, dict values, str name):
    found = values.get(name, values)
    return getattr(options, name) if found is values else found


cdef inline float float_field(object options, dict values, str name) except? -1:
    value = field(options, values, name)
    return <float><double>value if type(value) is float else <float><double>checked_number(name, value)


cdef int describe_modes(object modes, int axes, cydriver.CUDA_TEXTURE_DESC* c_texture) except -1:
    cdef int axis
    cdef int number
    cdef tuple members = None if type(modes) is AddressModeType else normalize_address_modes(modes)
    for axis in range(3):
        # Hardware filters 1D textures along a second axis, too: with "border" half of each result would be border.
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
    """Return the address modes of three axes for one mode, or for 1 to 3 of them; the last applies to further axes.

    Raises
    ------
    TypeError
        If it is neither a mode nor iterable.
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
    """Return the enum member for a member or its string; ValueError, which names the option, for other values."""
    if type(value) is enum_class:
        return value
    members = _members.get(enum_class)
    if members is None:
        members = _members[enum_class] = {member.value: member for member in enum_class}
    if type(value) is str and value in members:
        return members[value]
    return members[find_str_enum(value, members, name)]


# For each enum its members by their strings.
cdef dict _members = {}

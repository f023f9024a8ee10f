# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Shapes, formats and sizes of arrays, and checks of the options of arrays and textures."""

from __future__ import annotations

import functools
import operator
import sys

from cuda.core._utils.enums import ARRAY_FORMAT
from cuda.core._utils.validators import check_str_enum, format_or_list, int_argument, shown
from cuda.core.typing import ArrayFormatType

__all__ = [
    "FLOATS",
    "check_image",
    "checked_anisotropy",
    "checked_channels",
    "checked_color",
    "checked_count",
    "checked_format",
    "checked_number",
    "element_size",
]

FLOATS = frozenset(member for member in ArrayFormatType if member.startswith("float"))
# A list of pairs: searching by identity is faster than hashing an enum member.
cdef list _sizes = [(member, 4 if "32" in member else 2 if "16" in member else 1) for member in ArrayFormatType]

# Flags of cuArray3DCreate: CUDA_ARRAY3D_LAYERED, and it or CUDA_ARRAY3D_CUBEMAP.
cdef unsigned int _LAYERED = 0x01
cdef unsigned int _LAYERED_OR_CUBEMAP = 0x05

_MAX_COUNT = (1 << 63) - 1
_CHANNELS = (1, 2, 4)


def check_image(options) -> None:
    """Check and normalize the options that arrays and mipmapped arrays have in common.

    Raises
    ------
    TypeError
        If the shape has another type than a tuple of ints.
    ValueError
        If the shape, the format or the number of channels is not valid.
    """
    values = options.__dict__
    values["shape"] = shape = _checked_shape(values["shape"])
    values["format"] = checked_format(values["format"])
    channels = values["num_channels"]
    if type(channels) is not int or channels not in _CHANNELS:
        values["num_channels"] = checked_channels(channels)
    if values["is_cubemap"]:
        rank = len(shape)
        faces = shape[2] if rank == 3 else 0
        if rank != 3 or shape[0] != shape[1] or (faces % 6 if options.is_layered else faces != 6):
            count = "a multiple of 6" if options.is_layered else "6"
            raise ValueError(f"shape of a cube map must be (n, n, faces) with {count} faces, not {shape}")
    elif values["is_layered"] and len(shape) == 1:
        raise ValueError(f"shape of a layered array must be (width, layers) or (width, height, layers), not {shape}")


cpdef tuple driver_extents(tuple shape, unsigned int flags):
    """Return width, height and depth as the driver takes them: 0 for missing axes."""
    rank = len(shape)
    if rank == 2:
        return (shape[0], 0, shape[1]) if flags & _LAYERED else (shape[0], shape[1], 0)
    return shape if rank == 3 else (shape[0], 0, 0)


def shape_of(width: int, height: int, depth: int) -> tuple[int, ...]:
    """Return the shape for the extents that the driver returns."""
    return tuple(extent for extent in (width, height, depth) if extent) or (0,)


cpdef tuple level_shape(tuple shape, unsigned int flags, int level):
    """Return the shape of a mipmap level: extents are halved, layers and faces are not."""
    has_layers = flags & _LAYERED_OR_CUBEMAP
    halved = [extent >> level or 1 for extent in (shape[:-1] if has_layers else shape)]
    return (*halved, shape[-1]) if has_layers else tuple(halved)


cpdef object max_levels(tuple shape, unsigned int flags):
    """Return the maximum number of levels: in the last one all extents but layers and faces are 1."""
    return max(shape[:-1] if flags & _LAYERED_OR_CUBEMAP else shape).bit_length()


def checked_format(value) -> ArrayFormatType:
    """Return the member for a member, its string, or a NumPy dtype or scalar type.

    Raises
    ------
    ValueError
        If it is none of these, or a type that CUDA arrays do not support.
    """
    kind = type(value)
    if kind is ArrayFormatType:
        return value
    if kind is str or kind is type:  # other types may run any code in __hash__
        known = _formats.get(value)
        if known is not None:
            return known
    numpy = sys.modules.get("numpy")
    if kind is not str and hasattr(numpy, "generic"):
        is_scalar_type = isinstance(value, type) and issubclass(value, numpy.generic)
        dtype = numpy.dtype(value) if is_scalar_type else value
        if isinstance(dtype, numpy.dtype):
            # The type number is the same for both byte orders.
            found = _formats_by_type_number().get(dtype.num)
            if found is not None and dtype.isnative:
                if is_scalar_type:
                    _formats[value] = found
                return found
    if not isinstance(value, str):
        choices = format_or_list(sorted(ARRAY_FORMAT.names))
        raise ValueError(f"format must be {choices}, or a NumPy dtype of that name, not {shown(value)}")
    return check_str_enum(value, ArrayFormatType)


# Formats by their strings and by NumPy scalar types, the latter added at their first use.
cdef dict _formats = {member.value: member for member in ArrayFormatType}


@functools.cache
def _formats_by_type_number() -> dict[int, ArrayFormatType]:
    numpy = sys.modules["numpy"]
    return {numpy.dtype(member.value).num: member for member in ArrayFormatType}


def checked_channels(value) -> int:
    """Return the number of channels; ValueError if it is not 1, 2 or 4."""
    number = operator.index(value) if hasattr(type(value), "__index__") and not isinstance(value, bool) else None
    if number not in _CHANNELS:
        raise ValueError(f"num_channels must be 1, 2 or 4, not {shown(value)}")
    return number


def checked_count(name: str, value) -> int:
    """Return an argument that must be an int of at least 1; ``name`` is for the message.

    Raises
    ------
    TypeError
        If it is not an int.
    ValueError
        If it is not from 1 to 2**63 - 1.
    """
    if type(value) is int and 1 <= value <= _MAX_COUNT:
        return value
    number = int_argument(name, value)
    if not 1 <= number <= _MAX_COUNT:
        raise ValueError(f"{name} must be from 1 to 2**63 - 1, not {shown(number)}")
    return number


def checked_anisotropy(value) -> int:
    """Return the option ``max_anisotropy``; TypeError if it is not an int, ValueError if not of 32 bits."""
    if type(value) is int and 0 <= value < 1 << 32:
        return value
    number = int_argument("max_anisotropy", value)
    if not 0 <= number < 1 << 32:
        raise ValueError(f"max_anisotropy must be from 0 to 2**32 - 1, not {shown(number)}")
    return number


def checked_number(name: str, value) -> float:
    """Return an argument as a float; TypeError, which names the argument, if it is not a number."""
    if isinstance(value, str) or (not hasattr(type(value), "__float__") and not hasattr(type(value), "__index__")):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    return float(value)


def checked_color(color) -> tuple[float, ...]:
    """Return the option ``border_color`` as four floats, zeros for None.

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


cpdef int element_size(object format, int num_channels) except -1:
    """Return the size of an element in bytes."""
    cdef tuple entry
    for entry in _sizes:
        if entry[0] is format:
            return <int>entry[1] * num_channels
    raise ValueError(f"format must be an ArrayFormatType, not {shown(format)}")


cpdef object image_bytes(tuple shape, object format, int num_channels):
    """Return the size of all elements in bytes, when packed."""
    cdef object size = element_size(format, num_channels)
    for extent in shape:
        size *= extent
    return size


def _checked_shape(shape) -> tuple[int, ...]:
    if type(shape) is tuple and 1 <= len(shape) <= 3:
        for extent in shape:
            if type(extent) is not int or not 1 <= extent <= _MAX_COUNT:
                break
        else:
            return shape
    try:
        extents = tuple(shape)
    except TypeError:
        raise TypeError(f"shape must be a tuple of 1 to 3 extents, not {type(shape).__name__}") from None
    if not 1 <= len(extents) <= 3:
        raise ValueError(f"shape must have 1 to 3 extents, not {len(extents)}")
    return tuple(checked_count(f"shape[{axis}]", extent) for axis, extent in enumerate(extents))

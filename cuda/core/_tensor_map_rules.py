# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of the driver's rules for tensor maps, and conversion to the driver's order of axes.

The driver reports every violation as CUDA_ERROR_INVALID_VALUE. These checks run first and name the argument.
"""

from __future__ import annotations

import operator

from cuda.core._utils.validators import shown

__all__ = [
    "check_alignment",
    "check_bytes",
    "check_channels",
    "check_corners",
    "check_fill",
    "check_interleave",
    "check_rank",
    "check_span",
    "check_steps",
    "check_wide",
    "int_tuple",
    "pitches_of",
    "tensor_extents",
    "tile_of",
]


# Indexed by TensorMapDataType.
ITEM_SIZES = (1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4)
FLOATING = frozenset((6, 7, 8, 9, 10, 11, 12))
# Indexed by TensorMapSwizzle: the largest size in bytes of a row of the tile, which is the span of the pattern.
SPANS = (None, 32, 64, 128)
# By the number of spatial axes (those between N and C): the range of corner offsets that fit the descriptor.
CORNER_RANGES = {1: (-32768, 32767), 2: (-128, 127), 3: (-16, 15)}

MAX_EXTENT = 1 << 32
MAX_PITCH = 1 << 40
MAX_TILE = 256
MAX_STEP = 8
MAX_PIXELS = 1024
MAX_BYTES = 232448  # of a tile: the most shared memory a block can have

Ints = tuple[int, ...]


def int_tuple(name: str, values) -> Ints | None:
    """Return an argument as a tuple of int, or None for None.

    Raises
    ------
    TypeError
        If ``values`` is not iterable, or an entry is not an integer; the message names the argument.
    """
    if values is None:
        return None
    try:
        values = tuple(values)
    except TypeError:
        raise TypeError(f"{name} must be a tuple of int, not {type(values).__name__}") from None
    try:
        return tuple([operator.index(value) for value in values])
    except TypeError:
        raise TypeError(f"{name} must be a tuple of int, not {shown(values)}") from None


def check_alignment(address: int, alignment: int = 16) -> None:
    """Check the alignment of the tensor's address."""
    if address % alignment:
        raise ValueError(
            f"address {address:#x} is not aligned for a tensor map; it must be a multiple of {alignment} bytes"
        )


def check_rank(rank: int, least: int, interleave) -> None:
    """Check the number of axes: from ``least`` to 5, and at least 3 with interleaving."""
    if not least <= rank <= 5:
        raise ValueError(f"this kind of tensor map supports {least} to 5 axes, but the view has {rank}")
    if interleave and rank < 3:
        raise ValueError(f"interleave={interleave.name} supports 3 to 5 axes, but the view has {rank}")


def check_interleave(interleave, swizzle, address: int) -> None:
    """Check that 32-byte interleaving has its 32-byte swizzle and alignment."""
    if interleave.name != "INTERLEAVE_32B":
        return
    if swizzle.name != "SWIZZLE_32B":
        raise ValueError(f"interleave=INTERLEAVE_32B needs swizzle=SWIZZLE_32B, not {swizzle.name}")
    check_alignment(address, 32)


def check_fill(oob_fill, data_type) -> None:
    """Check that only floating-point elements have NaN fill."""
    if oob_fill and data_type not in FLOATING:
        raise ValueError(f"oob_fill={oob_fill.name} needs floating-point elements, not {data_type.name}")


def tensor_extents(shape: Ints) -> Ints:
    """Return the extents in the driver's order of axes.

    Raises
    ------
    ValueError
        If an extent is 0 or above 2**32.
    """
    for axis, extent in enumerate(shape):
        if not 1 <= extent <= MAX_EXTENT:
            raise ValueError(
                f"a tensor map supports extents from 1 to 2**32, but axis {axis} of shape {shape} has {extent}"
            )
    return shape[::-1]


def pitches_of(shape: Ints, strides: Ints, data_type, interleave) -> Ints:
    """Return the strides in bytes of all axes but the last, in the driver's order of axes.

    Raises
    ------
    ValueError
        If the stride of the last axis is not 1, or another stride is not a multiple of 16 bytes (32 with 32-byte
        interleaving) or is too large.
    OverflowError
        If a stride is negative.
    """
    unit = 32 if interleave.name == "INTERLEAVE_32B" else 16
    if shape[-1] > 1 and strides[-1] != 1:
        raise ValueError(f"the elements of the last axis must be contiguous (stride 1), but strides are {strides}")
    pitches = []
    for axis, (extent, stride) in enumerate(zip(shape[:-1], strides[:-1], strict=True)):
        pitch = stride * ITEM_SIZES[data_type]
        if extent == 1:
            pitch = unit  # never used, but it must be valid
        if pitch < 0:
            raise OverflowError(f"strides must not be negative, but axis {axis} has {stride}")
        if pitch % unit or pitch >= MAX_PITCH:
            raise ValueError(
                f"the stride of axis {axis} must be a multiple of {unit} bytes below 2**40, not {pitch} bytes: "
                f"{stride} elements of {data_type.name}"
            )
        pitches.append(pitch)
    return tuple(pitches[::-1])


def tile_of(box_dim: Ints, rank: int, data_type, interleave, swizzle) -> Ints:
    """Return the extents of the tile in the driver's order of axes.

    Raises
    ------
    ValueError
        If there is not one per axis, one is not from 1 to 256, or the size of a row of the tile is not a multiple of
        16 bytes or exceeds the span of the swizzle.
    """
    if len(box_dim) != rank:
        raise ValueError(
            f"box_dim must have one entry for each of the {rank} axes, not {len(box_dim)}: {shown(box_dim)}"
        )
    if not all(1 <= extent <= MAX_TILE for extent in box_dim):
        raise ValueError(f"box_dim must have entries from 1 to {MAX_TILE}, not {shown(box_dim)}")
    size = box_dim[-1] * ITEM_SIZES[data_type]
    if size % 16:
        raise ValueError(
            f"the last entry of box_dim must make a multiple of 16 bytes, not {size}: {box_dim[-1]} elements of "
            f"{data_type.name}"
        )
    check_span("the last entry of box_dim", box_dim[-1], data_type, interleave, swizzle)
    return box_dim[::-1]


def check_bytes(what: str, count: int, data_type) -> None:
    """Check that ``count`` elements fit the shared memory of a block."""
    size = count * ITEM_SIZES[data_type]
    if size > MAX_BYTES:
        raise ValueError(
            f"{what} must make at most {MAX_BYTES} bytes, not {size}: {count} elements of {data_type.name}"
        )


def check_span(what: str, count: int, data_type, interleave, swizzle) -> None:
    """Check that a row of ``count`` elements is not larger than the span of the swizzle."""
    size, span = count * ITEM_SIZES[data_type], SPANS[swizzle]
    if span is not None and not interleave and size > span:
        raise ValueError(
            f"with swizzle={swizzle.name}, {what} must make at most {span} bytes, not {size}: {count} elements of "
            f"{data_type.name}"
        )


def check_steps(element_strides: Ints | None, rank: int) -> Ints:
    """Return the traversal strides in the driver's order of axes. None means 1 along each axis.

    Raises
    ------
    ValueError
        If there is not one per axis, or one is not from 1 to 8.
    OverflowError
        If one is negative.
    """
    if element_strides is None:
        return (1,) * rank
    if len(element_strides) != rank:
        raise ValueError(
            f"element_strides must have one entry for each of the {rank} axes, not {len(element_strides)}: "
            f"{shown(element_strides)}"
        )
    if min(element_strides) < 0:
        raise OverflowError(f"element_strides must not be negative, but are {shown(element_strides)}")
    if not all(1 <= step <= MAX_STEP for step in element_strides):
        raise ValueError(f"element_strides must have entries from 1 to {MAX_STEP}, not {shown(element_strides)}")
    return element_strides[::-1]


def check_corners(shape: Ints, lower: Ints, upper: Ints, interleave) -> tuple[Ints, Ints]:
    """Return the corners of the pixel box in the driver's order of axes.

    They are offsets along the spatial axes: those between N and C; with interleaving, all axes after the second.

    Raises
    ------
    ValueError
        If a corner does not have one offset per spatial axis, an offset does not fit the descriptor, or the box is
        empty.
    """
    spatial = shape[2:] if interleave else shape[1:-1]
    low, high = CORNER_RANGES[len(spatial)]
    for name, corner in (("pixel_box_lower_corner", lower), ("pixel_box_upper_corner", upper)):
        if len(corner) != len(spatial):
            raise ValueError(
                f"{name} must have {len(spatial)} entries for a view of {len(shape)} axes, not {len(corner)}"
            )
        if not all(low <= offset <= high for offset in corner):
            raise ValueError(
                f"{name} must have entries from {low} to {high} for a view of {len(shape)} axes, not {shown(corner)}"
            )
    for extent, first, last in zip(spatial, lower, upper, strict=True):
        if extent + last - first < 1:
            raise ValueError(f"the pixel box is empty: corners {lower} and {upper} leave nothing of extents {spatial}")
    return lower[::-1], upper[::-1]


def check_channels(channels: int, pixels: int, data_type, interleave, swizzle) -> None:
    """Check the channels per pixel and the pixels per column of im2col maps."""
    if not 1 <= channels <= MAX_TILE:
        raise ValueError(f"channels_per_pixel must be from 1 to {MAX_TILE}, not {shown(channels)}")
    if not 1 <= pixels <= MAX_PIXELS:
        raise ValueError(f"pixels_per_column must be from 1 to {MAX_PIXELS}, not {shown(pixels)}")
    size = channels * ITEM_SIZES[data_type]
    if size % 16:
        raise ValueError(
            f"channels_per_pixel must make a multiple of 16 bytes, not {size}: {channels} elements of {data_type.name}"
        )
    check_bytes("channels_per_pixel and pixels_per_column", channels * pixels, data_type)
    check_span("channels_per_pixel", channels, data_type, interleave, swizzle)


def check_wide(shape: Ints, lower: int, upper: int, swizzle) -> None:
    """Check the corners along W and the swizzle of wide im2col maps."""
    low, high = CORNER_RANGES[1]
    for name, offset in (("pixel_box_lower_corner_width", lower), ("pixel_box_upper_corner_width", upper)):
        if not low <= offset <= high:
            raise ValueError(f"{name} must be from {low} to {high}, not {shown(offset)}")
    if shape[-2] + upper - lower < 1:
        raise ValueError(f"the pixel box is empty: {lower} and {upper} leave nothing of the extent {shape[-2]}")
    if swizzle.name not in ("SWIZZLE_64B", "SWIZZLE_128B"):
        raise ValueError(f"wide columns need swizzle=SWIZZLE_64B or SWIZZLE_128B, not {swizzle.name}")

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# cython: annotation_typing=False
"""Options of tensor maps: the enums for element types, swizzles and so on, and the options class for tiles."""

from __future__ import annotations

from cuda.core._arrays._view_state cimport ViewState, dtype_of
from cuda.core._dlpack cimport kDLBfloat, kDLFloat, kDLInt, kDLUInt, numpy

import importlib
import importlib.util
from enum import IntEnum

from cuda.core._arrays.tensor_maps import _rules as rules
from cuda.core._utils.options import Options, options_class, rows_of
from cuda.core._utils.validators import shown

__all__ = [
    "TensorMapDataType",
    "TensorMapDescriptorOptions",
    "TensorMapIm2ColWideMode",
    "TensorMapInterleave",
    "TensorMapL2Promotion",
    "TensorMapOOBFill",
    "TensorMapSwizzle",
]


class TensorMapDataType(IntEnum):
    """Element types of tensor maps (``CUtensorMapDataType``); FTZ types flush denormals to zero."""

    __module__ = "cuda.core._tensor_map"

    UINT8 = 0
    UINT16 = 1
    UINT32 = 2
    INT32 = 3
    UINT64 = 4
    INT64 = 5
    FLOAT16 = 6
    FLOAT32 = 7
    FLOAT64 = 8
    BFLOAT16 = 9
    FLOAT32_FTZ = 10
    TFLOAT32 = 11
    TFLOAT32_FTZ = 12


class TensorMapInterleave(IntEnum):
    """Interleaved layouts in global memory, with channels in slices of 16 or 32 bytes (``CUtensorMapInterleave``)."""

    __module__ = "cuda.core._tensor_map"

    NONE = 0
    INTERLEAVE_16B = 1
    INTERLEAVE_32B = 2


class TensorMapSwizzle(IntEnum):
    """Swizzle patterns of tiles in shared memory, which avoid bank conflicts (``CUtensorMapSwizzle``).

    16-byte chunks are permuted inside rows of 32, 64 or 128 bytes.
    """

    __module__ = "cuda.core._tensor_map"

    NONE = 0
    SWIZZLE_32B = 1
    SWIZZLE_64B = 2
    SWIZZLE_128B = 3


class TensorMapL2Promotion(IntEnum):
    """L2 promotion: the number of bytes that an L2 cache miss fetches (``CUtensorMapL2promotion``)."""

    __module__ = "cuda.core._tensor_map"

    NONE = 0
    L2_64B = 1
    L2_128B = 2
    L2_256B = 3


class TensorMapOOBFill(IntEnum):
    """Fill values of elements outside the tensor (``CUtensorMapFloatOOBfill``).

    Zero, or a special NaN, which FMA instructions of kernels can treat as zero.
    """

    __module__ = "cuda.core._tensor_map"

    NONE = 0
    NAN_REQUEST_ZERO_FMA = 1


class TensorMapIm2ColWideMode(IntEnum):
    """Modes of wide im2col loads along W (``CUtensorMapIm2ColWideMode``): the given number of pixels, or 128."""

    __module__ = "cuda.core._tensor_map"

    W = 0
    W128 = 1


@options_class
class TensorMapDescriptorOptions(Options):
    """Options of a tensor map for tiles: the box, the element type, and the layout in shared memory.

    Attributes
    ----------
    box_dim : tuple[int, ...]
        The extent of a tile along each axis of the view, in elements: from 1 to 256.
    element_strides : tuple[int, ...], optional
        The traversal stride along each axis, in elements: from 1 to 8. None means 1.
    data_type : TensorMapDataType | :class:`numpy.dtype`, optional
        The element type. None takes that of the view.
    interleave : TensorMapInterleave, optional
        The interleaved layout of the tensor in global memory. Default is ``NONE``.
    swizzle : TensorMapSwizzle, optional
        The swizzle pattern of tiles in shared memory. Default is ``NONE``.
    l2_promotion : TensorMapL2Promotion, optional
        The bytes that an L2 miss fetches. Default is ``NONE``, which leaves the default of the hardware.
    oob_fill : TensorMapOOBFill, optional
        The value of elements outside the tensor. Default is ``NONE``, zero.
    """

    __module__ = "cuda.core._tensor_map"

    box_dim: tuple[int, ...]
    element_strides: tuple[int, ...] | None = None
    data_type: object = None
    interleave: TensorMapInterleave = TensorMapInterleave.NONE
    swizzle: TensorMapSwizzle = TensorMapSwizzle.NONE
    l2_promotion: TensorMapL2Promotion = TensorMapL2Promotion.NONE
    oob_fill: TensorMapOOBFill = TensorMapOOBFill.NONE

    def __post_init__(self):
        if self.box_dim is None:
            raise TypeError("box_dim must be a tuple of int, not None")
        self.box_dim = rules.int_tuple("box_dim", self.box_dim)
        self.element_strides = rules.int_tuple("element_strides", self.element_strides)
        self.data_type = data_type_option(self.data_type)
        for name, cls in _CHOICES.items():
            setattr(self, name, check_choice(name, getattr(self, name), cls))


_CHOICES = {
    "interleave": TensorMapInterleave,
    "swizzle": TensorMapSwizzle,
    "l2_promotion": TensorMapL2Promotion,
    "oob_fill": TensorMapOOBFill,
}


# ---------------------------------------------------------------------------------------------
# Types of elements

# (code, bits) of DLPack -> data type. Tensor maps have no int8 and int16.
cdef dict ELEMENTS = {
    (kDLUInt, 8): TensorMapDataType.UINT8,
    (kDLUInt, 16): TensorMapDataType.UINT16,
    (kDLUInt, 32): TensorMapDataType.UINT32,
    (kDLInt, 32): TensorMapDataType.INT32,
    (kDLUInt, 64): TensorMapDataType.UINT64,
    (kDLInt, 64): TensorMapDataType.INT64,
    (kDLFloat, 16): TensorMapDataType.FLOAT16,
    (kDLFloat, 32): TensorMapDataType.FLOAT32,
    (kDLFloat, 64): TensorMapDataType.FLOAT64,
    (kDLBfloat, 16): TensorMapDataType.BFLOAT16,
}


def numpy_types():
    types = {member.name.lower(): member for member in ELEMENTS.values() if member != TensorMapDataType.BFLOAT16}
    found = {numpy().dtype(name): member for name, member in types.items()}
    if importlib.util.find_spec("ml_dtypes") is not None:
        found[numpy().dtype(importlib.import_module("ml_dtypes").bfloat16)] = TensorMapDataType.BFLOAT16
    return found


NUMPY_TYPES = numpy_types()


cdef object data_type_option(object value):
    if value is None or isinstance(value, TensorMapDataType):
        return value
    if isinstance(value, int):
        raise TypeError(f"data_type must be a TensorMapDataType or a dtype, not the int {shown(value)}")
    try:
        return numpy().dtype(value)
    except Exception as error:
        raise TypeError(f"data_type must be a TensorMapDataType or a dtype, not {shown(value)}") from error


cdef object find_data_type(ViewState view, object data_type):
    if isinstance(data_type, TensorMapDataType):
        return data_type
    if data_type is None and view._element.lanes == 1:
        found = ELEMENTS.get((view._element.code, view._element.bits))
        if found is not None:
            return found
    dtype = dtype_of(view) if data_type is None else data_type
    if dtype is None:
        raise ValueError("the view has no element type; pass data_type")
    found = NUMPY_TYPES.get(dtype)
    if found is None:
        raise ValueError(f"tensor maps have no data type for {dtype}; pass data_type as a TensorMapDataType")
    return found


cdef object find_data_type_fast(ViewState view, object data_type):
    if type(data_type) is TensorMapDataType:
        return data_type
    if data_type is None and view._element.lanes == 1:
        return ELEMENTS.get((view._element.code, view._element.bits))
    dtype = view._dtype if data_type is None else data_type
    return NUMPY_TYPES.get(dtype) if isinstance(dtype, numpy().dtype) else None


# ---------------------------------------------------------------------------------------------
# Arguments

cdef object check_choice(str name, object value, object cls):
    if value is None:
        return cls(0)
    if not isinstance(value, cls):
        raise TypeError(f"{name} must be a {cls.__name__}, not {shown(value)}")
    return value


cdef object int_argument(str name, object value):
    (number,) = rules.int_tuple(name, (value,))
    return number


cdef object tile_options(object box_dim, object options, dict choices):
    if options is None:
        if box_dim is None:
            raise TypeError("box_dim is missing; pass it, or options")
        return TensorMapDescriptorOptions(box_dim, **choices)
    if box_dim is not None or any(value is not None and value != 0 for value in choices.values()):
        raise TypeError("options excludes box_dim and the other arguments; pass one or the other")
    if isinstance(options, dict):
        known = {row.name for row in rows_of(TensorMapDescriptorOptions)}
        if not options.keys() <= known:
            raise TypeError(f"unknown tensor map options: {', '.join(sorted(map(shown, options.keys() - known)))}")
        return TensorMapDescriptorOptions(**options)
    if not isinstance(options, TensorMapDescriptorOptions):
        raise TypeError(f"options must be a TensorMapDescriptorOptions or a dict, not {type(options).__name__}")
    return options

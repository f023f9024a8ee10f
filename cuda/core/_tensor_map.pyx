# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# cython: annotation_typing=False
"""Tensor maps: what the copy engine for tensors (TMA) has to know of memory to move tiles of it."""

from __future__ import annotations

cimport cython
from libc.stdint cimport uint32_t, uintptr_t
from libc.string cimport memcpy

from cpython.object cimport PyObject

from cuda.core._arrays._view_state cimport ViewState, dtype_of, layout_of
from cuda.core._arrays._tensor_map_encoding cimport (
    TensorChoices,
    TensorNumbers,
    encode_im2col,
    encode_im2col_wide,
    encode_tile,
    encode_tiled,
    read_numbers,
    read_plain_tiles,
)
from cuda.core._context cimport Context_current, Context_ordinal
from cuda.core._dlpack cimport DEVICE_CUDA, kDLBfloat, kDLFloat, kDLInt, kDLUInt, numpy
from cuda.core._handles._driver_object cimport refuse_pickle
from cuda.core._handles._handles cimport ContextHandle
from cuda.core._launch._arguments cimport FITS, WRONG_SIZE, register_argument_type
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport answer_hasattr
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN

import importlib
import importlib.util
from enum import IntEnum

from cuda.core._arrays import _tensor_map_rules as rules
from cuda.core._handles import _late
from cuda.core._memoryview import StridedMemoryView
from cuda.core._utils.options import Options, options_class, rows_of
from cuda.core._utils.signatures import ConstructorSignature
from cuda.core._utils.validators import shown

__all__ = [
    "TensorMapDataType",
    "TensorMapDescriptor",
    "TensorMapDescriptorOptions",
    "TensorMapIm2ColWideMode",
    "TensorMapInterleave",
    "TensorMapL2Promotion",
    "TensorMapOOBFill",
    "TensorMapSwizzle",
]


class TensorMapDataType(IntEnum):
    """What the elements are: how large, and what fills tiles outside the tensor."""

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
    """How channels are interleaved in memory: in slices of 16 or 32 bytes."""

    NONE = 0
    INTERLEAVE_16B = 1
    INTERLEAVE_32B = 2


class TensorMapSwizzle(IntEnum):
    """How 16-byte chunks of a tile change places in shared memory, so that columns are read without bank conflicts."""

    NONE = 0
    SWIZZLE_32B = 1
    SWIZZLE_64B = 2
    SWIZZLE_128B = 3


class TensorMapL2Promotion(IntEnum):
    """The bytes that a miss in the L2 cache fetches."""

    NONE = 0
    L2_64B = 1
    L2_128B = 2
    L2_256B = 3


class TensorMapOOBFill(IntEnum):
    """What elements outside the tensor read as: zero, or a NaN that multiply-add instructions can take for zero."""

    NONE = 0
    NAN_REQUEST_ZERO_FMA = 1


class TensorMapIm2ColWideMode(IntEnum):
    """How many pixels a wide column takes along W: as many as are asked for, or 128."""

    W = 0
    W128 = 1


@options_class
class TensorMapDescriptorOptions(Options):
    """How a tensor is divided into tiles, and how these lie in shared memory.

    Attributes
    ----------
    box_dim : tuple[int, ...]
        The extent of a tile along each axis of the view, in elements: from 1 to 256.
    element_strides : tuple[int, ...], optional
        The step between the elements that are taken, along each axis: from 1 to 8. None means 1.
    data_type : TensorMapDataType | :class:`numpy.dtype`, optional
        What the elements are. None takes the type of the view.
    interleave : TensorMapInterleave, optional
        How channels are interleaved in memory. Default is ``NONE``.
    swizzle : TensorMapSwizzle, optional
        How 16-byte chunks change places in shared memory. Default is ``NONE``.
    l2_promotion : TensorMapL2Promotion, optional
        The bytes that a miss in the L2 cache fetches. Default is ``NONE``.
    oob_fill : TensorMapOOBFill, optional
        What elements outside the tensor read as. Default is ``NONE``, zero.
    """

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


cdef class TensorMapDescriptor:
    """What the copy engine for tensors (TMA) has to know of a tensor: 128 bytes for kernels.

    Descriptors come from :meth:`StridedMemoryView.as_tensor_map() <cuda.core.utils.StridedMemoryView.as_tensor_map>`.
    Pass one to :func:`launch` for a parameter of the type ``const __grid_constant__ CUtensorMap``, which gets a copy.
    A descriptor keeps the view that it was made of, and so the memory, alive; who launches a kernel has to keep the
    descriptor until the kernel has run. Needs compute capability 9.0.
    """

    __signature__ = ConstructorSignature()

    def __init__(self, *args, **kwargs):
        """Refuse: descriptors come from views."""
        raise RuntimeError(
            "TensorMapDescriptor cannot be constructed directly; use StridedMemoryView.as_tensor_map()"
        )

    def __repr__(self):
        if self._data_type is None:
            return "<TensorMapDescriptor, not initialised>"
        return (
            f"TensorMapDescriptor({self._kind}, rank={self._rank}, dtype={self._data_type.name}, "
            f"swizzle={self._swizzle.name})"
        )

    def __reduce__(self):
        refuse_pickle(self)

    def replace_address(self, tensor: object) -> None:
        """Point the descriptor at other memory, of the same shape, strides and type (``cuTensorMapReplaceAddress``).

        Kernels that were launched before have their copy.

        Parameters
        ----------
        tensor : StridedMemoryView | Buffer | object
            The memory: a view, or an object that has DLPack or the CUDA array interface. Its shape, strides and type
            are not looked at.

        Raises
        ------
        ValueError
            If it is not accessible from the device, on another device, or begins at an address that is not aligned
            to 16 bytes (32 bytes with interleaving of 32 bytes).
        BufferError
            If the object has no protocol.
        RuntimeError
            If no context is current, or another one than that of which the descriptor was made.
        """
        cdef char[256] scratch
        cdef cydriver.CUtensorMap* c_map = aligned(scratch)
        cdef ContextHandle h_context
        cdef ViewState view
        if not isinstance(tensor, StridedMemoryView):
            tensor = StridedMemoryView.from_any_interface(tensor, -1)
        view = tensor
        check_memory(view, self._alignment)
        require_context(&h_context)
        if h_context.get() != self._h_context.get():
            raise RuntimeError("another context is current than that of which this tensor map was made")
        _require_view_device(view, self._device_id, "replace_address")
        cdef void* c_pointer = <void*>view._ptr
        with cython.critical_section(self):
            memcpy(c_map, self.c_map(), sizeof(cydriver.CUtensorMap))
            with nogil:
                HANDLE_RETURN(cydriver.cuTensorMapReplaceAddress(c_map, c_pointer), b"cuTensorMapReplaceAddress")
            memcpy(self.c_map(), c_map, sizeof(cydriver.CUtensorMap))
            self._view = view

    @classmethod
    def _from_tiled(
        cls,
        view,
        box_dim=None,
        *,
        options=None,
        element_strides=None,
        data_type=None,
        interleave=TensorMapInterleave.NONE,
        swizzle=TensorMapSwizzle.NONE,
        l2_promotion=TensorMapL2Promotion.NONE,
        oob_fill=TensorMapOOBFill.NONE,
    ):
        """Describe tiles (``cuTensorMapEncodeTiled``)."""
        choices = {
            "element_strides": element_strides, "data_type": data_type, "interleave": interleave,
            "swizzle": swizzle, "l2_promotion": l2_promotion, "oob_fill": oob_fill,
        }
        return make_tiled(view_argument(view), tile_options(box_dim, options, choices))

    @classmethod
    def _from_im2col(
        cls,
        view,
        pixel_box_lower_corner,
        pixel_box_upper_corner,
        channels_per_pixel,
        pixels_per_column,
        *,
        element_strides=None,
        data_type=None,
        interleave=TensorMapInterleave.NONE,
        swizzle=TensorMapSwizzle.NONE,
        l2_promotion=TensorMapL2Promotion.NONE,
        oob_fill=TensorMapOOBFill.NONE,
    ):
        """Describe columns of pixels for convolutions (``cuTensorMapEncodeIm2col``)."""
        cdef ViewState state = view_argument(view)
        lower = rules.int_tuple("pixel_box_lower_corner", pixel_box_lower_corner)
        upper = rules.int_tuple("pixel_box_upper_corner", pixel_box_upper_corner)
        channels = int_argument("channels_per_pixel", channels_per_pixel)
        pixels = int_argument("pixels_per_column", pixels_per_column)
        choices = {"interleave": interleave, "swizzle": swizzle, "l2_promotion": l2_promotion, "oob_fill": oob_fill}
        # box_dim is not used for columns.
        options = TensorMapDescriptorOptions((), element_strides, data_type, **choices)
        cdef TensorNumbers numbers
        cdef TensorMapDescriptor self = begin(state, "im2col", 3, options, &numbers)
        encode_im2col(self.c_map(), &numbers, self._data_type, options, lower, upper, channels, pixels)
        return self

    @classmethod
    def _from_im2col_wide(
        cls,
        view,
        pixel_box_lower_corner_width,
        pixel_box_upper_corner_width,
        channels_per_pixel,
        pixels_per_column,
        *,
        element_strides=None,
        data_type=None,
        interleave=TensorMapInterleave.NONE,
        mode=TensorMapIm2ColWideMode.W,
        swizzle=TensorMapSwizzle.SWIZZLE_128B,
        l2_promotion=TensorMapL2Promotion.NONE,
        oob_fill=TensorMapOOBFill.NONE,
    ):
        """Describe columns along W (``cuTensorMapEncodeIm2colWide``), for kernels of compute capability 10.0."""
        cdef ViewState state = view_argument(view)
        lower = int_argument("pixel_box_lower_corner_width", pixel_box_lower_corner_width)
        upper = int_argument("pixel_box_upper_corner_width", pixel_box_upper_corner_width)
        channels = int_argument("channels_per_pixel", channels_per_pixel)
        pixels = int_argument("pixels_per_column", pixels_per_column)
        mode = check_choice("mode", mode, TensorMapIm2ColWideMode)
        choices = {"interleave": interleave, "swizzle": swizzle, "l2_promotion": l2_promotion, "oob_fill": oob_fill}
        options = TensorMapDescriptorOptions((), element_strides, data_type, **choices)
        cdef TensorNumbers numbers
        cdef TensorMapDescriptor self = begin(state, "im2col_wide", 3, options, &numbers)
        encode_im2col_wide(self.c_map(), &numbers, self._data_type, options, lower, upper, channels, pixels, mode)
        return self

    @property
    def device(self) -> Device | None:
        """The device that the descriptor was made for."""
        return _late.device_of(self._device_id)

    cdef cydriver.CUtensorMap* c_map(self) noexcept:
        return aligned(self._storage)


def tensor_map_of(
    view, box_dim, options, element_strides, data_type, interleave, swizzle, l2_promotion, oob_fill
) -> TensorMapDescriptor:
    """Return the descriptor of :meth:`StridedMemoryView.as_tensor_map`."""
    choices = (element_strides, data_type, interleave, swizzle, l2_promotion, oob_fill)
    self = None
    if options is None:
        self = make_plain(view, box_dim, choices)
    elif type(options) is TensorMapDescriptorOptions and box_dim is None and choices == NOTHING:
        self = make_plain(view, options.box_dim, tuple([getattr(options, name) for name in CHOICES]))
    if self is not None:
        return self
    return make_tiled(view, tile_options(box_dim, options, dict(zip(CHOICES, choices, strict=True))))


cdef tuple CHOICES = ("element_strides", "data_type", "interleave", "swizzle", "l2_promotion", "oob_fill")
cdef tuple NOTHING = (None,) * 6


def _require_view_device(view, expected_device_id, operation) -> None:
    """Refuse a view whose memory is that of another device.

    Parameters
    ----------
    view : object
        Anything with ``__dlpack_device__``. Memory of the host, and managed memory, is on no one device.
    expected_device_id : int
        The device.
    operation : str
        What is to be done, for the message.

    Raises
    ------
    ValueError
        If it is on another device.
    """
    device_type, device_id = view.__dlpack_device__()
    if device_type == DEVICE_CUDA and device_id != expected_device_id:
        raise ValueError(
            f"{operation} needs memory of device {expected_device_id}, which is current, and this is on device "
            f"{device_id}"
        )


# ---------------------------------------------------------------------------------------------
# Types of elements

# By (code, bits) of DLPack, and by the types of NumPy. int8 and int16 have no counterpart.
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


def _numpy_types():
    types = {member.name.lower(): member for member in ELEMENTS.values() if member != TensorMapDataType.BFLOAT16}
    found = {numpy().dtype(name): member for name, member in types.items()}
    if importlib.util.find_spec("ml_dtypes") is not None:
        found[numpy().dtype(importlib.import_module("ml_dtypes").bfloat16)] = TensorMapDataType.BFLOAT16
    return found


_NUMPY_DTYPE_TO_TMA = _numpy_types()


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
    what = dtype_of(view) if data_type is None else data_type
    if what is None:
        raise ValueError("the view does not say what its elements are; give data_type")
    found = _NUMPY_DTYPE_TO_TMA.get(what)
    if found is None:
        raise ValueError(f"tensor maps have no data type for {what}; give data_type as a TensorMapDataType")
    return found


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


cdef ViewState view_argument(object view):
    if not isinstance(view, StridedMemoryView):
        raise TypeError(f"view must be a StridedMemoryView, not {type(view).__name__}")
    return view


cdef object tile_options(object box_dim, object options, dict choices):
    if options is None:
        if box_dim is None:
            raise TypeError("give box_dim, or options with it")
        return TensorMapDescriptorOptions(box_dim, **choices)
    if box_dim is not None or any(value is not None and value != 0 for value in choices.values()):
        raise TypeError("give either options, or box_dim and the other arguments, not both")
    if isinstance(options, dict):
        known = {row.name for row in rows_of(TensorMapDescriptorOptions)}
        if not options.keys() <= known:
            raise TypeError(f"unknown tensor map options: {sorted(map(str, options.keys() - known))}")
        return TensorMapDescriptorOptions(**options)
    if not isinstance(options, TensorMapDescriptorOptions):
        raise TypeError(f"options must be a TensorMapDescriptorOptions or a dict, not {type(options).__name__}")
    return options


cdef int check_memory(ViewState view, int alignment) except -1:
    if not view._is_device_accessible:
        raise ValueError("a tensor map needs memory that the device can access, and this is memory of the host")
    rules.check_address(view._ptr, alignment)
    return 0


cdef int require_context(ContextHandle* h_context) except -1:
    Context_current(h_context)
    if not h_context[0]:
        raise RuntimeError("a tensor map needs a current context; call Device.set_current() first")
    return 0


# The devices that have the engine; they keep it.
cdef set _with_engine = set()


cdef int require_engine(TensorMapDescriptor self, ViewState view) except -1:
    require_context(&self._h_context)
    self._device_id = Context_ordinal(self._h_context)
    _require_view_device(view, self._device_id, "making a tensor map")
    if self._device_id in _with_engine:
        return 0
    capability = _late.device_of(self._device_id).compute_capability
    if capability < (9, 0):
        raise RuntimeError(
            f"tensor maps need compute capability 9.0, and device {self._device_id} has "
            f"{capability[0]}.{capability[1]}"
        )
    _with_engine.add(self._device_id)
    return 0


# ---------------------------------------------------------------------------------------------
# Making

# A descriptor of tiles as most are; None where the arguments have to be looked at one by one.
cdef TensorMapDescriptor make_plain(ViewState view, object box_dim, tuple choices):
    cdef TensorNumbers numbers
    cdef TensorChoices c_choices
    cdef uint32_t[5] c_tile
    cdef TensorMapDescriptor self
    element_strides, data_type, interleave, swizzle, l2_promotion, oob_fill = choices
    if type(box_dim) is not tuple or element_strides is not None:
        return None
    c_choices.interleave = plain_choice(interleave, TensorMapInterleave)
    c_choices.swizzle = plain_choice(swizzle, TensorMapSwizzle)
    c_choices.promotion = plain_choice(l2_promotion, TensorMapL2Promotion)
    c_choices.fill = plain_choice(oob_fill, TensorMapOOBFill)
    if c_choices.interleave < 0 or c_choices.swizzle < 0 or c_choices.promotion < 0 or c_choices.fill < 0:
        return None
    data_type = plain_data_type(view, data_type)
    if data_type is None or not view._is_device_accessible or view._ptr % 16:
        return None
    if not read_plain_tiles(view, data_type, box_dim, &c_choices, &numbers, c_tile):
        return None
    self = TensorMapDescriptor.__new__(TensorMapDescriptor)
    self._alignment = 16
    require_engine(self, view)
    encode_tile(self.c_map(), &numbers, c_tile)
    self._view, self._kind, self._rank, self._data_type = view, "tiled", numbers.rank, data_type
    self._swizzle = NO_SWIZZLE if swizzle is None else swizzle
    return self


# The member for what the elements are, or are to be taken for; None where that needs another look.
cdef object plain_data_type(ViewState view, object data_type):
    if type(data_type) is TensorMapDataType:
        return data_type
    if data_type is None and view._element.lanes == 1:
        return ELEMENTS.get((view._element.code, view._element.bits))
    dtype = view._dtype if data_type is None else data_type
    return _NUMPY_DTYPE_TO_TMA.get(dtype) if isinstance(dtype, numpy().dtype) else None


cdef object NO_SWIZZLE = TensorMapSwizzle.NONE


# The number of a member, or of None; -1 for anything else.
cdef inline int plain_choice(object value, object cls) except -2:
    return 0 if value is None else <int>value if type(value) is cls else -1


# All but the encoding, which differs between the kinds.
cdef TensorMapDescriptor begin(ViewState view, str kind, int least_rank, object options, TensorNumbers* numbers):
    cdef TensorMapDescriptor self = TensorMapDescriptor.__new__(TensorMapDescriptor)
    self._alignment = 32 if options.interleave == TensorMapInterleave.INTERLEAVE_32B else 16
    check_memory(view, 16)
    require_engine(self, view)
    self._rank = len(layout_of(view)._shape)
    rules.check_rank(self._rank, least_rank, options.interleave)
    self._view, self._kind, self._swizzle = view, kind, options.swizzle
    self._data_type = find_data_type(view, options.data_type)
    read_numbers(view, self._data_type, options, numbers)
    return self


cdef TensorMapDescriptor make_tiled(ViewState view, object options):
    cdef TensorNumbers numbers
    cdef TensorMapDescriptor self = begin(view, "tiled", 1, options, &numbers)
    encode_tiled(self.c_map(), &numbers, self._data_type, options)
    return self


# The driver wants its descriptors at multiples of 64 bytes, and the compiler at multiples of 128.
cdef inline cydriver.CUtensorMap* aligned(char* storage) noexcept:
    return <cydriver.CUtensorMap*>((<uintptr_t>storage + 127) & ~<uintptr_t>127)


# ---------------------------------------------------------------------------------------------
# Launches

cdef int write_tensor_map(PyObject* argument, size_t natural_size, char* cell, size_t size) except -1:
    cdef TensorMapDescriptor self = <TensorMapDescriptor>argument
    if size != sizeof(cydriver.CUtensorMap):
        return WRONG_SIZE
    with cython.critical_section(self):
        memcpy(cell, self.c_map(), sizeof(cydriver.CUtensorMap))
    return FITS


register_argument_type(TensorMapDescriptor, &write_tensor_map, sizeof(cydriver.CUtensorMap))
answer_hasattr(TensorMapDescriptor)

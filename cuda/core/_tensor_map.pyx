# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Tensor maps: descriptors for the tensor memory accelerator (TMA), their options, and their encoding."""

from __future__ import annotations

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memcpy, memset

from cpython.long cimport PyLong_AsLongAndOverflow
from cpython.object cimport PyObject

from cuda.core._arrays._views cimport ViewState, dtype_of, layout_of
from cuda.core._context cimport Context_current, Context_ordinal
from cuda.core._dlpack cimport DEVICE_CUDA, kDLBfloat, kDLFloat, kDLInt, kDLUInt, numpy
from cuda.core._kernel_arg_handler cimport FITS, WRONG_SIZE, register_argument_type
from cuda.core._layout cimport _StridedLayout
from cuda.core._native._cuda_core cimport ContextHandle, refuse_pickle
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport check_self_in_methods
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN

from enum import IntEnum
import importlib
import importlib.util

from cuda.core import _tensor_map_rules as rules
from cuda.core._device import Device
from cuda.core._memoryview import StridedMemoryView
from cuda.core._utils import slots
from cuda.core._utils.options import Options, options
from cuda.core._utils.signatures import ConstructorSignature
from cuda.core._utils.validators import find_str_enum, shown

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
    """Element types of tensor maps (``CUtensorMapDataType``). FTZ types flush denormals to zero."""

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

    NONE = 0
    INTERLEAVE_16B = 1
    INTERLEAVE_32B = 2


class TensorMapSwizzle(IntEnum):
    """Swizzle patterns of tiles in shared memory, which avoid bank conflicts (``CUtensorMapSwizzle``).

    16-byte chunks are permuted inside rows of 32, 64 or 128 bytes.
    """

    NONE = 0
    SWIZZLE_32B = 1
    SWIZZLE_64B = 2
    SWIZZLE_128B = 3


class TensorMapL2Promotion(IntEnum):
    """L2 promotion: the number of bytes that an L2 cache miss fetches (``CUtensorMapL2promotion``)."""

    NONE = 0
    L2_64B = 1
    L2_128B = 2
    L2_256B = 3


class TensorMapOOBFill(IntEnum):
    """Fill values of elements outside the tensor (``CUtensorMapFloatOOBfill``).

    Zero, or a special NaN, which FMA instructions of kernels can treat as zero.
    """

    NONE = 0
    NAN_REQUEST_ZERO_FMA = 1


class TensorMapIm2ColWideMode(IntEnum):
    """Modes of wide im2col loads along W (``CUtensorMapIm2ColWideMode``): the given number of pixels, or 128."""

    W = 0
    W128 = 1


@options
class TensorMapDescriptorOptions(Options):
    """Options of a tensor map for tiles: the box, the element type, and the layout in shared memory.

    Attributes
    ----------
    box_dim : tuple[int, ...]
        The extent of a tile along each axis of the view, in elements: from 1 to 256.
    element_strides : tuple[int, ...], optional
        The traversal stride along each axis, in elements: from 1 to 8. Defaults to 1.
    data_type : TensorMapDataType | :class:`numpy.dtype`, optional
        The element type. Defaults to the view's.
    interleave : TensorMapInterleave, optional
        The interleaved layout of the tensor in global memory. Defaults to ``NONE``.
    swizzle : TensorMapSwizzle, optional
        The swizzle pattern of tiles in shared memory. Defaults to ``NONE``.
    l2_promotion : TensorMapL2Promotion, optional
        The number of bytes that an L2 miss fetches. Defaults to ``NONE``, which keeps the hardware's default.
    oob_fill : TensorMapOOBFill, optional
        The value of elements outside the tensor. Defaults to ``NONE``, which means zero.

    Examples
    --------
    >>> from cuda.core import TensorMapDescriptorOptions
    >>> TensorMapDescriptorOptions((4, 8)).box_dim
    (4, 8)
    """

    box_dim: tuple[int, ...]
    element_strides: tuple[int, ...] | None = None
    data_type: object = None
    interleave: TensorMapInterleave = TensorMapInterleave.NONE
    swizzle: TensorMapSwizzle = TensorMapSwizzle.NONE
    l2_promotion: TensorMapL2Promotion = TensorMapL2Promotion.NONE
    oob_fill: TensorMapOOBFill = TensorMapOOBFill.NONE

    def _check(self):
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
    """A tensor map (``CUtensorMap``): 128 bytes that describe a tensor to the tensor memory accelerator (TMA).

    A descriptor cannot be constructed directly:
    :meth:`StridedMemoryView.as_tensor_map() <cuda.core.utils.StridedMemoryView.as_tensor_map>` returns one. Pass it to
    :func:`launch` for a parameter of type ``const __grid_constant__ CUtensorMap``; the kernel gets a copy. A descriptor
    keeps its view alive, and so the memory: keep the descriptor until the kernels that use it have completed. Needs
    compute capability 9.0.
    """

    __signature__ = ConstructorSignature()

    def __init__(self, *args, **kwargs):
        """Raise RuntimeError: use StridedMemoryView.as_tensor_map()."""
        raise RuntimeError(
            "TensorMapDescriptor cannot be constructed directly; use StridedMemoryView.as_tensor_map()"
        )

    def __repr__(self):
        if self._data_type is None:
            return "<TensorMapDescriptor, not initialized>"
        return (
            f"TensorMapDescriptor({self._kind}, rank={self._rank}, dtype={self._data_type.name}, "
            f"swizzle={self._swizzle.name})"
        )

    def __reduce__(self):
        refuse_pickle(self)

    def replace_address(self, tensor: object) -> None:
        """Replace the address of the tensor (``cuTensorMapReplaceAddress``).

        Shape, strides and type do not change. Kernels launched before keep their copy with the old address.

        Parameters
        ----------
        tensor : StridedMemoryView | Buffer | object
            The new memory: a view, or an object with DLPack or the CUDA array interface, whose shape, strides and type
            are ignored.

        Raises
        ------
        ValueError
            If the device cannot access the memory, it is on another device, or its address is not a multiple of 16
            bytes (32 bytes with 32-byte interleaving).
        BufferError
            If ``tensor`` has neither protocol.
        RuntimeError
            If the current context is not the one that the descriptor was created in, or there is none.
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
            raise RuntimeError("the current context must be the one that this tensor map was created in")
        _require_view_device(view, self._device_id, "replace_address")
        cdef void* c_pointer = <void*>view._ptr
        with cython.critical_section(self):
            memcpy(c_map, self.c_map(), sizeof(cydriver.CUtensorMap))
            with nogil:
                HANDLE_RETURN(cydriver.cuTensorMapReplaceAddress(c_map, c_pointer), b"cuTensorMapReplaceAddress")
            memcpy(self.c_map(), c_map, sizeof(cydriver.CUtensorMap))
            self._view = view

    def set_allocation_class(self, name: str) -> str:
        """Set the window in which tiles may reach outside of the tensor (``cuTensorMapSetAllocationClass``).

        Parameters
        ----------
        name : str
            ``"small"``: 4 KiB, which is always safe. ``"large"``: 128 KiB. The allocation must then have at least
            ``Device.properties.tensor_map_large_tensor_min_size`` contiguous bytes; otherwise kernels have undefined
            behavior. ``"auto"``: the driver decides by the shape and strides.

        Returns
        -------
        str
            The class in effect, ``"small"`` or ``"large"``. On devices where the class has no effect, ``"small"``.

        Raises
        ------
        ValueError
            If ``name`` is unknown.
        RuntimeError
            If no context is current.
        NotSupportedError
            If the driver is older than CUDA 13.5.
        """
        cdef char[256] scratch
        cdef cydriver.CUtensorMap* c_map = aligned(scratch)
        cdef cydriver.CUtensorMapAllocClass c_class
        cdef cydriver.CUtensorMapAllocClass c_effective = cydriver.CU_TENSOR_MAP_ALLOC_CLASS_SMALL
        cdef ContextHandle h_context
        c_class = <cydriver.CUtensorMapAllocClass><int>ALLOCATION_CLASSES.index(
            find_str_enum(name, ALLOCATION_CLASSES, "allocation class")
        )
        require_context(&h_context)
        with cython.critical_section(self):
            memcpy(c_map, self.c_map(), sizeof(cydriver.CUtensorMap))
            with nogil:
                HANDLE_RETURN(
                    cydriver.cuTensorMapSetAllocationClass(c_map, c_class, &c_effective),
                    b"cuTensorMapSetAllocationClass",
                )
            memcpy(self.c_map(), c_map, sizeof(cydriver.CUtensorMap))
        return ALLOCATION_CLASSES[<int>c_effective]

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
        """Create a tensor map for tiled copies (``cuTensorMapEncodeTiled``)."""
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
        """Create a tensor map for im2col copies, as convolutions use them (``cuTensorMapEncodeIm2col``)."""
        cdef ViewState state = view_argument(view)
        lower = rules.int_tuple("pixel_box_lower_corner", pixel_box_lower_corner)
        upper = rules.int_tuple("pixel_box_upper_corner", pixel_box_upper_corner)
        channels = checked_integer("channels_per_pixel", channels_per_pixel)
        pixels = checked_integer("pixels_per_column", pixels_per_column)
        choices = {"interleave": interleave, "swizzle": swizzle, "l2_promotion": l2_promotion, "oob_fill": oob_fill}
        # im2col has no box_dim.
        options = TensorMapDescriptorOptions((), element_strides, data_type, **choices)
        cdef EncodeArguments arguments
        cdef TensorMapDescriptor self = create_descriptor(state, "im2col", 3, options, &arguments)
        encode_im2col(self.c_map(), &arguments, self._data_type, options, lower, upper, channels, pixels)
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
        """Create a tensor map for im2col copies along W (``cuTensorMapEncodeIm2colWide``).

        Needs compute capability 10.0.
        """
        cdef ViewState state = view_argument(view)
        lower = checked_integer("pixel_box_lower_corner_width", pixel_box_lower_corner_width)
        upper = checked_integer("pixel_box_upper_corner_width", pixel_box_upper_corner_width)
        channels = checked_integer("channels_per_pixel", channels_per_pixel)
        pixels = checked_integer("pixels_per_column", pixels_per_column)
        mode = check_choice("mode", mode, TensorMapIm2ColWideMode)
        choices = {"interleave": interleave, "swizzle": swizzle, "l2_promotion": l2_promotion, "oob_fill": oob_fill}
        options = TensorMapDescriptorOptions((), element_strides, data_type, **choices)
        cdef EncodeArguments arguments
        cdef TensorMapDescriptor self = create_descriptor(state, "im2col_wide", 3, options, &arguments)
        encode_im2col_wide(self.c_map(), &arguments, self._data_type, options, lower, upper, channels, pixels, mode)
        return self

    @property
    def device(self) -> Device | None:
        """The device of the context that was current when the descriptor was created."""
        return Device(self._device_id)

    cdef cydriver.CUtensorMap* c_map(self) noexcept:
        return aligned(self._storage)


def tensor_map_of(
    view, box_dim, options, element_strides, data_type, interleave, swizzle, l2_promotion, oob_fill
) -> TensorMapDescriptor:
    """Implement :meth:`StridedMemoryView.as_tensor_map`."""
    choices = (element_strides, data_type, interleave, swizzle, l2_promotion, oob_fill)
    self = None
    if options is None:
        self = make_tiled_fast(view, box_dim, choices)
    elif type(options) is TensorMapDescriptorOptions and box_dim is None and choices == NO_CHOICES:
        self = make_tiled_fast(view, options.box_dim, tuple([getattr(options, name) for name in CHOICES]))
    if self is not None:
        return self
    return make_tiled(view, tile_options(box_dim, options, dict(zip(CHOICES, choices, strict=True))))


cdef list ALLOCATION_CLASSES = ["auto", "small", "large"]  # in the order of CUtensorMapAllocClass
cdef tuple CHOICES = ("element_strides", "data_type", "interleave", "swizzle", "l2_promotion", "oob_fill")
cdef tuple NO_CHOICES = (None,) * 6


# ---------------------------------------------------------------------------------------------
# Creation

# The arguments that the cuTensorMapEncode functions share. The driver orders axes from the view's last to its first.
cdef struct EncodeArguments:
    void* pointer
    uint32_t rank
    cydriver.CUtensorMapDataType data_type
    uint64_t extents[5]
    uint64_t pitches[5]     # the strides in bytes of all axes but the first
    uint32_t steps[5]       # the traversal strides, in elements
    cydriver.CUtensorMapInterleave interleave
    cydriver.CUtensorMapSwizzle swizzle
    cydriver.CUtensorMapL2promotion promotion
    cydriver.CUtensorMapFloatOOBfill fill


# The driver's values of the enum options.
cdef struct EnumValues:
    int interleave
    int swizzle
    int promotion
    int fill


# The fast path for a tiled descriptor with common arguments. None if the arguments need the complete checks.
cdef TensorMapDescriptor make_tiled_fast(ViewState view, object box_dim, tuple choices):
    cdef EncodeArguments arguments
    cdef EnumValues c_enums
    cdef uint32_t[5] c_tile
    cdef TensorMapDescriptor self
    element_strides, data_type, interleave, swizzle, l2_promotion, oob_fill = choices
    if type(box_dim) is not tuple or element_strides is not None:
        return None
    c_enums.interleave = enum_value(interleave, TensorMapInterleave)
    c_enums.swizzle = enum_value(swizzle, TensorMapSwizzle)
    c_enums.promotion = enum_value(l2_promotion, TensorMapL2Promotion)
    c_enums.fill = enum_value(oob_fill, TensorMapOOBFill)
    if c_enums.interleave < 0 or c_enums.swizzle < 0 or c_enums.promotion < 0 or c_enums.fill < 0:
        return None
    data_type = find_data_type_fast(view, data_type)
    if data_type is None or not view._is_device_accessible or view._ptr % 16:
        return None
    if not read_tiled_fast(view, data_type, box_dim, &c_enums, &arguments, c_tile):
        return None
    self = TensorMapDescriptor.__new__(TensorMapDescriptor)
    self._alignment = 16
    require_tma(self, view)
    encode_tile(self.c_map(), &arguments, c_tile)
    self._view, self._kind, self._rank, self._data_type = view, "tiled", arguments.rank, data_type
    self._swizzle = NO_SWIZZLE if swizzle is None else swizzle
    return self


cdef object NO_SWIZZLE = TensorMapSwizzle.NONE


# The checks and the arguments that all kinds of tensor maps share.
cdef TensorMapDescriptor create_descriptor(
    ViewState view, str kind, int least_rank, object options, EncodeArguments* arguments
):
    cdef TensorMapDescriptor self = TensorMapDescriptor.__new__(TensorMapDescriptor)
    self._alignment = 32 if options.interleave == TensorMapInterleave.INTERLEAVE_32B else 16
    check_memory(view, 16)
    require_tma(self, view)
    self._rank = len(layout_of(view)._shape)
    rules.check_rank(self._rank, least_rank, options.interleave)
    self._view, self._kind, self._swizzle = view, kind, options.swizzle
    self._data_type = find_data_type(view, options.data_type)
    read_arguments(view, self._data_type, options, arguments)
    return self


cdef TensorMapDescriptor make_tiled(ViewState view, object options):
    cdef EncodeArguments arguments
    cdef TensorMapDescriptor self = create_descriptor(view, "tiled", 1, options, &arguments)
    encode_tiled(self.c_map(), &arguments, self._data_type, options)
    return self


# The driver requires an alignment of 64 bytes, but compilers might align a CUtensorMap to 128 bytes.
cdef inline cydriver.CUtensorMap* aligned(char* storage) noexcept:
    return <cydriver.CUtensorMap*>((<uintptr_t>storage + 127) & ~<uintptr_t>127)


def _require_view_device(view, expected_device_id, operation) -> None:
    """Check that device memory is on the expected device.

    Parameters
    ----------
    view : object
        An object with ``__dlpack_device__``. Host memory and managed memory pass the check.
    expected_device_id : int
        The ordinal of the device.
    operation : str
        The operation that needs the memory, for the message.

    Raises
    ------
    ValueError
        If the memory is device memory of another device.
    """
    device_type, device_id = view.__dlpack_device__()
    if device_type == DEVICE_CUDA and device_id != expected_device_id:
        raise ValueError(
            f"{operation} needs memory on the current device, {expected_device_id}, not on device {device_id}"
        )


cdef ViewState view_argument(object view):
    if not isinstance(view, StridedMemoryView):
        raise TypeError(f"view must be a StridedMemoryView, not {type(view).__name__}")
    return view


cdef int check_memory(ViewState view, int alignment) except -1:
    if not view._is_device_accessible:
        raise ValueError("a tensor map needs device-accessible memory, not pageable host memory")
    rules.check_alignment(view._ptr, alignment)
    return 0


cdef int require_context(ContextHandle* h_context) except -1:
    Context_current(h_context)
    if not h_context[0]:
        raise RuntimeError("a tensor map needs a current context; call Device.set_current() first")
    return 0


# The ordinals of devices known to have a tensor memory accelerator.
cdef set _devices_with_tma = set()


cdef int require_tma(TensorMapDescriptor self, ViewState view) except -1:
    require_context(&self._h_context)
    self._device_id = Context_ordinal(self._h_context)
    _require_view_device(view, self._device_id, "as_tensor_map")
    if self._device_id in _devices_with_tma:
        return 0
    capability = Device(self._device_id).compute_capability
    if capability < (9, 0):
        raise RuntimeError(
            f"tensor maps need compute capability 9.0, and device {self._device_id} has "
            f"{capability[0]}.{capability[1]}"
        )
    _devices_with_tma.add(self._device_id)
    return 0


# ---------------------------------------------------------------------------------------------
# Types and options

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


# The TensorMapDataType of `data_type`, or of the view if it is None. ValueError if tensor maps have no such type.
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


# Like find_data_type(), but returns None for less common types.
cdef object find_data_type_fast(ViewState view, object data_type):
    if type(data_type) is TensorMapDataType:
        return data_type
    if data_type is None and view._element.lanes == 1:
        return ELEMENTS.get((view._element.code, view._element.bits))
    dtype = view._dtype if data_type is None else data_type
    return NUMPY_TYPES.get(dtype) if isinstance(dtype, numpy().dtype) else None


# Other packages import it under this name.
_NUMPY_DTYPE_TO_TMA = NUMPY_TYPES


# Returns a member of an enum, for None the one with value 0.
cdef object check_choice(str name, object value, object cls):
    if value is None:
        return cls(0)
    if not isinstance(value, cls):
        raise TypeError(f"{name} must be a {cls.__name__}, not {shown(value)}")
    return value


cdef object checked_integer(str name, object value):
    (number,) = rules.int_tuple(name, (value,))
    return number


# Returns `options`, or options made from the other arguments. TypeError if both are given.
cdef object tile_options(object box_dim, object options, dict choices):
    if options is None:
        if box_dim is None:
            raise TypeError("box_dim is missing; pass it, or options")
        return TensorMapDescriptorOptions(box_dim, **choices)
    if box_dim is not None or any(value is not None and value != 0 for value in choices.values()):
        raise TypeError("options and the other arguments are mutually exclusive; pass options, or box_dim and the rest")
    if isinstance(options, dict):
        known = set(TensorMapDescriptorOptions.__match_args__)
        if not options.keys() <= known:
            raise TypeError(f"unknown tensor map options: {', '.join(sorted(map(shown, options.keys() - known)))}")
        return TensorMapDescriptorOptions(**options)
    if not isinstance(options, TensorMapDescriptorOptions):
        raise TypeError(f"options must be a TensorMapDescriptorOptions or a dict, not {type(options).__name__}")
    TensorMapDescriptorOptions._check(options)
    return options


# The value of an enum member, 0 for None, or -1 for anything else.
cdef inline int enum_value(object value, object cls) except -2:
    return 0 if value is None else <int>value if type(value) is cls else -1


# ---------------------------------------------------------------------------------------------
# Encoding

cdef uint64_t MAX_EXTENT = rules.MAX_EXTENT
cdef uint64_t MAX_PITCH = rules.MAX_PITCH
cdef uint32_t MAX_TILE = rules.MAX_TILE
cdef uint64_t MAX_BYTES = rules.MAX_BYTES
cdef int[13] ITEM_SIZES
cdef uint32_t[4] SPANS
for _at, _size in enumerate(rules.ITEM_SIZES):
    ITEM_SIZES[_at] = _size
for _at, _size in enumerate(rules.SPANS):
    SPANS[_at] = _size or 0


# The fast path for common tiles: `box_dim` is a tuple of ints, the elements are contiguous, without interleaving and
# fill. False for others and for invalid arguments.
cdef bint read_tiled_fast(
    ViewState view, int data_type, tuple box_dim, const EnumValues* enums, EncodeArguments* arguments,
    uint32_t* c_tile,
) except -1:
    cdef uint32_t itemsize = ITEM_SIZES[data_type]
    memset(arguments, 0, sizeof(EncodeArguments))
    if enums.interleave or enums.fill or not read_extents_fast(arguments, layout_of(view), itemsize):
        return False
    if not read_tile_fast(c_tile, box_dim, arguments.rank, itemsize, SPANS[enums.swizzle]):
        return False
    arguments.pointer = <void*>view._ptr
    arguments.data_type = <cydriver.CUtensorMapDataType>data_type
    arguments.swizzle = <cydriver.CUtensorMapSwizzle>enums.swizzle
    arguments.promotion = <cydriver.CUtensorMapL2promotion>enums.promotion
    return True


# Sets extents, pitches and steps in the driver's order of axes. False if the complete checks must decide.
cdef bint read_extents_fast(EncodeArguments* arguments, _StridedLayout layout, int itemsize) except -1:
    cdef tuple strides = layout._strides
    cdef Py_ssize_t rank = len(layout._shape)
    cdef Py_ssize_t i
    cdef int64_t extent
    cdef int64_t stride
    cdef int64_t dense = 1
    if not 1 <= rank <= 5:
        return False
    arguments.rank = rank
    for i in range(rank):
        extent = layout._shape[rank - 1 - i]
        stride = dense if strides is None else <int64_t>strides[rank - 1 - i]
        if extent < 2 or <uint64_t>extent > MAX_EXTENT or stride < 0 or <uint64_t>stride >= MAX_PITCH:
            return False
        if i == 0:
            if stride != 1:
                return False
        else:
            arguments.pitches[i - 1] = <uint64_t>stride * itemsize
            if arguments.pitches[i - 1] % 16 or arguments.pitches[i - 1] >= MAX_PITCH:
                return False
        arguments.extents[i] = extent
        arguments.steps[i] = 1
        dense *= extent
    return True


cdef bint read_tile_fast(
    uint32_t* c_tile, tuple box_dim, uint32_t rank, uint32_t itemsize, uint32_t span
) except -1:
    cdef Py_ssize_t i
    cdef int overflow = 0
    cdef long extent
    cdef uint64_t size = itemsize
    if <uint32_t>len(box_dim) != rank:
        return False
    for i in range(rank):
        entry = box_dim[rank - 1 - i]
        if type(entry) is not int:
            return False
        extent = PyLong_AsLongAndOverflow(entry, &overflow)
        if overflow or not 1 <= extent <= <long>MAX_TILE:
            return False
        c_tile[i] = extent
        size *= extent
    return (
        c_tile[0] * itemsize % 16 == 0 and (span == 0 or c_tile[0] * itemsize <= span) and size <= MAX_BYTES
    )


# Checks and sets the arguments that all kinds of tensor maps share. `options` are already valid.
cdef int read_arguments(ViewState view, object data_type, object options, EncodeArguments* arguments) except -1:
    cdef _StridedLayout layout = layout_of(view)
    cdef int i
    rules.check_interleave(options.interleave, options.swizzle, view._ptr)
    rules.check_fill(options.oob_fill, data_type)
    extents = rules.tensor_extents(layout._shape)
    pitches = rules.pitches_of(layout._shape, layout.explicit_strides(), data_type, options.interleave)
    steps = rules.check_steps(options.element_strides, len(extents))
    memset(arguments, 0, sizeof(EncodeArguments))
    arguments.pointer = <void*>view._ptr
    arguments.rank = len(extents)
    arguments.data_type = <cydriver.CUtensorMapDataType><int>data_type
    for i in range(len(extents)):
        arguments.extents[i] = extents[i]
        arguments.steps[i] = steps[i]
    for i in range(len(pitches)):
        arguments.pitches[i] = pitches[i]
    arguments.interleave = <cydriver.CUtensorMapInterleave><int>options.interleave
    arguments.swizzle = <cydriver.CUtensorMapSwizzle><int>options.swizzle
    arguments.promotion = <cydriver.CUtensorMapL2promotion><int>options.l2_promotion
    arguments.fill = <cydriver.CUtensorMapFloatOOBfill><int>options.oob_fill
    return 0


cdef int encode_tiled(
    cydriver.CUtensorMap* c_map, const EncodeArguments* arguments, object data_type, object options
) except -1:
    cdef uint32_t[5] c_tile
    cdef int i
    tile = rules.tile_of(options.box_dim, arguments.rank, data_type, options.interleave, options.swizzle)
    count = 1
    for i in range(len(tile)):
        c_tile[i] = tile[i]
        count *= tile[i] // arguments.steps[i]
    rules.check_bytes("box_dim", count, data_type)
    return encode_tile(c_map, arguments, c_tile)


cdef int encode_tile(cydriver.CUtensorMap* c_map, const EncodeArguments* arguments, const uint32_t* c_tile) except -1:
    with nogil:
        HANDLE_RETURN(
            cydriver.cuTensorMapEncodeTiled(
                c_map, arguments.data_type, arguments.rank, arguments.pointer,
                <const cydriver.cuuint64_t*>arguments.extents, <const cydriver.cuuint64_t*>arguments.pitches,
                c_tile, arguments.steps, arguments.interleave, arguments.swizzle, arguments.promotion, arguments.fill,
            ),
            b"cuTensorMapEncodeTiled",
        )
    return 0


cdef int encode_im2col(
    cydriver.CUtensorMap* c_map, const EncodeArguments* arguments, object data_type, object options,
    tuple lower, tuple upper, object channels, object pixels,
) except -1:
    cdef int[3] c_lower
    cdef int[3] c_upper
    cdef uint32_t c_channels
    cdef uint32_t c_pixels
    cdef int i
    rules.check_channels(channels, pixels, data_type, options.interleave, options.swizzle)
    lower, upper = rules.check_corners(encoded_shape(arguments), lower, upper, options.interleave)
    c_channels, c_pixels = channels, pixels
    for i in range(len(lower)):
        c_lower[i], c_upper[i] = lower[i], upper[i]
    with nogil:
        HANDLE_RETURN(
            cydriver.cuTensorMapEncodeIm2col(
                c_map, arguments.data_type, arguments.rank, arguments.pointer,
                <const cydriver.cuuint64_t*>arguments.extents, <const cydriver.cuuint64_t*>arguments.pitches,
                c_lower, c_upper, c_channels, c_pixels, arguments.steps,
                arguments.interleave, arguments.swizzle, arguments.promotion, arguments.fill,
            ),
            b"cuTensorMapEncodeIm2col",
        )
    return 0


cdef int encode_im2col_wide(
    cydriver.CUtensorMap* c_map, const EncodeArguments* arguments, object data_type, object options,
    object lower, object upper, object channels, object pixels, object mode,
) except -1:
    cdef cydriver.CUtensorMapIm2ColWideMode c_mode = <cydriver.CUtensorMapIm2ColWideMode><int>mode
    cdef uint32_t c_channels
    cdef uint32_t c_pixels
    cdef int c_lower
    cdef int c_upper
    rules.check_channels(channels, pixels, data_type, options.interleave, options.swizzle)
    rules.check_wide(encoded_shape(arguments), lower, upper, options.swizzle)
    c_channels, c_pixels, c_lower, c_upper = channels, pixels, lower, upper
    with nogil:
        # New in CUDA 12.8; for an older driver, the call raises RuntimeError.
        HANDLE_RETURN(
            cydriver.cuTensorMapEncodeIm2colWide(
                c_map, arguments.data_type, arguments.rank, arguments.pointer,
                <const cydriver.cuuint64_t*>arguments.extents, <const cydriver.cuuint64_t*>arguments.pitches,
                c_lower, c_upper, c_channels, c_pixels, arguments.steps,
                arguments.interleave, c_mode, arguments.swizzle, arguments.promotion, arguments.fill,
            ),
            b"cuTensorMapEncodeIm2colWide",
        )
    return 0


# The extents in the view's order of axes.
cdef tuple encoded_shape(const EncodeArguments* arguments):
    return tuple([arguments.extents[arguments.rank - 1 - i] for i in range(arguments.rank)])


cdef int write_tensor_map(PyObject* argument, size_t natural_size, char* target, size_t size) except -1:
    cdef TensorMapDescriptor self = <TensorMapDescriptor>argument
    if size != sizeof(cydriver.CUtensorMap):
        return WRONG_SIZE
    with cython.critical_section(self):
        memcpy(target, self.c_map(), sizeof(cydriver.CUtensorMap))
    return FITS


register_argument_type(TensorMapDescriptor, &write_tensor_map, sizeof(cydriver.CUtensorMap))
slots.register("tensor map", tensor_map_of)
check_self_in_methods(globals())

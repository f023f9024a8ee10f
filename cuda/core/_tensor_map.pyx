# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# cython: annotation_typing=False
"""Tensor maps: descriptors of tensors in global memory for the tensor memory accelerator (TMA)."""

from __future__ import annotations

cimport cython
from libc.stdint cimport uint32_t, uintptr_t
from libc.string cimport memcpy

from cpython.object cimport PyObject

from cuda.core._arrays._view_state cimport ViewState, layout_of
from cuda.core._arrays.tensor_maps._encoding cimport (
    EncodeArguments,
    EnumValues,
    encode_im2col,
    encode_im2col_wide,
    encode_tile,
    encode_tiled,
    read_arguments,
    read_tiled_fast,
)
from cuda.core._arrays.tensor_maps._options cimport (
    check_choice,
    enum_value,
    find_data_type,
    find_data_type_fast,
    int_argument,
    tile_options,
)
from cuda.core._context cimport Context_current, Context_ordinal
from cuda.core._dlpack cimport DEVICE_CUDA
from cuda.core._handles._driver_object cimport refuse_pickle
from cuda.core._handles._handles cimport ContextHandle
from cuda.core._launch._arguments cimport FITS, WRONG_SIZE, register_argument_type
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport make_hasattr_safe
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN

from cuda.core._arrays.tensor_maps import _rules as rules
from cuda.core._arrays.tensor_maps._options import (
    NUMPY_TYPES,
    TensorMapDataType,
    TensorMapDescriptorOptions,
    TensorMapIm2ColWideMode,
    TensorMapInterleave,
    TensorMapL2Promotion,
    TensorMapOOBFill,
    TensorMapSwizzle,
)
from cuda.core._handles import _late
from cuda.core._memoryview import StridedMemoryView
from cuda.core._utils.signatures import ConstructorSignature

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


cdef class TensorMapDescriptor:
    """A tensor map (``CUtensorMap``): 128 bytes that describe a tensor to the tensor memory accelerator (TMA).

    A descriptor cannot be constructed directly:
    :meth:`StridedMemoryView.as_tensor_map() <cuda.core.utils.StridedMemoryView.as_tensor_map>` returns one. Pass it to
    :func:`launch` for a parameter of type ``const __grid_constant__ CUtensorMap``; the kernel gets a copy. A descriptor
    keeps its view, and so the memory, alive. Keep the descriptor until the kernels that use it have completed. Needs
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
        """Replace the address of the tensor; shape, strides and type stay (``cuTensorMapReplaceAddress``).

        Kernels launched before have a copy of the descriptor with the old address.

        Parameters
        ----------
        tensor : StridedMemoryView | Buffer | object
            The new memory: a view, or an object with DLPack or the CUDA array interface. Its shape, strides and type
            are ignored.

        Raises
        ------
        ValueError
            If the device cannot access the memory, it is on another device, or its address is not a multiple of 16
            bytes (32 bytes with 32-byte interleaving).
        BufferError
            If ``tensor`` has neither protocol.
        RuntimeError
            If no context is current, or not the one that the descriptor was created in.
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
        channels = int_argument("channels_per_pixel", channels_per_pixel)
        pixels = int_argument("pixels_per_column", pixels_per_column)
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
        """Create a tensor map for im2col copies along W (``cuTensorMapEncodeIm2colWide``); compute capability 10.0."""
        cdef ViewState state = view_argument(view)
        lower = int_argument("pixel_box_lower_corner_width", pixel_box_lower_corner_width)
        upper = int_argument("pixel_box_upper_corner_width", pixel_box_upper_corner_width)
        channels = int_argument("channels_per_pixel", channels_per_pixel)
        pixels = int_argument("pixels_per_column", pixels_per_column)
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
        return _late.device_of(self._device_id)

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


cdef tuple CHOICES = ("element_strides", "data_type", "interleave", "swizzle", "l2_promotion", "oob_fill")
cdef tuple NO_CHOICES = (None,) * 6


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


# Other packages import it under this name.
_NUMPY_DTYPE_TO_TMA = NUMPY_TYPES


# ---------------------------------------------------------------------------------------------
# Arguments

cdef ViewState view_argument(object view):
    if not isinstance(view, StridedMemoryView):
        raise TypeError(f"view must be a StridedMemoryView, not {type(view).__name__}")
    return view


cdef int check_memory(ViewState view, int alignment) except -1:
    if not view._is_device_accessible:
        raise ValueError("a tensor map needs device-accessible memory, not pageable host memory")
    rules.check_address(view._ptr, alignment)
    return 0


cdef int require_context(ContextHandle* h_context) except -1:
    Context_current(h_context)
    if not h_context[0]:
        raise RuntimeError("a tensor map needs a current context; call Device.set_current() first")
    return 0


# The ordinals of devices that are known to have a tensor memory accelerator.
cdef set _devices_with_tma = set()


cdef int require_tma(TensorMapDescriptor self, ViewState view) except -1:
    require_context(&self._h_context)
    self._device_id = Context_ordinal(self._h_context)
    _require_view_device(view, self._device_id, "as_tensor_map")
    if self._device_id in _devices_with_tma:
        return 0
    capability = _late.device_of(self._device_id).compute_capability
    if capability < (9, 0):
        raise RuntimeError(
            f"tensor maps need compute capability 9.0, and device {self._device_id} has "
            f"{capability[0]}.{capability[1]}"
        )
    _devices_with_tma.add(self._device_id)
    return 0


# ---------------------------------------------------------------------------------------------
# Creation

# The fast path: a tiled descriptor with common arguments; None if the arguments need the complete checks.
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


# The driver requires an alignment of 64 bytes; the type CUtensorMap may have an alignment of 128 bytes.
cdef inline cydriver.CUtensorMap* aligned(char* storage) noexcept:
    return <cydriver.CUtensorMap*>((<uintptr_t>storage + 127) & ~<uintptr_t>127)


# ---------------------------------------------------------------------------------------------
# Launches

cdef int write_tensor_map(PyObject* argument, size_t natural_size, char* target, size_t size) except -1:
    cdef TensorMapDescriptor self = <TensorMapDescriptor>argument
    if size != sizeof(cydriver.CUtensorMap):
        return WRONG_SIZE
    with cython.critical_section(self):
        memcpy(target, self.c_map(), sizeof(cydriver.CUtensorMap))
    return FITS


register_argument_type(TensorMapDescriptor, &write_tensor_map, sizeof(cydriver.CUtensorMap))
make_hasattr_safe(TensorMapDescriptor)

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""CUDA arrays, and copies to and from them."""

from __future__ import annotations

import operator

import numpy

from cuda.core._classic import shown
from cuda.core.driver._checks import host_memory, ndarray_argument, numpy_dtype
from cuda.core.driver._constants import array3d_flags, array_format
from cuda.core.driver._context import classic_member, context_for
from cuda.core.driver._copies import Memcpy2D, Memcpy3D
from cuda.core.driver._device_memory import as_pointer
from cuda.core.driver._errors import INVALID_HANDLE, INVALID_VALUE, call, logic_error, translated
from cuda.core.texture import OpaqueArrayOptions

__all__ = [
    "Array",
    "ArrayDescriptor",
    "ArrayDescriptor3D",
    "dtype_to_array_format",
    "gpuarray_to_array",
    "make_multichannel_2d_array",
    "matrix_to_array",
    "memcpy_atoa",
    "memcpy_atod",
    "memcpy_atoh",
    "memcpy_dtoa",
    "memcpy_htoa",
    "np_to_array",
    "py_memcpy_atoh",
    "py_memcpy_htoa",
]


class _Record:
    """Base class of descriptors, whose fields are ints initialized to 0."""

    _fields = ()

    def __init__(self):
        for name in self._fields:
            setattr(self, name, 0)

    def __repr__(self):
        values = ", ".join(f"{name}={getattr(self, name)}" for name in self._fields)
        return f"<cuda.core.driver.{type(self).__name__} {values}>"


class ArrayDescriptor(_Record):
    """Descriptor of a two-dimensional :class:`Array`.

    Attributes
    ----------
    width, height : int
        The dimensions in elements. An array with a height of 0 is one-dimensional.
    format : array_format
        The data type of a channel.
    num_channels : int
        The number of channels per element: 1, 2 or 4.
    """

    _fields = ("width", "height", "format", "num_channels")


class ArrayDescriptor3D(_Record):
    """Descriptor of an :class:`Array` with up to three dimensions.

    Attributes
    ----------
    width, height, depth : int
        The dimensions in elements, with 0 for missing dimensions. The depth of a layered array is its number of layers.
    format : array_format
        The data type of a channel.
    num_channels : int
        The number of channels per element: 1, 2 or 4.
    flags : int
        A combination of :data:`array3d_flags`.
    """

    _fields = ("width", "height", "depth", "format", "num_channels", "flags")


FORMATS = {
    array_format.UNSIGNED_INT8: "uint8",
    array_format.UNSIGNED_INT16: "uint16",
    array_format.UNSIGNED_INT32: "uint32",
    array_format.SIGNED_INT8: "int8",
    array_format.SIGNED_INT16: "int16",
    array_format.SIGNED_INT32: "int32",
    array_format.HALF: "float16",
    array_format.FLOAT: "float32",
}


class Array:
    """A CUDA array (``CUarray``), destroyed once nothing refers to it.

    Parameters
    ----------
    descriptor : :class:`ArrayDescriptor` | :class:`ArrayDescriptor3D`
        The dimensions, the format and the number of channels. Later changes to the descriptor have no effect.

    Raises
    ------
    LogicError
        If the device does not support such an array, or no context is current.
    TypeError
        If ``descriptor`` is not a descriptor.
    """

    def __init__(self, descriptor: ArrayDescriptor | ArrayDescriptor3D):
        if not isinstance(descriptor, _Record):
            raise TypeError(f"descriptor must be an ArrayDescriptor, not {type(descriptor).__name__}")
        context = context_for("cuArrayCreate")
        self._fields = {name: operator.index(getattr(descriptor, name)) for name in descriptor._fields}
        self._array = _create(context, self._fields)
        self._context = context
        context._objects.add(self)

    def __repr__(self):
        return f"<cuda.core.driver.Array {self._array!r}>"

    def free(self) -> None:
        """Destroy the array now (``cuArrayDestroy``).

        Raises
        ------
        LogicError
            If the array was freed before, or its context is detached.
        """
        array_of(self, "cuArrayDestroy").close()

    def get_descriptor(self) -> ArrayDescriptor:
        """Return a new :class:`ArrayDescriptor` of the array, or raise LogicError if the array was freed."""
        return self._describe(ArrayDescriptor())

    def get_descriptor_3d(self) -> ArrayDescriptor3D:
        """Return a new :class:`ArrayDescriptor3D` of the array, or raise LogicError if the array was freed."""
        return self._describe(ArrayDescriptor3D())

    @property
    def handle(self) -> int:
        """The ``CUarray`` as an int.

        Raises
        ------
        LogicError
            If the array was freed, or its context is detached.
        """
        return array_of(self, "the array").handle

    def _pin(self):
        return array_of(self, "the array")._pin()

    def _describe(self, descriptor):
        array_of(self, "cuArrayGetDescriptor")
        for name in descriptor._fields:
            setattr(descriptor, name, self._fields.get(name, 0))
        descriptor.format = array_format(descriptor.format)
        return descriptor

    def _invalidate(self) -> None:
        self._array.close()


def wrapped_array(inner, context) -> Array:
    """Return a non-owning :class:`Array` for a :mod:`cuda.core` array."""
    array = Array.__new__(Array)
    kind = next(format_ for format_, name in FORMATS.items() if name == inner.format)
    extents = dict(zip(("width", "height", "depth"), inner.shape, strict=False))
    array._fields = {**extents, "format": int(kind), "num_channels": inner.num_channels, "flags": 0}
    array._array = inner
    array._context = context
    context._objects.add(array)
    return array


@translated
def _create(context, fields: dict):
    kind = FORMATS[classic_member(array_format, fields["format"], "cuArrayCreate")]
    flags = fields.get("flags", 0)
    extents = (fields["width"], fields["height"], fields.get("depth", 0))
    try:
        options = OpaqueArrayOptions(
            shape=tuple(extent for extent in extents if extent),
            format=kind,
            num_channels=fields["num_channels"],
            is_layered=bool(flags & array3d_flags.ARRAY3D_LAYERED),
            is_surface_load_store=bool(flags & array3d_flags.SURFACE_LDST),
            is_cubemap=bool(flags & array3d_flags.CUBEMAP),
            is_texture_gather=bool(flags & array3d_flags.TEXTURE_GATHER),
        )
    except ValueError as error:
        raise logic_error("cuArrayCreate", INVALID_VALUE, str(error)) from None
    context._make_current()
    return context._device._core.create_opaque_array(options)


def array_of(array: Array, api: str):
    """Return the :mod:`cuda.core` array of an :class:`Array`, or raise LogicError if it was freed."""
    if not isinstance(array, Array):
        raise TypeError(f"array must be an Array, not {type(array).__name__}")
    if array._array.is_closed:
        raise logic_error(api, INVALID_HANDLE, "the array was freed, or its context is detached")
    return array._array


def dtype_to_array_format(dtype) -> array_format:
    """Return the array format for a NumPy data type.

    Parameters
    ----------
    dtype : dtype
        A type of 8, 16 or 32 bits.

    Raises
    ------
    TypeError
        If CUDA arrays do not support the type.
    """
    name = numpy_dtype(dtype).name
    for format_, known in FORMATS.items():
        if known == name:
            return format_
    raise TypeError(f"CUDA arrays do not support elements of type {name}")


def matrix_to_array(matrix: numpy.ndarray, order: str, allow_double_hack: bool = False) -> Array:
    """Return a new two-dimensional array with a copy of a matrix.

    Parameters
    ----------
    matrix : numpy.ndarray
        A two-dimensional array.
    order : str
        ``"C"`` if the width of the array is ``matrix.shape[1]``, or ``"F"`` if it is ``matrix.shape[0]``.
    allow_double_hack : bool, optional
        Whether to accept float64, which is stored as two channels of int32. Defaults to False.

    Raises
    ------
    LogicError
        If the matrix is not two-dimensional, or ``order`` is neither ``"C"`` nor ``"F"``.
    TypeError
        If CUDA arrays do not support the data type.
    """
    matrix = ndarray_argument("matrix", matrix)
    if matrix.ndim != 2:
        raise logic_error("matrix_to_array", INVALID_VALUE, f"matrix must have 2 dimensions, not {matrix.ndim}")
    if matrix.dtype == numpy.float64 and not allow_double_hack:
        dtype_to_array_format(matrix.dtype)
    return np_to_array(matrix, order)


def np_to_array(nparray: numpy.ndarray, order: str, allowSurfaceBind: bool = False) -> Array:
    """Return a new array with a copy of a two- or three-dimensional NumPy array, ``(depth, height, width)``.

    Elements of 64 and 128 bits are stored as two and four channels of int32, respectively.

    Parameters
    ----------
    nparray : numpy.ndarray
        The array to copy.
    order : str
        ``"C"``, or ``"F"`` if the first dimension is the width.
    allowSurfaceBind : bool, optional
        Whether surfaces can be created on the array. This makes a two-dimensional array layered. Defaults to False.

    Raises
    ------
    LogicError
        If ``order`` is neither ``"C"`` nor ``"F"``, or the array has another number of dimensions.
    TypeError
        If ``nparray`` is not a NumPy array, or CUDA arrays do not support its data type.
    """
    nparray = ndarray_argument("nparray", nparray)
    array, layout = _new_array_for(nparray, order, allowSurfaceBind)
    _fill_array(array, layout, lambda copy: copy.set_src_host(layout))
    return array


def gpuarray_to_array(gpuarray, order: str, allowSurfaceBind: bool = False) -> Array:
    """Return a new array with a copy of a GPUArray. See :func:`np_to_array` for the other parameters.

    Parameters
    ----------
    gpuarray : GPUArray
        The array to copy.

    Raises
    ------
    LogicError
        If ``order`` is neither ``"C"`` nor ``"F"``, or the GPUArray is not contiguous in this order or has another
        number of dimensions.
    TypeError
        If ``gpuarray`` is not a GPUArray, or CUDA arrays do not support its data type.
    """
    if not hasattr(gpuarray, "gpudata"):
        raise TypeError(f"gpuarray must be a GPUArray, not {type(gpuarray).__name__}")
    shown = numpy.lib.stride_tricks.as_strided(numpy.empty(0, gpuarray.dtype), gpuarray.shape, (0,) * gpuarray.ndim)
    array, _ = _new_array_for(shown, order, allowSurfaceBind, is_copied=False)
    flags = gpuarray.flags
    if not (flags.c_contiguous if order == "C" else flags.f_contiguous):
        raise logic_error("gpuarray_to_array", INVALID_VALUE, f"the GPUArray must be contiguous in {order} order")
    _fill_array(array, shown if order == "C" else shown.T, lambda copy: copy.set_src_device(as_pointer(gpuarray)))
    return array


def make_multichannel_2d_array(ndarray: numpy.ndarray, order: str) -> Array:
    """Return a new two-dimensional array with several channels, and with a copy of a NumPy array.

    Parameters
    ----------
    ndarray : numpy.ndarray
        An array of shape ``(height, width, channels)`` for ``"C"``, or ``(channels, width, height)`` for ``"F"``.
    order : str
        ``"C"`` or ``"F"``.

    Raises
    ------
    LogicError
        If ``order`` is neither ``"C"`` nor ``"F"``, or the array does not have three dimensions.
    """
    layout = _in_order("make_multichannel_2d_array", ndarray, order, (3,))
    height, width, channels = layout.shape
    descriptor = ArrayDescriptor()
    descriptor.width, descriptor.height, descriptor.num_channels = width, height, channels
    descriptor.format = dtype_to_array_format(ndarray.dtype)
    array = Array(descriptor)
    rows = layout.reshape(height, width * channels)
    _fill_array(array, rows, lambda copy: copy.set_src_host(rows))
    return array


# Data types that are stored as several channels of int32, and the number of channels.
_SPLIT = {"float64": 2, "complex64": 2, "complex128": 4, "int64": 2, "uint64": 2}


def _in_order(api: str, array: numpy.ndarray, order: str, dimensions: tuple, is_copied: bool = True) -> numpy.ndarray:
    if not (isinstance(order, str) and order in ("C", "F")):
        raise logic_error(api, INVALID_VALUE, f"order must be 'C' or 'F', not {shown(order)}")
    if array.ndim not in dimensions:
        accepted = " or ".join(map(str, dimensions))
        raise logic_error(api, INVALID_VALUE, f"the array must have {accepted} dimensions, not {array.ndim}")
    turned = array if order == "C" else array.T
    return numpy.ascontiguousarray(turned) if is_copied else turned


def _new_array_for(nparray, order, has_surfaces: bool, is_copied: bool = True):
    layout = _in_order("np_to_array", nparray, order, (2, 3), is_copied)
    channels = _SPLIT.get(nparray.dtype.name)
    descriptor = ArrayDescriptor3D()
    descriptor.width, descriptor.height = layout.shape[-1], layout.shape[-2]
    descriptor.depth = layout.shape[0] if layout.ndim == 3 else 1 if has_surfaces else 0
    descriptor.format = array_format.SIGNED_INT32 if channels else dtype_to_array_format(nparray.dtype)
    descriptor.num_channels = channels or 1
    if has_surfaces:
        layered = array3d_flags.ARRAY3D_LAYERED if layout.ndim == 2 else 0
        descriptor.flags = array3d_flags.SURFACE_LDST | layered
    return Array(descriptor), layout


def _fill_array(array: Array, layout: numpy.ndarray, set_source) -> None:
    copy = Memcpy3D() if layout.ndim == 3 or array._fields.get("depth") else Memcpy2D()
    set_source(copy)
    copy.set_dst_array(array)
    copy.width_in_bytes = copy.src_pitch = layout.shape[-1] * layout.dtype.itemsize
    copy.height = layout.shape[-2]
    if isinstance(copy, Memcpy3D):
        copy.src_height = copy.height
        copy.depth = layout.shape[0] if layout.ndim == 3 else 1
    copy()


def memcpy_dtoa(ary: Array, index: int, src, len: int) -> None:
    """Copy device memory to a one-dimensional array (``cuMemcpyDtoA``).

    Parameters
    ----------
    ary : :class:`Array`
        The destination.
    index : int
        The offset in the destination, in bytes.
    src : int | :class:`DeviceAllocation` | :class:`GPUArray`
        The source.
    len : int
        The number of bytes.

    Raises
    ------
    LogicError
        If the driver rejects the range, the array was freed, or no context is current.
    """
    call("cuMemcpyDtoA", _native(ary, "cuMemcpyDtoA"), operator.index(index), as_pointer(src), operator.index(len))


def memcpy_atod(dest, ary: Array, index: int, len: int) -> None:
    """Copy a one-dimensional array to device memory (``cuMemcpyAtoD``).

    Parameters
    ----------
    dest : int | :class:`DeviceAllocation` | :class:`GPUArray`
        The destination.
    ary : :class:`Array`
        The source.
    index : int
        The offset in the source, in bytes.
    len : int
        The number of bytes.

    Raises
    ------
    LogicError
        As for :func:`memcpy_dtoa`.
    """
    call("cuMemcpyAtoD", as_pointer(dest), _native(ary, "cuMemcpyAtoD"), operator.index(index), operator.index(len))


def memcpy_htoa(ary: Array, index: int, src) -> None:
    """Copy a host buffer to a one-dimensional array (``cuMemcpyHtoA``).

    Parameters
    ----------
    ary : :class:`Array`
        The destination.
    index : int
        The offset in the destination, in bytes.
    src : buffer
        The source: bytes, or an array contiguous in C or F order. All of its bytes are copied.

    Raises
    ------
    LogicError
        As for :func:`memcpy_dtoa`.
    ValueError
        If the source is not contiguous.
    """
    address, size = host_memory(src)
    call("cuMemcpyHtoA", _native(ary, "cuMemcpyHtoA"), operator.index(index), address, size)


def memcpy_atoh(dest, ary: Array, index: int) -> None:
    """Copy a one-dimensional array to a host buffer (``cuMemcpyAtoH``).

    Parameters
    ----------
    dest : buffer
        The destination: an array contiguous in C or F order. All of its bytes are written.
    ary : :class:`Array`
        The source.
    index : int
        The offset in the source, in bytes.

    Raises
    ------
    LogicError
        As for :func:`memcpy_dtoa`.
    ValueError
        If the destination is not contiguous, or is read-only.
    """
    address, size = host_memory(dest, is_written=True)
    call("cuMemcpyAtoH", address, _native(ary, "cuMemcpyAtoH"), operator.index(index), size)


def memcpy_atoa(dest: Array, dest_index: int, src: Array, src_index: int, len: int) -> None:
    """Copy between one-dimensional arrays (``cuMemcpyAtoA``).

    Parameters
    ----------
    dest, src : :class:`Array`
        The destination and the source.
    dest_index, src_index : int
        The offsets in the destination and in the source, in bytes.
    len : int
        The number of bytes.

    Raises
    ------
    LogicError
        As for :func:`memcpy_dtoa`.
    """
    to, from_ = _native(dest, "cuMemcpyAtoA"), _native(src, "cuMemcpyAtoA")
    call("cuMemcpyAtoA", to, operator.index(dest_index), from_, operator.index(src_index), operator.index(len))


py_memcpy_htoa = memcpy_htoa
py_memcpy_atoh = memcpy_atoh


def _native(array: Array, api: str):
    context_for(api)
    return array_of(array, api)

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies between host and device arrays, and between device arrays of any layout and data type."""

from __future__ import annotations

import warnings

import numpy as np

from cuda.core._classic import shown
from cuda.core.driver._array_base import ArrayBase, check_on_device, overlap, stream_for
from cuda.core.driver._array_layout import (
    broadcast_shape,
    broadcast_strides,
    element_count,
    kept_order_strides,
)
from cuda.core.driver._copies import (
    memcpy_dtod_async,
    memcpy_dtoh,
    memcpy_dtoh_async,
    memcpy_htod,
    memcpy_htod_async,
    memset_d8_async,
    memset_d16_async,
    memset_d32_async,
)
from cuda.core.driver._host_memory import pagelocked_empty
from cuda.core.driver._kernels import Elementwise, Operand
from cuda.core.driver._streams import core_stream

__all__ = ["assign", "convert_array", "download", "fill_elements", "host_layout", "upload", "word_dtype"]

_MEMSETS = {1: memset_d8_async, 2: memset_d16_async, 4: memset_d32_async}


# The largest elements that are passed to a kernel by value.
MAX_BYTES_BY_VALUE = 1024


def check_host_array(ary, array: ArrayBase) -> None:
    """Raise TypeError or ValueError unless an object is a host array with as many elements as a device array."""
    if not isinstance(ary, np.ndarray):
        raise TypeError(f"ary must be a numpy.ndarray, not {type(ary).__name__}")
    if ary.size != array.size:
        raise ValueError(f"ary must have {array.size} elements like the array, got {ary.size}")


def upload(target: ArrayBase, ary: np.ndarray, is_async: bool = False, stream=None) -> None:
    """Copy a host array to a device array of the same size and data type.

    Raises
    ------
    TypeError
        If ``ary`` is not an ndarray.
    ValueError
        If ``ary`` has another size or data type.

    Warns
    -----
    UserWarning
        If ``ary`` has another shape.
    """
    check_host_array(ary, target)
    if ary.dtype != target.dtype:
        raise ValueError(f"ary must have elements of type {target.dtype} like the array, got {ary.dtype}")
    target._check_open()
    if ary.shape != target.shape:
        warnings.warn(f"ary has shape {ary.shape}, but the array has {target.shape}", UserWarning, stacklevel=3)
        ary = ary.reshape(target.shape)
    if target.size == 0:
        return
    if not is_gapless(target):
        staged = target._new(target.shape, target.dtype)
        upload(staged, ary, is_async, stream)
        convert_array(staged, target, stream)
        return
    if ary.strides != target.strides or not ary.flags.forc:
        host, flat = host_layout(target.shape, target.strides, ary.dtype)
        host[...] = ary
    else:
        flat = ary
    stream_for(stream, target)
    if is_async:
        memcpy_htod_async(target._address, flat, stream)
    elif stream is not None:
        memcpy_htod_async(target._address, flat, stream)
        core_stream(stream).sync()
    else:
        memcpy_htod(target._address, flat)


def download(source: ArrayBase, ary=None, pagelocked: bool = False, is_async: bool = False, stream=None):
    """Copy a device array to the host, and return the host array.

    Raises
    ------
    TypeError
        If ``ary`` is not an ndarray, or has another data type.
    ValueError
        If ``ary`` has another size.

    Warns
    -----
    DeprecationWarning
        If ``ary`` has another shape.
    """
    source._check_open()
    result = ary
    if ary is not None:
        check_host_array(ary, source)
        if ary.dtype != source.dtype:
            raise TypeError(f"ary must have elements of type {source.dtype} like the array, got {ary.dtype}")
        if ary.shape != source.shape:
            text = f"ary has shape {ary.shape}, but the array has {source.shape}; this will become an error"
            warnings.warn(text, DeprecationWarning, stacklevel=3)
            source = source.reshape(ary.shape)
    if source.size == 0:
        return np.empty(source.shape, source.dtype) if ary is None else ary
    if ary is not None and ary.flags.forc and not (is_gapless(source) and source.strides == ary.strides):
        source = copy_of(source, "C" if ary.flags.c_contiguous else "F", stream)
    elif not is_gapless(source):
        source = copy_of(source, "K", stream)
    if ary is None:
        result, flat = host_layout(source.shape, source.strides, source.dtype, pagelocked)
    elif ary.flags.forc:
        flat = ary
    else:
        host, flat = host_layout(source.shape, source.strides, source.dtype)
    stream_for(stream, source)
    if is_async or stream is not None:
        memcpy_dtoh_async(flat, source._address, stream)
        if not is_async or (ary is not None and flat is not ary):
            core_stream(stream).sync()
    else:
        memcpy_dtoh(flat, source._address)
    if ary is not None and flat is not ary:
        ary[...] = host
    return result


def host_layout(shape, strides, dtype, pagelocked: bool = False):
    """Return a new contiguous host array with the given order of strides, and the flat array that backs it."""
    size = element_count(shape)
    flat = pagelocked_empty(size, dtype) if pagelocked and size else np.empty(size, dtype)
    order = sorted(range(len(shape)), key=lambda axis: (-strides[axis], axis))
    host = flat.reshape([shape[axis] for axis in order])
    return host.transpose(np.argsort(order)) if len(shape) > 1 else host, flat


def is_gapless(array: ArrayBase) -> bool:
    """Return whether the elements are contiguous in any order of axes."""
    if array._is_c or array._is_f:
        return True
    return kept_order_strides(array.shape, array.strides, array.dtype.itemsize) == array.strides


def copy_of(source: ArrayBase, order: str = "K", stream=None) -> ArrayBase:
    """Return a new contiguous array with the elements of ``source``."""
    target = source._new_like(source.dtype, order)
    convert_array(source, target, stream, is_new=True)
    return target


def assign(target: ArrayBase, value, stream=None) -> None:
    """Assign a number or an array to ``target``, converted to its data type and broadcast to its shape."""
    if isinstance(value, np.ndarray) and value.ndim:
        if value.dtype.hasobject:
            raise TypeError("value must not contain Python objects")
        check_broadcast(value.shape, target.shape)
        staged = target._new(value.shape, value.dtype)
        upload(staged, value)
        value = staged
    if isinstance(value, ArrayBase):
        check_broadcast(value.shape, target.shape)
        convert_array(value, target, stream)
    elif isinstance(value, (list, tuple)) and target.dtype.kind != "V":
        assign(target, np.array(value), stream)
    else:
        fill_elements(target, value, stream)


def check_broadcast(shape, target_shape) -> None:
    while len(shape) > len(target_shape) and shape[0] == 1:
        shape = shape[1:]
    try:
        fits = broadcast_shape(shape, target_shape) == target_shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"a value of shape {shape} cannot be broadcast to shape {target_shape}")


def convert_array(source: ArrayBase, target: ArrayBase, stream=None, *, is_new: bool = False) -> None:
    """Copy an array to another one, broadcasting it and converting its data type.

    If ``is_new`` is set, the target is a new array, which cannot overlap the source.
    """
    source._check_open()
    target._check_open()
    if target.size == 0:
        return
    if len(source.shape) > len(target.shape):
        extra = len(source.shape) - len(target.shape)
        source = source._view(0, source.shape[extra:], source.strides[extra:], source.dtype)
    is_same_type = source.dtype == target.dtype
    if source._address == target._address and source.shape == target.shape and source.strides == target.strides:
        if is_same_type:
            return
    check_on_device(target._device, source._device)
    if not is_new and overlap(source, target):
        source = copy_of(source, "K", stream)
    is_alike = source.shape == target.shape and source.strides == target.strides and is_gapless(source)
    if is_same_type and is_alike:
        stream_for(stream, source, target)
        memcpy_dtod_async(target._address, source._address, target.nbytes, stream)
        return
    kernel = conversion(source.dtype, target.dtype, target._device)
    strides = broadcast_strides(source.shape, source.strides, target.shape)
    kernel.launch(
        target._device.arch,
        stream_for(stream, source, target),
        target.shape,
        [(target._address, target.strides), (source._address, strides)],
        (target._address, source._address),
    )


def conversion(source: np.dtype, target: np.dtype, device) -> Elementwise:
    """Return the kernels that convert between two data types, or copy words if the types are equal.

    Raises
    ------
    TypeError
        If one type is a structure and the other is not an equal structure.
    """
    if source == target:
        source = target = word_dtype(target.itemsize)
    elif source.kind not in "biufc" or target.kind not in "biufc":
        raise TypeError(f"elements of type {source} cannot be converted to {target}")
    key = ("convert", source, target)
    kernel = device.plans.get(key)
    if kernel is None:
        kernel = Elementwise("array_convert", [Operand("r", target)], [Operand("a", source, target)], "r = a")
        device.plans[key] = kernel
    return kernel


def word_dtype(itemsize: int) -> np.dtype:
    """Return a data type for copying elements: an unsigned integer, or raw bytes for other sizes."""
    return np.dtype(f"u{itemsize}") if itemsize in (1, 2, 4, 8) else np.dtype(f"V{itemsize}")


def fill_elements(target: ArrayBase, value, stream=None) -> None:
    """Set all elements to a number or a structure.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If the value cannot be converted to the array's data type.
    ValueError
        If the elements have more than 1024 bytes.
    """
    target._check_open()
    element = np.zeros((), target.dtype)
    try:
        element[()] = value
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(f"value must be convertible to {target.dtype}, got {shown(value)}") from error
    if not target.size:
        return
    check_on_device(target._device)
    if target.itemsize > MAX_BYTES_BY_VALUE:
        raise ValueError(f"cannot fill elements of {target.itemsize} bytes; the limit is {MAX_BYTES_BY_VALUE} bytes")
    words = word_dtype(target.itemsize)
    bits = element.view(words)[()] if words.kind == "u" else element.tobytes()
    content = set(element.tobytes())
    if is_gapless(target) and (words.itemsize in _MEMSETS or len(content) == 1):
        width = 1 if len(content) == 1 else words.itemsize
        number = content.pop() if width == 1 else int(bits)
        stream_for(stream, target)
        _MEMSETS[width](target._address, number, target.nbytes // width, stream)
        return
    key = ("fill", words)
    kernel = target._device.plans.get(key)
    if kernel is None:
        inputs = [Operand("a", words, is_scalar=True)]
        kernel = target._device.plans[key] = Elementwise("array_fill", [Operand("r", words)], inputs, "r = a")
    inner = stream_for(stream, target)
    places = [(target._address, target.strides)]
    kernel.launch(target._device.arch, inner, target.shape, places, (target._address, bits))

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Views as NumPy arrays and through the CUDA array interface, and the keys of their index expressions."""

from __future__ import annotations

import importlib
import operator

from cuda.core._utils.validators import shown

__all__ = ["cuda_array_interface", "expanded_key", "host_array"]

DEVICE_CUDA = 2  # of DLPack


def expanded_key(key, shape: tuple[int, ...]) -> tuple:
    """Return the key of an index expression as a tuple of ints and slices, without ``...``.

    Raises
    ------
    IndexError
        If an index is out of range, or there are more indices than axes.
    TypeError
        If an index is neither an int, a slice nor ``...``.
    """
    items = list(key) if isinstance(key, tuple) else [key]
    dots = [place for place, item in enumerate(items) if item is Ellipsis]
    if dots:
        items[dots[0] : dots[0] + 1] = [slice(None)] * max(len(shape) - len(items) + 1, 0)
    if len(items) > len(shape):
        raise IndexError(f"a view of {len(shape)} dimensions takes at most {len(shape)} indices, not {len(items)}")
    for axis, item in enumerate(items):
        if isinstance(item, slice):
            continue
        if isinstance(item, (bool, type)) or not hasattr(item, "__index__"):
            raise TypeError(f"an index must be an int, a slice or one `...`, not {shown(item)}")
        items[axis] = number = operator.index(item)
        if not -shape[axis] <= number < shape[axis]:
            raise IndexError(f"index {shown(number)} is out of range for axis {axis} of size {shape[axis]}")
    return tuple(items)


def cuda_array_interface(view, stream: int | None) -> dict:
    """Return ``__cuda_array_interface__`` of a view whose memory has a stream, or None.

    Raises
    ------
    AttributeError
        If no device can access the memory, or the interface has no such element type.
    """
    if not view.is_device_accessible:
        raise AttributeError("the view is in host memory, so it has no __cuda_array_interface__")
    try:
        dtype = view.dtype
    except (NotImplementedError, TypeError):
        dtype = None
    # The type of an extension, such as bfloat16, would be taken for plain bytes.
    if dtype is None or (dtype.kind == "V" and dtype.type is not importlib.import_module("numpy").void):
        raise AttributeError("__cuda_array_interface__ has no such element type as this view")
    interface = _interface(view, dtype.str, dtype.itemsize)
    if stream is not None:
        interface["stream"] = stream
    if 0 in view.shape:
        interface["data"] = (0, view.readonly)
    if dtype.names is not None:
        interface["descr"] = dtype.descr
    return interface


def host_array(view, dtype, copy):
    """Return a view as a NumPy array that shares the memory, or a copy if ``dtype`` or ``copy`` asks for one.

    Raises
    ------
    TypeError
        If the host cannot access the memory, or the element type is unknown.
    ValueError
        If ``copy`` is False and a copy is needed.
    """
    numpy = importlib.import_module("numpy")
    if view.dtype is None:
        raise TypeError("the element type is unknown; create the view with a dtype to convert it to a NumPy array")
    if view.__dlpack_device__()[0] == DEVICE_CUDA:
        raise TypeError("the array is in device memory; copy it to the host with to_host(stream=stream)")
    # Bytes, because extension types have no name in the interface.
    source = _HostArray(view, _interface(view, f"|V{view.dtype.itemsize}", view.dtype.itemsize))
    array = numpy.asarray(source).view(view.dtype)
    if dtype is not None and numpy.dtype(dtype) != array.dtype:
        if copy is False:
            raise ValueError(f"an array of {dtype} needs a copy, which copy=False forbids")
        return array.astype(dtype)
    return array.copy() if copy else array


class _HostArray:
    """The object from which NumPy creates an array of the memory of a view, which it keeps alive."""

    def __init__(self, view, interface):
        self.view, self.__array_interface__ = view, interface


def _interface(view, typestr: str, itemsize: int) -> dict:
    strides = view.strides
    return {
        "version": 3,
        "shape": view.shape,
        "strides": None if strides is None else tuple([stride * itemsize for stride in strides]),
        "typestr": typestr,
        "data": (view.ptr, view.readonly),
    }

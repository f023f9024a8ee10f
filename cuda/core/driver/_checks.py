# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Argument checks and conversions, whose errors name the argument, its value and the accepted values."""

from __future__ import annotations

import os
import re

import numpy

from cuda.core._classic import dtype_argument, int_argument, list_argument, shown
from cuda.core.driver._errors import INVALID_VALUE, logic_error

__all__ = [
    "callable_argument",
    "checked_int",
    "flags_argument",
    "host_memory",
    "host_shape",
    "ndarray_argument",
    "numpy_dtype",
    "ordered",
    "path_argument",
    "text_argument",
    "texts_argument",
]

# The maximum size of memory, which is also the maximum address.
MAX_BYTES = 2**63 - 1
# Common scalar types, which this table looks up faster than numpy.dtype().
_TYPES = {numpy.dtype(code).type: numpy.dtype(code) for code in "?bhilqBHILQefdFD"}
_SURROGATE = re.compile("[\ud800-\udfff]")


def checked_int(name: str, value, least: int | None = None, most: int | None = None, api: str | None = None) -> int:
    """Return an argument that must be an int from ``least`` to ``most``.

    Raises
    ------
    TypeError
        If it is not an int. Floats are also rejected.
    LogicError, ValueError
        If it is out of range: LogicError for the driver call ``api`` if that is given, else ValueError.
    """
    number = int_argument(name, value)
    if (least is None or number >= least) and (most is None or number <= most):
        return number
    limits = f"at least {least}" if most is None else "0 or 1" if most == 1 else f"from {least} to {most}"
    text = f"{name} must be {limits}, not {shown(number)}"
    raise ValueError(text) if api is None else logic_error(api, INVALID_VALUE, text)


def flags_argument(name: str, value, api: str) -> int:
    """Return an argument that must be 32-bit flags, or raise TypeError or LogicError if it is not."""
    return checked_int(name, value, 0, 2**32 - 1, api)


def numpy_dtype(value, name: str = "dtype") -> numpy.dtype:
    """Return the NumPy dtype for anything that NumPy accepts as a dtype, or raise TypeError."""
    if isinstance(value, numpy.dtype):
        return value
    return (_TYPES.get(value) if isinstance(value, type) else None) or dtype_argument(value, name)


def host_shape(value, itemsize: int, name: str = "shape") -> tuple[int, ...]:
    """Return the shape of a host array, from an int or an iterable of ints.

    Raises
    ------
    TypeError
        If ``value`` is neither.
    ValueError
        If a size is negative, there are more than 64 dimensions, or the array would exceed the address space.
    """
    if type(value) is int and 0 <= value * itemsize <= MAX_BYTES:
        return (value,)
    extents = list_argument(name, value) if hasattr(type(value), "__iter__") else [value]
    if len(extents) > 64:
        raise ValueError(f"{name} must have at most 64 dimensions, not {len(extents)}")
    shape = tuple([int_argument(name, extent, "an int or a sequence of ints") for extent in extents])
    if any(extent < 0 for extent in shape):
        raise ValueError(f"{name} must contain non-negative sizes, got {shown(shape)}")
    size = itemsize
    for extent in shape:
        size *= extent
    if size > MAX_BYTES:
        raise ValueError(f"an array of shape {shown(shape)} with {itemsize} bytes per element is too large")
    return shape


def ordered(value, name: str = "order") -> str:
    """Return an argument that must be the order "C" or "F", or raise ValueError if it is not."""
    if isinstance(value, str) and value in ("C", "F"):
        return str(value)
    raise ValueError(f"{name} must be 'C' or 'F', not {shown(value)}")


def ndarray_argument(name: str, value) -> numpy.ndarray:
    """Return an argument that must be a NumPy array, or raise TypeError if it is not."""
    if isinstance(value, numpy.ndarray):
        return value
    raise TypeError(f"{name} must be a numpy.ndarray, not {type(value).__name__}")


def text_argument(name: str, value) -> str:
    """Return an argument that must be a str without null characters or surrogates, which UTF-8 cannot encode.

    Raises
    ------
    TypeError
        If it is not a str.
    ValueError
        If it contains such characters.
    """
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    if "\0" in value or not (value.isascii() or _SURROGATE.search(value) is None):
        raise ValueError(f"{name} must not contain null characters or surrogates: {shown(value)}")
    return str(value)


def texts_argument(name: str, value) -> list[str]:
    """Return a str or a list of str as a list, and None as an empty list, or raise TypeError for other objects."""
    if value is None or isinstance(value, str):
        return [] if value is None else [text_argument(name, value)]
    return [text_argument(f"each of {name}", item) for item in list_argument(name, value, "a list of str")]


def path_argument(name: str, value) -> str:
    """Return a path as a str.

    Raises
    ------
    TypeError
        If ``value`` is not a path. File descriptors are also rejected.
    ValueError
        If the path is invalid.
    """
    try:
        path = os.fsdecode(value) if isinstance(value, (str, bytes, os.PathLike)) else None
        os.fsencode(path or "")
    except ValueError as error:
        raise ValueError(f"{name} must be a valid path: {error}") from None
    if path is None:
        raise TypeError(f"{name} must be a path, not {type(value).__name__}")
    if "\0" in path:
        raise ValueError(f"{name} must not contain null characters: {shown(path)}")
    return path


def callable_argument(name: str, value):
    """Return an argument that must be callable or None, or raise TypeError if it is neither."""
    if value is None or callable(value):
        return value
    raise TypeError(f"{name} must be callable or None, not {type(value).__name__}")


def host_memory(obj, is_written: bool = False) -> tuple[int, int]:
    """Return the address and the size in bytes of contiguous host memory.

    Raises
    ------
    ValueError
        If the memory is not contiguous, or is read-only although ``is_written`` is set.
    TypeError
        If ``obj`` does not support the buffer protocol, or its elements are Python objects.
    """
    if not isinstance(obj, numpy.ndarray):
        view = memoryview(obj)
        if not view.contiguous:
            raise ValueError(f"the memory of the {type(obj).__name__} is not contiguous; copy it first")
        if is_written and view.readonly:
            raise ValueError(f"the memory of the {type(obj).__name__} is read-only; it must be writable")
        if not view.nbytes:
            return 0, 0
        return numpy.asarray(view).__array_interface__["data"][0], view.nbytes
    if not obj.flags.forc:
        raise ValueError("the ndarray is not contiguous; copy it first, such as with numpy.ascontiguousarray")
    if is_written and not obj.flags.writeable:
        raise ValueError("the ndarray is read-only; it must be writable")
    if obj.dtype.hasobject:
        raise TypeError("the elements of the ndarray must not be Python objects")
    return obj.__array_interface__["data"][0], obj.nbytes

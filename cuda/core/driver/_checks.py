# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of arguments: one conversion for each kind, which names the argument, what it got and what it takes."""

from __future__ import annotations

import os
import re

import numpy

from cuda.core._utils.validators import dtype_argument, int_argument, shown
from cuda.core.driver._errors import INVALID_VALUE, logic_error

__all__ = [
    "callable_argument",
    "dtype_of",
    "flags_argument",
    "host_memory",
    "list_argument",
    "ndarray_argument",
    "ordered",
    "path_argument",
    "shape_of",
    "text_argument",
    "texts_argument",
    "whole",
]

# No address and no size is more.
MOST_BYTES = 2**63 - 1
# What most programs name as a type.
_TYPES = {numpy.dtype(code).type: numpy.dtype(code) for code in "?bhilqBHILQefdFD"}
_SURROGATE = re.compile("[\ud800-\udfff]")


def whole(name: str, value, least: int | None = None, most: int | None = None, api: str | None = None) -> int:
    """Return an int.

    Raises
    ------
    TypeError
        If it is none; floats are none.
    LogicError
        If it is not from `least` to `most`; in the name of a driver call, where `api` has one. A ValueError else.
    """
    number = int_argument(name, value)
    if (least is None or number >= least) and (most is None or number <= most):
        return number
    limits = f"at least {least}" if most is None else "0 or 1" if most == 1 else f"from {least} to {most}"
    text = f"{name} must be {limits}, not {shown(number)}"
    raise ValueError(text) if api is None else logic_error(api, INVALID_VALUE, text)


def flags_argument(name: str, value, api: str) -> int:
    """Return flags of 32 bits."""
    return whole(name, value, 0, 2**32 - 1, api)


def dtype_of(value, name: str = "dtype") -> numpy.dtype:
    """Return what NumPy takes as a type of elements; TypeError for others."""
    if isinstance(value, numpy.dtype):
        return value
    return (_TYPES.get(value) if isinstance(value, type) else None) or dtype_argument(value, name)


def shape_of(value, itemsize: int, name: str = "shape") -> tuple[int, ...]:
    """Return the extents of an array on the host, from an int or an iterable of ints.

    Raises
    ------
    TypeError
        If it is neither.
    ValueError
        If an extent is negative, there are more than NumPy takes, or the array had more bytes than there are addresses.
    """
    if type(value) is int and 0 <= value * itemsize <= MOST_BYTES:
        return (value,)
    extents = list_argument(name, value) if hasattr(type(value), "__iter__") else [value]
    if len(extents) > 64:
        raise ValueError(f"{name} must have up to 64 extents, not {len(extents)}")
    shape = tuple([int_argument(name, extent, "an int or a sequence of ints") for extent in extents])
    if any(extent < 0 for extent in shape):
        raise ValueError(f"the extents of an array must not be negative, and are {shown(shape)}")
    size = itemsize
    for extent in shape:
        size *= extent
    if size > MOST_BYTES:
        raise ValueError(f"an array of shape {shown(shape)} and {itemsize} bytes for each element is too large")
    return shape


def ordered(value, name: str = "order") -> str:
    """Return an order of elements, "C" or "F"; ValueError for others."""
    if isinstance(value, str) and value in ("C", "F"):
        return str(value)
    raise ValueError(f"{name} must be 'C' or 'F', not {shown(value)}")


def ndarray_argument(name: str, value) -> numpy.ndarray:
    """Return an array of NumPy; TypeError for others."""
    if isinstance(value, numpy.ndarray):
        return value
    raise TypeError(f"{name} must be a numpy.ndarray, not {type(value).__name__}")


def list_argument(name: str, value, what: str = "a list") -> list:
    """Return the items of an iterable; TypeError for others, and what the iteration raises."""
    try:
        items = iter(value)
    except TypeError:
        raise TypeError(f"{name} must be {what}, not {type(value).__name__}") from None
    return list(items)


def text_argument(name: str, value) -> str:
    """Return a str that can be written down: without null characters, and in UTF-8."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    if "\0" in value or not (value.isascii() or _SURROGATE.search(value) is None):
        raise ValueError(f"{name} must have no null characters and no surrogates: {shown(value)}")
    return str(value)


def texts_argument(name: str, value) -> list[str]:
    """Return the items of a list of str; a str is a list of one, and None is none."""
    if value is None or isinstance(value, str):
        return [] if value is None else [text_argument(name, value)]
    return [text_argument(f"each of {name}", item) for item in list_argument(name, value, "a list of str")]


def path_argument(name: str, value) -> str:
    """Return a path as a str; TypeError for what is none, such as the number of an open file."""
    try:
        path = os.fsdecode(value) if isinstance(value, (str, bytes, os.PathLike)) else None
        os.fsencode(path or "")
    except ValueError as error:
        raise ValueError(f"{name} is no path: {error}") from None
    if path is None:
        raise TypeError(f"{name} must be a path, not {type(value).__name__}")
    if "\0" in path:
        raise ValueError(f"{name} must have no null characters: {shown(path)}")
    return path


def callable_argument(name: str, value):
    """Return what can be called; None stays."""
    if value is None or callable(value):
        return value
    raise TypeError(f"{name} must be callable, or None, not {type(value).__name__}")


def host_memory(obj, is_written: bool = False) -> tuple[int, int]:
    """Return the address and the bytes of contiguous host memory.

    Raises
    ------
    ValueError
        If it is not contiguous, or is to be written and is read-only.
    TypeError
        If ``obj`` is no host memory, or its elements are Python objects.
    """
    if not isinstance(obj, numpy.ndarray):
        view = memoryview(obj)
        if not view.contiguous:
            raise ValueError(f"the memory of the {type(obj).__name__} is not contiguous; copy it first")
        if is_written and view.readonly:
            raise ValueError(f"the memory of the {type(obj).__name__} cannot be written to")
        if not view.nbytes:
            return 0, 0
        return numpy.asarray(view).__array_interface__["data"][0], view.nbytes
    if not obj.flags.forc:
        raise ValueError("the ndarray is not contiguous; copy it first, such as with numpy.ascontiguousarray")
    if is_written and not obj.flags.writeable:
        raise ValueError("the ndarray is read-only, and it is to be written to")
    if obj.dtype.hasobject:
        raise TypeError("the ndarray has elements that are Python objects")
    return obj.__array_interface__["data"][0], obj.nbytes

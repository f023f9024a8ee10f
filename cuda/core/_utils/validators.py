# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of arguments, and the ``repr`` of values for error messages."""

from __future__ import annotations

import importlib
import operator
import os

__all__ = [
    "address_argument",
    "check_address",
    "check_path",
    "check_str_enum",
    "dtype_argument",
    "find_str_enum",
    "format_or_list",
    "int_argument",
    "iterator_of",
    "list_argument",
    "name_bytes",
    "repr_of",
    "shown",
]

MAX_SHOWN = 200  # characters of a value in a message


def address_argument(name: str, value) -> int:
    """Return an address or a handle as an int.

    Accepts objects with ``__index__``, and objects with ``__int__`` that are not numbers, such as the handles of
    ``cuda.bindings``.

    Raises
    ------
    TypeError
        If ``value`` is of another kind; the message names the argument.
    """
    try:
        return operator.index(value)
    except TypeError:
        # float and Decimal also have __int__. Unlike handles, they have __float__ as well.
        if hasattr(type(value), "__int__") and not hasattr(type(value), "__float__"):
            return int(value)
    raise TypeError(f"{name} must be an int or a handle of cuda.bindings, not {type(value).__name__}") from None


def check_address(name: str, value) -> int:
    """Return an address or a handle as a 64-bit int, as :func:`address_argument` does.

    Raises
    ------
    TypeError
        If ``value`` is of another kind; the message names the argument.
    OverflowError
        If it is negative, or does not fit 64 bits.
    """
    address = address_argument(name, value)
    if not 0 <= address < 1 << 64:
        raise OverflowError(f"{name} must be from 0 to 2**64 - 1, not {shown(address)}")
    return address


def int_argument(name: str, value, what: str = "an int", *, accepts_bool: bool = True) -> int:
    """Return an argument as an int.

    Raises
    ------
    TypeError
        If ``value`` has no ``__index__``, or is a bool that is not accepted; the message names the argument, and
        ``what`` it must be.
    """
    if hasattr(type(value), "__index__") and (accepts_bool or not isinstance(value, bool)):
        return int(operator.index(value))
    raise TypeError(f"{name} must be {what}, not {type(value).__name__}")


def check_locality_domain(value, name: str = "locality_domain") -> None:
    """Check that an option is None or the number of a locality domain, which is a byte for the driver.

    Raises
    ------
    TypeError
        If ``value`` is not an int.
    ValueError
        If ``value`` is out of range.
    """
    if value is not None and not 0 <= int_argument(name, value, "an int or None", accepts_bool=False) <= 255:
        raise ValueError(f"{name} must be from 0 to 255, not {shown(value)}")


def iterator_of(value):
    """Return ``iter(value)``, or raise ValueError for a released memoryview, as CPython 3.11 does not always do."""
    if isinstance(value, memoryview):
        len(value)
    return iter(value)


def list_argument(name: str, value, what: str = "a list") -> list:
    """Return the items of an argument, or raise TypeError if it is not iterable, or any error of the iteration."""
    try:
        items = iterator_of(value)
    except TypeError:
        raise TypeError(f"{name} must be {what}, not {type(value).__name__}") from None
    return list(items)


def name_bytes(label: str, name: str | bytes) -> bytes:
    """Return a name as the bytes of a C string: in UTF-8, without null characters.

    Raises
    ------
    ValueError
        If the name contains a null character, which would end it in C, or a lone surrogate.
    """
    try:
        encoded = name.encode() if isinstance(name, str) else bytes(name)
    except UnicodeEncodeError:
        raise ValueError(f"{label} must have Unicode characters only, but is {shown(name)}") from None
    if b"\0" in encoded:
        raise ValueError(f"{label} must have no null character, but is {shown(name)}")
    return encoded


def shown(value) -> str:
    """Return the ``repr`` of a value for a message, truncated if it is long. Never raises.

    ``repr`` fails for ints of some thousand digits, for deeply nested lists, and for classes of users whose
    ``__repr__`` raises. Then a short description takes its place, so that the message is not lost.
    """
    try:
        text = repr(value)
    except Exception:
        if isinstance(value, int):
            return f"an int of {value.bit_length()} bits"
        is_flat = isinstance(value, (tuple, list)) and not any(isinstance(item, (tuple, list)) for item in value)
        if is_flat and len(value) <= 3:
            return f"({', '.join([shown(item) for item in value])})"
        return f"a {type(value).__name__} that cannot be written out"
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."


def repr_of(value) -> str:
    """Return the full ``repr`` of a value for the ``repr`` of its container, or :func:`shown` if it fails."""
    try:
        return repr(value)
    except Exception:
        return shown(value)


def check_str_enum(value, enum_class, *, allow_none: bool = False):
    """Return the member of a ``StrEnum`` for a string, in upper or lower case.

    Parameters
    ----------
    value : str or None
        The string, or the member itself.
    enum_class : type of StrEnum
        The choices.
    allow_none : bool, optional
        Whether None is also a choice. Default is False.

    Raises
    ------
    ValueError
        If there is no such choice; the message lists all.
    """
    if value is None and allow_none:
        return None
    return enum_class(find_str_enum(value, [member.value for member in enum_class], enum_class.__name__))


def check_path(name: str, path: str) -> None:
    """Check that a path can be passed to the system.

    Raises
    ------
    ValueError
        If it contains a null character, or a character that cannot be encoded in a file name; the message names the
        argument.
    """
    try:
        is_path = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        is_path = False
    if not is_path:
        raise ValueError(f"{name} must have no null characters or halves of surrogate pairs, but is {shown(path)}")


def dtype_argument(value, name: str = "dtype"):
    """Return an argument as a :class:`numpy.dtype`.

    Raises
    ------
    TypeError
        If NumPy cannot convert it; the message names the argument.
    """
    numpy = importlib.import_module("numpy")
    if isinstance(value, numpy.dtype):
        return value
    try:
        return numpy.dtype(value)
    except Exception as error:
        raise TypeError(f"{name} must be a numpy.dtype, or convertible to one, not {shown(value)}") from error


def find_str_enum(value, choices, label: str) -> str:
    """Return the string in ``choices`` that equals ``value``, ignoring case.

    Raises
    ------
    ValueError
        If there is none; the message names ``label``.
    """
    if isinstance(value, str):
        for choice in choices:
            if choice.lower() == value.lower():
                return choice
    raise ValueError(f"{shown(value)} is not a valid {label}; it must be {format_or_list(sorted(choices))}")


def format_or_list(values) -> str:
    """Format the values as a list, such as ``'a', 'b' or 'c'``."""
    texts = [repr(value) for value in values]
    return " or ".join([text for text in (", ".join(texts[:-1]), *texts[-1:]) if text])

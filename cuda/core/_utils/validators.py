# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of arguments: addresses, and choices among strings."""

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
    "name_bytes",
    "repr_of",
    "shown",
]

LONGEST = 200  # characters of a value in a message


def address_argument(name: str, value) -> int:
    """Return the int that an address or a handle stands for.

    Accepted is whatever has ``__index__``, and what has ``__int__`` without being a number, as the handles of
    ``cuda.bindings`` have.

    Raises
    ------
    TypeError
        If ``value`` is of another kind; the message names the argument.
    """
    try:
        return operator.index(value)
    except TypeError:
        # Numbers with a fraction have __int__, too, and __float__ tells them from handles.
        if hasattr(type(value), "__int__") and not hasattr(type(value), "__float__"):
            return int(value)
    raise TypeError(f"{name} must be an int or a handle of cuda.bindings, not {type(value).__name__}") from None


def check_address(name: str, value) -> int:
    """Return the address or handle that :func:`address_argument` finds, in 64 bits.

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


def int_argument(name: str, value, what: str = "an int") -> int:
    """Return the int that an argument stands for.

    Raises
    ------
    TypeError
        If ``value`` is not an int and has no ``__index__``; the message names the argument, and ``what`` it must be.
    """
    if hasattr(type(value), "__index__"):
        return int(operator.index(value))
    raise TypeError(f"{name} must be {what}, not {type(value).__name__}")


def name_bytes(label: str, name: str | bytes) -> bytes:
    """Return a name as a C string has it: in UTF-8, without null characters.

    Raises
    ------
    ValueError
        If there are null characters in it, at which C would end the name, or halves of surrogate pairs.
    """
    try:
        encoded = name.encode() if isinstance(name, str) else bytes(name)
    except UnicodeEncodeError:
        raise ValueError(f"{label} must have Unicode characters only, but is {shown(name)}") from None
    if b"\0" in encoded:
        raise ValueError(f"{label} must have no null character, but is {shown(name)}")
    return encoded


def shown(value) -> str:
    """Return the ``repr`` of a value for a message: cut where it is long, and something else where there is none.

    Python refuses to write ints of more than some thousand digits, and nests lists only so deep; the ``repr`` of a
    user's class may raise. None of that may take the place of the message.
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
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def repr_of(value) -> str:
    """Return the ``repr`` of a value as part of another one; where there is none, what :func:`shown` gives."""
    try:
        return repr(value)
    except Exception:
        return shown(value)


def check_str_enum(value, enum_class, *, allow_none: bool = False):
    """Return the member of a ``StrEnum`` for a string, in any case of letters.

    Parameters
    ----------
    value : str or None
        The string, or the member itself.
    enum_class : type of StrEnum
        The choices.
    allow_none : bool, optional
        Whether None is a choice, too. Default is False.

    Raises
    ------
    ValueError
        If it is none of the choices; the message lists them.
    """
    if value is None and allow_none:
        return None
    return enum_class(find_str_enum(value, [member.value for member in enum_class], enum_class.__name__))


def check_path(name: str, path: str) -> None:
    """Refuse a path that no file system can have.

    Raises
    ------
    ValueError
        If there are null characters in it, or what the encoding of file names has not; the message names the argument.
    """
    try:
        is_path = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        is_path = False
    if not is_path:
        raise ValueError(f"{name} must have no null characters or halves of surrogate pairs, but is {shown(path)}")


def dtype_argument(value, name: str = "dtype"):
    """Return the :class:`numpy.dtype` of what NumPy takes as one.

    Raises
    ------
    TypeError
        If NumPy does not take it; the message names the argument.
    """
    numpy = importlib.import_module("numpy")
    if isinstance(value, numpy.dtype):
        return value
    try:
        return numpy.dtype(value)
    except Exception as error:
        raise TypeError(f"{name} must be a numpy.dtype, or what it is made of, not {shown(value)}") from error


def find_str_enum(value, choices, label: str) -> str:
    """Return the one of the strings ``choices`` that equals ``value`` in any case of letters.

    Raises
    ------
    ValueError
        If there is none; ``label`` names what was asked for.
    """
    if isinstance(value, str):
        for choice in choices:
            if choice.lower() == value.lower():
                return choice
    raise ValueError(f"{shown(value)} is not a valid {label}; it must be {format_or_list(sorted(choices))}")


def format_or_list(values) -> str:
    """Return the values as text, such as ``'a', 'b' or 'c'``."""
    texts = [repr(value) for value in values]
    return " or ".join([text for text in (", ".join(texts[:-1]), *texts[-1:]) if text])

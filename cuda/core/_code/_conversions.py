# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel arguments converted to the C type of a parameter, and the element types of arrays for pointers."""

from __future__ import annotations

import math
import operator
import struct
import sys

from cuda.core._code._layouts import structure_fields
from cuda.core._code._types import C_TYPES

__all__ = ["converted", "element_problem", "scalar_of", "shown_argument", "structure"]


def converted(c_type: str, argument) -> bytes:
    """Return the bytes of a parameter for a number, or for a vector type a tuple or one-dimensional array of numbers.

    Raises
    ------
    TypeError
        If values of the argument's type do not convert to the C type.
    OverflowError
        If the value is out of range.
    """
    letters = C_TYPES.get(c_type)
    if letters is None:
        raise TypeError
    value = plain_value(argument)
    if len(letters) == 1 and not c_type.endswith("1"):
        return _scalar(letters, value)
    if isinstance(value, complex) and letters in ("ff", "dd"):
        value = (value.real, value.imag)
    elif c_type.startswith("std::complex") and isinstance(value, (int, float)):
        value = (value, 0)
    if not isinstance(value, tuple) or len(value) != len(letters):
        raise TypeError
    return b"".join([_scalar(letters[0], plain_value(item)) for item in value])


def plain_value(argument):
    """Return a number as an object of Python, and a one-dimensional NumPy array of numbers as a tuple.

    An object of another class that is an integer (``__index__``) is that integer, unless it is an array.
    """
    if type(argument) in (int, float):
        return argument
    numpy, ctypes = sys.modules.get("numpy"), sys.modules.get("ctypes")
    if hasattr(numpy, "generic") and isinstance(argument, numpy.generic):
        if argument.dtype.kind in "mM":
            return argument  # a duration or a date, whose item might be an int
        # The item of a scalar of ml_dtypes or of a long double is the scalar itself.
        value = argument.item()
        if not isinstance(value, numpy.generic) or not hasattr(value, "__float__"):
            return value
        plain = complex(value) if value.dtype.kind == "c" else float(value)
        if not numpy.isfinite(plain) and numpy.isfinite(value):
            raise OverflowError
        return plain
    if hasattr(numpy, "ndarray") and isinstance(argument, numpy.ndarray):
        return tuple([plain_value(item) for item in argument]) if argument.ndim == 1 else argument
    if hasattr(ctypes, "_SimpleCData") and isinstance(argument, ctypes._SimpleCData):
        return argument.value
    kind = type(argument)
    is_integer = not isinstance(argument, int) and hasattr(kind, "__index__")
    if is_integer and not (hasattr(kind, "__dlpack__") or hasattr(kind, "__cuda_array_interface__")):
        return operator.index(argument)
    return argument


_INTEGERS = {"b": (8, True), "h": (16, True), "i": (32, True), "q": (64, True), "n": (128, True), "B": (8, False),
             "H": (16, False), "I": (32, False), "Q": (64, False), "N": (128, False)}  # fmt: skip


def _scalar(letter: str, value) -> bytes:
    if letter in "efdE":
        if not isinstance(value, (int, float)):
            raise TypeError
        return _bfloat16(float(value)) if letter == "E" else struct.pack("<" + letter, float(value))
    if not isinstance(value, int):
        raise TypeError
    if letter in "?c":
        if not (0 <= value <= 1 if letter == "?" else -128 <= value <= 255):
            raise OverflowError
        return bytes([value & 0xFF])
    bits, is_signed = _INTEGERS[letter]
    return int(value).to_bytes(bits // 8, "little", signed=is_signed)


def _bfloat16(value: float) -> bytes:
    """Return a value rounded to the nearest bfloat16, and to the even one of two."""
    if math.isnan(value):
        return b"\xff\x7f"
    if math.isinf(value) or value == 0:
        return struct.pack("<f", value)[2:]
    exponent = max(math.frexp(value)[1] - 8, -133)  # of the last of 8 significant bits, or of subnormals
    rounded = math.ldexp(round(math.ldexp(value, -exponent)), exponent)
    return struct.pack("<f", rounded)[2:]  # raises OverflowError above the range of both types


def scalar_of(array):
    """Return the NumPy scalar in a 0-dimensional NumPy array in host memory, or None for other arrays."""
    numpy = sys.modules.get("numpy")
    return array[()] if hasattr(numpy, "ndarray") and isinstance(array, numpy.ndarray) and array.ndim == 0 else None


def shown_argument(block: bytes, c_type: str | None, offset: int, size: int) -> str:
    """Return the text of an argument in a parameter block, of which the end may be missing."""
    value = block[offset : offset + size]
    letters = C_TYPES.get(c_type, "")
    if len(value) < size:
        return "..."
    if letters and not set(letters) & set("cEnN"):
        items = [
            f"{item:.7g}" if isinstance(item, float) else str(item) for item in struct.unpack("=" + letters, value)
        ]
        return items[0] if len(items) == 1 else f"({', '.join(items)})"
    return hex(int.from_bytes(value, "little")) if size <= 8 else f"<{size} bytes>"


# --- Structures -------------------------------------------------------------------------------------------------------


def structure(argument) -> bytes | None:
    """Return an instance of a dataclass of scalars as a structure of C, or None for other objects.

    Raises
    ------
    TypeError
        If a field is not annotated with a NumPy or ctypes scalar type or ``bool``, or its value does not convert to it.
    OverflowError
        If the value of a field is out of range.
    """
    cls = type(argument)
    found = structure_fields(cls)
    if found is None:
        return None
    fields, size = found
    content = bytearray(size)
    for name, c_type, offset, width in fields:
        value = getattr(argument, name)
        try:
            content[offset : offset + width] = converted(c_type, value)
        except (OverflowError, TypeError) as error:
            what = "does not fit" if isinstance(error, OverflowError) else f"is a {type(value).__name__}"
            raise type(error)(f"field {name!r} of {cls.__name__} is of type {c_type}, but its value {what}") from None
    return bytes(content)


# --- Arrays -----------------------------------------------------------------------------------------------------------

_NAMES = {
    "?": {"bool"}, "b": {"int8"}, "h": {"int16"}, "i": {"int32"}, "q": {"int64"}, "H": {"uint16"}, "I": {"uint32"},
    "Q": {"uint64"}, "f": {"float32"}, "d": {"float64"}, "e": {"float16"}, "ff": {"float32", "complex64"},
    "dd": {"float64", "complex128"},
    "P": {"uint64", "int64"},
    # NumPy and CuPy have no bfloat16 without ml_dtypes.
    "E": {"bfloat16", "uint16", "int16"},
}  # fmt: skip
_ALL_NAMES = frozenset().union(*_NAMES.values(), ["uint8"])
_TYPESTR = {"b1": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}


def element_problem(c_type: str, array) -> str | None:
    """Return what is wrong with passing an array in device memory to a pointer, or None.

    Pointers to ``void``, ``char``, ``unsigned char``, ``std::byte``, and types that are not known here accept every
    array, and so does a pointer to a vector for arrays of its numbers. Pointers to pointers accept arrays of addresses.
    An array of unknown elements is accepted.
    """
    target = c_type[:-1].removeprefix("const ")
    letters = "P" if target.endswith("*") else C_TYPES.get(target, "")
    expected = _NAMES.get(letters) or _NAMES.get(letters[:1])
    if expected is not None:
        name = _element_name(array)
        if name not in expected and (name in _ALL_NAMES or name[:1] == ">"):
            return f"an array of {name}"
    if not c_type.startswith("const ") and c_type.count("*") == 1 and _is_readonly(array):
        return "a read-only array"
    return None


_known_names: dict = {}


def _element_name(array) -> str:
    """Return the name of an array's element type, such as ``"float32"``, or an empty string if it is unknown."""
    dtype = getattr(array, "dtype", None)
    if dtype is None:
        interface = getattr(array, "__cuda_array_interface__", None)
        dtype = interface.get("typestr") if isinstance(interface, dict) else None
    try:
        name = _known_names.get(dtype)
    except TypeError:
        return ""
    if name is None:
        name = str(dtype).removeprefix("torch.")
        if name[:1] in ("<", "|"):
            kind, size = name[1:2], name[2:]
            bits = str(int(size) * 8) if size.isdecimal() else ""
            name = "bool" if name[1:] == "b1" else _TYPESTR.get(kind, "?") + bits
        if len(_known_names) < 1000:
            _known_names[dtype] = name
    return name


def _is_readonly(array) -> bool:
    """Return whether an array says that its memory must not be written."""
    if type(array).__module__.partition(".")[0] in ("cupy", "torch"):
        return False  # these have no such arrays, and describing them takes long
    for name in ("is_readonly", "readonly"):
        value = getattr(array, name, None)
        if isinstance(value, bool):
            return value
    flags = getattr(array, "flags", None)
    if getattr(flags, "writeable", None) is False:
        return True
    interface = getattr(array, "__cuda_array_interface__", None)
    data = interface.get("data") if isinstance(interface, dict) else None
    return isinstance(data, tuple) and len(data) == 2 and data[1] is True

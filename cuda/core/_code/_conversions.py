# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel arguments converted to the C type of a parameter, and the element types of arrays for pointers."""

from __future__ import annotations

import math
import struct
import sys

from cuda.core._code._signatures import C_TYPES

__all__ = ["converted", "element_problem"]


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
    """Return a number as an object of Python, and a one-dimensional NumPy array of numbers as a tuple."""
    numpy, ctypes = sys.modules.get("numpy"), sys.modules.get("ctypes")
    if hasattr(numpy, "generic") and isinstance(argument, numpy.generic):
        value = argument.item()
        # The item of a scalar of ml_dtypes is that scalar itself.
        return float(value) if isinstance(value, numpy.generic) and hasattr(value, "__float__") else value
    if hasattr(numpy, "ndarray") and isinstance(argument, numpy.ndarray):
        return tuple([plain_value(item) for item in argument]) if argument.ndim == 1 else argument
    if hasattr(ctypes, "_SimpleCData") and isinstance(argument, ctypes._SimpleCData):
        return argument.value
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


# --- Arrays -----------------------------------------------------------------------------------------------------------

_NAMES = {
    "?": {"bool"}, "b": {"int8"}, "h": {"int16"}, "i": {"int32"}, "q": {"int64"}, "H": {"uint16"}, "I": {"uint32"},
    "Q": {"uint64"}, "f": {"float32"}, "d": {"float64"}, "e": {"float16"}, "ff": {"float32", "complex64"},
    "dd": {"float64", "complex128"},
    # NumPy and CuPy have no bfloat16 without ml_dtypes.
    "E": {"bfloat16", "uint16", "int16"},
}  # fmt: skip
_ALL_NAMES = frozenset().union(*_NAMES.values(), ["uint8"])
_TYPESTR = {"b1": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}


def element_problem(c_type: str, array) -> str | None:
    """Return what is wrong with passing an array in device memory to a pointer, or None.

    Pointers to ``void``, ``char``, ``unsigned char``, ``std::byte``, pointers, and types that are not known here accept
    every array, and so does a pointer to a vector for arrays of its numbers. An array of unknown elements is accepted.
    """
    target = c_type[:-1].removeprefix("const ")
    letters = C_TYPES.get(target, "")
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

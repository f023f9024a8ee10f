# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The C types of parameters whose values are known."""

from __future__ import annotations

import functools
import struct

__all__ = ["C_TYPES", "is_pointer", "size_of", "width_of"]

# The values of each C type as letters of the module struct, of which "c" is a char of either sign, "E" a bfloat16, and
# "n" and "N" are 128-bit integers. The types have the sizes of 64-bit Linux.
C_TYPES = {
    "bool": "?", "char": "c", "signed char": "b", "unsigned char": "B", "char8_t": "B", "short": "h",
    "unsigned short": "H", "char16_t": "H", "int": "i", "wchar_t": "i", "unsigned int": "I", "char32_t": "I",
    "long": "q", "long long": "q", "unsigned long": "Q", "unsigned long long": "Q", "__int128": "n",
    "unsigned __int128": "N", "float": "f", "double": "d", "__half": "e", "__nv_bfloat16": "E", "__half2": "ee",
    "__nv_bfloat162": "EE", "dim3": "III", "std::complex<float>": "ff", "std::complex<double>": "dd",
}  # fmt: skip
for _base, _letter in zip(
    ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong", "ulonglong", "float", "double"),
    "bBhHiIqQqQfd",
    strict=True,
):
    C_TYPES |= {f"{_base}{count}": _letter * count for count in (1, 2, 3, 4)}


def width_of(letter: str) -> int:
    """Return the size of the value that a letter of :data:`C_TYPES` stands for."""
    return 16 if letter in "nN" else 2 if letter == "E" else 1 if letter == "c" else struct.calcsize(letter)


def is_pointer(type: str) -> bool:
    """Return whether a type is a pointer, such as ``float*``, or ``int ( * ) [ 4 ]`` to an array."""
    return type.endswith("*") or "( *" in type.partition("<")[0]


@functools.cache
def size_of(type: str) -> int | None:
    """Return the size of a type in bytes, or None if only the kernel knows it, as for a struct."""
    if is_pointer(type):
        return 8
    letters = C_TYPES.get(type)
    return None if letters is None else sum(map(width_of, letters))

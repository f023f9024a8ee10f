# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Layouts of structures: those of the compiler, and those of records, which must be the same.

A layout is compared as a list of scalars, each with its offset, its size and a letter for its type.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import math
import re
import struct
import sys
import typing
from collections import namedtuple

from cuda.core._code._types import C_TYPES, is_pointer, size_of, width_of

__all__ = ["Layout", "builtin_layout", "byte_order_problem", "numpy_type", "structure_fields"]

# The path of a scalar such as "points[2].x", its offset and size in bytes, and a letter of C_TYPES, two for an
# enumeration, which has either sign, "P" for a pointer, ">" for any type in the other byte order, "O" for what no
# kernel can read, or None if any content of this size will do.
Scalar = namedtuple("Scalar", ("path", "offset", "size", "letter"))

# A letter is that of a type, or of another type whose records are the same.
_SAME = {"c": "bBc", "b": "bc", "B": "Bc", "E": "EHh", "P": "PQq"}
_NAMES = {
    "?": "bool", "c": "char", "b": "int8", "B": "uint8", "h": "int16", "H": "uint16", "i": "int32", "I": "uint32",
    "q": "int64", "Q": "uint64", "n": "__int128", "N": "unsigned __int128", "e": "float16", "E": "bfloat16",
    "f": "float32", "d": "float64", "P": "pointer", "O": "a type that C on the device does not have",
}  # fmt: skip


class Layout:
    """The layout of a structure, as the compiler gave it.

    Parameters
    ----------
    name : str
        The name of the structure.
    size, alignment : int
        Its size and alignment in bytes.
    fields : sequence of tuple | None
        The name, C type or None, shape, offset and size of each field, or None if the fields are unknown.
    layout_of : callable
        Returns the layout of a structure by its name, or None.
    """

    def __init__(self, name: str, size: int, alignment: int, fields, layout_of):
        self.name, self.size, self.alignment, self.fields = name, size, alignment, fields
        self._layout_of = layout_of
        self._problems: dict = {}  # dtype or class of a record -> problem or None

    def problem(self, record) -> str | None:
        """Return why a record is not this structure, or None.

        Parameters
        ----------
        record : numpy.void or ctypes object or dataclass
            The record. Only its type counts.
        """
        kind = record_type(record)
        if kind not in self._problems:
            if len(self._problems) >= 1000:
                self._problems.clear()
            self._problems[kind] = byte_order_problem(record) or self._difference(record_scalars(kind))
        return self._problems[kind]

    @functools.cached_property
    def scalars(self) -> list[Scalar]:
        """The scalars that the structure consists of."""
        scalars: list[Scalar] = []
        for field, c_type, shape, offset, width in self.fields or ():
            count = math.prod(shape)
            for index in range(count):
                path = field + _index(shape, index)
                scalars += self._scalars_of(path, c_type, offset + index * (width // count), width // count)
        return scalars

    def _scalars_of(self, path: str, c_type: str | None, offset: int, width: int) -> list[Scalar]:
        inner = None if c_type is None else self._layout_of(c_type)
        if inner is not None:
            return [Scalar(f"{path}.{path_}", offset + place, *rest) for path_, place, *rest in inner.scalars]
        return builtin_scalars(path, c_type, offset, width)

    def _difference(self, given: list[Scalar]) -> str | None:
        """Return how the scalars of a record differ from those of this structure, or None."""
        own = {scalar.path: scalar for scalar in self.scalars}
        for scalar in given:
            wanted = own.get(scalar.path) or own.get(_COMPONENT.sub(_index_of_component, scalar.path))
            if wanted is not None and wanted.offset != scalar.offset:
                return f"its field {scalar.path!r} is at offset {scalar.offset}, but at {wanted.offset} in {self.name}"
        for scalar in given:
            there = [wanted for wanted in self.scalars if _overlap(wanted, scalar)]
            if there and scalar.letter and not any(_fits(scalar, wanted) for wanted in there):
                wanted = there[0]
                return (
                    f"its field {scalar.path!r} is {_described(scalar)} at offset {scalar.offset}, where "
                    f"{self.name} has {wanted.path!r}, {_described(wanted)} at offset {wanted.offset}"
                )
        for wanted in self.scalars:
            if not any(_overlap(wanted, scalar) for scalar in given):
                return f"it has no field {wanted.path!r} of {self.name} at offset {wanted.offset}"
        return None


# A record may name the components of a vector, which are an array here.
_COMPONENT = re.compile(r"(?:\A|\.)([xyzw])\Z")


def _index_of_component(found) -> str:
    return f"[{'xyzw'.index(found[1])}]"


@functools.cache
def builtin_layout(c_type: str) -> Layout | None:
    """Return the layout of a C type that is known without a source, such as ``float4``, or None for other types."""
    if c_type not in C_TYPES:
        return None
    size = size_of(c_type)
    layout = Layout(c_type, size, size, (), builtin_layout)
    layout.scalars = builtin_scalars("", c_type, 0, size)
    return layout


def builtin_scalars(path: str, c_type: str | None, offset: int, width: int) -> list[Scalar]:
    """Return the scalars of a C type that is no structure of the source."""
    if c_type is not None and c_type.startswith("enum "):
        letter = C_TYPES[c_type[5:]].replace("c", "b")
        return [Scalar(path, offset, width, letter.lower() + letter.upper())]
    letters = "P" if c_type is not None and is_pointer(c_type) else C_TYPES.get(c_type or "", "")
    if sum(8 if letter == "P" else width_of(letter) for letter in letters) != width:
        return [Scalar(path, offset, width, None)]
    if len(letters) == 1:
        return [Scalar(path, offset, width, letters)]
    size = width // len(letters)
    return [Scalar(f"{path}[{index}]", offset + index * size, size, letter) for index, letter in enumerate(letters)]


def _index(shape: tuple[int, ...], index: int) -> str:
    """Return the index of an element of an array as in C, such as ``"[1][2]"``."""
    text = ""
    for length in reversed(shape):
        index, place = divmod(index, length)
        text = f"[{place}]{text}"
    return text


def _overlap(first: Scalar, second: Scalar) -> bool:
    return first.offset < second.offset + second.size and second.offset < first.offset + first.size


def _fits(given: Scalar, wanted: Scalar) -> bool:
    if wanted.letter is None:
        return wanted.offset <= given.offset and given.offset + given.size <= wanted.offset + wanted.size
    is_there = (given.offset, given.size) == (wanted.offset, wanted.size)
    return is_there and given.letter in _SAME.get(wanted.letter, wanted.letter)


def _described(scalar: Scalar) -> str:
    return f"{scalar.size} bytes" if scalar.letter is None else _NAMES[scalar.letter[0]]


# --- Records ----------------------------------------------------------------------------------------------------------

_orders: dict = {}


def byte_order_problem(record) -> str | None:
    """Return which field of a NumPy or ctypes record has the other byte order, or None."""
    kind = record_type(record)
    if kind not in _orders:
        if len(_orders) >= 1000:
            _orders.clear()
        _orders[kind] = next((scalar.path for scalar in record_scalars(kind) if scalar.letter == ">"), None)
    path = _orders[kind]
    return None if path is None else f"its field {path!r} has the other byte order"


def record_type(record):
    """Return the dtype of a NumPy record, or the class of another record."""
    numpy = sys.modules.get("numpy")
    return record.dtype if hasattr(numpy, "void") and isinstance(record, numpy.void) else type(record)


def record_scalars(kind) -> list[Scalar]:
    """Return the scalars of a dtype, a ctypes class or a dataclass."""
    if isinstance(kind, type):
        if structure_fields(kind) is not None:
            return [
                Scalar(name, offset, width, C_TYPES[c_type])
                for name, c_type, offset, width in structure_fields(kind)[0]
            ]
        return _ctypes_scalars("", kind, 0)
    return _numpy_scalars("", kind, 0)


def _numpy_scalars(path: str, dtype, offset: int) -> list[Scalar]:
    if dtype.fields is not None:
        scalars = []
        for name in dtype.names:
            inner, place = dtype.fields[name][:2]
            scalars += _numpy_scalars(f"{path}.{name}" if path else name, inner, offset + place)
        return scalars
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        scalars = []
        for index in range(math.prod(shape)):
            scalars += _numpy_scalars(path + _index(shape, index), base, offset + index * base.itemsize)
        return scalars
    size = dtype.itemsize
    if not dtype.isnative:
        return [Scalar(path, offset, size, ">")]
    if dtype.char in "OgG":  # objects and long doubles
        return [Scalar(path, offset, size, "O")]
    letter = {"b": "?", "i": "bhiq", "u": "BHIQ", "f": "efd", "m": "q", "M": "q"}.get(dtype.kind, "")
    if dtype.kind == "c":
        half = size // 2
        return [Scalar(f"{path}[{index}]", offset + index * half, half, "fd"[half == 8]) for index in (0, 1)]
    letter = next((found for found in letter if struct.calcsize(found) == size), None)
    return [Scalar(path, offset, size, letter)]


def _ctypes_scalars(path: str, kind, offset: int) -> list[Scalar]:
    ctypes = sys.modules["ctypes"]
    size = ctypes.sizeof(kind)
    if issubclass(kind, ctypes.Array):
        width = size // kind._length_ if kind._length_ else 0
        scalars = []
        for index in range(kind._length_):
            scalars += _ctypes_scalars(f"{path}[{index}]", kind._type_, offset + index * width)
        return scalars
    if issubclass(kind, (ctypes.Structure, ctypes.Union)):
        scalars = []
        for base in reversed(kind.__mro__):
            for name, inner, *bits in base.__dict__.get("_fields_", ()):
                path_ = f"{path}.{name}" if path else name
                place = offset + getattr(kind, name).offset
                is_swapped = hasattr(kind, "_swappedbytes_")
                bit_field = [Scalar(path_, place, ctypes.sizeof(inner), ">" if is_swapped else None)]
                scalars += bit_field if bits else _ctypes_scalars(path_, inner, place)
        return scalars
    code = getattr(kind, "_type_", None)
    if kind is getattr(kind, "__ctype_be__", None) and size > 1:
        return [Scalar(path, offset, size, ">")]
    is_pointer = not isinstance(code, str) or code in "PzZ"
    letter = "P" if is_pointer and size == 8 else {"l": "q", "L": "Q", "v": "?", "g": "O"}.get(code, code)
    return [Scalar(path, offset, size, letter if letter in _NAMES else None)]


# The C types of the fields of dataclasses, by the names of NumPy dtypes.
_FIELDS = {
    "bool": "bool", "int8": "signed char", "uint8": "unsigned char", "int16": "short", "uint16": "unsigned short",
    "int32": "int", "uint32": "unsigned int", "int64": "long", "uint64": "unsigned long", "float16": "__half",
    "float32": "float", "float64": "double",
}  # fmt: skip
# The letters by which ctypes names its types.
_CODES = {
    "bool": "?", "signed char": "b", "unsigned char": "B", "short": "h", "unsigned short": "H", "int": "i",
    "unsigned int": "I", "long": "l", "unsigned long": "L", "float": "f", "double": "d",
}  # fmt: skip


@functools.lru_cache(1000)
def structure_fields(cls) -> tuple[list[tuple[str, str, int, int]], int] | None:
    """Return the fields of a dataclass and its size in bytes, with the alignment and the padding of C.

    A field is its name, C type, offset and size. The result is None for other classes.
    """
    if not dataclasses.is_dataclass(cls):
        return None
    hints = typing.get_type_hints(cls)
    fields, offset, most = [], 0, 1
    for field in dataclasses.fields(cls):
        c_type = _field_type(hints[field.name])
        if c_type is None:
            raise TypeError(
                f"field {field.name!r} of {cls.__name__} must be annotated with a NumPy or ctypes scalar type, such as "
                f"numpy.int32, which has a size in C; not with {hints[field.name]!r}"
            )
        width = size_of(c_type)
        offset = -(-offset // width) * width
        fields.append((field.name, c_type, offset, width))
        offset, most = offset + width, max(most, width)
    return fields, -(-offset // most) * most


def _field_type(hint) -> str | None:
    numpy, ctypes = sys.modules.get("numpy"), sys.modules.get("ctypes")
    if hint is bool:
        return "bool"
    if not isinstance(hint, type):
        return None
    if hasattr(ctypes, "_SimpleCData") and issubclass(hint, ctypes._SimpleCData):
        return next((c_type for c_type, code in _CODES.items() if hint._type_ == code), None)
    if hasattr(numpy, "generic") and issubclass(hint, numpy.generic):
        return _FIELDS.get(numpy.dtype(hint).name)
    return None


# --- NumPy dtypes -----------------------------------------------------------------------------------------------------

_CHARACTERS = {"c": "i1", "q": "i8", "Q": "u8", "n": "V16", "N": "V16", "E": "u2", "P": "u8"}


def numpy_type(c_type: str | None, width: int, layout_of=None):
    """Return the NumPy dtype of a C type: unsigned integers for pointers, and raw bytes for unknown types.

    Parameters
    ----------
    c_type : str | None
        The type.
    width : int
        Its size in bytes.
    layout_of : callable, optional
        Returns the layout of a structure by its name, or None.
    """
    numpy = importlib.import_module("numpy")
    layout = None if c_type is None or layout_of is None else layout_of(c_type)
    if layout is not None and layout.fields is not None:
        types = [
            (numpy_type(field_type, field_width // math.prod(shape), layout_of), shape)
            for _, field_type, shape, _, field_width in layout.fields
        ]
        return numpy.dtype(
            {
                "names": [field[0] for field in layout.fields],
                "formats": [numpy.dtype(item) if item[1] else item[0] for item in types],
                "offsets": [field[3] for field in layout.fields],
                "itemsize": layout.size,
            }
        )
    if (c_type or "").startswith("std::complex"):
        return numpy.dtype(f"c{width}")
    scalars = builtin_scalars("", c_type, 0, width)
    letter = scalars[0].letter and scalars[0].letter[0]
    base = numpy.dtype(f"V{width}" if letter is None else _CHARACTERS.get(letter, letter))
    return base if len(scalars) == 1 else numpy.dtype((base, (len(scalars),)))

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The hostile values, by name; a new one is made for each call.

None of them describes memory that does not exist: each address has as many bytes as the shape or the
length says.
"""

from __future__ import annotations

import array
import collections
import ctypes
import decimal
import enum
import fractions
import os
import pathlib
import types
import weakref

import numpy as np

from cuda.core import (
    Buffer,
    Device,
    Event,
    Host,
    Kernel,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ObjectCode,
    Program,
    Stream,
)


class Hostile(Exception):
    """The exception raised by hostile objects. A call may pass it on, like any exception in user code."""


class Number(enum.IntEnum):
    ONE = 1
    HUGE = 1 << 80


class Int(int):
    def __repr__(self):
        raise Hostile


class Text(str):
    def __repr__(self):
        raise Hostile


class Pair(tuple):
    def __len__(self):
        return 7


class Dict(dict):
    def __getitem__(self, key):
        raise Hostile


class Structure(ctypes.Structure):
    _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_char_p)]


def huge() -> int:
    """Return an int that is too large for Python to print in decimal."""
    return 10**5000


def with_method(name: str, body) -> object:
    """Return an object of a new class with one special method."""
    return type(f"With{name.strip('_').title()}", (), {name: body})()


def raising(name: str) -> object:
    """Return an object whose special method raises."""

    def body(*arguments, **fields):
        raise Hostile(name)

    return with_method(name, body)


def returning(name: str, value) -> object:
    """Return an object whose special method returns the value."""
    return with_method(name, lambda *arguments, **fields: value)


def closing(name: str, subject, value) -> object:
    """Return an object whose special method closes the subject of the call."""

    def body(*arguments, **fields):
        close = getattr(subject, "close", None)
        if close is not None and not isinstance(subject, type):
            close()
        return value

    return with_method(name, body)


def with_attribute(name: str, value) -> object:
    """Return an object with one attribute."""
    return types.SimpleNamespace(**{name: value})


def lying(kind: type) -> object:
    """Return an object whose ``__class__`` is another class."""
    return type("Lying", (), {"__class__": property(lambda self: kind)})()


def nested(depth: int) -> list:
    """Return a list nested this deep."""
    inner: list = []
    for _ in range(depth):
        inner = [inner]
    return inner


def long(*arguments):
    """Yield many items, then raise: an infinite iterator whose consumer would never return."""
    yield from range(10_000)
    raise Hostile("items")


def self_containing() -> list:
    """Return a list that contains itself."""
    items: list = []
    items.append(items)
    return items


def dead_reference() -> object:
    """Return a weak proxy of an object that no longer exists."""

    class Gone:
        pass

    return weakref.proxy(Gone())


def released_view() -> memoryview:
    """Return a released memoryview."""
    view = memoryview(bytearray(8))
    view.release()
    return view


def closed_stream() -> Stream:
    """Return a closed stream."""
    stream = Device(0).create_stream()
    stream.close()
    return stream


def closed_buffer() -> Buffer:
    """Return a closed buffer."""
    buffer = LegacyPinnedMemoryResource().allocate(64)
    buffer.close()
    return buffer


def closed_event() -> Event:
    """Return a closed event."""
    event = Device(0).create_stream().record()
    event.close()
    return event


def array_interface(**changed) -> object:
    """Return an object with an array interface to real memory, with some entries changed."""
    memory = np.zeros(64, np.uint8)
    interface = {"shape": (8,), "typestr": "<f8", "data": (memory.ctypes.data, False), "version": 3} | changed
    return types.SimpleNamespace(__cuda_array_interface__=interface, __array_interface__=interface, memory=memory)


NUMBERS = {
    str(number): (lambda number=number: number)
    for number in (
        *(0, 1, 2, 3, 7, 64, 127, 255, 256, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**62, 2**63 - 1, 2**63),
        *(2**64 - 1, 2**64, 2**70, -1, -2, -128, -(2**31), -(2**31) - 1, -(2**63), -(2**63) - 1, -(2**70)),
        *(0.0, 0.5, -1.5, 1e308, 5e-324, float("nan"), float("inf"), -float("inf"), 1j),
    )
}

VALUES = {
    "None": lambda: None,
    "True": lambda: True,
    "False": lambda: False,
    "Ellipsis": lambda: ...,
    "NotImplemented": lambda: NotImplemented,
    **NUMBERS,
    "10**5000": huge,
    "-10**5000": lambda: -huge(),
    "Decimal": lambda: decimal.Decimal("1e9999"),
    "Fraction": lambda: fractions.Fraction(huge(), 3),
    "IntEnum": lambda: Number.HUGE,
    "int without repr": lambda: Int(huge()),
    "numpy.int8": lambda: np.int8(-1),
    "numpy.uint64": lambda: np.uint64(2**64 - 1),
    "numpy.float16": lambda: np.float16(1.5),
    "numpy.bool": lambda: np.bool_(True),
    "numpy.datetime64": lambda: np.datetime64("2026-01-01"),
    "empty str": str,
    "str": lambda: "x",
    "null str": lambda: "a\0b",
    "long str": lambda: "x" * 1_000_000,
    "surrogate": lambda: "\ud800",
    "emoji": lambda: "\U0001f600",
    "format str": lambda: "%s%n{0}{x.y}",
    "path str": lambda: os.path.join("nowhere", "..", "file"),
    "long path": lambda: "a/" * 5000,
    "str without repr": lambda: Text("x"),
    "directory": lambda: pathlib.Path("."),
    "device file": lambda: "/dev/null",
    "empty bytes": bytes,
    "null bytes": lambda: b"\0",
    "long bytes": lambda: b"\xff" * 1_000_000,
    "bytearray": lambda: bytearray(8),
    "released view": released_view,
    "array.array": lambda: array.array("d", [1.0, 2.0]),
    "empty tuple": tuple,
    "empty list": list,
    "empty dict": dict,
    "empty set": set,
    "tuple of None": lambda: (None,),
    "tuple of -1": lambda: (-1, -1, -1),
    "tuple of huge": lambda: (huge(), huge()),
    "tuple of 2**63": lambda: (2**63, 2**63, 2**63),
    "list of huge": lambda: [huge()],
    "tuple with another length": lambda: Pair((1, 2)),
    "long tuple": lambda: (1,) * 10_000,
    "list of str": lambda: ["a\0b", "\ud800", ""],
    "list of objects": lambda: [object(), None, 1.5],
    "deep list": lambda: nested(100_000),
    "list in itself": self_containing,
    "dict of ints": lambda: {1: 2},
    "dict of huge": lambda: {"x": huge(), huge(): "x"},
    "dict of options": lambda: {"grid": 0, "arch": 5, "name": "a\0b"},
    "dict without items": lambda: Dict(x=1),
    "mapping": lambda: types.MappingProxyType({"x": object()}),
    "counter": lambda: collections.Counter("abc"),
    "range": lambda: range(10**6),
    "generator": lambda: (x for x in (1, 2)),
    "slice": lambda: slice(huge(), None, -1),
    "slice of 0": lambda: slice(None, None, 0),
    "object": object,
    "int type": lambda: int,
    "Stream type": lambda: Stream,
    "Buffer type": lambda: Buffer,
    "function": lambda: lambda: None,
    "raising function": lambda: lambda *arguments: (_ for _ in ()).throw(Hostile("call")),
    "module": lambda: os,
    "exception": lambda: ValueError("x"),
    "dead reference": dead_reference,
    "__index__ raises": lambda: raising("__index__"),
    "__int__ raises": lambda: raising("__int__"),
    "__float__ raises": lambda: raising("__float__"),
    "__bool__ raises": lambda: raising("__bool__"),
    "__len__ raises": lambda: raising("__len__"),
    "__eq__ raises": lambda: raising("__eq__"),
    "__hash__ raises": lambda: raising("__hash__"),
    "__repr__ raises": lambda: raising("__repr__"),
    "__iter__ raises": lambda: raising("__iter__"),
    "__getattr__ raises": lambda: raising("__getattr__"),
    "__fspath__ raises": lambda: raising("__fspath__"),
    "__dlpack__ raises": lambda: raising("__dlpack__"),
    "__cuda_stream__ raises": lambda: raising("__cuda_stream__"),
    "__index__ of huge": lambda: returning("__index__", huge()),
    "__index__ of str": lambda: returning("__index__", "x"),
    "__int__ of huge": lambda: returning("__int__", huge()),
    "__int__ of None": lambda: returning("__int__", None),
    "__len__ of huge": lambda: returning("__len__", 2**62),
    "__len__ of -1": lambda: returning("__len__", -1),
    "__bool__ of int": lambda: returning("__bool__", 2),
    "__repr__ of int": lambda: returning("__repr__", 2),
    "__iter__ of many": lambda: with_method("__iter__", long),
    "__getitem__ of many": lambda: with_method("__getitem__", lambda self, index: range(10_000)[index]),
    "__getattr__ of self": lambda: with_method("__getattr__", lambda self, name: self),
    "__call__ of self": lambda: with_method("__call__", lambda self, *a, **k: self),
    "__fspath__ of int": lambda: returning("__fspath__", 3),
    "__dlpack__ of int": lambda: with_method("__dlpack__", lambda self, **fields: 3),
    "__dlpack_device__ of str": lambda: types.SimpleNamespace(
        __dlpack__=lambda **fields: np.zeros(3).__dlpack__(), __dlpack_device__=lambda: "x"
    ),
    "__cuda_stream__ of int": lambda: returning("__cuda_stream__", 3),
    "__cuda_stream__ of huge": lambda: returning("__cuda_stream__", (0, huge())),
    "__cuda_stream__ of version": lambda: returning("__cuda_stream__", (huge(), 0)),
    "__cuda_stream__ of str": lambda: returning("__cuda_stream__", ("a", "b")),
    "array interface of int": lambda: with_attribute("__cuda_array_interface__", 3),
    "array interface, empty": lambda: with_attribute("__cuda_array_interface__", {}),
    "array interface, huge shape": lambda: array_interface(shape=(huge(),)),
    "array interface, negative": lambda: array_interface(shape=(-3,)),
    "array interface, fraction": lambda: array_interface(shape=(1.5,)),
    "array interface, strides": lambda: array_interface(strides=(huge(),)),
    "array interface, typestr": lambda: array_interface(typestr="<q9999999999999999999"),
    "array interface, data": lambda: array_interface(data=("x", None)),
    "array interface, version": lambda: array_interface(version=huge()),
    "array interface, stream": lambda: array_interface(stream=huge()),
    "numpy of objects": lambda: np.array([None, 1], object),
    "numpy without size": lambda: np.zeros(0),
    "numpy without axes": lambda: np.zeros(()),
    "numpy read-only": lambda: np.broadcast_to(np.zeros(1, np.int8), (64,)),
    "numpy backwards": lambda: np.zeros((8, 8))[::-2, ::-3],
    "numpy big-endian": lambda: np.zeros(8, ">i4"),
    "numpy record": lambda: np.zeros(3, [("a", "i4"), ("b", "f8")]),
    "numpy of 32 axes": lambda: np.zeros((1,) * 32),
    "ctypes.c_int": lambda: ctypes.c_int(-1),
    "ctypes.c_void_p": ctypes.c_void_p,
    "ctypes.Structure": Structure,
    "capsule": lambda: np.zeros(3).__dlpack__(),
    "Device": lambda: Device(0),
    "Host": Host,
    "stream": lambda: Device(0).create_stream(),
    "closed stream": closed_stream,
    "buffer": lambda: LegacyPinnedMemoryResource().allocate(64),
    "closed buffer": closed_buffer,
    "closed event": closed_event,
    "LaunchConfig": lambda: LaunchConfig(grid=1, block=1),
    "empty Stream": lambda: Stream.__new__(Stream),
    "empty Buffer": lambda: Buffer.__new__(Buffer),
    "empty Event": lambda: Event.__new__(Event),
    "empty Kernel": lambda: Kernel.__new__(Kernel),
    "empty ObjectCode": lambda: ObjectCode.__new__(ObjectCode),
    "empty Program": lambda: Program.__new__(Program),
    "lying Stream": lambda: lying(Stream),
    "lying Buffer": lambda: lying(Buffer),
    "lying int": lambda: lying(int),
    "lying str": lambda: lying(str),
}

# These close the subject of a call during the call.
CLOSING = {
    "__index__ closes": lambda subject: closing("__index__", subject, 1),
    "__int__ closes": lambda subject: closing("__int__", subject, 1),
    "__bool__ closes": lambda subject: closing("__bool__", subject, True),
    "__eq__ closes": lambda subject: closing("__eq__", subject, True),
    "__len__ closes": lambda subject: closing("__len__", subject, 1),
    "__iter__ closes": lambda subject: closing("__iter__", subject, iter(())),
    "__cuda_stream__ closes": lambda subject: closing("__cuda_stream__", subject, (0, 0)),
    "__getattr__ closes": lambda subject: closing("__getattr__", subject, None),
    "__fspath__ closes": lambda subject: closing("__fspath__", subject, "x"),
}

NAMES = [*VALUES, *CLOSING]


def make(name: str, subject) -> object:
    """Return a new value of this name, for a call of a member of ``subject``."""
    return VALUES[name]() if name in VALUES else CLOSING[name](subject)


def is_address(value) -> bool:
    """Return whether the value can be converted to an address, or returns addresses if it is called."""
    return value is int or hasattr(type(value), "__index__") or hasattr(type(value), "__int__")

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Declarations of attributes: rows with NVML's function or field, a description and a conversion."""

from __future__ import annotations

import operator
from collections.abc import Callable

from cuda.core._utils import values
from cuda.core._utils.initialised import needs_init
from cuda.core._utils.validators import shown
from cuda.core.system._support import nvml

__all__ = ["Constant", "DeviceView", "Items", "Snapshot", "answering", "check_int", "field", "reading", "shown_field"]

# What NVML says where a device, a driver or this moment has no such value.
ABSENT = values.ABSENT + tuple(
    getattr(nvml, f"{name}Error")
    for name in ("FunctionNotFound", "InvalidArgument", "NoData", "NotReady", "NotSupported", "Uninitialized")
    if hasattr(nvml, f"{name}Error")
)


class Constant(values.CachedProperty):
    """A property of a device that never changes: read at its first use, and then cached in the instance.

    On the class it is a property, so that documentation and tab completion read no value. The
    instance must refuse to set attributes, because this is no data descriptor.

    Parameters
    ----------
    query : str or callable
        The function of ``cuda.bindings.nvml``, or one of ours; it takes the handle.
    doc : str
        What the value means.
    convert : callable, optional
        Makes the public value of what NVML's function gives.
    """

    def __init__(self, query: str | Callable, doc: str, convert: Callable | None = None):
        self.shown = reading(query, doc, convert)
        self.convert = convert
        self.read = self.shown.fget
        self.__doc__ = self.shown.__doc__

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, device, owner=None):
        if device is None:
            return self.shown
        value = device.__dict__[self.name] = self.read(device)
        return value


def reading(query: str | Callable, doc: str, convert: Callable | None = None) -> property:
    """Return a property that queries NVML at each access; arguments as of :class:`Constant`."""
    if not isinstance(query, str):
        return property(values.typed(values.answer(lambda self: query(self._handle), ABSENT), convert), doc=doc)
    # Looked up in the dict of the module, which takes half the time of an attribute.
    functions = vars(nvml)

    def read(self):
        try:
            given = functions[query](self._handle)
            return given if convert is None else convert(given)
        except ABSENT as error:
            better = values.restated(error, ABSENT)
            raise better from better.__cause__

    read.answers = True
    return property(values.typed(read, convert), doc=f"{doc} (``nvml.{query}``)")


def answering(cls: type) -> type:
    """Let hasattr() tell which properties of a class have a value; a decorator."""
    return values.answering(cls, ABSENT)


def field(name: str, doc: str, convert: Callable = int) -> property:
    """Return a property that gives a field of the structure which a :class:`Snapshot` holds."""
    return property(values.typed(lambda self: convert(getattr(self._record, name)), convert), doc=doc)


@needs_init("_record")
class Snapshot:
    """Values of NVML at one moment: a structure of the bindings, with named fields."""

    __slots__ = ("__weakref__", "_record")

    def __init__(self, record):
        self._record = record

    def __repr__(self):
        names = {name: None for base in reversed(type(self).__mro__) for name in vars(base)}
        names = [name for name in names if isinstance(getattr(type(self), name), property)]
        return f"{type(self).__name__}({', '.join(f'{name}={shown_field(self, name)}' for name in names)})"


@needs_init("_device")
class DeviceView:
    """A group of attributes of a device, each of which queries NVML at each access."""

    __slots__ = ("__weakref__", "_device")

    def __init__(self, device):
        self._device = device

    def __repr__(self):
        return f"<{type(self).__name__} of {self._device!r}>"

    @property
    def _handle(self) -> int:
        return self._device._handle


@needs_init("_items")
class Items:
    """A sequence of values that NVML returned at one moment.

    Parameters
    ----------
    records : iterable
        The structures of the bindings.
    make : callable
        Makes the public object of one of them.
    """

    __slots__ = ("__weakref__", "_items")

    def __init__(self, records, make: Callable):
        self._items = [make(record) for record in records]

    def __len__(self):
        return len(self._items)

    def __getitem__(self, idx: int):
        return self._items[operator.index(idx)]

    def __repr__(self):
        return f"{type(self).__name__}({self._items!r})"


def check_int(label: str, value: int, limit: int | None = None) -> int:
    """Return an argument that must be an int of at least 0, and below ``limit`` if that is given.

    Raises
    ------
    TypeError
        If it is no int.
    ValueError
        If it is outside the range.
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{label} must be an int, not {type(value).__name__}") from None
    if number < 0 or (limit is not None and number >= limit):
        room = "at least 0" if limit is None else f"in the range [0, {limit})"
        raise ValueError(f"{label} must be {room}, not {shown(number)}")
    return number


def shown_field(record: Snapshot, name: str) -> str:
    """Return the value of a field as text; in brackets why there is none."""
    try:
        return repr(getattr(record, name))
    except (nvml.NvmlError, ValueError) as error:
        return f"<{error}>"


def check_text(label: str, value: bytes | str) -> str:
    """Return an argument that must be text, as a str.

    Raises
    ------
    TypeError
        If it is neither a str nor bytes.
    """
    if isinstance(value, bytes):
        value = value.decode("ascii", "replace")
    if not isinstance(value, str):
        raise TypeError(f"{label} must be a str or bytes, not {type(value).__name__}")
    return value

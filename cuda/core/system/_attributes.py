# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Declarations of attributes: the NVML function or structure field, a description and a conversion."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING

from cuda.core._utils.validators import int_argument, name_bytes, shown
from cuda.core.system._support import nvml, without_value

__all__ = [
    "Constant",
    "DeviceView",
    "Items",
    "Snapshot",
    "check_int",
    "field",
    "nvml_property",
    "reading",
    "shown_field",
]

# Exceptions that mean that the device or the driver does not have the value, or not now.
ABSENT = (
    RuntimeError,
    ValueError,
    *(
        getattr(nvml, f"{name}Error")
        for name in ("FunctionNotFound", "InvalidArgument", "NoData", "NotReady", "NotSupported", "Uninitialized")
        if hasattr(nvml, f"{name}Error")
    ),
)

if TYPE_CHECKING:
    nvml_property = property
else:

    class nvml_property(property):
        """A property for which ``hasattr()`` returns False if the device or the driver does not have the value."""

        def __get__(self, subject, owner=None):
            if subject is None:
                return self
            try:
                return self.fget(subject)
            except ABSENT as error:
                if isinstance(error, (AttributeError, RecursionError, UnicodeError)):
                    raise
                raise without_value(error) from error.__cause__


class Constant:
    """An attribute of a device that never changes, queried on first use and then cached in the instance dict.

    Access through the class gives a property, so that documentation and tab completion query nothing. The
    class of the device must reject assignments, because this is not a data descriptor.

    Parameters
    ----------
    query : str or callable
        The name of a function of ``cuda.bindings.nvml``, or a function of our own; it takes the handle.
    doc : str
        What the value means.
    convert : callable, optional
        Converts the result of NVML's function to the public value.
    """

    def __init__(self, query: str | Callable, doc: str, convert: Callable | None = None):
        self.shown = reading(query, doc, convert)
        self.__doc__ = self.shown.__doc__

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, device, owner=None):
        if device is None:
            return self.shown
        value = device.__dict__[self.name] = self.shown.__get__(device)
        return value


def reading(query: str | Callable, doc: str, convert: Callable | None = None) -> property:
    """Return a property that queries NVML on every access, with the arguments of :class:`Constant`."""
    if not isinstance(query, str):
        return _documented(lambda self: query(self._handle), doc, convert)
    # Looked up in the module's dict, which takes half the time of an attribute access.
    functions = vars(nvml)

    def read(self):
        result = functions[query](self._handle)
        return result if convert is None else convert(result)

    return _documented(read, f"{doc} (``nvml.{query}``)", convert)


def field(name: str, doc: str, convert: Callable = int) -> property:
    """Return a property that converts a field of the structure that a :class:`Snapshot` holds."""
    return _documented(lambda self: convert(getattr(self._record, name)), doc, convert)


def _documented(read: Callable, doc: str, convert: object) -> property:
    """Return a property with a docstring, annotated with the class of its value if that is known."""
    read.__doc__ = doc  # subclasses of `property` ignore their argument `doc` before Python 3.13
    read.__annotations__ = {"return": convert if isinstance(convert, type) else object}
    return nvml_property(read)


class Snapshot:
    """The result of one NVML query: a structure of the bindings, its fields as properties."""

    __slots__ = ("__weakref__", "_record")

    def __init__(self, record):
        self._record = record

    def __repr__(self):
        names = {name: None for base in reversed(type(self).__mro__) for name in vars(base)}
        names = [name for name in names if isinstance(getattr(type(self), name), property)]
        return f"{type(self).__name__}({', '.join(f'{name}={shown_field(self, name)}' for name in names)})"


class DeviceView:
    """A group of attributes of a device, which query NVML at each access."""

    __slots__ = ("__weakref__", "_device")

    def __init__(self, device):
        self._device = device

    def __repr__(self):
        return f"<{type(self).__name__} of {self._device!r}>"

    @property
    def _handle(self) -> int:
        return self._device._handle


class Items:
    """The result of one NVML query that returns several structures, as a sequence.

    Parameters
    ----------
    records : iterable
        The structures of the bindings.
    make : callable
        Wraps one of them in its public class.
    """

    __slots__ = ("__weakref__", "_items")

    def __init__(self, records, make: Callable):
        self._items = [make(record) for record in records]

    def __len__(self):
        return len(self._items)

    def __getitem__(self, idx: int):
        return self._items[int_argument("idx", idx)]

    def __iter__(self):
        return iter(self._items)

    def __repr__(self):
        return f"{type(self).__name__}({self._items!r})"


def check_int(label: str, value: int, limit: int | None = None) -> int:
    """Return an argument that must be an int of at least 0, and less than ``limit`` if that is given.

    Raises
    ------
    TypeError
        If it is not an int.
    ValueError
        If it is outside the range.
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{label} must be an int, not {type(value).__name__}") from None
    if number < 0 or (limit is not None and number >= limit):
        allowed = "at least 0" if limit is None else f"in the range [0, {limit})"
        raise ValueError(f"{label} must be {allowed}, not {shown(number)}")
    return number


def shown_field(record: Snapshot, name: str) -> str:
    """Return the repr of a field's value, or the error in angle brackets."""
    try:
        return repr(getattr(record, name))
    except (nvml.NvmlError, ValueError) as error:
        return f"<{error}>"


def check_text(label: str, value: bytes | str) -> str:
    """Return an argument that must be a str or ASCII bytes, as a str.

    Raises
    ------
    TypeError
        If it is neither a str nor bytes.
    ValueError
        If it contains a null character or a lone surrogate.
    """
    if isinstance(value, bytes):
        value = value.decode("ascii", "replace")
    if not isinstance(value, str):
        raise TypeError(f"{label} must be a str or bytes, not {type(value).__name__}")
    name_bytes(label, value)
    return value

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Objects whose ``__init__`` did not run: reading their attributes raises an exception that says so."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import TypeVar

from cuda.core._utils.cuda_utils import UnavailableError

__all__ = ["raise_if_uninitialized"]


_Class = TypeVar("_Class", bound=type)


def raise_if_uninitialized(*names: str) -> Callable[[_Class], _Class]:
    """Return a class decorator: reading one of these attributes before it was set raises RuntimeError.

    Reading a set attribute costs nothing more: the instance dict has priority over the non-data descriptors that are
    added here. A class with ``__slots__`` gets a ``__getattr__`` instead, which runs for missing attributes only. The
    ``repr`` of an uninitialized object says so, also in subclasses.
    """

    def decorate(cls: _Class) -> _Class:
        if any(name in cls.__dict__ for name in names):
            cls.__getattr__ = _raise_for_missing
        else:
            for name in names:
                setattr(cls, name, _UnsetAttribute())
        _guard_repr(cls)
        if isinstance(cls.__init_subclass__, types.BuiltinMethodType):
            cls.__init_subclass__ = classmethod(_guard_repr)
        return cls

    return decorate


class _NotInitialized(UnavailableError):
    """An attribute has no value yet."""


def _guard_repr(cls: type) -> None:
    if "__repr__" in cls.__dict__:
        cls.__repr__ = _guarded(cls.__dict__["__repr__"], "<{}, not initialized>")
    if "_repr_html_" in cls.__dict__:
        cls._repr_html_ = _guarded(cls.__dict__["_repr_html_"], "<p>{}, not initialized</p>")


def _guarded(show: Callable, text: str) -> Callable:
    def shown(self):
        try:
            return show(self)
        except _NotInitialized:
            return text.format(type(self).__name__)

    shown.__name__, shown.__qualname__, shown.__doc__ = show.__name__, show.__qualname__, show.__doc__
    return shown


class _UnsetAttribute:
    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        raise _NotInitialized(_message(instance))


def _raise_for_missing(self, name):
    for base in type(self).__mro__:
        if isinstance(found := vars(base).get(name), property):
            return found.__get__(self)  # the property raised the AttributeError that led here, so raise it again
    if any(name in getattr(base, "__slots__", ()) for base in type(self).__mro__):
        raise _NotInitialized(_message(self))
    raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def _message(instance) -> str:
    return f"this {type(instance).__name__} was not initialized: its __init__ did not run, or failed"

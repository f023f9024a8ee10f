# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Errors of objects whose ``__init__`` did not run, as after ``Program.__new__(Program)``."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import TypeVar

__all__ = ["raise_if_uninitialized"]

_Class = TypeVar("_Class", bound=type)


def raise_if_uninitialized(*names: str) -> Callable[[_Class], _Class]:
    """Return a decorator of classes: reading one of these attributes before it was set is a RuntimeError.

    What is set is found before what is here, so reading costs nothing more. In a class with ``__slots__``, whose
    attributes are found by other means, only an attribute that is missing takes the detour. The ``repr`` of such an
    object says that it was not initialized, in subclasses too.
    """

    def decorate(cls: _Class) -> _Class:
        if any(name in cls.__dict__ for name in names):
            cls.__getattr__ = _missing
        else:
            for name in names:
                setattr(cls, name, _Unset())
        _guard_repr(cls)
        if isinstance(cls.__init_subclass__, types.BuiltinMethodType):
            cls.__init_subclass__ = classmethod(_guard_repr)
        return cls

    return decorate


class _NotInitialized(RuntimeError, AttributeError):
    """Also for hasattr(): there is no value yet."""


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


class _Unset:
    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        raise _NotInitialized(_message(instance))


def _missing(self, name):
    for base in type(self).__mro__:
        if isinstance(found := vars(base).get(name), property):
            return found.fget(self)  # its exception was an AttributeError, which led here: it raises it again
    if any(name in getattr(base, "__slots__", ()) for base in type(self).__mro__):
        raise _NotInitialized(_message(self))
    raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def _message(instance) -> str:
    return f"this {type(instance).__name__} was not initialized: its __init__ did not run, or failed"

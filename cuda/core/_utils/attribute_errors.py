# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Errors of attributes: of closed and of uninitialized objects."""

from __future__ import annotations

from collections.abc import Callable
import builtins
import functools
import re
import sys
import types
import typing
from typing import TypeVar

__all__ = [
    "ABSENT",
    "CachedProperty",
    "Getter",
    "as_attribute_error",
    "completed_as",
    "computed_property",
    "hasattr_safe",
    "hasattr_safe_getter",
    "raise_if_uninitialized",
    "typed",
]


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


class _NotInitialized(RuntimeError, AttributeError):
    """An attribute has no value yet; an AttributeError, too, so that hasattr() returns False."""


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
            return found.fget(self)  # the property raised the AttributeError that led here; raise it again
    if any(name in getattr(base, "__slots__", ()) for base in type(self).__mro__):
        raise _NotInitialized(_message(self))
    raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def _message(instance) -> str:
    return f"this {type(instance).__name__} was not initialized: its __init__ did not run, or failed"


_Class = TypeVar("_Class", bound=type)
_Function = TypeVar("_Function", bound=Callable)

# The class of properties of extension types: a subclass of property that the first extension creates (cpython.hpp).
computed_property: type | None = None

# Exceptions that mean that there is no value. Others, such as those of the driver, are failures.
ABSENT = (RuntimeError, ValueError)


def as_attribute_error(error: Exception, kinds: tuple[type, ...] = ABSENT) -> Exception:
    """Return the exception as one of its class and of AttributeError; unchanged if it is not one of ``kinds``."""
    cls = type(error)
    if not issubclass(cls, kinds) or issubclass(cls, (AttributeError, RecursionError)):
        return error
    try:
        converted = _remade(cls, error.args, vars(error)).with_traceback(error.__traceback__)
    except TypeError:  # a class with C fields of its own, such as UnicodeDecodeError
        return error
    converted.__cause__, converted.__context__ = error.__cause__, error.__context__
    converted.__suppress_context__ = error.__suppress_context__
    return converted


def hasattr_safe(cls: _Class, kinds: tuple[type, ...] = ABSENT) -> _Class:
    """Let ``hasattr()`` return False for the properties of a class that raise one of ``kinds``; a class decorator."""
    for name, found in list(vars(cls).items()):
        if type(found) is property and not hasattr(found.fget, "is_hasattr_safe"):
            setattr(cls, name, property(hasattr_safe_getter(found.fget, kinds), found.fset, found.fdel, found.__doc__))
    return cls


def hasattr_safe_getter(get: Callable, kinds: tuple[type, ...] = ABSENT) -> Callable:
    """Return the function of a property that raises exceptions of ``kinds`` as AttributeErrors, too."""

    @functools.wraps(get)
    def read(self):
        try:
            return get(self)
        except kinds as error:
            converted = as_attribute_error(error, kinds)
            raise converted from converted.__cause__

    read.is_hasattr_safe = True
    # Since Python 3.14, `wraps` does not copy annotations that were assigned.
    read.__annotations__ = {"return": getattr(get, "completed_as", get.__annotations__.get("return", object))}
    return read


def completed_as(cls: type) -> Callable[[_Function], _Function]:
    """Let tools complete names of the property's value as those of ``cls``; a decorator of the property's function.

    For annotations that need a module of a higher layer, and for ``Literal``, which Jedi does not resolve.
    """

    def mark(function: _Function) -> _Function:
        function.completed_as = cls
        return function

    return mark


def typed(function: Callable, convert: object) -> Callable:
    """Annotate the function of a property with ``convert`` if that is a class, otherwise with ``object``."""
    function.__annotations__ = {"return": convert if isinstance(convert, type) else object}
    return function


class Getter:
    """The function of a property of an extension type; its annotation is read from the docstring.

    Parameters
    ----------
    descriptor : types.GetSetDescriptorType
        The descriptor that Cython created. Its docstring begins with the name and the annotated type, or with a
        sentence whose first words name the class.
    """

    def __init__(self, descriptor):
        self._descriptor = descriptor
        self.__name__, self.__qualname__, self.__doc__ = (
            descriptor.__name__,
            descriptor.__qualname__,
            descriptor.__doc__,
        )
        self.__module__ = descriptor.__objclass__.__module__

    def __call__(self, subject):
        return self._descriptor.__get__(subject)

    @property
    def __annotations__(self) -> dict[str, object]:
        # Where the annotation would need a class of a higher layer, the sentence names it.
        match = re.match(rf"{self.__name__}: (.+)|The :class:`~?([\w.]+)`", self.__doc__ or "")
        return {"return": _evaluated(match[1] or match[2], self.__module__) if match else object}


class _Names(dict):
    """Names for evaluating an annotation: those of its module, then of the package, Python and all loaded modules."""

    def __init__(self, module: types.ModuleType):
        super().__init__(vars(module))
        self.module = module

    def __missing__(self, name):
        # getattr, not only vars: modules also have names that their __getattr__ imports.
        for place in (self.module, sys.modules.get("cuda.core"), sys.modules.get("cuda.bindings"), typing, builtins):
            if hasattr(place, name):
                return getattr(place, name)
        for path, module in list(sys.modules.items()):
            if path.startswith("cuda.core.") and name in getattr(module, "__dict__", ()):
                return vars(module)[name]
        return sys.modules[name]


def _evaluated(annotation: str, module: str) -> object:
    try:
        return _class_of(eval(annotation, {}, _Names(sys.modules[module])))
    except Exception:  # an annotation may raise anything, and only tools read the result
        return object


def _class_of(annotation: object) -> type:
    """Return the class of an annotation: the first member of a union, the origin of a generic alias."""
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        return next(_class_of(cls) for cls in typing.get_args(annotation) if cls is not types.NoneType)
    found = origin or annotation
    return found if isinstance(found, type) else object


class CachedProperty:
    """Base of non-data descriptors that cache the value in the instance dict, where later lookups find it.

    A property cannot do that, because data descriptors take priority over the instance dict; for ``isinstance()`` this
    is one nevertheless. A subclass defines ``convert``, the class of the value.
    """

    __class__ = property
    fset = fdel = None

    @property
    def fget(self) -> Callable:
        """The function of a property."""
        return typed(lambda subject: self.__get__(subject, type(subject)), self.convert)


@functools.cache
def _both(cls: type) -> type:
    return type(cls.__name__, (cls, AttributeError), {"__module__": cls.__module__, "__reduce__": _reduce})


def _reduce(self):
    return _remade, (type(self).__mro__[1], self.args, vars(self))


def _remade(cls: type, args: tuple, state: dict) -> Exception:
    error = _both(cls).__new__(_both(cls), *args)
    error.args = args
    error.obj = None  # if unset, the interpreter sets `name`, for which tracebacks suggest similar attributes
    vars(error).update(state)
    if "name" in state:
        error.name = state["name"]  # the name of a CUDAError; AttributeError has a member of the same name
    return error

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Properties that have no value now, as of closed objects: what they raise is an AttributeError, too.

``hasattr()`` takes that for an answer, and so do tools that complete names or look through objects. The exception
stays what it is besides, with its name. Methods raise it without that: in a property of a user's class, an
``AttributeError`` out of a call would be taken for an answer about the user's property.

Computed attributes are properties to ``isinstance()``, and the functions of properties tell their type. What completes
names then evaluates none of them, and completes a chain of attributes by their types.
"""

from __future__ import annotations

import builtins
import functools
import re
import sys
import types
import typing
from collections.abc import Callable
from typing import TypeVar

__all__ = [
    "ABSENT",
    "CachedProperty",
    "Getter",
    "answer",
    "answering",
    "completed_as",
    "computed_property",
    "restated",
    "typed",
]

_Class = TypeVar("_Class", bound=type)
_Function = TypeVar("_Function", bound=Callable)

# The class of the properties of extension types, a subclass of property, which the first extension makes (cpython.hpp).
computed_property: type | None = None

# What says that there is no value; other exceptions, as those of the driver, are failures.
ABSENT = (RuntimeError, ValueError)


def restated(error: Exception, kinds: tuple[type, ...] = ABSENT) -> Exception:
    """Return an exception of a property as one that is an AttributeError, too, if it is of such a kind."""
    cls = type(error)
    if not issubclass(cls, kinds) or issubclass(cls, (AttributeError, RecursionError)):
        return error
    try:
        better = _remade(cls, error.args, vars(error)).with_traceback(error.__traceback__)
    except TypeError:  # of a class with fields of its own, as UnicodeDecodeError
        return error
    better.__cause__, better.__context__ = error.__cause__, error.__context__
    better.__suppress_context__ = error.__suppress_context__
    return better


def answering(cls: _Class, kinds: tuple[type, ...] = ABSENT) -> _Class:
    """Let the properties of a Python class raise exceptions of such kinds as AttributeErrors, too; a decorator."""
    for name, found in list(vars(cls).items()):
        if type(found) is property and not hasattr(found.fget, "answers"):
            setattr(cls, name, property(answer(found.fget, kinds), found.fset, found.fdel, found.__doc__))
    return cls


def answer(get: Callable, kinds: tuple[type, ...] = ABSENT) -> Callable:
    """Return the function of a property with exceptions of such kinds as AttributeErrors, too."""

    @functools.wraps(get)
    def read(self):
        try:
            return get(self)
        except kinds as error:
            better = restated(error, kinds)
            raise better from better.__cause__

    read.answers = True
    # Since Python 3.14, `wraps` leaves out annotations that were set.
    read.__annotations__ = {"return": getattr(get, "completed_as", get.__annotations__.get("return", object))}
    return read


def completed_as(cls: type) -> Callable[[_Function], _Function]:
    """Let names of a property's value be completed as those of a class; a decorator of its function.

    For annotations that need a module of a higher layer, and for ``Literal``, at which Jedi gives up.
    """

    def mark(function: _Function) -> _Function:
        function.completed_as = cls
        return function

    return mark


def typed(function: Callable, convert: object) -> Callable:
    """Annotate a function of a property with the class that makes its value; with ``object`` if it is no class."""
    function.__annotations__ = {"return": convert if isinstance(convert, type) else object}
    return function


class Getter:
    """The function of a property of an extension type, with its type from the documentation as annotation.

    Parameters
    ----------
    descriptor : types.GetSetDescriptorType
        What Cython made. Its documentation begins with the name and the type, as the source annotates it, or with
        a sentence whose first words name the class.
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
        # A class of a higher layer is not in the annotation, but in the sentence.
        match = re.match(rf"{self.__name__}: (.+)|The :class:`~?([\w.]+)`", self.__doc__ or "")
        return {"return": _evaluated(match[1] or match[2], self.__module__) if match else object}


class _Names(dict):
    """Names of a module, of the package, of Python; then of all modules of the package that are loaded, and modules."""

    def __init__(self, module: types.ModuleType):
        super().__init__(vars(module))
        self.module = module

    def __missing__(self, name):
        # The module itself has names, too, that it loads when they are asked for.
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
    except Exception:  # whatever an annotation may do; it is for tools
        return object


def _class_of(annotation: object) -> type:
    """Return the class whose names complete those of a value: of a union the first, of a generic class itself."""
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        return next(_class_of(cls) for cls in typing.get_args(annotation) if cls is not types.NoneType)
    found = origin or annotation
    return found if isinstance(found, type) else object


class CachedProperty:
    """Base of descriptors that cache the value in the instance: no properties, because these have priority over it.

    To ``isinstance()`` they are. A subclass has ``convert``, the class of the value.
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
    error.obj = None  # set, so that the interpreter sets no name, for which tracebacks suggest another property
    vars(error).update(state)
    if "name" in state:
        error.name = state["name"]  # of a CUDAError, which the member of AttributeError hides
    return error

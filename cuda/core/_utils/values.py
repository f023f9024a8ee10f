# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Properties that have no value now, as of closed objects: what they raise is an AttributeError, too.

``hasattr()`` takes that for an answer, and so do tools that complete names or look through objects. The exception
stays what it is besides, with its name. Methods raise it without that: in a property of a user's class, an
``AttributeError`` out of a call would be taken for an answer about the user's property.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeVar

__all__ = ["ABSENT", "answer", "answering", "restated"]

_Class = TypeVar("_Class", bound=type)

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
    return read


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

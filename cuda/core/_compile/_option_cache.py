# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A cache of checked options: equal options of a class are checked once, and share the values derived from them."""

from __future__ import annotations

import functools

from cuda.core._compile._option_key import option_key
from cuda.core._utils.options import Options, rows_of, set_values

__all__ = ["CheckedValues", "CachedOptions", "checked_values_of", "cache_checks"]

# The capacity of the cache for all classes; when it is full, it is cleared.
_CAPACITY = 512

_cache = {}  # option_key() -> CheckedValues


class CheckedValues:
    """The checked values of equal options, and the values derived from them.

    Attributes
    ----------
    values : dict
        All fields, checked and normalized; lists are private copies.
    lists : list of str
        The names of the fields that are lists, which can be modified without an assignment.
    derived : dict
        Values that other modules derive from these options, such as compiler arguments, by keys of their choice.
    """

    __slots__ = ("derived", "lists", "values")

    def __init__(self, values: dict):
        self.values = {name: list(value) if type(value) is list else value for name, value in values.items()}
        self.lists = [name for name, value in values.items() if type(value) is list]
        self.derived = {}

    def is_outdated_by(self, values: dict) -> bool:
        """Return whether a list was modified since the values were checked."""
        # A loop is faster than any() with a generator, and this runs for every program.
        for name in self.lists:
            if values[name] != self.values[name]:
                return True
        return False


class CachedOptions(Options):
    """Base of options classes whose equal instances share a :class:`CheckedValues`."""

    __slots__ = ("_checked",)

    def __setattr__(self, name, value):
        set_checked(self, None)
        super().__setattr__(name, value)

    def __getstate__(self):
        return self.__dict__


# Sets the slot without __setattr__, which drops the checked values.
set_checked = CachedOptions._checked.__set__


def cache_checks(cls):
    """Let an options class reuse the checked values of equal options, without checking them again."""
    make = cls.__init__
    names = {row.name for row in rows_of(cls)}

    @functools.wraps(make)
    def __init__(self, *args, **kwargs):
        # Subclasses may check more, and invalid arguments are refused by the original __init__.
        key = option_key(cls, kwargs) if type(self) is cls and not args and kwargs.keys() <= names else None
        checked = _cache.get(key)
        if checked is None:
            make(self, *args, **kwargs)
            set_checked(self, None if key is None else add_to_cache(key, self.__dict__))
            return
        values = checked.values.copy()
        for name in checked.lists:
            values[name] = kwargs[name]
        set_values(self, values)
        set_checked(self, checked)

    cls.__init__ = __init__
    return cls


def checked_values_of(options: CachedOptions) -> CheckedValues | None:
    """Return the checked values of some options; None if a value has a type that cannot be part of the key."""
    checked = getattr(options, "_checked", None)
    values = options.__dict__
    if checked is not None and not (checked.lists and checked.is_outdated_by(values)):
        return checked
    key = option_key(type(options), values)
    if key is None:
        return None
    checked = _cache.get(key)
    if checked is None:
        # Check again: the lists may have been modified.
        options._check()
        checked = add_to_cache(key, values)
    set_checked(options, checked)
    return checked


def add_to_cache(key, values: dict) -> CheckedValues:
    """Add the values of valid options to the cache."""
    if len(_cache) >= _CAPACITY:
        _cache.clear()
    checked = _cache[key] = CheckedValues(values)
    return checked

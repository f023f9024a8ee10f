# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The base of all options classes."""

from __future__ import annotations

from cuda.core._utils.validators import format_or_list, repr_of

__all__ = ["FieldNames", "Options", "unknown_field"]


class FieldNames:
    """What refuses unknown fields of an options dataclass, and suggests what may have been meant."""

    __slots__ = ()

    def __new__(cls, *args, **fields):
        for name in fields:
            if name not in cls.__dataclass_fields__:
                raise TypeError(unknown_field(cls, name))
        return object.__new__(cls)


def unknown_field(cls: type, name: str) -> str:
    """Return the message about a field that an options class does not have."""
    import difflib

    fields = list(cls.__dataclass_fields__)
    like = difflib.get_close_matches(name, fields, 3, 0.6) or [field for field in fields if name in field]
    if like:
        return f"{cls.__name__} has no field {name!r}; did you mean {format_or_list(like)}?"
    return f"{cls.__name__} has no field {name!r}; its fields are {', '.join(fields)}"


class Options(FieldNames):
    """An options dataclass that is valid at any time: each assignment is checked like construction.

    A subclass checks and normalises its fields in ``__post_init__``.
    """

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.__repr__ = cls.__repr__  # what a class has itself, dataclass() leaves as it is

    def __repr__(self):
        if len(self.__dict__) < len(self.__dataclass_fields__):
            return f"<{type(self).__name__}, not initialised>"
        shown = [
            f"{name}={repr_of(self.__dict__[name])}" for name, row in self.__dataclass_fields__.items() if row.repr
        ]
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def __copy__(self):
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def __setattr__(self, name, value):
        if "_is_checking" in self.__dict__:
            object.__setattr__(self, name, value)  # __post_init__ normalises a field
            return
        fields = self.__dataclass_fields__
        if name not in fields:
            raise AttributeError(unknown_field(type(self), name))
        is_complete = len(self.__dict__) == len(fields)
        previous = self.__dict__.get(name)
        object.__setattr__(self, name, value)
        if is_complete:
            try:
                self._check()
            except BaseException:
                self.__dict__[name] = previous
                raise

    def __post_init__(self):
        pass

    def _check(self) -> None:
        """Check all fields once, although that may assign some."""
        self.__dict__["_is_checking"] = True
        try:
            self.__post_init__()
        finally:
            del self.__dict__["_is_checking"]

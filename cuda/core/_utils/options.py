# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What all options classes share: the decorator that makes them dataclasses, and their base class."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import dataclass_transform

from cuda.core._utils.late import LateModule
from cuda.core._utils.validators import format_or_list, repr_of

__all__ = ["Options", "options", "unknown_field"]

_other_names = LateModule("cuda.core._utils.other_names")

_MISSING = object()  # stands for the value of a field that was never set


class Options:
    """Base class of options, which are dataclasses made by :func:`options`.

    A subclass overrides ``_check`` to check and normalize its fields. It runs after construction, and again when the
    options are used, because fields can be assigned in between.
    """

    __slots__ = ("__weakref__",)

    def __post_init__(self):
        self._check()

    def _check(self) -> None:
        """Check and normalize all fields. A second call changes nothing."""

    def __repr__(self):
        values = _values_of(self)
        if any(value is _MISSING for value in values.values()):
            return f"<{type(self).__name__}, not initialized>"
        shown = [f"{name}={repr_of(value)}" for name, value in values.items()]
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def __eq__(self, other):
        if type(self) is not type(other):
            return NotImplemented
        return _values_of(self) == _values_of(other)


@dataclass_transform()
def options(cls: type | None = None, /, *, frozen: bool = False):
    """Turn a subclass of :class:`Options` into a dataclass, as a class decorator.

    Mutable options have slots, so that assigning to a misspelled name is an error. The error for an unknown keyword of
    the constructor names similar fields.

    Parameters
    ----------
    frozen : bool, optional
        Whether the options are immutable and hashable. Default is False.
    """
    if cls is None:
        return functools.partial(options, frozen=frozen)
    made = dataclass(repr=False, eq=frozen, frozen=frozen, slots=not frozen)(cls)
    init = made.__init__

    @functools.wraps(init)
    def __init__(self, *args, **kwargs):
        try:
            init(self, *args, **kwargs)
        except TypeError:
            message = unknown_field(made.__name__, kwargs, made.__match_args__)
            if message is None:
                raise
            raise TypeError(message) from None

    made.__init__ = __init__
    return made


def unknown_field(owner: str, names: Iterable[str], known: Iterable[str]) -> str | None:
    """Return the error message for the first unknown name, with similar known names, or None if all are known."""
    known = list(known)
    unknown = next((name for name in names if name not in known), None)
    if unknown is None:
        return None
    instead = _other_names.suggestion(owner, unknown)
    if instead:
        return f"{owner} has no field {unknown!r}{instead}"
    from difflib import get_close_matches  # slow to import, and for this message only

    like = get_close_matches(unknown, known, 3, 0.6) or [name for name in known if unknown in name]
    if like:
        return f"{owner} has no field {unknown!r}; did you mean {format_or_list(like)}?"
    return f"{owner} has no field {unknown!r}; its fields are {', '.join(known)}"


def _values_of(options: Options) -> dict[str, object]:
    return {field.name: getattr(options, field.name, _MISSING) for field in fields(options)}

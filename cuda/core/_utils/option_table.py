# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compiler options as rows of a table: each says once how every back end spells it.

A row is a dataclass field made by :func:`option`, with one renderer per back end. From the rows come
the arguments of each back end, the refusal of what a back end lacks or is too old for, the translation
to the options of another tool, and the documentation.
"""

from __future__ import annotations

import functools
import operator
import os
from dataclasses import field, fields

__all__ = [
    "check_options",
    "document_options",
    "each",
    "elsewhere",
    "forward",
    "forwarded_options",
    "ignored",
    "ignored_options",
    "macros",
    "newer_options",
    "number",
    "option",
    "refused_options",
    "render_options",
    "setting",
    "switch",
    "toggle",
    "value",
]


class Renderer:
    """How a back end spells an option.

    Parameters
    ----------
    flag : str
        The flag, with its dashes.
    after : str, optional
        The option whose arguments these follow. If None, the order of the rows holds.
    since : tuple of int, optional
        The first version of the back end that knows the flag. If None, every one does.
    """

    # Whether a false value says nothing, as None does.
    is_switch = False

    def __init__(self, flag: str, after: str | None = None, since: tuple[int, int] | None = None):
        self.flag = flag
        self.after = after
        self.since = since

    def check(self, name: str, value) -> None:
        """Raise TypeError for a value that this option cannot have."""

    def render(self, value) -> list[str]:
        """Return the arguments for a value that is not None."""
        raise NotImplementedError


class switch(Renderer):
    """The flag, alone or with what ``argument()`` gives, for a true value."""

    is_switch = True

    def __init__(self, flag, argument=None, after=None, since=None):
        super().__init__(flag, after, since)
        self.argument = argument

    def check(self, name, value):
        check_bool(name, value)

    def render(self, value):
        if not value:
            return []
        return [self.flag if self.argument is None else f"{self.flag}={self.argument()}"]


class toggle(Renderer):
    """The flag with one of two values."""

    def __init__(self, flag, true="true", false="false", after=None, since=None):
        super().__init__(flag, after, since)
        self.true = true
        self.false = false

    def check(self, name, value):
        check_bool(name, value)

    def render(self, value):
        return [f"{self.flag}={self.true if value else self.false}"]


class value(Renderer):
    """The flag with the value: an int, a string or a path."""

    def __init__(self, flag, convert=str, takes_bool=False, after=None, since=None):
        super().__init__(flag, after, since)
        self.convert = convert
        self.takes_bool = takes_bool

    def check(self, name, value):
        if not (isinstance(value, bool) and self.takes_bool):
            check_text(name, value)

    def render(self, value):
        return [f"{self.flag}={self.convert(os.fspath(value) if hasattr(value, '__fspath__') else value)}"]


class number(Renderer):
    """The flag with an int; ``join`` stands between the two."""

    def __init__(self, flag, join="=", takes_bool=False, after=None, since=None):
        super().__init__(flag, after, since)
        self.join = join
        self.takes_bool = takes_bool

    def check(self, name, value):
        if isinstance(value, bool) and self.takes_bool:
            return
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise TypeError(f"{name} must be an int or None, not {type(value).__name__}")

    def render(self, value):
        return [f"{self.flag}{self.join}{operator.index(value)}"]


class setting(Renderer):
    """A pair of a name and an int, for a back end that takes no text.

    Parameters
    ----------
    flag : str
        The name.
    convert : callable, optional
        Makes the int of the value. Default is to take the value itself.
    is_switch : bool, optional
        Whether only a true value says anything. Default is False.
    """

    def __init__(self, flag, convert=operator.index, is_switch=False):
        super().__init__(flag)
        self.convert = convert
        self.is_switch = is_switch

    def render(self, value):
        return [(self.flag, self.convert(value))] if value or not self.is_switch else []


class each(Renderer):
    """The flag once for each value of a list or tuple, or for a single value."""

    def check(self, name, value):
        for item in as_items(value):
            check_text(name, item)

    def render(self, value):
        return [f"{self.flag}={os.fspath(item) if hasattr(item, '__fspath__') else item}" for item in as_items(value)]


class macros(Renderer):
    """The flag once for each macro: a name, or a pair of name and value.

    A tuple of two is always one pair.
    """

    def render(self, value):
        is_pair = isinstance(value, tuple) and len(value) == 2
        return [self._render_one(item) for item in ([value] if is_pair else as_items(value))]

    def _render_one(self, item):
        if isinstance(item, str):
            return f"{self.flag}={item}"
        if isinstance(item, tuple) and len(item) == 2 and all(isinstance(part, str) for part in item):
            return f"{self.flag}={item[0]}={item[1]}"
        raise malformed_macro(item)


class elsewhere(Renderer):
    """No argument: the back end heeds the option in another way."""

    is_switch = True

    def __init__(self):
        super().__init__("")

    def render(self, value):
        return []


class ignored(elsewhere):
    """No argument: the back end has no such option, and a deprecated use of it warns."""

    is_switch = False


class forward(Renderer):
    """The value goes to the option of the same name of another table, as ``convert`` makes it."""

    def __init__(self, convert=None):
        super().__init__("")
        self.convert = convert

    def render(self, value):
        return [value if self.convert is None else self.convert(value)]


def option(doc: str, **renderers: Renderer):
    """Make a row: a dataclass field that is None by default, which says nothing to any back end.

    Parameters
    ----------
    doc : str
        One sentence for the documentation.
    **renderers : Renderer
        How each back end spells it; one that is not named does not support it.
    """
    return field(default=None, metadata={"doc": doc, "renderers": renderers})


def check_options(options) -> None:
    """Check the types of all options that are set.

    Raises
    ------
    TypeError
        If one has a value of a wrong type; the message names it.
    """
    for row in rows_of(options):
        current = getattr(options, row.name)
        if current is not None:
            for renderer in row.metadata["renderers"].values():
                renderer.check(row.name, current)


def render_options(options, backend: str) -> list[str]:
    """Return the arguments for one back end, in the order of the rows.

    Raises
    ------
    RuntimeError
        If a macro is malformed.
    ValueError
        If an argument contains a null character.
    """
    arguments = {row.name: [] for row in rows_of(options)}
    for row in rows_of(options):
        current = getattr(options, row.name)
        renderer = None if current is None else row.metadata["renderers"].get(backend)
        if renderer is not None:
            arguments[row.name] = renderer.render(current)
    for row in rows_of(options):
        if arguments[row.name] and (after := row.metadata["renderers"][backend].after) is not None:
            arguments[after] = arguments[after] + arguments[row.name]
            arguments[row.name] = []
    for name, rendered in arguments.items():
        if any("\0" in argument for argument in rendered):
            raise ValueError(f"{name} contains a null character: {getattr(options, name)!r}")
    return [argument for rendered in arguments.values() for argument in rendered]


def refused_options(options, backend: str) -> list[str]:
    """Return the names of the options that are set and that a back end lacks."""
    return [
        row.name
        for row in rows_of(options)
        if getattr(options, row.name) is not None
        and backend not in row.metadata["renderers"]
        and is_set(row, getattr(options, row.name))
    ]


def ignored_options(options, backend: str) -> list[str]:
    """Return the names of the options that are set and that a back end ignores."""
    return [row.name for row, _ in set_rows(options, backend, ignored)]


def forwarded_options(options, backend: str) -> dict:
    """Return the options that are set and that go to another table, by name."""
    return {
        row.name: renderer.render(getattr(options, row.name))[0]
        for row, renderer in set_rows(options, backend, forward)
    }


def newer_options(options, backend: str, version: tuple[int, int]) -> list[tuple[str, tuple[int, int]]]:
    """Return the options that are set and newer than a version of a back end, with the version that knows them."""
    rows = set_rows(options, backend, Renderer)
    return [(row.name, renderer.since) for row, renderer in rows if renderer.since and renderer.since > version]


def document_options(cls):
    """Write the section of attributes into the docstring of an options class, from its rows."""
    lines = [f"\n    {row.name} : {row.type}\n        {row.metadata['doc']}" for row in fields(cls) if row.metadata]
    cls.__doc__ = f"{cls.__doc__.rstrip()}\n\n    Attributes\n    ----------{''.join(lines)}\n    "
    return cls


def rows_of(options):
    return rows_of_class(type(options))


@functools.cache
def rows_of_class(cls):
    return tuple(row for row in fields(cls) if "renderers" in row.metadata)


def set_rows(options, backend, kind):
    """Return the rows that are set, with their renderers, where these are of a kind."""
    found = []
    for row in rows_of(options):
        current = getattr(options, row.name)
        if current is not None and is_set(row, current):
            renderer = row.metadata["renderers"].get(backend)
            if isinstance(renderer, kind):
                found.append((row, renderer))
    return found


def is_set(row, current) -> bool:
    if current is None:
        return False
    return bool(current) or not any(renderer.is_switch for renderer in row.metadata["renderers"].values())


def as_items(value):
    return value if isinstance(value, (list, tuple)) else [value]


def malformed_macro(item):
    return RuntimeError(
        f"define_macro must be a name, a pair (name, value), or a list or tuple of these, but has {item!r}"
    )


def check_bool(name, value) -> None:
    # A string such as "false" would be true.
    if not hasattr(value, "__bool__") and not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be a bool or None, not {type(value).__name__}")


def check_text(name, value) -> None:
    if isinstance(value, bool) or not (
        isinstance(value, str) or hasattr(value, "__index__") or hasattr(value, "__fspath__")
    ):
        raise TypeError(f"{name} takes a str, an int or a path, not {type(value).__name__}")

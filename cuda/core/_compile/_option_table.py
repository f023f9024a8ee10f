# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compiler options as table rows, each with a renderer for every back end that supports the option.

A row is a field created by :func:`option`. The rows determine the arguments for each back end, the rejection of options
that a back end does not support or is too old for, the translation to the options of another tool, and the
documentation.
"""

from __future__ import annotations

import functools
import operator
import os
import re
from dataclasses import field, fields

from cuda.core._utils.validators import format_or_list, shown

__all__ = [
    "check_options",
    "choice",
    "document_options",
    "each",
    "forward",
    "forwarded_options",
    "given_values",
    "ignored",
    "ignored_options",
    "macros",
    "newer_options",
    "no_argument",
    "number",
    "option",
    "options_with_files",
    "options_without_argument",
    "unsupported_options",
    "render_options",
    "setting",
    "switch",
    "toggle",
    "value",
    "verbatim",
]

# Options with the name of a file, even if it is in the current directory.
_NAMES_FILE = r"--?(I|include|pre-include|isystem|time|pch|create-pch|use-pch|fdevice-time-trace|use-bundled-headers)"


class Renderer:
    """Renders an option as arguments of a back end.

    Parameters
    ----------
    flag : str
        The flag, with its dashes.
    after : str, optional
        The option after whose arguments these are placed. If None, they are in the order of the rows.
    since : tuple of int, optional
        The first version of the back end that has the flag. If None, all versions have it.
    """

    # Whether False is treated like None (option not passed).
    is_switch = False
    # Which files the option makes the back end read or write.
    files = None

    def __init__(self, flag: str, after: str | None = None, since: tuple[int, int] | None = None):
        self.flag = flag
        self.after = after
        self.since = since

    def check(self, name: str, value) -> None:
        """Raise TypeError or ValueError for a value that this option cannot have."""

    def render(self, value) -> list[str]:
        """Return the arguments for a value that is not None."""
        raise NotImplementedError

    def uses_files(self, files: str):
        """Declare which files the option makes the back end read or write, for caches, and return the renderer.

        Parameters
        ----------
        files : str
            ``"headers"``: headers that the source includes; ``"reads"``: other files that are read; ``"writes"``: files
            that are written.
        """
        self.files = files
        return self


class switch(Renderer):
    """The flag if the value is true, alone or with the result of ``argument()``."""

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
            check_option_text(name, value)

    def render(self, value):
        return [f"{self.flag}={self.convert(os.fspath(value) if hasattr(value, '__fspath__') else value)}"]


class choice(Renderer):
    """The flag with one of the given strings.

    Parameters
    ----------
    flag : str
        The flag, with its dashes.
    choices : tuple of str
        The strings.
    """

    def __init__(self, flag, choices):
        super().__init__(flag)
        self.choices = choices

    def check(self, name, value):
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a str or None, not {type(value).__name__}")
        if value not in self.choices:
            raise ValueError(f"{name} must be {format_or_list(self.choices)}, not {shown(value)}")

    def render(self, value):
        return [f"{self.flag}={value}"]


class number(Renderer):
    """The flag with an int, and the text ``join`` between the two."""

    def __init__(self, flag, join="=", takes_bool=False, after=None, since=None):
        super().__init__(flag, after, since)
        self.join = join
        self.takes_bool = takes_bool

    def check(self, name, value):
        if isinstance(value, bool) and self.takes_bool:
            return
        if isinstance(value, bool) or not hasattr(type(value), "__index__"):
            raise TypeError(f"{name} must be an int or None, not {type(value).__name__}")

    def render(self, value):
        return [f"{self.flag}{self.join}{operator.index(value)}"]


class setting(Renderer):
    """A pair (name, int), for a back end whose options are not text.

    Parameters
    ----------
    flag : str
        The name.
    convert : callable, optional
        Converts the value to an int. Defaults to ``operator.index``.
    is_switch : bool, optional
        Whether a false value is treated like None. Defaults to False.
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
            check_option_text(name, item)

    def render(self, value):
        return [f"{self.flag}={os.fspath(item) if hasattr(item, '__fspath__') else item}" for item in as_items(value)]


class macros(Renderer):
    """The flag once for each macro: a name, or a pair (name, value). A tuple of two strings is always one pair."""

    def render(self, value):
        is_pair = isinstance(value, tuple) and len(value) == 2
        return [self._render_one(item) for item in ([value] if is_pair else as_items(value))]

    def _render_one(self, item):
        if isinstance(item, str):
            return f"{self.flag}={item}"
        if isinstance(item, tuple) and len(item) == 2 and all(isinstance(part, str) for part in item):
            return f"{self.flag}={item[0]}={item[1]}"
        raise malformed_macro(item)


class verbatim(Renderer):
    """Options as they are, for what no row has. They must not name files, of which caches would know nothing."""

    def __init__(self):
        super().__init__("")

    def check(self, name, value):
        if isinstance(value, str) or not isinstance(value, (list, tuple)):
            raise TypeError(f"{name} must be a tuple of str or None, not {type(value).__name__}")
        for word in value:
            if not isinstance(word, str):
                raise TypeError(f"{name} must consist of str, not {type(word).__name__}")
            if not word.startswith("-"):
                raise ValueError(f"{name} must consist of options such as '--name=value', not {shown(word)}")
            if os.sep in word or re.match(_NAMES_FILE, word):
                raise ValueError(f"{name} cannot name files or directories, as {shown(word)} does")

    def render(self, value):
        return list(value)


class no_argument(Renderer):
    """No argument, because the back end implements the option in another way."""

    is_switch = True

    def __init__(self):
        super().__init__("")

    def render(self, value):
        return []


class ignored(no_argument):
    """No argument, because the back end does not support the option. Setting it is deprecated and warns."""

    is_switch = False


class forward(Renderer):
    """The value, converted by ``convert``, for the option of the same name in another table."""

    def __init__(self, convert=None):
        super().__init__("")
        self.convert = convert

    def render(self, value):
        return [value if self.convert is None else self.convert(value)]


def option(doc: str, **renderers: Renderer):
    """Create a row: a field whose default None leaves the default of the back end.

    Parameters
    ----------
    doc : str
        One sentence for the documentation.
    **renderers : Renderer
        The renderer of each back end that supports the option.
    """
    return field(default=None, metadata={"doc": doc, "renderers": renderers})


def check_options(options) -> None:
    """Check all options that are set.

    Raises
    ------
    TypeError
        If the value of an option has the wrong type. The message names the option.
    ValueError
        If an option does not have one of its possible values.
    """
    rows = options_of(type(options))
    for name, current in given_values(options):
        if name in rows:
            for renderer in rows[name].metadata["renderers"].values():
                renderer.check(name, current)


def render_options(options, backend: str) -> list[str]:
    """Return the arguments for one back end, in the order of the rows.

    Raises
    ------
    RuntimeError
        If a macro is malformed.
    ValueError
        If an argument contains a null character.
    """
    arguments = []
    for name, _, renderer, current in given_options(options, backend):
        rendered = renderer.render(current)
        for argument in rendered:
            if "\0" in argument:
                raise ValueError(f"{name} contains a null character: {shown(current)}")
        arguments += rendered
    return arguments


def unsupported_options(options, backend: str) -> list[str]:
    """Return the names of the options that are set and that a back end does not support."""
    rows = options_of(type(options))
    return [
        name
        for name, current in given_values(options)
        if name in rows and backend not in rows[name].metadata["renderers"] and is_option_set(rows[name], current)
    ]


def ignored_options(options, backend: str) -> list[str]:
    """Return the names of the options that are set and that a back end ignores."""
    return [row.name for row, _ in set_rows(options, backend, ignored)]


def forwarded_options(options, backend: str) -> dict:
    """Return the options that are set and forwarded to another table, by name."""
    return {
        row.name: renderer.render(getattr(options, row.name))[0]
        for row, renderer in set_rows(options, backend, forward)
    }


def newer_options(options, backend: str, version: tuple[int, int]) -> list[tuple[str, tuple[int, int]]]:
    """Return the options that are set and need a newer version of a back end, with the version that they need."""
    rows = set_rows(options, backend, Renderer)
    return [(row.name, renderer.since) for row, renderer in rows if renderer.since and renderer.since > version]


def options_with_files(options, backend: str, *kinds: str) -> list[str]:
    """Return the names of the options that are set and make a back end read or write files of these kinds.

    :meth:`Renderer.uses_files` has the kinds.
    """
    return [row.name for row, renderer in set_rows(options, backend, Renderer) if renderer.files in kinds]


def options_without_argument(options, backend: str) -> dict[str, object]:
    """Return the options that are set and that a back end implements without an argument, by name."""
    return {row.name: getattr(options, row.name) for row, _ in set_rows(options, backend, no_argument)}


def document_options(cls):
    """Append the Attributes section to the docstring of an options class, from its rows."""
    lines = [f"\n    {row.name} : {row.type}\n        {row.metadata['doc']}" for row in fields(cls) if row.metadata]
    cls.__doc__ = f"{cls.__doc__.rstrip()}\n\n    Attributes\n    ----------{''.join(lines)}\n    "
    return cls


@functools.cache
def options_of(cls) -> dict:
    """Return the compiler options among the fields of an options class, by name."""
    return {row.name: row for row in fields(cls) if "renderers" in row.metadata}


def given_values(options) -> list[tuple[str, object]]:
    """Return the names and values of all fields that are not None."""
    names, read = fields_of(type(options))
    return [(name, current) for name, current in zip(names, read(options), strict=True) if current is not None]


@functools.cache
def fields_of(cls) -> tuple:
    """Return the names of all fields, and a function that reads them in one call, because every program does that."""
    names = [row.name for row in fields(cls)]
    return names, operator.attrgetter(*names)


@functools.cache
def known_rows(cls, backend: str) -> dict[str, tuple]:
    """Return the rows of the options that a back end supports, by name: (position, name, row, renderer)."""
    rows = options_of(cls)
    names = [name for name, row in rows.items() if backend in row.metadata["renderers"]]
    for name in list(names):
        after = rows[name].metadata["renderers"][backend].after
        if after is not None:
            names.remove(name)
            names.insert(names.index(after) + 1, name)
    return {
        name: (index, name, rows[name], rows[name].metadata["renderers"][backend]) for index, name in enumerate(names)
    }


def given_options(options, backend: str) -> list[tuple]:
    """Return the options that are not None and that a back end supports, in its order: (name, row, renderer, value)."""
    known = known_rows(type(options), backend)
    found = [(*known[name], current) for name, current in given_values(options) if name in known]
    found.sort(key=operator.itemgetter(0))
    return [given for _, *given in found]


def set_rows(options, backend, kind):
    """Return the rows that are set and have a renderer of a class, with the renderer."""
    return [
        (row, renderer)
        for _, row, renderer, current in given_options(options, backend)
        if isinstance(renderer, kind) and is_option_set(row, current)
    ]


def is_option_set(row, current) -> bool:
    """Return whether a value sets an option: not None, and not False for a switch."""
    if current is None:
        return False
    return bool(current) or not any(renderer.is_switch for renderer in row.metadata["renderers"].values())


def as_items(value):
    return value if isinstance(value, (list, tuple)) else [value]


def malformed_macro(item):
    return RuntimeError(
        f"define_macro must be a name, a pair (name, value), or a list or tuple of these, not {shown(item)}"
    )


def check_bool(name, value) -> None:
    # A string is rejected, because "false" would be true.
    if not hasattr(type(value), "__bool__") and not hasattr(type(value), "__index__"):
        raise TypeError(f"{name} must be a bool or None, not {type(value).__name__}")


def check_option_text(name, value) -> None:
    if isinstance(value, bool) or not (
        isinstance(value, str) or hasattr(type(value), "__index__") or hasattr(type(value), "__fspath__")
    ):
        # As cuda.pathfinder.find_nvidia_header_directory() returns for a package that is not installed.
        hint = "; the directory was not found" if value is None and name == "include_path" else ""
        raise TypeError(f"{name} must be a str, an int or a path, not {type(value).__name__}{hint}")

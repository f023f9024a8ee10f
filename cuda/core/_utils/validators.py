# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of values against a set of choices."""

from __future__ import annotations

__all__ = ["check_str_enum", "find_str_enum", "format_or_list"]


def check_str_enum(value, enum_class, *, allow_none: bool = False):
    """Return the member of a ``StrEnum`` for a string, in any case of letters.

    Parameters
    ----------
    value : str or None
        The string, or the member itself.
    enum_class : type of StrEnum
        The choices.
    allow_none : bool, optional
        Whether None is a choice, too. Default is False.

    Raises
    ------
    ValueError
        If it is none of the choices; the message lists them.
    """
    if value is None and allow_none:
        return None
    return enum_class(find_str_enum(value, [member.value for member in enum_class], enum_class.__name__))


def find_str_enum(value, choices, label: str) -> str:
    """Return the one of the strings ``choices`` that equals ``value`` in any case of letters.

    Raises
    ------
    ValueError
        If there is none; ``label`` names what was asked for.
    """
    if isinstance(value, str):
        for choice in choices:
            if choice.lower() == value.lower():
                return choice
    raise ValueError(f"{value!r} is not a valid {label}; it must be {format_or_list(sorted(choices))}")


def format_or_list(values) -> str:
    """Return the values as text, such as ``'a', 'b' or 'c'``."""
    texts = [repr(value) for value in values]
    return " or ".join([text for text in (", ".join(texts[:-1]), *texts[-1:]) if text])

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memoised options: equal options of one class are checked once and share what was derived from them."""

from __future__ import annotations

import functools

from cuda.core._compile._option_key import option_key
from cuda.core._utils.options import Options

__all__ = ["Memo", "MemoisedOptions", "memo_of", "memoise_options"]

# How many different options are remembered, of all classes; then they are forgotten, all at once.
_MOST = 512

_memos = {}  # the class and what is set -> Memo


class Memo:
    """What is remembered of equal options.

    Attributes
    ----------
    values : dict
        All fields, checked and normalised; its lists are of no one else.
    lists : list of str
        The fields that are lists, which their owner may change without a word.
    results : dict
        What others have worked out from these options, by keys of theirs.
    """

    __slots__ = ("lists", "results", "values")

    def __init__(self, values: dict):
        self.values = {name: list(value) if type(value) is list else value for name, value in values.items()}
        self.lists = [name for name, value in values.items() if type(value) is list]
        self.results = {}

    def is_outdated_by(self, values: dict) -> bool:
        """Return whether a list has been changed."""
        # No generator: this runs for every program.
        for name in self.lists:
            if values[name] != self.values[name]:
                return True
        return False


class MemoisedOptions(Options):
    """Options of which equal ones share a :class:`Memo`."""

    __slots__ = ("_memo",)

    def __setattr__(self, name, value):
        set_memo(self, None)
        super().__setattr__(name, value)

    def __getstate__(self):
        return self.__dict__


# Neither of these is an assignment that a user makes.
set_memo = MemoisedOptions._memo.__set__
set_values = Options.__dict__["__dict__"].__set__


def memoise_options(cls):
    """Have an options class take the values of equal options that were made before, and not check them again."""
    make = cls.__init__

    @functools.wraps(make)
    def __init__(self, *args, **kwargs):
        # A subclass may check more; other arguments are for the real method to refuse.
        key = option_key(cls, kwargs) if type(self) is cls and not args else None
        memo = _memos.get(key)
        if memo is None:
            make(self, *args, **kwargs)
            set_memo(self, None if key is None else remember(key, self.__dict__))
            return
        values = memo.values.copy()
        for name in memo.lists:
            values[name] = kwargs[name]
        set_values(self, values)
        set_memo(self, memo)

    cls.__init__ = __init__
    return cls


def memo_of(options: MemoisedOptions) -> Memo | None:
    """Return what is remembered of some options; None if they have values of other types than usual."""
    memo = getattr(options, "_memo", None)
    values = options.__dict__
    if memo is not None and not (memo.lists and memo.is_outdated_by(values)):
        return memo
    key = option_key(type(options), values)
    if key is None:
        return None
    memo = _memos.get(key)
    if memo is None:
        # Its lists may have changed since they were checked.
        options._check()
        memo = remember(key, values)
    set_memo(options, memo)
    return memo


def remember(key, values: dict) -> Memo:
    """Make the memo of options that are valid."""
    if len(_memos) >= _MOST:
        _memos.clear()
    memo = _memos[key] = Memo(values)
    return memo

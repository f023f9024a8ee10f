# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Small helpers that other packages import from ``cuda.core._utils.cuda_utils``."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Sequence
from contextlib import ExitStack

from cuda.core._utils.validators import shown

__all__ = [
    "Transaction",
    "cast_to_3_tuple",
    "check_multiprocessing_start_method",
    "is_nested_sequence",
    "is_sequence",
    "precondition",
    "reset_fork_warning",
]


class Transaction:
    """A context manager that runs registered undo actions in reverse order, unless :meth:`commit` was called.

    Examples
    --------
    >>> with Transaction() as transaction:
    ...     pool = make_pool()
    ...     transaction.append(destroy_pool, pool)
    ...     fill(pool)
    ...     transaction.commit()
    """

    _stack = None

    def __repr__(self):
        return f"<Transaction {'outside its block' if self._stack is None else 'in its block'}>"

    def __enter__(self):
        self._stack = ExitStack()
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        stack, self._stack = self._stack, None
        return stack.__exit__(exc_type, exc_value, traceback)

    def append(self, fn, /, *args, **kwargs) -> None:
        """Register ``fn(*args, **kwargs)`` as an undo action.

        Raises
        ------
        RuntimeError
            Outside the block.
        """
        if self._stack is None:
            raise RuntimeError("a Transaction must be entered with 'with' before append()")
        self._stack.callback(fn, *args, **kwargs)

    def commit(self) -> None:
        """Discard the undo actions that were registered until now."""
        if self._stack is not None:
            self._stack.pop_all()


def cast_to_3_tuple(label: str, cfg) -> tuple[int, int, int]:
    """Return an int, or a tuple of up to three ints, as a tuple of three, padded with 1.

    Raises
    ------
    ValueError
        If ``cfg`` is something else, or an int is below 1. The message names ``label``.
    """
    values = cfg if isinstance(cfg, tuple) else (cfg,)
    if len(values) > 3 or not all(isinstance(value, int) for value in values):
        raise ValueError(f"{label} must be an int or a tuple of up to three ints, not {shown(cfg)}")
    if any(value < 1 for value in values):
        raise ValueError(f"{label} must have values of at least 1, not {shown(cfg)}")
    return (*values, *(1,) * (3 - len(values)))


def is_sequence(obj) -> bool:
    """Return whether ``obj`` is a sequence."""
    return isinstance(obj, Sequence)


def is_nested_sequence(obj) -> bool:
    """Return whether ``obj`` is a sequence that contains a sequence."""
    return is_sequence(obj) and any(is_sequence(item) for item in obj)


def precondition(checker, what: str = ""):
    """Return a decorator: ``checker`` is called with the function's arguments and ``what=what`` before each call."""

    def decorate(function):
        @functools.wraps(function)
        def checked(*args, **kwargs):
            checker(*args, what=what, **kwargs)
            return function(*args, **kwargs)

        return checked

    return decorate


def check_multiprocessing_start_method() -> None:
    """Warn once per process if ``multiprocessing`` would fork child processes, in which CUDA does not work."""
    import multiprocessing.context

    if not _warnings_left or multiprocessing.context.get_spawning_popen() is not None:
        return  # an object that is pickled for a child to be started is not for a forked one
    method = multiprocessing.get_start_method(allow_none=True)
    if method is None and not _uses_another_method(multiprocessing):
        # The first of all methods is the default. get_start_method() without arguments would set it for good.
        method = multiprocessing.get_all_start_methods()[0]
    if method != "fork":
        return
    try:
        _warnings_left.pop()
    except IndexError:  # another thread has just warned
        return
    warnings.warn(
        "child processes start by 'fork', after which CUDA does not work in them; "
        "call multiprocessing.set_start_method('spawn') first",
        UserWarning,
        stacklevel=2,
    )


def _uses_another_method(multiprocessing) -> bool:
    """Return whether all child processes, or else the queues, come from a context with another start method."""
    methods = [name for name in multiprocessing.get_all_start_methods() if name != "fork"]
    others = tuple(multiprocessing.get_context(name).Process for name in methods)
    children = multiprocessing.active_children()
    if children:
        return all(isinstance(child, others) for child in children)
    return "multiprocessing.resource_tracker" in sys.modules  # loaded by queues and locks of such a context


def reset_fork_warning() -> None:
    """Let :func:`check_multiprocessing_start_method` warn again."""
    _warnings_left[:] = [None]


_warnings_left = [None]  # popping the item claims the warning; a lock could be held by another thread during a fork

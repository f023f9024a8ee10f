# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The cache key of options; a fast path, because it is computed for every program."""

from __future__ import annotations

import sys

__all__ = ["option_key"]

# The path types of pathlib, after the program has imported it.
cdef object c_posix_path = None
cdef object c_windows_path = None


def option_key(cls, dict values):
    """Return the cache key of the options of a class.

    Parameters
    ----------
    cls : type
        The class of the options.
    values : dict
        The fields, or those that are set; None counts as not set.

    Returns
    -------
    tuple or None
        A key that is equal for equal values of equal types; None if a value is mutable or of an unknown type.
    """
    cdef list key = [cls]
    cdef object name, value, kind
    for name, value in values.items():
        if value is None:
            continue
        kind = type(value)
        if kind is bool or is_constant(kind):
            # `True == 1`, but they render to different flags, so the type is part of the key.
            key += (name, kind, value)
        elif (kind is list or kind is tuple) and are_constant(value):
            key += (name, kind, tuple(value))
        else:
            return None
    return tuple(key)


cdef inline bint is_constant(kind):
    # For these types, equal values render to equal arguments.
    return kind is str or kind is int or is_path(kind)


cdef inline bint is_path(kind):
    global c_posix_path, c_windows_path
    if c_posix_path is None:
        pathlib = sys.modules.get("pathlib")
        c_windows_path = getattr(pathlib, "WindowsPath", None)
        c_posix_path = getattr(pathlib, "PosixPath", None)
    return kind is not None and (kind is c_posix_path or kind is c_windows_path)


cdef bint are_constant(values):
    """Return whether all items are constants, or tuples of text."""
    cdef object item, part
    for item in values:
        if type(item) is tuple:
            for part in item:
                if type(part) is not str:
                    return False
        elif not is_constant(type(item)):
            return False
    return True

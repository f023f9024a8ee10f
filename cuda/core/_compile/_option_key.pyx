# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What equal options have in common, found for every program that is made."""

from __future__ import annotations

from pathlib import PosixPath, WindowsPath

__all__ = ["option_key"]

cdef object c_posix_path = PosixPath
cdef object c_windows_path = WindowsPath


def option_key(cls, dict values):
    """Return what equal options of a class have in common.

    Parameters
    ----------
    cls : type
        The class.
    values : dict
        Its fields, or those of them that are set; None counts as not set.

    Returns
    -------
    tuple or None
        A key that is the same for equal values of equal types; None where a value may change or be of any type.
    """
    cdef list key = [cls]
    cdef object name, value, kind
    for name, value in values.items():
        if value is None:
            continue
        kind = type(value)
        if kind is bool or is_constant(kind):
            # A bool equals a number, and says something else.
            key += (name, kind, value)
        elif (kind is list or kind is tuple) and are_constant(value):
            key += (name, kind, tuple(value))
        else:
            return None
    return tuple(key)


cdef inline bint is_constant(kind):
    # Values of these types that are equal are the same option.
    return kind is str or kind is int or kind is c_posix_path or kind is c_windows_path


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

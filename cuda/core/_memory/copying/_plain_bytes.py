# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Detection of host memory whose elements refer to Python objects."""

from __future__ import annotations

import re
import sys

__all__ = ["holds_objects"]


def holds_objects(exporter, element_format: bytes) -> bool:
    """Return whether elements refer to Python objects, whose reference counts a copy of bytes would not update.

    Parameters
    ----------
    exporter : object
        The object with the buffer protocol.
    element_format : bytes
        The format of the elements, as the protocol reports it; empty for none.
    """
    if isinstance(exporter, memoryview):
        exporter = exporter.obj
    # NumPy dtypes have an attribute for this. For ctypes, the types are inspected, because formats contain field names.
    has_objects = getattr(getattr(exporter, "dtype", None), "hasobject", None)
    if has_objects is not None:
        return has_objects
    ctypes = sys.modules.get("ctypes")
    if ctypes is not None and isinstance(exporter, (ctypes.Array, ctypes.Structure, ctypes.Union, ctypes._SimpleCData)):
        return _refers(ctypes, type(exporter))
    return b"O" in element_format and b"O" in re.sub(b":[^:]*:", b"", element_format)


def _refers(ctypes, kind: type) -> bool:
    """Return whether a ctypes type contains a ``py_object``, not counting the targets of pointers."""
    while issubclass(kind, ctypes.Array):
        kind = kind._type_
    if issubclass(kind, (ctypes.Structure, ctypes.Union)):
        members = [field[1] for base in kind.__mro__ for field in vars(base).get("_fields_", ())]
        return any(_refers(ctypes, member) for member in members)
    return issubclass(kind, ctypes.py_object)

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Whether the elements of host memory are plain bytes, or refer to Python objects."""

from __future__ import annotations

import re
import sys

__all__ = ["holds_objects"]


def holds_objects(exporter, element_format: bytes) -> bool:
    """Return whether elements are Python objects, whose reference counts a copy of bytes would break.

    Parameters
    ----------
    exporter : object
        What has the buffer protocol.
    element_format : bytes
        The format of the elements that the protocol gave; empty for none.
    """
    if isinstance(exporter, memoryview):
        exporter = exporter.obj
    # NumPy's types say it themselves; those of ctypes have to be asked, because any name may be in their format.
    has_objects = getattr(getattr(exporter, "dtype", None), "hasobject", None)
    if has_objects is not None:
        return has_objects
    ctypes = sys.modules.get("ctypes")
    if ctypes is not None and isinstance(exporter, (ctypes.Array, ctypes.Structure, ctypes.Union, ctypes._SimpleCData)):
        return _refers(ctypes, type(exporter))
    return b"O" in element_format and b"O" in re.sub(b":[^:]*:", b"", element_format)


def _refers(ctypes, kind: type) -> bool:
    """Whether a type of ctypes has a ``py_object`` in it; what it points to is not in it."""
    while issubclass(kind, ctypes.Array):
        kind = kind._type_
    if issubclass(kind, (ctypes.Structure, ctypes.Union)):
        members = [field[1] for base in kind.__mro__ for field in vars(base).get("_fields_", ())]
        return any(_refers(ctypes, member) for member in members)
    return issubclass(kind, ctypes.py_object)

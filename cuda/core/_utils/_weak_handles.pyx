# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Weak handles: they tell whether a resource is alive, without keeping it alive.

A weak reference to a ``Buffer`` tells when the Python object is deleted, but a graph node or a slice may keep its
memory. A weak handle tells when the memory itself is freed.
"""

from __future__ import annotations

__all__ = ["WeakHandle", "weak_handle"]


cdef class WeakHandle:
    """A weak reference to a resource, from :func:`weak_handle`; true while the resource is alive."""

    def __init__(self, *args, **kwargs):
        """Raise RuntimeError: use weak_handle()."""
        raise RuntimeError("WeakHandle cannot be constructed directly; use weak_handle()")

    def __bool__(self):
        return self.cell.use_count() != 0

    def expired(self) -> bool:
        """Return whether nothing owns the resource any more."""
        return self.cell.use_count() == 0

    def use_count(self) -> int:
        """Return the number of references: from objects, slices, graph nodes, executables and launches in progress."""
        return self.cell.use_count()


def weak_handle(obj) -> WeakHandle:
    """Return a :class:`WeakHandle` of the allocation behind a buffer, or of the graph behind a definition.

    Parameters
    ----------
    obj : :class:`~cuda.core.Buffer` | :class:`~cuda.core.graph.GraphDefinition`
        The object whose resource is observed. A slice of a buffer has a handle of its own, which keeps the buffer's.

    Raises
    ------
    TypeError
        If ``obj`` is something else.
    ValueError
        If it is a closed buffer.
    """
    # The classes are in higher layers, so each has a method that returns its weak handle.
    observe = getattr(type(obj), "_weak_handle", None)
    if observe is None:
        raise TypeError(f"obj must be a Buffer or a GraphDefinition, not {type(obj).__name__}")
    return observe(obj)

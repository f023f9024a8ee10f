# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Weak handles: whether a resource is alive, whatever keeps it.

A weak reference to a ``Buffer`` tells when the Python object ends; its memory may live on, kept by a node of a graph or
a slice. A weak handle tells when the memory ends.
"""

from __future__ import annotations

__all__ = ["WeakHandle", "weak_handle"]


cdef class WeakHandle:
    """Observes a resource without keeping it alive; :func:`weak_handle` makes it. True while the resource is alive."""

    def __init__(self, *args, **kwargs):
        """Raise RuntimeError: use weak_handle()."""
        raise RuntimeError("WeakHandle cannot be constructed directly; use weak_handle()")

    def __bool__(self):
        return self.cell.use_count() != 0

    def expired(self) -> bool:
        """Return whether nothing owns the resource any more."""
        return self.cell.use_count() == 0

    def use_count(self) -> int:
        """Return how many references there are: of objects, slices, nodes, executables, launches in flight."""
        return self.cell.use_count()


def weak_handle(obj) -> WeakHandle:
    """Return a :class:`WeakHandle` of the allocation behind a buffer, or of the graph behind a definition.

    Parameters
    ----------
    obj : :class:`~cuda.core.Buffer` | :class:`~cuda.core.graph.GraphDefinition`
        What to observe; a slice of a buffer has a handle of its own, which keeps that of the buffer.

    Raises
    ------
    TypeError
        If ``obj`` is something else.
    ValueError
        If it is a closed buffer.
    """
    # The classes are in higher layers, so they have the method that knows their handle.
    observe = getattr(type(obj), "_weak_handle", None)
    if observe is None:
        raise TypeError(f"obj must be a Buffer or a GraphDefinition, not {type(obj).__name__}")
    return observe(obj)

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The predecessors or successors of a node as a mutable set (AdjacencySetProxy)."""

from __future__ import annotations

from collections.abc import MutableSet

from cuda.core._utils.errors.uninitialized import raise_if_uninitialized
from cuda.core._utils.validators import iterator_of

__all__ = ["AdjacencySetProxy"]


@raise_if_uninitialized("_node", "_is_pred")
class AdjacencySetProxy(MutableSet):
    """The predecessors or successors of a node: a live view, whose changes add and remove edges of the graph.

    ``update``, ``clear``, ``|=`` and ``-=`` add or remove all edges with one driver call. Binary operators return
    ordinary sets.
    """

    __slots__ = ("_is_pred", "_node")
    __hash__ = None

    def __init__(self, node, is_pred):
        if not hasattr(type(node), "_neighbours"):
            raise TypeError(f"node must be a GraphNode, not {type(node).__name__}")
        if not isinstance(is_pred, bool):
            raise TypeError(f"is_pred must be a bool, not {type(is_pred).__name__}")
        self._node = node
        self._is_pred = is_pred

    @classmethod
    def _from_iterable(cls, nodes):
        return set(nodes)

    def __contains__(self, value):
        return value in self._neighbours()

    def __iter__(self):
        return iter(self._neighbours())

    def __len__(self):
        return len(self._neighbours())

    def __repr__(self):
        return "{" + ", ".join(map(repr, self._neighbours())) + "}"

    def __ior__(self, other):
        self.update(other)
        return self

    def __isub__(self, other):
        if other is self:
            self.clear()
        else:
            removed = list(other)
            self._node._disconnect([node for node in self._neighbours() if node in removed], self._is_pred)
        return self

    def add(self, value) -> None:
        """Add an edge (``cuGraphAddDependencies``); TypeError if ``value`` is not a :class:`GraphNode`."""
        self._node._connect([value], self._is_pred)

    def discard(self, value) -> None:
        """Remove the edge to a node (``cuGraphRemoveDependencies``); objects without such an edge are ignored."""
        self._node._disconnect([node for node in self._neighbours() if node == value], self._is_pred)

    def update(self, *others) -> None:
        """Add edges to nodes, or to iterables of nodes."""
        self._node._connect(unique_nodes(others), self._is_pred)

    def clear(self) -> None:
        """Remove all edges."""
        self._node._disconnect(self._neighbours(), self._is_pred)

    def _neighbours(self):
        return self._node._neighbours(self._is_pred)


def unique_nodes(others) -> list:
    """Return the nodes among nodes and iterables of nodes, each once."""
    nodes = []
    for other in others:
        try:
            items = iterator_of(other)
        except TypeError:
            items = (other,)
        nodes += [item for item in items if item not in nodes]
    return nodes

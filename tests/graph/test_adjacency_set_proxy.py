# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Neighbors of nodes, as sets."""

from collections.abc import MutableSet

import pytest

from cuda.core.graph import GraphDefinition


@pytest.fixture
def nodes(device):
    graph = GraphDefinition()
    return [graph.empty() for _ in range(4)]


def test_view_writes_to_the_graph(nodes):
    a, b, c, d = nodes
    a.succ.add(b)
    a.succ.add(b)
    c.pred.update(a, [b, d])
    assert a.succ == {b, c} and {a, b, d} == c.pred and len(c.pred) == 3 and a in b.pred
    assert a.graph.edges() == {(a, b), (a, c), (b, c), (d, c)}
    c.pred.discard(d)
    c.pred.discard(d)
    c.pred.discard(3)
    assert c.pred | {d} == {a, b, d} and type(c.pred | {d}) is set
    view = a.succ
    view |= {d}
    view -= {b, 3}
    assert view == {c, d} and isinstance(view, MutableSet)
    view.clear()
    assert view == set() and repr(view) == "{}" and 3 not in view
    with pytest.raises(KeyError):
        view.pop()
    with pytest.raises(KeyError):
        view.remove(b)
    with pytest.raises(TypeError):
        hash(view)


@pytest.mark.parametrize("wrong", [None, 3, ["node"]])
def test_failed_assignment_keeps_the_edges(nodes, wrong):
    a, b, *_ = nodes
    a.succ = [b]
    with pytest.raises(TypeError, match="pred and succ must be GraphNodes"):
        a.succ = wrong
    with pytest.raises(TypeError, match="pred and succ must be GraphNodes"):
        a.succ.add(wrong)
    assert a.succ == {b}


def test_items_of_an_iterator_can_be_subtracted(nodes):
    a, b, c, _ = nodes
    a.succ = [b, c]
    view = a.succ
    view -= iter([b, c])
    assert view == set()

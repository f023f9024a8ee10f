# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Edges of graphs: added, removed and read, many at a time."""

import pytest

from cuda.core import CUDAError
from cuda.core.graph import GraphDefinition


@pytest.fixture
def nodes(device):
    graph = GraphDefinition()
    return [graph.empty() for _ in range(20)]


def test_many_edges_are_added_read_and_removed(nodes):
    graph, middle = nodes[0].graph, nodes[10]
    middle.pred, middle.succ = nodes[:10], nodes[11:]
    assert graph.edges() == {(node, middle) for node in nodes[:10]} | {(middle, node) for node in nodes[11:]}
    assert middle.pred == set(nodes[:10]) and middle.succ == set(nodes[11:])
    middle.pred = middle.succ = ()
    assert graph.edges() == set() and not middle.pred and not middle.succ


def test_assignment_replaces_edges(nodes):
    a, b, c, d, *_ = nodes
    a.succ = [b, c]
    a.succ = {c, d}
    assert a.succ == {c, d}
    c.pred = b
    assert c.pred == {b} and a.succ == {d}


def test_edges_stay_in_one_graph(nodes):
    a, b, *_ = nodes
    with pytest.raises(ValueError, match="belong to different graphs"):
        a.succ.add(GraphDefinition().empty())
    with pytest.raises(CUDAError, match="INVALID_VALUE"):
        a.succ.add(a)
    b.destroy()
    with pytest.raises(RuntimeError, match="is destroyed"):
        a.succ.add(b)

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Definitions of graphs as objects."""

import pickle
import weakref

import pytest

from cuda.core.graph import GraphDefinition


def test_definitions_are_equal_where_their_graph_is(device):
    one, two = GraphDefinition(), GraphDefinition()
    assert one == one and one != two and one != 3
    assert hash(one) != hash(two)
    assert one.is_valid and int(one.handle) != int(two.handle)
    assert repr(one) == f"<GraphDefinition handle={int(one.handle):#x}>"


def test_definitions_cannot_be_pickled_or_made_again(device):
    graph = GraphDefinition()
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(graph)
    handle = int(graph.handle)
    with pytest.raises(RuntimeError, match="initialised already"):
        graph.__init__()
    assert int(graph.handle) == handle


def test_definitions_are_closed_for_attributes_and_can_be_referred_to_weakly(device):
    graph = GraphDefinition()
    with pytest.raises(AttributeError):
        graph.name = "mine"
    assert weakref.ref(graph)() is graph

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Graph definitions as Python objects: equality, hash, pickle, attributes."""

import pickle
import weakref

import pytest

from cuda.core.graph import GraphDefinition


def test_definitions_are_equal_if_their_graph_is_the_same(device):
    one, two = GraphDefinition(), GraphDefinition()
    assert one == one and one != two and one != 3
    assert hash(one) != hash(two)
    assert one.is_valid and int(one.handle) != int(two.handle)
    assert repr(one) == f"<GraphDefinition handle={int(one.handle):#x}>"


def test_definitions_cannot_be_pickled_or_initialized_again(device):
    graph = GraphDefinition()
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(graph)
    handle = int(graph.handle)
    with pytest.raises(RuntimeError, match="already initialized"):
        graph.__init__()
    assert int(graph.handle) == handle


def test_definitions_take_no_attributes_but_weak_references(device):
    graph = GraphDefinition()
    with pytest.raises(AttributeError):
        graph.name = "mine"
    assert weakref.ref(graph)() is graph

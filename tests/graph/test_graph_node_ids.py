# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The numbers by which the driver and its tools identify graphs, nodes and executables."""

import re

import pytest

from cuda.core.graph import GraphDefinition, GraphNode

pytestmark = pytest.mark.requires(cuda=(13, 1))


def test_nodes_have_ids_within_their_graph(device):
    one, two = GraphDefinition(), GraphDefinition()
    nodes = [one.empty(), one.empty(), two.empty()]
    assert len({(node.graph.id, node.local_id) for node in nodes}) == 3
    assert one.id != two.id and nodes[0].graph.id == one.id


def test_tools_ids_are_unique_in_the_process(device):
    nodes = [GraphDefinition().empty() for _ in range(4)]
    assert len({node.tools_id for node in nodes}) == 4


def test_ids_are_those_of_the_dot_file(device, tmp_path):
    definition = GraphDefinition()
    node = definition.empty()
    path = tmp_path / "graph.dot"
    definition.debug_dot_print(str(path))
    assert re.search(rf"graph_{definition.id}_node_{node.local_id}\b", path.read_text())


def test_child_graph_has_its_own_id(device):
    child = GraphDefinition()
    child.empty()
    outer = GraphDefinition()
    embedded = outer.embed(child).child_graph
    assert embedded.id not in (outer.id, child.id)


def test_executables_have_ids(device):
    definition = GraphDefinition()
    definition.empty()
    first, second = definition.instantiate(), definition.instantiate()
    assert first.id != second.id and first.id == first.id
    first.close()
    with pytest.raises(RuntimeError, match="closed"):
        first.id  # noqa: B018


def test_ids_of_missing_nodes_raise(device):
    definition = GraphDefinition()
    node = definition.empty()
    node.destroy()
    for name in ("local_id", "tools_id"):
        with pytest.raises(RuntimeError, match="destroyed"):
            getattr(node, name)
        with pytest.raises(RuntimeError, match="entry of a graph is not a node"):
            getattr(definition._entry, name)
        assert not hasattr(GraphNode(), name)


def test_id_of_a_destroyed_child_graph_raises(device):
    outer = GraphDefinition()
    node = outer.embed(GraphDefinition())
    child = node.child_graph
    node.destroy()
    with pytest.raises(RuntimeError, match="graph is destroyed"):
        child.id  # noqa: B018

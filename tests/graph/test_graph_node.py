# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Nodes: created, found in their graph, destroyed."""

import gc
import pickle
import weakref

import numpy as np
import pytest

from cuda.core import graph as graph_module
from cuda.core.graph import EmptyNode, GraphDefinition, GraphNode, KernelNode
from support.graph_work import ONE, run


def test_chain_of_nodes_runs_in_order(memory, kernels, stream):
    graph = GraphDefinition()
    fill = graph.memset(memory.buffer, np.int32(5), 1)
    kernel = fill.launch(ONE, kernels["add"], memory.buffer, 3)
    copy = kernel.memcpy(memory.at(2), memory.buffer, 4)
    assert graph.nodes() == {fill, kernel, copy}
    assert graph.edges() == {(fill, kernel), (kernel, copy)}
    run(graph, stream)
    assert memory.values[:3].tolist() == [8, 0, 8]


def test_node_is_one_object_while_it_is_referenced(device):
    graph = GraphDefinition()
    node = graph.empty()
    assert next(iter(graph.nodes())) is node
    assert node == node and node != graph.empty() and node != 3 and hash(node) != hash(graph)
    reference, known = weakref.ref(node), hash(node)
    del node
    gc.collect()
    assert reference() is None
    assert known in map(hash, graph.nodes())


def test_node_keeps_and_returns_its_graph(device):
    node = GraphDefinition().empty()
    gc.collect()
    assert node in node.graph.nodes() and node.graph == node.graph and node.graph is not node.graph
    assert repr(node) == f"<EmptyNode handle={int(node.handle):#x}>" and node.type.name.endswith("EMPTY")


def test_destroyed_node_stays_readable(memory):
    graph = GraphDefinition()
    node = graph.memset(memory.buffer, 1, 4)
    other = node.join()
    node.destroy()
    node.destroy()
    assert not node.is_valid and node.handle is None and node.type is None
    assert (node.value, node.graph) == (1, graph) and set(node.pred) == set(node.succ) == set()
    assert graph.nodes() == {other} and "handle=0x0" in repr(node)
    for work in (node.join, node.update, lambda: node.memset(memory.buffer, 1, 1), lambda: other.join(node)):
        with pytest.raises(RuntimeError, match="is destroyed"):
            work()


def test_join_adds_an_empty_node_after_nodes(device):
    graph = GraphDefinition()
    one, two = graph.empty(), graph.empty()
    assert set(graph.join().pred) == set()
    assert set(one.join().pred) == {one}
    assert set(one.join(two, one).pred) == set(graph.join(one, two).pred) == {one, two}
    assert type(one.join()) is EmptyNode
    with pytest.raises(TypeError, match="nodes must be GraphNodes, not int"):
        one.join(3)


def test_entry_node_is_not_a_node_of_the_graph(device):
    graph = GraphDefinition()
    entry = graph._entry
    assert entry == graph._entry and hash(entry) == hash(graph._entry) and entry != GraphDefinition()._entry
    assert type(entry) is GraphNode and entry.handle is None and entry.type is None and entry.is_valid
    assert set(entry.pred) == set(entry.succ) == graph.nodes() == set()
    assert repr(entry) == "<GraphNode entry>" and weakref.ref(entry)() is entry and entry.graph == graph
    entry.destroy()
    assert entry.is_valid
    node = graph.empty()
    for edge in (lambda: node.pred.add(entry), lambda: entry.succ.add(node)):
        with pytest.raises(ValueError, match="an entry node has no edges"):
            edge()


def test_node_without_a_graph_is_destroyed(device):
    node = GraphNode()
    assert repr(node) == "<GraphNode destroyed>" and not node.is_valid
    with pytest.raises(RuntimeError, match="is destroyed"):
        node.join()
    with pytest.raises(RuntimeError, match="belongs to no graph"):
        node.graph  # noqa: B018
    with pytest.raises(RuntimeError, match="this KernelNode belongs to no graph"):
        KernelNode().grid  # noqa: B018
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(node)


def test_node_is_invalid_after_its_graph_is_destroyed(memory):
    child = GraphDefinition()
    child.memset(memory.buffer, 1, 4)
    inner = GraphDefinition()
    inner.embed(child)
    outer = GraphDefinition().embed(inner)
    (node,) = outer.child_graph.nodes()
    (deep,) = node.child_graph.nodes()
    outer.destroy()
    assert not deep.is_valid and "handle=0x0" in repr(deep)


@pytest.mark.parametrize("keywords", [{1: 2}, {"a": 1}, {"\udc80": 1}], ids=["int", "str", "surrogate"])
@pytest.mark.parametrize(
    "name", [name for name in graph_module.__all__ if isinstance(getattr(graph_module, name), type)]
)
def test_constructors_reject_keywords_of_any_kind(name, keywords):
    # Some raise a TypeError, others an error that names the method which creates the objects.
    with pytest.raises((TypeError, RuntimeError, NotImplementedError), match="keyword|argument|directly|has no field"):
        getattr(graph_module, name)(**keywords)
    assert GraphNode().type is None

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Mistakes with graphs: the exception tells what was refused, and why, and work goes on."""

import pytest

from cuda.core import CUDAError, launch
from cuda.core.graph import GraphDefinition
from support.graph_work import ONE, value


def foreign_node(kernel, buffer):
    other = GraphDefinition().launch(ONE, kernel, buffer, 2)
    graph = GraphDefinition()
    graph.launch(ONE, kernel, buffer, 1)
    graph.instantiate()[other].update(config=ONE, kernel=kernel, args=(buffer, 3))


def two_executables_with_memory(kernel, buffer):
    graph = GraphDefinition()
    node = graph.allocate(64)
    node.deallocate(node.dptr)
    kept = graph.instantiate()
    graph.instantiate()
    assert kept


def destroyed_memory_node(kernel, buffer):
    graph = GraphDefinition()
    node = graph.allocate(64)
    kept = node.deallocate(node.dptr)
    try:
        node.destroy()
    finally:
        assert kept.is_valid and node.is_valid and len(graph.nodes()) == 2


def removed_edge_of_memory(kernel, buffer):
    graph = GraphDefinition()
    node = graph.allocate(64)
    node.launch(ONE, kernel, node.dptr, 1).pred.clear()


def itself(kernel, buffer):
    graph = GraphDefinition()
    graph.launch(ONE, kernel, buffer, 1)
    graph.embed(graph)


def itself_further_down(kernel, buffer):
    inner, outer = GraphDefinition(), GraphDefinition()
    inner.launch(ONE, kernel, buffer, 1)
    outer.embed(inner).child_graph.embed(outer)


def itself_in_a_body(kernel, buffer):
    graph = GraphDefinition()
    graph.if_then(graph.create_condition(1)).then.embed(graph)


def itself_in_an_executable(kernel, buffer):
    inner, outer = GraphDefinition(), GraphDefinition()
    inner.launch(ONE, kernel, buffer, 1)
    child = outer.embed(inner)
    outer.instantiate()[child].update(outer)


def its_own_part(kernel, buffer):
    inner, outer = GraphDefinition(), GraphDefinition()
    inner.launch(ONE, kernel, buffer, 1)
    child = outer.embed(inner)
    child.update(outer)


def after_itself(kernel, buffer):
    node = GraphDefinition().launch(ONE, kernel, buffer, 1)
    node.pred.add(node)


def a_circle(kernel, buffer):
    first = GraphDefinition().launch(ONE, kernel, buffer, 1)
    last = first.launch(ONE, kernel, buffer, 2)
    first.pred.add(last)
    first.graph.instantiate()


MISTAKES = {
    foreign_node: "KernelNode.*must be of the graph that the executable was made from",
    two_executables_with_memory: "one executable at a time: close the one before",
    destroyed_memory_node: "nodes and edges of a graph that allocates or frees memory cannot be removed",
    removed_edge_of_memory: "nodes and edges of a graph that allocates or frees memory cannot be removed",
    itself: "a graph cannot be embedded in itself",
    itself_further_down: "a graph cannot be embedded in itself",
    itself_in_an_executable: "a graph cannot be embedded in itself",
    itself_in_a_body: "a graph cannot be embedded in itself",
    its_own_part: "a graph cannot be embedded in itself",
    after_itself: "KernelNode.*a node cannot follow itself",
    a_circle: "cycle of edges.*KernelNode|a node cannot follow itself",
}


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
def test_a_mistake_is_explained_and_work_goes_on(device, stream, kernel, memory, mistake):
    with pytest.raises((CUDAError, RuntimeError), match="(?s)" + MISTAKES[mistake]):
        mistake(kernel("add"), memory.buffer)
    launch(stream, ONE, kernel("add"), memory.buffer, 5)
    stream.sync()
    assert value(memory) == 5


@pytest.mark.requires(software=True)
def test_a_part_of_a_graph_is_not_instantiated_alone(device, kernel, memory):
    inner, outer = GraphDefinition(), GraphDefinition()
    inner.launch(ONE, kernel("add"), memory.buffer, 1)
    with pytest.raises(CUDAError, match="a child graph, or a body of a conditional node, runs in the graph around it"):
        outer.embed(inner).child_graph.instantiate()
    assert outer.instantiate()

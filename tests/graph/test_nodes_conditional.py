# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Conditional nodes."""

import pytest

from cuda.core.graph import GraphDefinition
from cuda.core.typing import GraphConditionalType
from support.graph_work import ONE, run


@pytest.mark.requires(cuda=(12, 3))
def test_while_node_repeats_its_body(memory, kernels, stream):
    graph = GraphDefinition()
    condition = graph.create_condition(1)
    loop = graph.while_loop(condition)
    memory.values[0] = 4
    counted = loop.body.launch(ONE, kernels["add"], memory.at(1), 1)
    counted.launch(ONE, kernels["count_down"], memory.at(0), condition)
    run(graph, stream)
    assert memory.values[:2].tolist() == [0, 4]
    assert loop.cond_type == GraphConditionalType.WHILE and loop.condition is condition
    assert repr(loop) == f"<WhileNode handle={int(loop.handle):#x} condition={condition.handle:#x}>"


@pytest.mark.requires(cuda=(12, 3))
@pytest.mark.parametrize(("value", "expected"), [(0, [0, 1]), (7, [1, 0])])
def test_if_else_node_runs_one_body(memory, kernels, stream, value, expected):
    graph = GraphDefinition()
    condition = graph.create_condition()
    node = graph.launch(ONE, kernels["choose"], condition, value).if_else(condition)
    assert node.branches == (node.then, node.else_) and node.branches is node.branches
    for index, body in enumerate(node.branches):
        body.launch(ONE, kernels["add"], memory.at(index), 1)
    run(graph, stream)
    assert memory.values[:2].tolist() == expected


@pytest.mark.requires(cuda=(12, 3))
@pytest.mark.parametrize("value", [0, 2, 3])
def test_switch_node_runs_the_body_of_its_number(memory, kernels, stream, value):
    graph = GraphDefinition()
    node = graph.switch(condition=graph.create_condition(value), count=3)
    for index, body in enumerate(node.branches):
        body.launch(ONE, kernels["add"], memory.at(index), 1)
    run(graph, stream)
    assert memory.values[:3].tolist() == [int(index == value) for index in range(3)]


@pytest.mark.requires(cuda=(12, 3))
def test_bodies_are_destroyed_with_their_node(memory, kernels):
    graph = GraphDefinition()
    node = graph.if_then(graph.create_condition(1))
    inner = node.then.launch(ONE, kernels["add"], memory.buffer, 1)
    deeper = node.then.embed(GraphDefinition()).child_graph
    body, known = node.then, hash(node.then)
    node.destroy()
    assert not (body.is_valid or inner.is_valid or deeper.is_valid) and int(body.handle) == 0
    assert hash(body) == known and node.branches == (body,) and body != deeper
    assert repr(body) == "<GraphDefinition handle=0x0>"

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Parameters of conditional nodes: their condition, type and bodies."""

import pytest

from cuda.core import CUDAError
from cuda.core.graph import GraphDefinition, IfElseNode, IfNode, SwitchNode, WhileNode


@pytest.mark.requires(cuda=(12, 3))
def test_conditional_nodes_have_their_classes_and_branches(device):
    graph = GraphDefinition()
    makers = (graph.if_then, graph.if_else, graph.while_loop, lambda condition: graph.switch(condition, 2))
    for make in makers:
        make(graph.create_condition(0))
    kinds = {type(node) for node in graph.nodes()}
    assert kinds == {IfNode, IfElseNode, WhileNode, SwitchNode}
    assert sorted(len(node.branches) for node in graph.nodes()) == [1, 1, 2, 2]


@pytest.mark.requires(cuda=(12, 3))
def test_wrong_conditions_are_rejected(device):
    graph = GraphDefinition()
    condition = graph.create_condition()
    for make in (graph.if_then, graph.if_else, graph.while_loop):
        with pytest.raises(TypeError, match="condition must be a GraphCondition, not int"):
            make(1)
    for count, error in ((0, CUDAError), (-1, OverflowError), ("1", TypeError)):
        with pytest.raises(error):
            graph.switch(condition, count)
    with pytest.raises(CUDAError):
        GraphDefinition().if_then(condition)

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Parameters of child graph nodes: the copied graph."""

import pytest

from cuda.core import CUDAError
from cuda.core.graph import GraphDefinition
from support.graph_work import ONE, run


def test_child_graph_is_updated(memory, kernels, stream):
    graph, first, second = GraphDefinition(), GraphDefinition(), GraphDefinition()
    first.launch(ONE, kernels["add"], memory.buffer, 3)
    second.launch(ONE, kernels["add"], memory.buffer, 40)
    node = graph.embed(first)
    node.update(second)
    run(graph, stream)
    assert memory.values[0] == 40 and len(node.child_graph.nodes()) == 1


def test_wrong_children_are_rejected(device):
    graph = GraphDefinition()
    with pytest.raises(TypeError, match="child must be a GraphDefinition, not int"):
        graph.embed(3)
    node = graph.embed(GraphDefinition())
    for wrong in (graph, node.child_graph):
        with pytest.raises(CUDAError, match="INVALID_VALUE"):
            node.update(wrong)

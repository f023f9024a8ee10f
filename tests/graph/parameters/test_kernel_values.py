# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel node parameters: rejected launches, and arguments that a node keeps alive."""

import gc
import weakref

import pytest

from cuda.core import LaunchConfig
from cuda.core.graph import GraphDefinition
from support.graph_work import ONE, Memory, is_released


@pytest.mark.requires(cuda=(12, 4))
def test_wrong_launches_are_rejected(memory, kernels):
    graph = GraphDefinition()
    for config in (None, {"grid": 1, "block": 1}):
        with pytest.raises(TypeError, match="config must be a LaunchConfig"):
            graph.launch(config, kernels["add"], memory.buffer, 3)
    with pytest.raises(TypeError, match="kernel must be a Kernel"):
        graph.launch(ONE, "add")
    with pytest.raises(TypeError, match="takes 2 arguments, 1 given"):
        graph.launch(ONE, kernels["add"], memory.buffer)
    with pytest.raises(NotImplementedError, match="grid='resident'"):
        graph.launch(LaunchConfig(grid="resident", block=1), kernels["add"], memory.buffer, 3)
    node = graph.launch(ONE, kernels["add"], memory.buffer, 3)
    with pytest.raises(ValueError, match="a new kernel needs args"):
        node.update(kernel=kernels["add"])
    assert graph.nodes() == {node}


def test_kernel_node_keeps_its_arguments(stream, kernels):
    memory = Memory(stream)
    reference = weakref.ref(memory.buffer)
    node = GraphDefinition().launch(ONE, kernels["add"], memory.buffer, 3)
    del memory
    gc.collect()
    assert reference() is not None
    node.update(args=(None, 3))
    assert is_released(reference)

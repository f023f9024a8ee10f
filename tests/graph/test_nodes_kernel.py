# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel nodes: their parameters, updates and attributes."""

import pytest

from cuda.core import LaunchConfig, StreamOptions, launch
from cuda.core.graph import GraphCompleteOptions, GraphDefinition, KernelNode
from support.graph_work import ONE, run


def test_kernel_node_returns_its_parameters(memory, kernels):
    config = LaunchConfig(grid=(2, 3), block=(4, 1, 2), shmem_size=16)
    node = GraphDefinition().launch(config, kernels["add"], memory.buffer, 3)
    assert (node.grid, node.block, node.shmem_size) == ((2, 3, 1), (4, 1, 2), 16)
    assert node.config == config and node.kernel == kernels["add"]
    assert repr(node) == f"<KernelNode handle={int(node.handle):#x} kernel={int(kernels['add'].handle):#x}>"


def test_kernel_node_is_updated(memory, kernels, stream):
    graph = GraphDefinition()
    node = graph.launch(ONE, kernels["add"], memory.buffer, 3)
    before = graph.instantiate()
    node.update()
    node.update(config=LaunchConfig(grid=1, block=2))
    assert node.block == (2, 1, 1)
    node.update(args=(memory.at(1), 4), config=ONE)
    run(graph, stream)
    before.launch(stream)
    stream.sync()
    assert memory.values[:2].tolist() == [3, 4]


def test_kernel_node_of_a_clone_has_the_same_parameters(memory, kernels):
    graph = GraphDefinition()
    graph.launch(ONE, kernels["add"], memory.buffer, 3)
    around = GraphDefinition().embed(graph).child_graph
    (node,) = around.nodes()
    assert type(node) is KernelNode and node.config == ONE and node.kernel == kernels["add"]


def test_nodes_keep_the_attributes_of_captured_launches(device, kernels, memory, stream):
    least, most = least_and_most(device)
    capturing = device.create_stream(options=StreamOptions(priority=most))
    builder = capturing.create_graph_builder().begin_building()
    launch(builder, LaunchConfig(grid=1, block=1, is_cooperative=True), kernels["add"], memory.at(0), 1)
    builder.end_building()
    (node,) = builder.graph_definition.nodes()
    assert (node.is_cooperative, node.cluster, node.priority) == (True, None, most)
    node.priority = least
    node.update(config=LaunchConfig(grid=1, block=1), args=(memory.at(0), 7))
    clone = GraphDefinition().embed(builder.graph_definition)
    (copy,) = clone.child_graph.nodes()
    for item in (node, copy):
        assert (item.is_cooperative, item.priority) == (True, least)
    clone.graph.instantiate(GraphCompleteOptions(use_node_priority=True)).launch(stream)
    stream.sync()
    assert memory.values[0] == 7


def least_and_most(device):
    from cuda.bindings import driver

    error, least, most = driver.cuCtxGetStreamPriorityRange()
    assert not error
    return least, most


@pytest.mark.requires(compute=(9, 0))
def test_nodes_keep_the_clusters_of_captured_launches(device, kernels, memory, stream):
    builder = device.create_graph_builder().begin_building()
    launch(builder, LaunchConfig(grid=2, cluster=(2, 1, 1), block=1), kernels["add"], memory.at(0), 0)
    builder.end_building()
    (node,) = builder.graph_definition.nodes()
    assert (node.cluster, node.grid, node.is_cooperative) == ((2, 1, 1), (4, 1, 1), False)
    node.update(args=(memory.at(1), 0))
    assert node.cluster == (2, 1, 1)
    builder.complete().launch(stream)
    stream.sync()


def test_priorities_must_be_ints_and_destroyed_nodes_have_none(kernels, memory):
    node = GraphDefinition().launch(ONE, kernels["add"], memory.at(0), 1)
    for wrong, error in (
        (None, TypeError),
        (1.5, TypeError),
        ("1", TypeError),
        (1 << 31, OverflowError),
        (10**5000, OverflowError),
    ):
        with pytest.raises(error, match="priority must"):
            node.priority = wrong
    assert (node.priority, node.cluster, node.is_cooperative) == (0, None, False)
    node.destroy()
    for read in (lambda: node.priority, lambda: node.cluster, lambda: node.is_cooperative):
        with pytest.raises(RuntimeError, match="destroyed"):
            read()

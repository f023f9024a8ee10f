# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Nodes of an executable: updates change its later launches, but not the definition or other executables."""

import ctypes
import gc

import numpy as np
import pytest

from cuda.core import CUDAError, EventOptions, LaunchConfig, launch
from cuda.core.graph import (
    ExecutableChildGraphNode,
    ExecutableEventRecordNode,
    ExecutableEventWaitNode,
    ExecutableGraphNode,
    ExecutableHostCallbackNode,
    ExecutableKernelNode,
    ExecutableMemcpyNode,
    ExecutableMemsetNode,
    GraphDefinition,
)
from support.graph_work import ONE


def launched(graph, stream):
    graph.launch(stream)
    stream.sync()


def test_kernel_node_runs_with_its_updated_parameters(stream, kernels, memory):
    definition = GraphDefinition()
    node = definition.launch(ONE, kernels["add"], memory.at(0), 1)
    first, second = definition.instantiate(), definition.instantiate()
    view = first[node]
    assert type(view) is ExecutableKernelNode and view is not first[node]
    view.update(config=LaunchConfig(grid=2, block=1), kernel=kernels["add"], args=(memory.at(1), 5))
    launched(first, stream)
    launched(second, stream)
    launched(definition.instantiate(), stream)
    assert memory.values[0] == 2 and memory.values[1] in (5, 10)  # the two blocks race
    assert node.grid == (1, 1, 1)


@pytest.mark.requires(cuda=(12, 4))
def test_two_views_of_a_node_can_update_it_in_turn(stream, kernels, memory):
    definition = GraphDefinition()
    node = definition.launch(ONE, kernels["add"], memory.at(0), 1)
    graph = definition.instantiate()
    first, second = graph[node], graph[node]
    for number in (2, 3):
        first.update(config=ONE, kernel=kernels["add"], args=(memory.at(0), number))
        launched(graph, stream)
    second.update(config=ONE, kernel=kernels["append"], args=[memory.at(0), 7])
    launched(graph, stream)
    for number in (1, 4):
        first.update(config=ONE, kernel=kernels["add"], args=(memory.at(0), number))
        launched(graph, stream)
    assert memory.values[0] == 57 + 5
    with pytest.raises(OverflowError):
        first.update(config=ONE, kernel=kernels["add"], args=(memory.at(0), 1 << 40))
    with pytest.raises(NotImplementedError, match="an executable keeps those of its nodes"):
        first.update(
            config=LaunchConfig(grid=1, block=1, is_cooperative=True), kernel=kernels["add"], args=(memory.at(0), 1)
        )
    with pytest.raises(TypeError, match="takes 2 arguments"):
        first.update(config=ONE, kernel=kernels["add"], args=(memory.at(0),))
    launched(graph, stream)
    assert memory.values[0] == 62 + 4


def test_kernel_node_keeps_its_launch_when_only_arguments_change(stream, kernels, memory):
    definition = GraphDefinition()
    node = definition.launch(LaunchConfig(grid=3, block=1), kernels["count"], memory.at(0))
    graph = definition.instantiate()
    graph[node].update(args=(memory.at(1),))
    launched(graph, stream)
    assert memory.values[:2].tolist() == [0, 3]
    config = LaunchConfig(grid=2, block=1)
    graph[node].update(config=config, args=(memory.at(2),))
    config.grid = 9
    node.update(config=LaunchConfig(grid=7, block=1))  # of the definition only
    for index in (3, 4, 5):
        graph[node].update(args=(memory.at(index),))
        launched(graph, stream)
    assert memory.values[2:6].tolist() == [0, 2, 2, 2]
    view = graph[node]
    for grid in (1, 2):
        view.update(config=LaunchConfig(grid=grid, block=1), args=(memory.at(9),))
    graph[node].update(args=(memory.at(9),))
    launched(graph, stream)
    assert memory.values[9] == 2
    graph[node].update(kernel=kernels["add"], args=(memory.at(6), 5))
    graph[node].update(args=(memory.at(7), 5))
    launched(graph, stream)
    assert memory.values[6] == 0 and memory.values[7] in (5, 10)  # the two blocks race
    graph.update(definition)
    graph[node].update(args=(memory.at(8),))
    launched(graph, stream)
    assert memory.values[8] == 7


def test_unknown_launch_of_a_kernel_node_must_be_passed(stream, kernels, memory):
    def make():
        definition = GraphDefinition()
        child = GraphDefinition()
        child.launch(ONE, kernels["add"], memory.at(1), 1)
        return definition, definition.launch(ONE, kernels["add"], memory.at(0), 1), child, definition.embed(child)

    definition, node, child, embedded = make()
    changes = [
        lambda graph: node.update(config=LaunchConfig(grid=2, block=1)),
        lambda graph: node.update(args=(memory.at(0), 2)),
        lambda graph: graph.update(make()[0]),
        lambda graph: graph[embedded].update(child),
    ]
    for change in changes:
        graph = definition.instantiate()
        graph[node].update(args=(memory.at(0), 2))
        graph = definition.instantiate()
        change(graph)
        for given in ({}, {"config": ONE}, {"kernel": kernels["add"]}):
            with pytest.raises(ValueError, match="pass config and kernel"):
                graph[node].update(args=(memory.at(0), 3), **given)
        graph[node].update(config=ONE, kernel=kernels["add"], args=(memory.at(0), 3))
        graph[node].update(args=(memory.at(0), 4))
        memory.values[0] = 0
        launched(graph, stream)
        assert memory.values[0] == 4


def test_fills_and_copies_are_updated(stream, memory):
    definition = GraphDefinition()
    fill = definition.memset(memory.buffer, 1, 4)
    copy = fill.memcpy(memory.at(4), memory.at(0), 4)
    graph = definition.instantiate()
    assert (type(graph[fill]), type(graph[copy])) == (ExecutableMemsetNode, ExecutableMemcpyNode)
    graph[fill].update(dst=memory.at(1), value=np.int32(9), width=2)
    graph[copy].update(dst=memory.at(8), src=memory.buffer, size=12)
    launched(graph, stream)
    assert memory.values[:11].tolist() == [0, 9, 9, 0, 0, 0, 0, 0, 0, 9, 9]


def test_nodes_are_disabled_and_enabled(stream, kernels, memory):
    definition = GraphDefinition()
    nodes = [
        definition.launch(ONE, kernels["add"], memory.at(0), 1),
        definition.memset(memory.at(1), 1, 1),
        definition.memcpy(memory.at(3), memory.at(2), 4),
    ]
    memory.values[2] = 7
    graph = definition.instantiate()
    views = [graph[node] for node in nodes]
    assert [view.is_enabled for view in views] == [True] * 3
    for view in views:
        view.disable()
    assert [view.is_enabled for view in views] == [False] * 3
    launched(graph, stream)
    assert memory.values[:4].tolist() == [0, 0, 7, 0]
    for view in views:
        view.enable()
    launched(graph, stream)
    assert memory.values[:4].tolist() == [1, 1, 7, 7]


def test_event_nodes_are_updated(device, stream):
    first, second = (device.create_event(EventOptions(timing_enabled=True)) for _ in range(2))
    definition = GraphDefinition()
    record = definition.record(first)
    wait = record.wait(first)
    graph = definition.instantiate()
    assert (type(graph[record]), type(graph[wait])) == (ExecutableEventRecordNode, ExecutableEventWaitNode)
    stream.record(first)
    graph[record].update(second)
    graph[wait].update(second)
    launched(graph, stream)
    assert second - first >= 0
    assert record.event == first


def test_child_graphs_are_updated(stream, kernels, memory):
    children = []
    for number in (1, 40):
        child = GraphDefinition()
        child.launch(ONE, kernels["add"], memory.at(0), number)
        children.append(child)
    definition = GraphDefinition()
    node = definition.embed(children[0])
    graph = definition.instantiate()
    assert type(graph[node]) is ExecutableChildGraphNode
    graph[node].update(children[1])
    with pytest.raises(CUDAError):
        graph[node].update(GraphDefinition())
    children.clear()
    launched(graph, stream)
    assert memory.values[0] == 40


def test_updated_callback_exceptions_name_the_executable(stream, unraisable):
    calls = []
    definition = GraphDefinition()
    node = definition.callback(lambda: calls.append("old"))
    graph = definition.instantiate()
    assert type(graph[node]) is ExecutableHostCallbackNode
    graph[node].update(lambda: calls.append("new"))
    launched(graph, stream)
    seen = ctypes.create_string_buffer(4)
    pointer = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: ctypes.memmove(seen, data, 3))
    graph[node].update(pointer, user_data=b"abc")
    del pointer
    gc.collect()
    launched(graph, stream)
    assert calls == ["new"] and seen.value == b"abc"

    def fail():
        raise ZeroDivisionError

    graph[node].update(fail)
    launched(graph, stream)
    assert [report.kind for report in unraisable] == [ZeroDivisionError]
    assert unraisable[0].object == f"host callback fail of the executable graph {int(graph.handle):#x}"


def test_view_outlives_the_closing_of_its_graph(kernels, memory):
    definition = GraphDefinition()
    node = definition.launch(ONE, kernels["add"], memory.at(0), 1)
    graph = definition.instantiate()
    view = graph[node]
    text = repr(view)
    assert text == f"<ExecutableKernelNode graph={int(graph.handle):#x} node={int(node.handle):#x}>"
    graph.close()
    view.update(config=ONE, kernel=kernels["add"], args=(memory.at(0), 3))
    view.disable()
    assert not view.is_enabled and repr(view) == text
    with pytest.raises(RuntimeError, match="closed"):
        graph[node]


@pytest.mark.requires(cuda=(12, 3))
def test_nodes_that_cannot_be_updated_are_rejected(device, kernels, memory):
    definition = GraphDefinition()
    other = GraphDefinition()
    node = definition.launch(ONE, kernels["add"], memory.at(0), 1)
    allocation = other.allocate(64)
    rejected = [
        definition.empty(),
        allocation,
        allocation.deallocate(allocation.dptr),
        other.if_then(other.create_condition(0)),
        definition._entry,
    ]
    graph = definition.instantiate()
    for item in rejected:
        with pytest.raises(TypeError, match="cannot be changed in an executable"):
            graph[item]
    for item in (3, None, "node", definition):
        with pytest.raises(TypeError, match="indexed by a GraphNode"):
            graph[item]
    with pytest.raises(RuntimeError, match="graph\\[node\\]"):
        ExecutableGraphNode()
    view = graph[node]
    with pytest.raises(TypeError):
        view.update(config=ONE)
    with pytest.raises(AttributeError):
        view.other = 1
    with pytest.raises(NotImplementedError):
        view.update(config=LaunchConfig(grid=1, block=1, is_cooperative=True), kernel=kernels["add"], args=())
    node.destroy()
    with pytest.raises(RuntimeError, match="destroyed"):
        graph[node]
    for work in (view.enable, lambda: view.is_enabled, lambda: view.update(config=ONE, kernel=kernels["add"], args=())):
        with pytest.raises(RuntimeError, match="destroyed"):
            work()


def test_node_of_another_graph_is_rejected_by_the_driver(kernels, memory):
    graphs = [GraphDefinition() for _ in range(2)]
    nodes = [graph.launch(ONE, kernels["add"], memory.at(0), 1) for graph in graphs]
    view = graphs[0].instantiate()[nodes[1]]
    for work in (
        view.disable,
        lambda: view.is_enabled,
        lambda: view.update(config=ONE, kernel=kernels["add"], args=(memory.at(0), 2)),
    ):
        with pytest.raises(CUDAError):
            work()


def test_captured_nodes_are_updated(device, stream, kernels, memory):
    with device.create_graph_builder().begin_building() as builder:
        launch(builder, ONE, kernels["add"], memory.at(0), 1)
        graph = builder.end_building().complete()
        (node,) = builder.graph_definition.nodes()
    graph[node].update(args=(memory.at(0), 30))
    launched(graph, stream)
    assert memory.values[0] == 30

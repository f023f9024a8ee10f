# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Mistakes with graphs: the exception names the rejected value and the reason, and later work runs."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from cuda.bindings import driver

from cuda.core import CUDAError, Device, LaunchConfig, launch
from cuda.core.graph import GraphDefinition
from support.bindings import handle_return
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


def a_switch_without_bodies(kernel, buffer):
    graph = GraphDefinition()
    graph.switch(graph.create_condition(0), 0)


def the_condition_of_another_graph(kernel, buffer):
    GraphDefinition().if_then(GraphDefinition().create_condition(0))


def joining_another_graph(kernel, buffer):
    node = GraphDefinition().launch(ONE, kernel, buffer, 1)
    GraphDefinition().join(node)


def an_empty_allocation(kernel, buffer):
    GraphDefinition().allocate(0)


def freeing_twice(kernel, buffer):
    node = GraphDefinition().allocate(64)
    node.deallocate(node.dptr).deallocate(node.dptr)


def freeing_what_is_of_no_graph(kernel, buffer):
    GraphDefinition().deallocate(int(buffer.handle))


def launching_unfreed_memory_again(kernel, buffer):
    graph = GraphDefinition()
    node = graph.allocate(64)
    stream, executable = Device().create_stream(), graph.instantiate()
    try:
        executable.launch(stream)
        executable.launch(stream)
    finally:
        stream.sync()
        handle_return(driver.cuMemFree(node.dptr))


MISTAKES = {
    foreign_node: "KernelNode.*must belong to the graph that the executable was instantiated from",
    two_executables_with_memory: "one executable at a time; close the existing one first",
    destroyed_memory_node: "nodes and edges of a graph that allocates or frees memory cannot be removed",
    removed_edge_of_memory: "nodes and edges of a graph that allocates or frees memory cannot be removed",
    itself: "a graph cannot be embedded in itself",
    itself_further_down: "a graph cannot be embedded in itself",
    itself_in_an_executable: "a graph cannot be embedded in itself",
    itself_in_a_body: "a graph cannot be embedded in itself",
    its_own_part: "a graph cannot be embedded in itself",
    after_itself: "KernelNode.*edges must not form a cycle",
    a_switch_without_bodies: "a switch node without bodies: count must be at least 1",
    the_condition_of_another_graph: "a conditional node for <GraphCondition.*must be a condition of this graph",
    joining_another_graph: "KernelNode.*and <GraphNode entry> belong to different graphs",
    an_empty_allocation: "the driver rejects an allocation of 0 bytes of device memory",
    freeing_twice: "the driver rejects a free of 0x.*that no other node frees",
    freeing_what_is_of_no_graph: "the driver rejects a free of 0x.*must be the address of an AllocNode",
    launching_unfreed_memory_again: "can be launched again only after that memory is freed.*auto_free_on_launch",
    a_circle: "cycle of edges.*KernelNode|edges must not form a cycle",
}


@pytest.mark.requires(cuda=(12, 3))
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
def test_mistake_is_explained_and_later_work_runs(device, stream, kernel, memory, mistake):
    with pytest.raises((CUDAError, RuntimeError), match="(?s)" + MISTAKES[mistake]):
        mistake(kernel("add"), memory.buffer)
    launch(stream, ONE, kernel("add"), memory.buffer, 5)
    stream.sync()
    assert value(memory) == 5


def test_invalid_blocks_and_paths_are_named(device, kernel, memory):
    with pytest.raises(CUDAError, match="invalid argument") as caught:
        GraphDefinition().launch(LaunchConfig(grid=1, block=4096), kernel("add"), memory.buffer, 1).graph.instantiate()
    assert "4096" in str(caught.value)
    for path in ("a\0b", "\ud800"):
        with pytest.raises(ValueError, match="path must have no null characters or halves of surrogate pairs"):
            GraphDefinition().debug_dot_print(path)


@pytest.mark.requires(software=True)
def test_child_graph_cannot_be_instantiated_by_itself(device, kernel, memory):
    inner, outer = GraphDefinition(), GraphDefinition()
    inner.launch(ONE, kernel("add"), memory.buffer, 1)
    with pytest.raises(CUDAError, match="the body of a conditional node cannot be instantiated by itself"):
        outer.embed(inner).child_graph.instantiate()
    assert outer.instantiate()


class Destroying:
    """An argument that is an array and an int; reading either calls `destroy`."""

    def __init__(self, destroy, buffer):
        self.destroy, self.buffer = destroy, buffer

    @property
    def __cuda_array_interface__(self):
        self.destroy()
        return {"shape": (1,), "typestr": "<i4", "data": (int(self.buffer.handle), False), "version": 3}

    def __index__(self):
        self.destroy()
        return 1


def test_arguments_that_destroy_their_node_are_rejected(device, kernel, memory):
    add, graph = kernel("add"), GraphDefinition()

    def node_and(do):
        node = graph.launch(ONE, add, memory.buffer, 1)
        return do(node, Destroying(node.destroy, memory.buffer))

    executable = GraphDefinition().instantiate()
    for do in (
        lambda node, argument: node.launch(ONE, add, argument, 1),
        lambda node, argument: node.update(args=(argument, 1)),
        lambda node, argument: graph.instantiate()[node].update(config=ONE, kernel=add, args=(argument, 1)),
        lambda node, argument: node.memset(memory.buffer, 0, argument),
        lambda node, argument: node.memcpy(memory.buffer, memory.buffer, argument),
        lambda node, argument: node.allocate(argument),
    ):
        with pytest.raises(RuntimeError, match="this KernelNode is destroyed"):
            node_and(do)
    assert graph.nodes() == set() and executable.handle


@pytest.mark.requires(cuda=(12, 3))
def test_values_that_destroy_their_graph_are_rejected(device, kernel, memory):
    outer = GraphDefinition()
    node = outer.if_then(outer.create_condition(0))
    with pytest.raises(RuntimeError, match="this graph is destroyed"):
        node.then.create_condition(Destroying(node.destroy, memory.buffer))
    builder = device.create_graph_builder().begin_building()
    assert builder.create_condition(Destroying(builder.close, memory.buffer))
    assert builder.is_closed


@pytest.mark.parametrize("is_main", [True, False])
def test_sync_of_a_capturing_stream_is_rejected_on_every_thread(device, is_main):
    def wait(stream):
        device.set_current()
        with pytest.raises(CUDAError, match="cannot be captured") as caught:
            stream.sync()
        assert caught.value.name == "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"

    with device.create_graph_builder() as builder:
        stream = builder.begin_building().stream
        if is_main:
            wait(stream)
        else:
            with ThreadPoolExecutor(1) as elsewhere:
                elsewhere.submit(wait, stream).result()
        with pytest.raises(CUDAError, match="STREAM_CAPTURE_INVALIDATED"):
            builder.end_building()
        stream.sync()

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Recaptures: captures that change the parameters of an existing graph."""

import gc
import os
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

from cuda.core import CUDAError, Device, DeviceMemoryResource, GraphMemoryResource, LaunchConfig, launch
from cuda.core.graph import GraphBuilder, GraphDefinition, KernelNode, MemsetNode
from support.graph_work import ONE, value

pytestmark = pytest.mark.requires(cuda=(13, 3))
UNUSABLE = "the recapture of this graph failed, which left it unusable"


@pytest.fixture
def capture(device):
    """Return a function that captures another one, or captures it again into a graph."""

    def run(function, graph=None):
        builder = device.create_graph_builder()
        builder.begin_building() if graph is None else builder.recapture(graph)
        function(builder)
        return builder.end_building()

    return run


@pytest.fixture
def add(kernel, memory):
    """Return a function that returns a function to capture: it adds an amount, several times."""

    def adding(amount, times=1):
        def run(builder):
            for _ in range(times):
                launch(builder, ONE, kernel("add"), memory.address, amount)

        return run

    return adding


def result(executable, memory, stream):
    before = value(memory)
    executable.launch(stream)
    stream.sync()
    return value(memory) - before


def test_recapture_changes_parameters_of_the_same_nodes(capture, add, memory, stream):
    first = capture(add(3))
    definition = first.graph_definition
    nodes = definition.nodes()
    again = capture(add(5), definition)
    assert again.graph_definition == definition and definition.nodes() == nodes
    assert again.changes == dict.fromkeys(nodes, True)
    assert result(again.complete(), memory, stream) == 5
    assert result(first.complete(), memory, stream) == 5


def test_executables_change_only_when_they_are_updated(capture, add, memory, stream):
    first = capture(add(3))
    executable = first.complete()
    again = capture(add(5), first)
    assert result(executable, memory, stream) == 3
    executable.update(again)
    assert result(executable, memory, stream) == 5


def test_node_of_an_executable_is_found_by_its_node(capture, memory, device, stream):
    buffer = device.allocate(64, stream=stream)
    first = capture(lambda builder: buffer.fill(1, stream=builder))
    executable = first.complete()
    (node,) = first.graph_definition.nodes()
    again = capture(lambda builder: buffer.fill(2, stream=builder), first)
    assert isinstance(node, MemsetNode) and node.is_valid and node.value == 2
    executable[node].update(dst=buffer, value=node.value, width=64)
    executable.launch(stream)
    copied = bytearray(64)
    buffer.copy_to(copied, stream=stream)
    stream.sync()
    assert copied == b"\2" * 64
    assert list(again.changes) == [node]


def test_unchanged_nodes_are_no_changes(capture, add):
    def two(second):
        def run(builder):
            add(3)(builder)
            add(second)(builder)

        return run

    first = capture(two(4))
    again = capture(two(7), first)
    (changed,) = again.changes
    assert isinstance(changed, KernelNode) and len(changed.pred) == 1
    assert capture(two(7), first).changes == {}


def test_forks_are_recaptured(capture, add, kernel, memory, stream):
    def forked(amount):
        def run(builder):
            left, right = builder.split(2)
            add(amount)(left)
            add(amount)(right)
            GraphBuilder.join(left, right)
            add(amount)(builder)

        return run

    first = capture(forked(0))
    again = capture(forked(0), first)
    assert again.changes == {}
    assert len(capture(forked(2), first).changes) == 3


@pytest.mark.parametrize("times", [1, 3])
def test_another_number_of_nodes_leaves_the_graph_unusable(capture, add, times):
    first = capture(add(3, times=2))
    definition, executable = first.graph_definition, first.complete()
    node = next(iter(definition.nodes()))
    with pytest.raises(CUDAError, match="RECAPTURE_FAILURE|INVALIDATED"):
        capture(add(3, times=times), definition)
    for use in (
        definition.nodes,
        definition.instantiate,
        definition.empty,
        first.complete,
        lambda: node.local_id,
        lambda: node.callback(print),
        lambda: executable.update(definition),
        lambda: capture(add(3), definition),
    ):
        with pytest.raises(RuntimeError, match=UNUSABLE):
            use()
    assert not definition.is_valid and not node.is_valid
    assert (repr(definition), int(definition.handle)) == ("<GraphDefinition handle=0x0>", 0)


def test_executable_survives_a_failed_recapture(capture, add, memory, stream):
    first = capture(add(3))
    executable = first.complete()
    with pytest.raises(CUDAError):
        capture(add(3, times=2), first)
    assert result(executable, memory, stream) == 3


def test_error_names_the_difference_and_the_remedy(capture, add, memory):
    first = capture(add(3))
    builder = Device().create_graph_builder().recapture(first)
    with pytest.raises(CUDAError, match=r"(?s)CUDA_ERROR_GRAPH_RECAPTURE_FAILURE.*capture a new one"):
        memory.buffer.fill(0, stream=builder)
    with pytest.raises(CUDAError):
        builder.end_building()
    with pytest.raises(RuntimeError, match="the capture of this GraphBuilder failed"):
        builder.changes  # noqa: B018


def test_missing_dependencies_are_a_difference(capture, add):
    def joined(builder):
        left, right = builder.split(2)
        add(1)(left)
        add(2)(right)
        GraphBuilder.join(left, right)

    first = capture(joined)
    with pytest.raises(CUDAError):
        capture(add(1, times=2), first)


def test_nothing_else_uses_the_graph_during_a_recapture(capture, add, device):
    first = capture(add(3))
    definition = first.graph_definition
    (node,) = definition.nodes()
    builder = device.create_graph_builder().recapture(definition)
    for use in (definition.nodes, definition.empty, first.complete, lambda: set(node.pred), lambda: node.config):
        with pytest.raises(RuntimeError, match="this graph is being recaptured"):
            use()
    with pytest.raises(RuntimeError, match="being recaptured"):
        device.create_graph_builder().recapture(definition)
    add(4)(builder)
    builder.end_building()
    assert definition.nodes() == {node} and len(node.pred) == 0


@pytest.mark.parametrize("is_whole", [True, False])
def test_closing_the_builder_ends_the_recapture(capture, add, device, is_whole, memory, stream):
    first = capture(add(3))
    builder = device.create_graph_builder().recapture(first)
    if is_whole:
        add(4)(builder)
    builder.close()
    if is_whole:
        assert result(first.complete(), memory, stream) == 4
    else:
        with pytest.raises(RuntimeError, match=UNUSABLE):
            first.complete()


def test_dropped_builder_ends_the_recapture(capture, add, device):
    first = capture(add(3))
    device.create_graph_builder().recapture(first)
    gc.collect()
    with pytest.raises(RuntimeError, match=UNUSABLE):
        first.complete()


def test_callbacks_are_recaptured_and_kept_alive(capture, stream):
    calls = []

    def caller(text):
        def call():
            calls.append(text)

        return call

    functions = [caller("one"), caller("two")]
    old, new = map(weakref.ref, functions)
    first = capture(lambda builder: builder.callback(functions[0]))
    again = capture(lambda builder: builder.callback(functions[1]), first)
    (node,) = again.changes
    assert node.callback is functions[1]
    functions.clear()
    del node
    executable = again.complete()
    executable.launch(stream)
    stream.sync()
    assert calls == ["two"] and new() is not None
    gc.collect()
    for _ in range(100):
        if old() is None:
            break
        stream.sync()
        gc.collect()
    assert old() is None


def test_c_callbacks_keep_their_data(capture, stream):
    import ctypes

    seen = []
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda at: seen.append(ctypes.string_at(at, 3)))
    first = capture(lambda builder: builder.callback(function, user_data=b"old"))
    again = capture(lambda builder: builder.callback(function, user_data=b"new"), first)
    gc.collect()
    again.complete().launch(stream)
    stream.sync()
    assert seen == [b"new"]


def test_host_memory_of_a_recaptured_copy_is_kept(capture, device, stream):
    buffer = device.allocate(4, stream=stream)

    def copying(number):
        return lambda builder: buffer.copy_from(np.array([number], dtype=np.int32), stream=builder)

    again = capture(copying(9), capture(copying(8)))
    gc.collect()
    again.complete().launch(stream)
    out = np.zeros(1, dtype=np.int32)
    buffer.copy_to(out, stream=stream)
    stream.sync()
    assert out[0] == 9


@pytest.mark.parametrize("size", [256, 512])
def test_allocations_must_be_the_same(capture, device, stream, size):
    resource = GraphMemoryResource(device)

    def allocating(count):
        def run(builder):
            buffer = resource.allocate(count, stream=builder)
            addresses.append(int(buffer.handle))
            buffer.fill(1, stream=builder)
            buffer.close(builder)

        return run

    addresses = []
    first = capture(allocating(256))
    if size == 256:
        again = capture(allocating(size), first)
        assert addresses[0] == addresses[1] and again.changes == {}
        again.complete().launch(stream)
        stream.sync()
    else:
        with pytest.raises(CUDAError):
            capture(allocating(size), first)


def test_nodes_added_by_hand_are_rejected(capture, add, device):
    first = capture(add(3))
    child = capture(add(1))
    builder = device.create_graph_builder().recapture(first)
    for use in (builder.create_condition, lambda: builder.embed(child)):
        with pytest.raises(RuntimeError, match="a recapture cannot embed graphs or add conditional nodes"):
            use()
    add(4)(builder)  # the recapture is intact
    assert builder.end_building().changes
    other = device.create_graph_builder().begin_building()
    condition = other.create_condition()
    inner = device.create_graph_builder().recapture(first)
    with pytest.raises(RuntimeError, match="a recapture cannot"):
        inner.if_then(condition)
    add(4)(inner)
    inner.end_building()
    other.close()


def test_definition_built_by_hand_is_recaptured(device, capture, memory, stream):
    definition = GraphDefinition()
    definition.memset(memory.buffer, 1, memory.buffer.size)
    again = capture(lambda builder: memory.buffer.fill(0, stream=builder), definition)
    assert again.changes == dict.fromkeys(definition.nodes(), True)


def test_wrong_arguments_leave_builder_and_graph_alone(capture, add, device, memory, stream):
    first = capture(add(3))
    outer = GraphDefinition()
    child = outer.embed(first.graph_definition).child_graph
    builder = device.create_graph_builder()
    with pytest.raises(TypeError, match="graph must be a GraphDefinition or a GraphBuilder, not int"):
        builder.recapture(3)
    with pytest.raises(TypeError, match="mode must be a str"):
        builder.recapture(first, 3)
    with pytest.raises(ValueError, match="mode must be 'global'"):
        builder.recapture(first, "fast")
    with pytest.raises(ValueError, match="whole graph, not a child graph"):
        builder.recapture(child)
    with pytest.raises(ValueError, match="must have ended its capture"):
        builder.recapture(device.create_graph_builder())
    add(4)(builder.recapture(first, mode="global"))
    with pytest.raises(RuntimeError, match="already building"):
        builder.recapture(first)
    builder.end_building()
    with pytest.raises(RuntimeError, match="cannot begin another"):
        builder.recapture(first)
    assert result(builder.complete(), memory, stream) == 4
    builder.close()
    with pytest.raises(RuntimeError, match="closed"):
        builder.recapture(first)


def test_capturing_stream_cannot_recapture(capture, add, stream):
    first = capture(add(3))
    outer = stream.create_graph_builder().begin_building()
    with pytest.raises(RuntimeError, match="already capturing"):
        stream.create_graph_builder().recapture(first)
    outer.end_building()
    assert first.graph_definition.is_valid


def test_body_of_a_conditional_node_cannot_recapture(capture, add, device):
    first = capture(add(3))
    builder = device.create_graph_builder().begin_building()
    body = builder.if_then(builder.create_condition())
    with pytest.raises(RuntimeError, match="builder of a conditional node cannot recapture"):
        body.recapture(first)
    builder.close()


def test_captured_graph_has_no_changes(capture, add, device):
    with pytest.raises(RuntimeError, match="only a recapture has changes"):
        capture(add(3)).changes  # noqa: B018
    with pytest.raises(RuntimeError, match="has not ended its capture"):
        device.create_graph_builder().changes  # noqa: B018


def test_threads_recapture_their_own_graphs(capture, add, memory, stream):
    failures = []

    def work(number):
        try:
            Device(0).set_current()
            graph = capture(add(1, times=5))
            for turn in range(20):
                again = capture(add(number + turn, times=5), graph)
                assert len(again.changes) in (0, 5)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_forks_on_several_threads_note_all_changes(device, kernel, memory):
    def forked(amount, begin):
        builders = begin(device.create_graph_builder()).split(4)
        for builder in builders:  # the order of nodes is part of the graph
            launch(builder, ONE, kernel("add"), memory.address, amount)
        return GraphBuilder.join(*builders).end_building()

    first = forked(1, lambda builder: builder.begin_building())
    again = forked(2, lambda builder: builder.recapture(first))
    assert list(again.changes.values()) == [True] * 4


@pytest.mark.requires(software=True)
def test_older_driver_is_named():
    program = (
        "from cuda.core import Device\n"
        "device = Device(); device.set_current()\n"
        "first = device.create_graph_builder().begin_building().end_building()\n"
        "device.create_graph_builder().recapture(first)\n"
    )
    variables = {"CUDA_CORE_DEVICE": "software", "CUDA_EMULATOR_DRIVER_VERSION": "13.2"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables}, timeout=60)
    assert "the recapture of a graph needs" in done.stderr and "CUDA 13.3" in done.stderr, done.stderr


def test_launch_configuration_is_recaptured(capture, kernel, memory, stream):
    def run(config):
        return lambda builder: launch(builder, config, kernel("add"), memory.address, 1)

    first = capture(run(ONE))
    again = capture(run(LaunchConfig(grid=3, block=1)), first)
    (node,) = again.changes
    assert node.config.grid == (3, 1, 1)


def test_memory_of_pools_is_not_held_by_a_failed_recapture(capture, device, stream):
    pool = DeviceMemoryResource(device, {"max_size": 0})
    buffer = pool.allocate(64, stream=stream)
    first = capture(lambda builder: buffer.fill(1, stream=builder))
    with pytest.raises(CUDAError):
        capture(lambda builder: None, first)
    buffer.close()
    stream.sync()
    del first
    gc.collect()
    assert pool.allocation_count == 0


def test_each_changed_callback_is_a_change(capture):
    graph = capture(lambda builder: builder.callback(lambda: None))
    for _ in range(50):  # freed callbacks would make room for new ones at the same addresses
        again = capture(lambda builder: builder.callback(lambda: None), graph)
        assert len(again.changes) == 1
        del again
        gc.collect()

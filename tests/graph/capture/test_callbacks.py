# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Host callbacks in captures, in their forks, and beside conditional nodes."""

import ctypes
import gc
import threading
import weakref

import pytest

from cuda.core import launch
from cuda.core.graph import GraphBuilder, GraphDefinition, HostCallbackNode, IfElseNode, SwitchNode, WhileNode
from support.graph_work import ONE, Thing, is_released

FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@pytest.fixture
def builder(builder):
    return builder.begin_building()


def run(builder, stream, times=1):
    graph = builder.end_building().complete()
    for _ in range(times):
        graph.launch(stream)
    stream.sync()
    return graph


def test_callbacks_run_in_the_order_of_the_capture(builder, stream, kernels, memory):
    seen = []
    builder.callback(lambda: seen.append(int(memory.values[0])))
    launch(builder, ONE, kernels["add"], memory.at(0), 5)
    builder.callback(lambda: seen.append(int(memory.values[0])))
    assert builder.callback(seen.clear) is None
    builder.callback(lambda: seen.append(-1))
    gc.collect()
    run(builder, stream, times=2)
    assert seen == [-1] and memory.values[0] == 10


def test_fork_callbacks_run_after_the_split_and_before_the_join(builder, stream):
    seen = []
    builder.callback(lambda: seen.append("first"))
    forks = builder.split(3)
    for index, fork in enumerate(forks):
        fork.callback(lambda index=index: seen.append(index))
    GraphBuilder.join(*forks).callback(lambda: seen.append("last"))
    run(builder, stream)
    assert (seen[0], sorted(seen[1:-1]), seen[-1]) == ("first", [0, 1, 2], "last")


def named_callback():
    pass


BODIES = {
    "captured": lambda builder, body: body.begin_building().callback(named_callback),
    "by hand": lambda builder, body: body.graph_definition.callback(named_callback),
    "in a child graph": lambda builder, body: body.graph_definition.embed(child_with_callback()),
    "in a body in it": lambda builder, body: (
        body.begin_building().if_then(builder.create_condition(0)).graph_definition.callback(named_callback)
    ),
}


def child_with_callback():
    child = GraphDefinition()
    child.callback(named_callback)
    return child


@pytest.mark.requires(cuda=(12, 3))
@pytest.mark.parametrize("way", BODIES)
def test_bodies_of_conditional_nodes_cannot_call_the_host(builder, way):
    body = builder.while_loop(builder.create_condition(0))
    BODIES[way](builder, body)
    if body.is_building:
        body.end_building()
    builder.end_building()
    text = "<HostCallbackNode .* callback=named_callback> is in the body of a conditional node, which can have only"
    for make in (builder.complete, builder.graph_definition.instantiate):
        with pytest.raises(RuntimeError, match=text):
            make()


@pytest.mark.requires(cuda=(12, 3))
def test_callbacks_may_be_beside_conditional_nodes(builder, stream, kernels, memory):
    seen = []
    memory.values[0] = 3
    condition = builder.create_condition(1)
    builder.callback(lambda: seen.append(int(memory.values[0])))
    body = builder.while_loop(condition).begin_building()
    launch(body, ONE, kernels["count_down"], memory.at(0), condition)
    body.end_building()
    builder.callback(lambda: seen.append(int(memory.values[0])))
    run(builder, stream)
    assert seen == [3, 0]


def test_c_functions_get_their_data(builder, stream):
    seen = []
    function = FUNCTION(lambda data: seen.append(ctypes.string_at(data, 3) if data else None))
    builder.callback(function, user_data=b"abc")
    builder.callback(function)
    kept = ctypes.create_string_buffer(b"xyz")
    builder.callback(function, user_data=ctypes.addressof(kept))
    del function
    gc.collect()
    run(builder, stream)
    assert seen == [b"abc", None, b"xyz"]


def test_callback_exception_is_reported_and_later_work_runs(builder, stream, unraisable):
    seen = []

    def fail():
        raise ValueError("no more")

    builder.callback(fail)
    builder.callback(lambda: seen.append(1))
    run(builder, stream, times=2)
    handle = int(builder.graph_definition.handle)
    assert seen == [1, 1] and [report.text for report in unraisable] == ["no more"] * 2
    assert unraisable[0].object == f"host callback fail of the graph {handle:#x}"
    stream.record().sync()


def test_rejected_callback_leaves_the_capture_unchanged(builder, stream):
    for wrong, data, error, text in (
        (None, None, TypeError, "callable"),
        (3, None, TypeError, "callable"),
        (print, 0, ValueError, "functools.partial"),
        (FUNCTION(lambda data: None), "text", TypeError, "user_data"),
        (FUNCTION(lambda data: None), -1, OverflowError, "user_data"),
        (ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 0), None, TypeError, "CFUNCTYPE"),
    ):
        with pytest.raises(error, match=text):
            builder.callback(wrong, user_data=data)
    assert builder.is_building
    builder.end_building()
    assert builder.graph_definition.nodes() == set()


def test_callbacks_need_a_builder_that_builds(device):
    builder = device.create_graph_builder()
    with pytest.raises(RuntimeError, match="not building"):
        builder.callback(print)
    builder.begin_building().end_building()
    with pytest.raises(RuntimeError, match="not building"):
        builder.callback(print)
    builder.close()
    with pytest.raises(RuntimeError, match="closed"):
        builder.callback(print)


@pytest.mark.parametrize("end", ["close", "fail", "complete"])
def test_callbacks_live_as_long_as_a_graph_uses_them(device, stream, end):
    builder = device.create_graph_builder().begin_building()
    thing = Thing()
    reference = weakref.ref(thing)
    builder.callback(thing.work)
    del thing
    gc.collect()
    assert reference() is not None
    if end == "fail":
        builder.split(2)[1].callback(int)
        with pytest.raises(Exception, match="UNJOINED"):
            builder.end_building()
    elif end == "complete":
        graph = builder.end_building().complete()
        builder.close()
        graph.launch(stream)
        stream.sync()
        gc.collect()
        assert reference().calls == [1]
        graph.close()
    builder.close()
    assert is_released(reference)


@pytest.mark.requires(cuda=(12, 8))
def test_nodes_of_a_capture_return_their_callable_and_condition(builder, stream):
    def work():
        pass

    builder.callback(work)
    conditions = [builder.create_condition(0) for _ in range(3)]
    builder.while_loop(conditions[0])
    builder.if_else(conditions[1])
    builder.switch(conditions[2], 3)
    builder.end_building()
    nodes = {type(node): node for node in builder.graph_definition.nodes()}
    assert nodes[HostCallbackNode].callback is work
    assert nodes[WhileNode].condition is conditions[0]
    assert nodes[IfElseNode].condition is conditions[1] and len(nodes[IfElseNode].branches) == 2
    assert nodes[SwitchNode].condition is conditions[2] and len(nodes[SwitchNode].branches) == 3


def test_callbacks_of_embedded_builders_run(builder, device, stream):
    seen = []
    child = device.create_graph_builder().begin_building()
    child.callback(lambda: seen.append(1))
    builder.embed(child.end_building())
    child.close()
    del child
    gc.collect()
    run(builder, stream)
    assert seen == [1]


def test_callback_can_wait_for_another_thread_that_captures(builder, device, stream):
    begun, done = threading.Event(), []

    def other():
        begun.wait(10)
        device.set_current()
        with device.create_graph_builder() as second:
            second.begin_building().end_building()
        done.append(1)

    thread = threading.Thread(target=other)
    thread.start()
    builder.callback(lambda: (begun.set(), thread.join(10)))
    run(builder, stream)
    assert done == [1] and not thread.is_alive()

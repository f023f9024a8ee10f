# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Builders of the bodies of conditional nodes, at any depth; conditions that the device sets choose what runs."""

import gc

import pytest

from cuda.core import CUDAError, launch
from cuda.core.graph import GraphBuilder, GraphCondition
from support.graph_work import ONE, value


@pytest.fixture
def builder(builder):
    return builder.begin_building()


def run(builder, stream, times=1):
    graph = builder.end_building().complete()
    for _ in range(times):
        graph.launch(stream)
    stream.sync()


def fill(body, kernel, memory, digit):
    body.begin_building()
    launch(body, ONE, kernel("append"), memory.address, digit)
    body.end_building()


@pytest.mark.requires(cuda=(12, 3))
@pytest.mark.parametrize(("default", "expected"), [(0, 2), (1, 12), (7, 12)])
def test_body_runs_when_its_condition_is_not_zero(builder, kernel, memory, stream, default, expected):
    condition = builder.create_condition(default)
    assert isinstance(condition, GraphCondition)
    fill(builder.if_then(condition), kernel, memory, 1)
    launch(builder, ONE, kernel("append"), memory.address, 2)
    run(builder, stream)
    assert value(memory) == expected


@pytest.mark.requires(cuda=(12, 8))
@pytest.mark.parametrize(("number", "expected"), [(0, 2), (5, 1)])
def test_one_of_two_bodies_runs(builder, kernel, memory, stream, number, expected):
    memory.buffer[4:8].fill(number, stream=stream)
    stream.sync()
    condition = builder.create_condition()
    launch(builder, ONE, kernel("choose_as"), condition, memory.address + 4)
    for digit, body in enumerate(builder.if_else(condition), 1):
        fill(body, kernel, memory, digit)
    run(builder, stream)
    assert value(memory) == expected


@pytest.mark.requires(cuda=(12, 8))
@pytest.mark.parametrize(("number", "expected"), [(0, 1), (2, 3), (3, 0), (255, 0)])
def test_switch_runs_the_body_of_its_number_or_none(builder, kernel, memory, stream, number, expected):
    memory.buffer[4:5].fill(number, stream=stream)
    stream.sync()
    condition = builder.create_condition()
    launch(builder, ONE, kernel("choose_as"), condition, memory.address + 4)
    bodies = builder.switch(condition, 3)
    assert isinstance(bodies, tuple) and len(bodies) == 3
    for digit, body in enumerate(bodies, 1):
        fill(body, kernel, memory, digit)
    run(builder, stream)
    assert value(memory) == expected


@pytest.mark.requires(cuda=(12, 3))
def test_loop_runs_while_the_device_sets_its_condition(builder, kernel, memory, stream):
    condition = builder.create_condition(default_value=1)
    body = builder.while_loop(condition)
    assert (body.is_join_required, body.is_building, body.is_closed) == (False, False, False)
    assert body.begin_building() is body and body.is_building
    launch(body, ONE, kernel("add"), memory.address, 1)
    launch(body, ONE, kernel("below"), condition, memory.address, 10)
    assert body.end_building() is body
    launch(builder, ONE, kernel("append"), memory.address, 7)
    run(builder, stream)
    assert value(memory) == 107


@pytest.mark.requires(cuda=(12, 3))
def test_bodies_can_be_nested(builder, kernel, memory, stream):
    out = memory.address
    outer = builder.create_condition(1)
    loop = builder.while_loop(outer).begin_building()
    inner = loop.create_condition(1)
    branch = loop.if_then(inner).begin_building()
    innermost = branch.create_condition(1)
    nested = branch.while_loop(innermost).begin_building()
    launch(nested, ONE, kernel("add"), out, 1)
    launch(nested, ONE, kernel("add"), out + 4, 1)
    launch(nested, ONE, kernel("below"), innermost, out, 4)
    nested.end_building()
    branch.end_building()
    launch(loop, ONE, kernel("add"), out + 8, 1)
    launch(loop, ONE, kernel("below"), outer, out + 8, 3)
    loop.end_building()
    run(builder, stream)
    # A default is assigned on each launch of the graph: the innermost loop ran in the first round only.
    assert [value(memory, index) for index in range(3)] == [4, 4, 3]


@pytest.mark.requires(cuda=(12, 3))
def test_body_forks_and_joins(builder, kernel, memory, stream):
    body = builder.if_then(builder.create_condition(1)).begin_building("thread_local")
    first, second = body.split(2)
    launch(first, ONE, kernel("add"), memory.address, 2)
    launch(second, ONE, kernel("add"), memory.address + 4, 3)
    assert GraphBuilder.join(second, first) is body
    launch(body, ONE, kernel("append"), memory.address, 1)
    body.end_building()
    run(builder, stream)
    assert (value(memory), value(memory, 1)) == (21, 3)


@pytest.mark.requires(cuda=(12, 3))
def test_conditional_node_of_a_fork_outlives_it(builder, kernel, memory, stream):
    _, fork = builder.split(2)
    body = fork.if_then(fork.create_condition(1))
    launch(fork, ONE, kernel("append"), memory.address, 2)
    GraphBuilder.join(builder, fork)
    fill(body, kernel, memory, 1)
    launch(builder, ONE, kernel("append"), memory.address, 3)
    run(builder, stream)
    assert value(memory) == 123


@pytest.mark.requires(cuda=(12, 3))
def test_body_may_end_after_the_graph_around_it(builder, kernel, memory, stream):
    body = builder.if_then(builder.create_condition(1)).begin_building()
    launch(body, ONE, kernel("add"), memory.address, 2)
    builder.end_building()
    body.end_building()
    builder.complete().launch(stream)
    stream.sync()
    assert value(memory) == 2


@pytest.mark.requires(cuda=(12, 3))
def test_unfilled_body_does_nothing(builder, kernel, memory, stream):
    body = builder.if_then(builder.create_condition(1))
    assert body.graph_definition == body.graph_definition
    launch(builder, ONE, kernel("add"), memory.address, 2)
    run(builder, stream)
    assert value(memory) == 2


@pytest.mark.requires(cuda=(12, 3))
def test_body_returns_its_graph_before_and_after_its_capture(builder, kernel, memory):
    body = builder.if_then(builder.create_condition(1))
    before = body.graph_definition
    body.begin_building()
    with pytest.raises(RuntimeError, match="has not ended"):
        body.graph_definition  # noqa: B018
    body.end_building()
    assert body.graph_definition == before
    builder.end_building()
    assert builder.graph_definition != before


@pytest.mark.requires(cuda=(12, 3))
def test_body_cannot_be_completed_by_itself(builder):
    body = builder.if_then(builder.create_condition(1))
    with pytest.raises(RuntimeError, match="has not ended"):
        body.complete()
    body.begin_building().end_building()
    with pytest.raises(RuntimeError, match="not the builder of a body"):
        body.complete()
    for again in (body.begin_building, body.end_building):
        with pytest.raises(RuntimeError):
            again()


@pytest.mark.requires(cuda=(12, 8))
@pytest.mark.parametrize("name", ["if_then", "if_else", "while_loop"])
@pytest.mark.parametrize("condition", [None, 1, "condition"])
def test_conditional_node_needs_a_condition(builder, name, condition):
    with pytest.raises(TypeError, match="condition must be a GraphCondition"):
        getattr(builder, name)(condition)
    with pytest.raises(TypeError, match="condition must be a GraphCondition"):
        builder.switch(condition, 2)
    assert builder.is_building


@pytest.mark.requires(cuda=(12, 8))
@pytest.mark.parametrize("name", ["if_then", "if_else", "while_loop"])
def test_conditional_nodes_belong_to_a_capture(builder, device, name):
    condition = builder.create_condition()
    for other in (device.create_graph_builder(), builder.end_building()):
        with pytest.raises(RuntimeError, match="not building"):
            getattr(other, name)(condition)
        with pytest.raises(RuntimeError, match="not building"):
            other.switch(condition, 1)


@pytest.mark.requires(cuda=(12, 8))
@pytest.mark.parametrize(("count", "error"), [(-1, OverflowError), (2**40, OverflowError), (1.5, TypeError)])
def test_invalid_counts_of_bodies_are_rejected(builder, count, error):
    with pytest.raises(error):
        builder.switch(builder.create_condition(), count)
    assert builder.is_building


@pytest.mark.requires(cuda=(12, 8))
def test_switch_without_a_body_is_rejected(builder):
    with pytest.raises(CUDAError):
        builder.switch(condition=builder.create_condition(), count=0)


@pytest.mark.requires(cuda=(12, 3))
@pytest.mark.parametrize(("default", "error"), [(-1, OverflowError), (2**32, OverflowError), ("1", TypeError)])
def test_default_value_must_fit_32_bits(builder, default, error):
    with pytest.raises(error, match="default_value"):
        builder.create_condition(default)
    assert builder.is_building


@pytest.mark.requires(cuda=(12, 3))
@pytest.mark.parametrize("order", [("body", "builder"), ("builder", "body")])
@pytest.mark.parametrize("way", ["close", "drop"])
def test_bodies_and_their_builder_end_in_any_order(stream, kernel, memory, order, way):
    objects = {"builder": stream.create_graph_builder().begin_building()}
    objects["body"] = objects["builder"].while_loop(objects["builder"].create_condition(1)).begin_building()
    body_stream = objects["body"].stream
    launch(objects["body"], ONE, kernel("add"), memory.address, 1)
    for name in order:
        ended = objects.pop(name)
        if way == "close":
            ended.close()
        del ended
        gc.collect()
    for idle in (stream, body_stream):
        launch(idle, ONE, kernel("add"), memory.address, 5)
        idle.sync()
    assert value(memory) == 10


@pytest.mark.requires(cuda=(12, 3))
def test_body_view_is_invalid_after_its_graph_is_destroyed(stream):
    builder = stream.create_graph_builder().begin_building()
    body = builder.if_then(builder.create_condition(1))
    view = body.graph_definition
    with pytest.raises(CUDAError):
        builder.stream.sync()
    with pytest.raises(CUDAError, match="INVALIDATED"):
        builder.end_building()
    assert not view.is_valid
    with pytest.raises(RuntimeError, match="is destroyed"):
        view.instantiate()
    with pytest.raises(RuntimeError, match="is destroyed"):
        body.begin_building()


@pytest.mark.requires(cuda=(12, 3))
def test_body_view_keeps_the_graph_of_a_dropped_builder(stream):
    builder = stream.create_graph_builder().begin_building()
    view = builder.if_then(builder.create_condition(1)).graph_definition
    del builder
    gc.collect()
    assert view.is_valid
    with stream.create_graph_builder().begin_building() as other:
        assert other.is_building


@pytest.mark.requires(cuda=(12, 3))
def test_graphs_with_bodies_can_be_updated(device, kernel, memory, stream):
    def build(digit):
        builder = device.create_graph_builder().begin_building()
        fill(builder.if_then(builder.create_condition(1)), kernel, memory, digit)
        return builder.end_building()

    graph = build(3).complete()
    graph.update(build(4))
    graph.launch(stream)
    stream.sync()
    assert value(memory) == 4


@pytest.mark.requires(cuda=(12, 3))
def test_body_keeps_the_nodes_from_before_its_capture(builder, kernel, memory, stream):
    body = builder.if_then(builder.create_condition(1))
    body.graph_definition.launch(ONE, kernel("append"), memory.address, 4)
    body.begin_building()
    launch(body, ONE, kernel("append"), memory.address + 4, 5)
    body.end_building()
    run(builder, stream)
    assert (value(memory), value(memory, 1)) == (4, 5)

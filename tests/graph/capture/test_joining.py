# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Forks that are not joined before their capture ends: the end fails, and the streams no longer capture."""

import pytest

from cuda.core import CUDAError, launch
from cuda.core.graph import GraphBuilder
from support.graph_work import ONE, can_capture, value


def test_unjoined_fork_fails_the_end_and_nothing_captures(stream, kernel, memory):
    builder = stream.create_graph_builder().begin_building()
    _, fork = builder.split(2)
    launch(fork, ONE, kernel("add"), memory.address, 3)
    with pytest.raises(CUDAError, match="UNJOINED"):
        builder.end_building()
    assert not builder.is_building and not fork.is_building
    for work in (lambda b: b.complete(), lambda b: b.graph_definition):
        with pytest.raises(RuntimeError, match="the capture of this GraphBuilder failed"):
            work(builder)
    with pytest.raises(RuntimeError, match="forked from has ended"):
        launch(fork, ONE, kernel("add"), memory.address, 3)
    assert can_capture(stream)


@pytest.mark.requires(cuda=(12, 3))
@pytest.mark.parametrize("way", ["callback", "conditional", "kernel and callback"])
def test_unjoined_fork_fails_the_end_whatever_it_has(stream, kernel, memory, way):
    """The driver forgives nodes added by hand."""
    builder = stream.create_graph_builder().begin_building()
    _, fork = builder.split(2)
    if way == "kernel and callback":
        launch(fork, ONE, kernel("add"), memory.address, 3)
    if way == "conditional":
        fork.if_then(fork.create_condition(0))
    else:
        fork.callback(int)
    with pytest.raises(CUDAError, match="UNJOINED"):
        builder.end_building()
    assert can_capture(stream)


def test_empty_forks_and_forks_joined_by_events_need_no_join(stream, kernel, memory):
    builder = stream.create_graph_builder().begin_building()
    launch(builder, ONE, kernel("add"), memory.address, 3)
    idle, busy = builder.split(3)[1:]
    busy.callback(int)
    stream.wait(busy.stream.record())
    builder.end_building()
    assert not idle.is_closed
    builder.complete().launch(stream)
    stream.sync()
    assert value(memory) == 3


def run(builder, stream):
    builder.end_building().complete().launch(stream)
    stream.sync()


def fork_of_a_fork(body, device):
    _, fork = body.split(2)
    inner = fork.split(2)[1]
    GraphBuilder.join(body, fork)
    return inner


def fork_by_an_event(body, device):
    other = device.create_stream()
    other.wait(body.stream)
    return other


FORKS = {"split": lambda body, device: body.split(2)[1], "split twice": fork_of_a_fork, "event": fork_by_an_event}


@pytest.mark.requires(cuda=(12, 3))
@pytest.mark.parametrize("end", ["end_building", "close"])
@pytest.mark.parametrize("way", FORKS)
def test_unjoined_fork_of_a_body_fails_the_end_of_the_body(builder, device, kernel, memory, stream, way, end):
    builder.begin_building()
    body = builder.if_then(builder.create_condition(0)).begin_building()
    fork = FORKS[way](body, device)
    launch(fork, ONE, kernel("append"), memory.address, 1)
    if end == "close":
        body.close()
    else:
        with pytest.raises(CUDAError, match="UNJOINED"):
            body.end_building()
        with pytest.raises(RuntimeError, match="the capture of this GraphBuilder failed"):
            body.graph_definition  # noqa: B018
    assert builder.is_building
    run(builder, stream)
    assert value(memory) == 0


@pytest.mark.requires(cuda=(12, 3))
def test_fork_of_a_body_can_be_joined_by_events(builder, kernel, memory, stream):
    builder.begin_building()
    body = builder.if_then(builder.create_condition(1)).begin_building()
    _, fork = body.split(2)
    launch(fork, ONE, kernel("append"), memory.address, 1)
    body.stream.wait(fork.stream.record())
    body.end_building()
    run(builder, stream)
    assert value(memory) == 1

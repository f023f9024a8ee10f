# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Invalid arguments are rejected by name, even if they cannot be printed."""

import functools
import re

import pytest

from cuda.core.graph import AdjacencySetProxy, CapturedFunction, GraphDefinition, capture
from support.graph_work import ONE

HUGE = 10**5000


def nested(depth):
    inside = []
    for _ in range(depth):
        inside = [inside]
    return inside


@pytest.mark.requires(cuda=(12, 3))
@pytest.mark.parametrize(
    ("rejected", "error", "message"),
    [
        (lambda graph, device: graph.memset(HUGE, 0, 1), OverflowError, "dst must be an address"),
        (lambda graph, device: graph.memset(64, HUGE, 1), OverflowError, "value must be an int from 0 to 255"),
        (lambda graph, device: graph.memset(64, 0, HUGE), OverflowError, "width must be from 0"),
        (lambda graph, device: graph.allocate(HUGE), OverflowError, "size must be from 0"),
        (lambda graph, device: graph.allocate(64, memory_type=nested(10**5)), ValueError, "memory_type must be"),
        (
            lambda graph, device: graph.allocate(64, peer_access=7),
            TypeError,
            "peer_access must be Devices or ints, or None, not int",
        ),
        (lambda graph, device: graph.create_condition(HUGE), OverflowError, "default_value must be from 0"),
        (
            lambda graph, device: graph.switch(graph.create_condition(0), HUGE),
            OverflowError,
            re.escape("count must be from 1 to 65536, not an int of"),
        ),
        (lambda graph, device: capture(len, maxsize=-HUGE), ValueError, "maxsize must be from 1 to"),
        (lambda graph, device: capture(len, maxsize=1 << 63), ValueError, "maxsize must be from 1 to"),
        (lambda graph, device: capture(len, data=7), TypeError, "data must be names of parameters, not int"),
        (lambda graph, device: CapturedFunction(len, (), None, None, None), TypeError, "maxsize must be an int"),
        (lambda graph, device: AdjacencySetProxy(7, True), TypeError, "node must be a GraphNode, not int"),
        (lambda graph, device: AdjacencySetProxy(graph.empty(), 1), TypeError, "is_pred must be a bool, not int"),
    ],
)
def test_invalid_value_is_named(device, rejected, error, message):
    with pytest.raises(error, match=message):
        rejected(GraphDefinition(), device)


@pytest.mark.parametrize(
    ("count", "error"),
    [("2", TypeError), (None, TypeError), (-HUGE, ValueError), (2**70, ValueError), (65537, ValueError)],
    ids=["str", "none", "negative", "huge", "large"],
)
def test_invalid_count_of_forks_is_rejected(builder, count, error):
    builder.begin_building()
    with pytest.raises(error, match="count must be"):
        builder.split(count)
    builder.end_building()


@pytest.mark.requires(cuda=(12, 4))
def test_unprintable_kernel_node_argument_is_described(memory, kernels):
    node = GraphDefinition().launch(ONE, kernels["add"], memory.buffer, 3)
    with pytest.raises(OverflowError, match="parameter 2 .* is .* int; an int of 16610 bits does not fit"):
        node.update(args=(memory.buffer, HUGE))


def test_repr_of_an_unprintable_captured_function_says_so(device):
    function = functools.partial(len, 10**5000)
    assert repr(capture(function)) == "<CapturedFunction a partial that cannot be written out>"


def test_arguments_of_a_kernel_node_must_be_iterable(memory, kernels):
    node = GraphDefinition().launch(ONE, kernels["add"], memory.buffer, 3)
    with pytest.raises(TypeError, match="args must be an iterable of arguments.*not int"):
        node.update(args=3)
    released = memoryview(b"ab")
    released.release()
    with pytest.raises(ValueError, match="released memoryview"):
        node.update(args=released)
    assert node.config == ONE

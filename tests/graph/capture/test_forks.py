# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Forks of a capture: their order, how they join, and drivers that are too old for conditional nodes."""

import pytest

from cuda.core import launch
from cuda.core.graph import GraphBuilder
from support.graph_work import ONE, value
from support.interpreter import run


def test_forks_depend_on_the_work_before_and_joined_work_on_all(builder, kernel, memory, stream):
    out = memory.address
    builder.begin_building()
    launch(builder, ONE, kernel("add"), out, 5)
    first, second, third = builder.split(3)
    assert first is builder
    assert [b.is_join_required for b in (first, second, third)] == [False, True, True]
    launch(second, ONE, kernel("sum"), out + 4, out, out)
    launch(third, ONE, kernel("sum"), out + 8, out, out)
    assert GraphBuilder.join(third, second, first) is builder
    assert second.is_closed and third.is_closed and second.is_join_required
    launch(builder, ONE, kernel("sum"), out + 12, out + 4, out + 8)
    builder.end_building()
    builder.complete().launch(stream)
    stream.sync()
    assert value(memory, 3) == 20


def test_forks_can_be_forked_and_joined(builder, kernel, memory, stream):
    out = memory.address
    builder.begin_building()
    launch(builder, ONE, kernel("add"), out, 1)
    _, fork = builder.split(2)
    inner = fork.split(3)
    assert inner[0] is fork and all(b.is_join_required for b in inner)
    for index, branch in enumerate(inner, 1):
        launch(branch, ONE, kernel("sum"), out + 4 * index, out, out)
    joined = GraphBuilder.join(*inner)
    assert joined is fork and joined.is_join_required and not joined.is_closed
    launch(joined, ONE, kernel("sum"), out + 16, out + 4, out + 12)
    assert fork.join(fork, builder) is builder
    launch(builder, ONE, kernel("sum"), out + 20, out + 16, out + 8)
    builder.end_building()
    builder.complete().launch(stream)
    stream.sync()
    assert value(memory, 5) == 6


@pytest.mark.parametrize("count", [1, 0, -3])
def test_split_into_fewer_than_two_is_rejected(builder, count):
    builder.begin_building()
    with pytest.raises(ValueError, match="count must be at least 2"):
        builder.split(count)
    assert builder.is_building


@pytest.mark.parametrize("count", [2.0, "2", None])
def test_count_must_be_an_int(builder, count):
    builder.begin_building()
    with pytest.raises(TypeError):
        builder.split(count)


def test_rejected_joins_leave_the_captures_unchanged(builder, device):
    builder.begin_building()
    _, fork = builder.split(2)
    with device.create_graph_builder().begin_building() as other:
        with pytest.raises(ValueError, match="different captures"):
            GraphBuilder.join(builder, other)
        assert other.is_building
    with pytest.raises(ValueError, match="at least two"):
        GraphBuilder.join(builder)
    with pytest.raises(ValueError, match="at least two"):
        GraphBuilder.join()
    with pytest.raises(ValueError, match="each GraphBuilder once"):
        GraphBuilder.join(fork, fork)
    with pytest.raises(TypeError, match="not Stream"):
        GraphBuilder.join(builder, fork.stream)
    with pytest.raises(RuntimeError, match="not building"):
        GraphBuilder.join(fork, device.create_graph_builder())
    assert not fork.is_closed and GraphBuilder.join(builder, fork).end_building() is builder


OLD = """
from cuda.core import Device
device = Device(0)
device.set_current()
builder = device.create_graph_builder().begin_building()
try:
    builder.{call}
except RuntimeError as error:
    print(error)
print(builder.is_building)
builder.close()
"""


@pytest.mark.requires(software=True)
@pytest.mark.parametrize(
    ("call", "version", "what", "needed"),
    [
        ("create_condition()", "12.2", "a conditional node", "12.3"),
        ("if_else(None)", "12.7", "an if-else node", "12.8"),
        ("switch(None, 2)", "12.7", "a switch node", "12.8"),
    ],
)
def test_too_old_drivers_are_named(call, version, what, needed):
    variables = {"CUDA_EMULATOR_DRIVER_VERSION": version, "CUDA_PYTHON_DISABLE_MAJOR_VERSION_WARNING": "1"}
    error, is_building = run(OLD.format(call=call), **variables).splitlines()
    assert error == f"{what} needs a driver for CUDA {needed} or newer; this one is for CUDA {version}"
    assert is_building == "True"

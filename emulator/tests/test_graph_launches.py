# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Graphs that kernels launch: refusals of the software device where a GPU's behaviour is undefined, and its modes."""

import pytest

from cuda.core import Device, LaunchConfig
from cuda.core.graph import GraphDefinition
from support import interpreter
from support.graph_launches import FOR_KERNELS, appending, code_of, sent
from support.graph_work import ONE, Memory, value


@pytest.fixture
def stream():
    device = Device(0)
    device.set_current()
    return device.create_stream()


@pytest.fixture
def own(stream):
    """Return the function that returns kernels of graph_launches.SOURCE by name."""
    return code_of(f"sm_{Device(0).arch}").get_kernel


@pytest.fixture
def memory(stream):
    return Memory(stream)


def test_a_graph_can_be_queued_as_a_tail_launch_once(stream, own, memory):
    graphs = [sent(appending(own, memory, 0), stream) for _ in range(2)]
    outer = GraphDefinition()
    node = outer
    for graph in graphs[:2] * 2:
        node = node.launch(ONE, own("follow"), int(graph.handle), memory.at(1))
    outer.instantiate().launch(stream)
    stream.sync()
    assert value(memory, 1) == 1  # cudaErrorInvalidValue: both are tails already
    # 7 is no launch mode.
    outer = GraphDefinition()
    outer.launch(ONE, own("launch_as"), int(graphs[0].handle), 7, memory.at(1))
    outer.instantiate().launch(stream)
    stream.sync()
    assert value(memory, 1) == 1


@pytest.mark.requires(software=True)
def test_kernels_cannot_launch_graphs_that_are_not_uploaded_for_device_launch(stream, own, memory):
    """On a GPU the behaviour is undefined."""
    plain, unsent = appending(own, memory, 1).instantiate(), appending(own, memory, 1).instantiate(FOR_KERNELS)
    for handle in (int(plain.handle), int(unsent.handle), 12345):
        for way in ("start", "follow"):
            outer = GraphDefinition()
            outer.launch(LaunchConfig(grid=1, block=1), own(way), handle, memory.at(1))
            outer.instantiate().launch(stream)
            stream.sync()
            assert value(memory, 1) == 1  # cudaErrorInvalidValue
    assert value(memory) == 0


LAUNCHED_AT_ONCE = """
from cuda.core import Device
from graph.test_device_launch import test_a_graph_launches_itself_until_it_is_done as check
from support.graph_launches import code_of
from support.graph_work import Memory

device = Device()
device.set_current()
stream = device.create_stream()
check(device, stream, code_of(f"sm_{device.arch}").get_kernel, Memory(stream))
print("done")
"""


def test_the_deterministic_mode_runs_graphs_that_launch_themselves():
    assert interpreter.run(LAUNCHED_AT_ONCE, CUDA_EMULATOR_MODE="deterministic") == "done\n"

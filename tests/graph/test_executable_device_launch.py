# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Graphs that kernels launch: fire and forget, tail and sibling launches, and a graph that launches itself."""

import pytest

import cuda.emulator
from cuda.core import CUDAError
from cuda.core.graph import GraphCompleteOptions, GraphDefinition
from support.graph_launches import FOR_KERNELS, appending, code_of, sent
from support.graph_work import ONE, value

pytestmark = pytest.mark.requires(cudadevrt=True)


@pytest.fixture
def own(device):
    """The kernels of graph_launches.SOURCE by name, as a function."""
    return code_of(f"sm_{device.arch}").get_kernel


@pytest.mark.parametrize("way", ["start", "follow"])
def test_kernel_launches_a_graph(device, stream, own, memory, way):
    graph = sent(appending(own, memory, 1, 2), stream)
    outer = GraphDefinition()
    outer.launch(ONE, own(way), int(graph.handle), memory.at(1))
    executable = outer.instantiate()
    for _ in range(2):
        executable.launch(stream)
        stream.sync()
    assert value(memory) == 1212
    assert value(memory, 1) == 0


def test_tail_launch_runs_after_all_nodes_of_its_graph(device, stream, own, memory):
    graph = sent(appending(own, memory, 2), stream)
    outer = GraphDefinition()
    first = outer.launch(ONE, own("follow"), int(graph.handle), memory.at(1))
    first.launch(ONE, own("append"), memory.address, 1)
    outer.instantiate().launch(stream)
    stream.sync()
    assert value(memory) == 12


def test_graph_starts_a_sibling_and_its_origin_waits_for_both(device, stream, own, memory):
    last, sibling = sent(appending(own, memory, 3), stream), sent(appending(own, memory, 2), stream)
    between = GraphDefinition()
    between.launch(ONE, own("append"), memory.address, 1).launch(
        ONE, own("start_sibling"), int(sibling.handle), memory.at(1)
    )
    middle = sent(between, stream)
    outer = GraphDefinition()
    outer.launch(ONE, own("start"), int(middle.handle), memory.at(2))
    outer.launch(ONE, own("follow"), int(last.handle), memory.at(3))
    outer.instantiate().launch(stream)
    stream.sync()
    assert [value(memory, index) for index in range(4)] == [123, 0, 0, 0]


def test_graph_launches_itself_until_it_is_done(device, stream, own, memory):
    self = device.allocate(8, stream=stream)
    definition = GraphDefinition()
    definition.launch(ONE, own("again_until"), memory.address, 500, self)
    graph = sent(definition, stream)
    self.copy_from(memoryview(int(graph.handle).to_bytes(8, "little")), stream=stream)
    graph.launch(stream)
    stream.sync()
    assert value(memory) == 500


def test_host_can_launch_and_change_a_graph_for_device_launch(device, stream, own, memory):
    definition = appending(own, memory, 7)
    graph = definition.instantiate(GraphCompleteOptions(device_launch=True, upload_stream=stream))
    graph.launch(stream)
    (node,) = definition.nodes()
    graph[node].update(config=ONE, kernel=own("append"), args=(memory.address, 8))
    graph.upload(stream)
    outer = GraphDefinition()
    outer.launch(ONE, own("start"), int(graph.handle), memory.at(1))
    outer.instantiate().launch(stream)
    stream.sync()
    assert value(memory) == 78


@pytest.mark.requires(cuda=(12, 3))
@pytest.mark.parametrize(
    ("add", "reason"),
    [
        (lambda definition, own, memory: definition.callback(int), "HostCallbackNode"),
        (lambda definition, own, memory: definition.if_then(definition.create_condition(1)), "IfNode"),
        (lambda definition, own, memory: definition.allocate(64), "AllocNode"),
    ],
)
def test_nodes_that_device_launch_does_not_support_are_named(device, own, memory, add, reason):
    definition = appending(own, memory, 1)
    add(definition, own, memory)
    with pytest.raises((RuntimeError, CUDAError)) as caught:
        definition.instantiate(FOR_KERNELS)
    if cuda.emulator.is_active():  # NVIDIA's driver does not always name the node
        assert "not supported in a graph for device launch" in str(caught.value) and reason in str(caught.value)
    assert definition.instantiate()


@pytest.mark.parametrize("way", ["empty", "auto_free"])
def test_device_launch_needs_nodes_and_no_auto_free(device, own, memory, way):
    definition = GraphDefinition()
    if way == "auto_free":
        definition = appending(own, memory, 1)
    with pytest.raises((CUDAError, RuntimeError)):
        definition.instantiate(GraphCompleteOptions(device_launch=True, auto_free_on_launch=way == "auto_free"))
    appending(own, memory, 1).instantiate(FOR_KERNELS)


@pytest.mark.requires(software=True)
def test_device_without_device_launch_is_named_as_the_reason(device, own, memory):
    import cuda.emulator

    definition = appending(own, memory, 1)
    with (
        cuda.emulator.fail("cuGraphInstantiateWithParams", "CUDA_ERROR_NOT_SUPPORTED"),
        pytest.raises(CUDAError, match=r"(?s)NOT_SUPPORTED.*device_launch: kernels cannot launch graphs"),
    ):
        definition.instantiate(FOR_KERNELS)
    assert definition.instantiate(FOR_KERNELS)

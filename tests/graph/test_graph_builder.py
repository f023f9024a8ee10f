# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Graph builders: captured work runs each time the graph is launched."""

import pytest

from cuda.core import LEGACY_DEFAULT_STREAM, CUDAError, GraphMemoryResource, launch
from cuda.core.graph import Graph, GraphBuilder, GraphCompleteOptions, GraphDefinition
from support.graph_work import ONE, value


def run(builder, stream, times=1):
    graph = builder.complete()
    for _ in range(times):
        graph.launch(stream)
    stream.sync()
    return graph


def test_devices_and_streams_create_builders(device, stream):
    assert isinstance(device.create_graph_builder(), GraphBuilder)
    assert isinstance(stream.create_graph_builder(), GraphBuilder)


@pytest.mark.parametrize("arguments", [(), (1,)])
def test_builder_is_not_constructed_directly(arguments):
    with pytest.raises(NotImplementedError, match="create_graph_builder"):
        GraphBuilder(*arguments)


def test_new_builder_does_not_capture_yet(builder, kernel, memory):
    assert (builder.is_building, builder.is_join_required, builder.is_closed) == (False, False, False)
    launch(builder, ONE, kernel("add"), memory.address, 3)
    builder.stream.sync()
    assert value(memory) == 3


def test_repr_of_a_builder_has_its_stream_and_state(stream):
    builder = stream.create_graph_builder()
    states = [repr(builder), repr(builder.begin_building())]
    fork = builder.split(2)[1]
    assert repr(fork).endswith(" building>")
    GraphBuilder.join(builder, fork)
    states.append(repr(builder.end_building()))
    graph = builder.complete()
    builder.close()
    shown = f"<GraphBuilder stream={int(stream.handle):#x} "
    assert states == [f"{shown}not begun>", f"{shown}building>", f"{shown}built>"]
    assert {repr(builder), repr(fork)} == {"<GraphBuilder stream=0x0 closed>"}
    assert repr(graph) == f"<Graph handle={int(graph.handle):#x}>"
    graph.close()
    assert repr(graph) == "<Graph handle=0x0>"


def test_captured_work_runs_at_each_launch_and_not_before(builder, kernel, memory, stream):
    assert builder.begin_building() is builder
    assert builder.is_building
    launch(builder, ONE, kernel("add"), memory.address, 3)
    launch(builder, ONE, kernel("append"), memory.address, 1)
    assert builder.end_building() is builder
    assert not builder.is_building
    builder.stream.sync()
    assert value(memory) == 0
    run(builder, stream, times=2)
    assert value(memory) == (31 + 3) * 10 + 1


def test_work_after_the_end_of_a_capture_runs_immediately(builder, kernel, memory):
    builder.begin_building().end_building()
    launch(builder, ONE, kernel("add"), memory.address, 3)
    builder.stream.sync()
    assert value(memory) == 3


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
def test_every_mode_captures_all_kinds_of_work(builder, kernel, memory, stream, device, mode):
    target = device.allocate(16, stream=stream)
    stream.sync()
    builder.begin_building(mode=mode)
    first, second = builder.split(2)
    memory.buffer[48:].copy_to(target, stream=first)
    with GraphMemoryResource(device).allocate(64, stream=first) as scratch:
        scratch.fill(7, stream=first)
    target.close()
    launch(second, ONE, kernel("add"), memory.address, 2)
    first.stream.record()
    GraphBuilder.join(first, second)
    builder.end_building()
    run(builder, stream)
    assert value(memory) == 2


@pytest.mark.parametrize("mode", [None, "RELAXED", "", "local"])
def test_other_modes_are_rejected(builder, mode):
    with pytest.raises(ValueError, match="mode must be 'global'"):
        builder.begin_building(mode)


@pytest.mark.parametrize("mode", [0, b"global"])
def test_mode_must_be_a_str(builder, mode):
    with pytest.raises(TypeError, match="mode must be a str"):
        builder.begin_building(mode)


def test_builder_captures_once(builder):
    builder.begin_building()
    with pytest.raises(RuntimeError, match="already building"):
        builder.begin_building()
    builder.end_building()
    with pytest.raises(RuntimeError, match="cannot begin another"):
        builder.begin_building()
    with pytest.raises(RuntimeError, match="not building"):
        builder.end_building()


def test_stream_captures_for_one_builder_at_a_time(stream):
    with stream.create_graph_builder().begin_building():
        other = stream.create_graph_builder()
        with pytest.raises(CUDAError):
            other.begin_building()
        assert not other.is_building
    assert other.begin_building().is_building
    other.close()


def test_legacy_stream_cannot_capture(device):
    with pytest.raises(CUDAError, match="CAPTURE"):
        LEGACY_DEFAULT_STREAM.create_graph_builder().begin_building()


WORK = {
    "complete": lambda b: b.complete(),
    "debug_dot_print": lambda b: b.debug_dot_print("unused.dot"),
    "graph_definition": lambda b: b.graph_definition,
    "split": lambda b: b.split(2),
    "create_condition": lambda b: b.create_condition(),
    "end_building": lambda b: b.end_building(),
}


@pytest.mark.parametrize("name", WORK)
def test_builder_before_begin_building_rejects_other_calls(builder, name):
    with pytest.raises(RuntimeError, match="this GraphBuilder (is not building|has not ended)"):
        WORK[name](builder)


@pytest.mark.parametrize("name", ["complete", "debug_dot_print", "graph_definition"])
def test_asking_for_the_graph_does_not_invalidate_the_capture(builder, kernel, memory, stream, name):
    builder.begin_building()
    with pytest.raises(RuntimeError, match="has not ended"):
        WORK[name](builder)
    launch(builder, ONE, kernel("add"), memory.address, 3)
    builder.end_building()
    run(builder, stream)
    assert value(memory) == 3


def test_builder_can_be_completed_again_with_other_options(builder, kernel, memory, stream):
    builder.begin_building()
    launch(builder, ONE, kernel("add"), memory.address, 3)
    builder.end_building()
    graphs = [builder.complete(), builder.complete(GraphCompleteOptions(upload_stream=stream))]
    builder.close()
    for graph in graphs:
        assert isinstance(graph, Graph)
        graph.launch(stream)
    stream.sync()
    assert value(memory) == 6


def test_closed_builder_rejects_work(device):
    builder = device.create_graph_builder().begin_building().end_building()
    assert builder == builder and builder != device.create_graph_builder()
    number = hash(builder)
    builder.close()
    builder.close()
    assert (builder.is_closed, builder.is_join_required) == (True, False)
    assert (repr(builder), hash(builder)) == ("<GraphBuilder stream=0x0 closed>", number)
    more = {
        "begin_building": lambda b: b.begin_building(),
        "is_building": lambda b: b.is_building,
        "stream": lambda b: b.stream,
        "protocol": lambda b: b.__cuda_stream__(),
        "join": lambda b: GraphBuilder.join(b, b),
        "allocate": lambda b: device.allocate(4, stream=b),
        "update": lambda b: GraphDefinition().instantiate().update(b),
    }
    for work in (WORK | more).values():
        with pytest.raises(RuntimeError, match="this GraphBuilder is closed"):
            work(builder)


# --- Forks -----------------------------------------------------------------------------------------


def test_joined_builders_reject_work(builder):
    builder.begin_building()
    _, fork = builder.split(2)
    GraphBuilder.join(builder, fork)
    for name in WORK:
        with pytest.raises(RuntimeError, match="this GraphBuilder is closed"):
            WORK[name](fork)


def test_fork_does_not_end_or_complete_the_capture(builder):
    builder.begin_building()
    _, fork = builder.split(2)
    assert fork.is_building
    for work in ("end_building", "complete", "graph_definition", "debug_dot_print"):
        with pytest.raises(RuntimeError, match="is a fork"):
            WORK[work](fork)
    with pytest.raises(ValueError, match="must have ended"):
        GraphDefinition().instantiate().update(fork)
    builder.join(builder, fork)
    assert builder.end_building().complete()


# --- Captured work ---------------------------------------------------------------------------------


def test_bound_kernel_is_captured(builder, kernel, memory, stream):
    bound = kernel("add").bind(ONE, stream=builder)
    builder.begin_building()
    bound(memory.address, 4)
    builder.end_building()
    assert value(memory) == 0
    run(builder, stream, times=3)
    assert value(memory) == 12


def test_copies_and_fills_are_captured(builder, memory, device, stream):
    buffer = device.allocate(16, stream=stream)
    stream.sync()
    builder.begin_building()
    buffer.fill(5, stream=builder)
    buffer.copy_to(memory.buffer[:16], stream=builder)
    builder.end_building()
    run(builder, stream)
    assert bytes(memory)[:16] == bytes([5] * 16)


def test_graph_memory_can_be_allocated_and_freed(builder, kernel, memory, device, stream):
    resource = GraphMemoryResource(device)
    builder.begin_building()
    assert resource.allocate(0, stream=builder).size == 0
    scratch = resource.allocate(64, stream=builder)
    scratch.fill(1, stream=builder)
    launch(builder, ONE, kernel("add"), scratch, 2)
    scratch[:64].copy_to(memory.buffer, stream=builder)
    scratch.close()
    builder.end_building()
    run(builder, stream, times=2)
    assert value(memory) == 0x01010103


def test_pool_cannot_allocate_in_a_capture_and_leaves_it_valid(builder, device):
    builder.begin_building()
    with pytest.raises(RuntimeError, match="GraphMemoryResource"):
        device.allocate(16, stream=builder)
    assert builder.is_building
    builder.end_building()


def test_events_order_captured_streams(builder, kernel, memory, device, stream):
    other = device.create_stream()
    builder.begin_building()
    launch(builder, ONE, kernel("add"), memory.address, 5)
    other.wait(builder.stream.record())
    launch(other, ONE, kernel("append"), memory.address, 1)
    builder.stream.wait(other.record())
    builder.end_building()
    run(builder, stream)
    assert value(memory) == 51


def test_capture_rejects_an_executable_graph_and_names_embed(builder, kernel, memory, device, stream):
    inner = device.create_graph_builder().begin_building()
    launch(inner, ONE, kernel("add"), memory.address, 2)
    graph = inner.end_building().complete()
    builder.begin_building()
    for work in (graph.launch, graph.upload):
        with pytest.raises(RuntimeError, match=r"an executable graph cannot be captured.*GraphBuilder.embed"):
            work(builder.stream)
    builder.embed(inner)
    builder.end_building()
    run(builder, stream)
    assert value(memory) == 2


@pytest.mark.parametrize("mode", ["GLOBAL", "THREAD_LOCAL", "RELAXED"])
def test_foreign_capture_rejects_an_executable_and_stays_valid(device, stream, kernel, memory, mode):
    from cuda.bindings import driver

    graph = GraphDefinition().instantiate()
    driver.cuStreamBeginCapture(stream.handle, getattr(driver.CUstreamCaptureMode, f"CU_STREAM_CAPTURE_MODE_{mode}"))
    for work in (graph.launch, graph.upload):
        with pytest.raises(RuntimeError, match="an executable graph cannot be captured"):
            work(stream)
    launch(stream, ONE, kernel("add"), memory.address, 2)
    error, captured = driver.cuStreamEndCapture(stream.handle)
    assert error == 0
    driver.cuGraphDestroy(captured)
    graph.launch(stream)
    stream.sync()


def test_embedded_graphs_are_copies(builder, kernel, memory, device, stream):
    child = device.create_graph_builder().begin_building()
    launch(child, ONE, kernel("append"), memory.address, 7)
    child.end_building()
    builder.begin_building()
    launch(builder, ONE, kernel("add"), memory.address, 1)
    builder.embed(child)
    child.close()
    launch(builder, ONE, kernel("append"), memory.address, 3)
    builder.end_building()
    run(builder, stream)
    assert value(memory) == 173


def test_builders_that_cannot_be_embedded_are_rejected(builder, device):
    child = device.create_graph_builder()
    with pytest.raises(ValueError, match="is not building"):
        builder.embed(child)
    builder.begin_building()
    for state in (child, child.begin_building(), builder):
        with pytest.raises(ValueError, match="must have ended"):
            builder.embed(state)
    for other in (None, GraphDefinition(), builder.stream):
        with pytest.raises(TypeError, match="child must be a GraphBuilder"):
            builder.embed(other)
    child.close()
    with pytest.raises(RuntimeError, match="is closed"):
        builder.embed(child)
    assert builder.is_building


# --- The graph -------------------------------------------------------------------------------------


def test_view_of_the_graph_outlives_its_builder(builder, kernel, memory, stream):
    builder.begin_building()
    launch(builder, ONE, kernel("add"), memory.address, 4)
    builder.end_building()
    view = builder.graph_definition
    assert view == builder.graph_definition and view is not builder.graph_definition
    builder.close()
    del builder
    view.instantiate().launch(stream)
    stream.sync()
    assert value(memory) == 4


def test_graph_is_written_as_dot_text(builder, kernel, memory, tmp_path):
    builder.begin_building()
    launch(builder, ONE, kernel("add"), memory.address, 4)
    builder.end_building()
    builder.debug_dot_print(str(tmp_path / "graph.dot"))
    assert "digraph" in (tmp_path / "graph.dot").read_text()


def test_executable_is_updated_from_another_builder(device, kernel, memory, stream):
    builders = []
    for number in (3, 40):
        builder = device.create_graph_builder().begin_building()
        launch(builder, ONE, kernel("add"), memory.address, number)
        builders.append(builder)
    graph = builders[0].end_building().complete()
    with pytest.raises(ValueError, match="must have ended"):
        graph.update(builders[1])
    graph.update(builders[1].end_building())
    graph.launch(stream)
    stream.sync()
    assert value(memory) == 40

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Operands of nodes updated in an executable: when they are kept, and when they are released."""

import gc
import threading
import weakref

import pytest

from cuda.core import LEGACY_DEFAULT_STREAM, Device
from cuda.core.graph import GraphDefinition
from support.graph_work import ONE, Memory, Thing, is_released


def launched(graph, stream):
    graph.launch(stream)
    stream.sync()


def test_update_keeps_the_new_memory_and_releases_the_old(stream, kernels, device):
    definition = GraphDefinition()
    memories = [Memory(stream) for _ in range(3)]
    node = definition.launch(ONE, kernels["add"], memories[0].buffer, 1)
    view = definition.instantiate()[node]
    view.update(config=ONE, kernel=kernels["add"], args=(memories[1].at(0), 1))
    view.update(config=ONE, kernel=kernels["add"], args=(memories[2].buffer, 1))
    references = [weakref.ref(memory.buffer) for memory in memories]
    del memories
    gc.collect()
    assert [reference() is not None for reference in references] == [True, False, True]
    view.update(config=ONE, kernel=kernels["add"], args=(0, 1))
    view.update(config=ONE, kernel=kernels["add"], args=(0, 1))
    assert is_released(references[2])


def test_update_keeps_the_memory_of_a_buffer(stream, kernels):
    definition = GraphDefinition()
    memory = Memory(stream)
    node = definition.memset(memory.at(0), 1, 4)
    graph = definition.instantiate()
    other = Memory(stream)
    graph[node].update(dst=other.buffer, value=3, width=4)
    values = other.values
    del other
    gc.collect()
    launched(graph, stream)
    assert values[0] == 0x03030303


@pytest.mark.parametrize("end", ["update", "update graph", "close"])
@pytest.mark.parametrize("times", [0, 1])
def test_updated_operands_live_as_long_as_the_executable(stream, times, end):
    definition = GraphDefinition()
    node = definition.callback(int)
    graph = definition.instantiate()
    thing = Thing()
    reference = weakref.ref(thing)
    graph[node].update(thing.work)
    del thing
    gc.collect()
    assert reference() is not None
    for _ in range(times):
        launched(graph, stream)
    assert reference() is not None
    if end == "update":
        graph[node].update(int)
    elif end == "update graph":
        graph.update(definition)
    else:
        graph.close()
    assert is_released(reference)


def test_operand_replaced_during_a_launch_is_released_after_it(device, stream):
    definition = GraphDefinition()
    begun, go = threading.Event(), threading.Event()
    first = definition.callback(lambda: (begun.set(), go.wait(10)))
    node = first.join().callback(int)
    for end in ("later launch", "close"):
        graph = definition.instantiate()
        thing = Thing()
        reference = weakref.ref(thing)
        graph[node].update(thing.work)
        thing.calls = calls = []
        del thing
        begun.clear()
        go.clear()
        graph.launch(stream)
        assert begun.wait(10)
        graph[node].update(int)
        gc.collect()
        assert reference() is not None
        if end == "close":
            graph.close()
        go.set()
        stream.sync()
        if end == "later launch":
            launched(graph, stream)
        assert calls == [1] and is_released(reference)


@pytest.fixture
def busy():
    """A definition whose launches wait for the event `go`, its last node, and that event."""
    definition, go = GraphDefinition(), threading.Event()
    yield definition, definition.callback(lambda: go.wait(10)).join().callback(int), go
    go.set()


@pytest.mark.requires(devices=2)
def test_operands_on_a_default_stream_survive_a_device_switch(device, busy):
    definition, node, go = busy
    graph, thing = definition.instantiate(), Thing()
    reference = weakref.ref(thing)
    graph[node].update(thing.work)
    del thing
    graph.launch(LEGACY_DEFAULT_STREAM)
    Device(1).set_current()
    try:
        for _ in range(40):
            graph[node].update(int)
        gc.collect()
        assert reference() is not None
    finally:
        go.set()
        device.set_current()
    device.sync()
    assert is_released(reference)


def test_closing_releases_operands_although_the_stream_captures(device, stream, busy):
    definition, node, go = busy
    graph, thing = definition.instantiate(), Thing()
    reference = weakref.ref(thing)
    graph[node].update(thing.work)
    del thing
    graph.launch(stream)
    builder = stream.create_graph_builder().begin_building()
    graph.close()
    gc.collect()
    assert builder.is_building and reference() is not None
    go.set()
    builder.end_building().complete().launch(stream)
    stream.sync()
    assert is_released(reference)


def test_many_changes_during_a_launch_are_all_released_after_it(stream, busy):
    definition, node, go = busy
    graph, references = definition.instantiate(), []
    graph.launch(stream)
    for _ in range(40):
        thing = Thing()
        references.append(weakref.ref(thing))
        graph[node].update(thing.work)
        graph.launch(stream)
    del thing
    gc.collect()
    assert all(reference() is not None for reference in references)
    go.set()
    graph.close()
    stream.sync()
    assert all(is_released(reference) for reference in references)

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Executables: made, launched, updated, closed."""

import pytest

from cuda.core.graph import Graph, GraphCompleteOptions, GraphDefinition


@pytest.fixture
def graph(device):
    return GraphDefinition().instantiate()


def test_executables_are_made_by_graphs_only():
    with pytest.raises(RuntimeError, match="instantiate"):
        Graph()


def test_empty_graph_can_be_launched(graph, stream):
    graph.upload(stream)
    graph.launch(stream)
    stream.sync()
    assert int(graph.handle) != 0


def test_closed_graph_rejects_work(graph, stream):
    graph.close()
    graph.close()
    assert graph.is_closed and int(graph.handle) == 0
    for work in (graph.launch, graph.upload):
        with pytest.raises(RuntimeError, match="this Graph is closed"):
            work(stream)
    with pytest.raises(RuntimeError, match="this Graph is closed"):
        graph.update(GraphDefinition())


@pytest.mark.parametrize("stream", [None, 0, "stream"])
def test_launch_and_upload_need_a_stream(graph, stream):
    for work in (graph.launch, graph.upload):
        with pytest.raises(TypeError, match="stream must be a Stream"):
            work(stream)


def test_closed_stream_launches_nothing(graph, device):
    stream = device.create_stream()
    stream.close()
    with pytest.raises(RuntimeError, match="this Stream is closed"):
        graph.launch(stream)


@pytest.mark.requires(cuda=(12, 3))
def test_unused_condition_is_named_as_the_reason(device):
    definition = GraphDefinition()
    definition.create_condition()
    with pytest.raises(RuntimeError, match="no conditional node uses one of its conditions"):
        definition.instantiate()


@pytest.mark.parametrize("field", ["auto_free_on_launch", "use_node_priority"])
def test_options_may_be_a_dict(device, stream, field):
    graph = GraphDefinition().instantiate({field: True})
    graph.launch(stream)
    stream.sync()
    graph = GraphDefinition().instantiate(GraphCompleteOptions(upload_stream=stream, **{field: True}))
    graph.launch(stream)
    stream.sync()
    assert not graph.is_closed


def test_wrong_options_are_rejected(device):
    with pytest.raises(TypeError, match="options must be GraphCompleteOptions"):
        GraphDefinition().instantiate(3)
    with pytest.raises(TypeError, match="stream must be a Stream"):
        GraphDefinition().instantiate(GraphCompleteOptions(upload_stream=3))


def test_update_needs_a_builder_or_a_definition(graph):
    with pytest.raises(TypeError, match="source must be a GraphBuilder or a GraphDefinition, not int"):
        graph.update(3)

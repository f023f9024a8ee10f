# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Child graph nodes, and nodes that record an event or wait for it."""

import pytest

from cuda.core import EventOptions
from cuda.core.graph import GraphDefinition
from support.graph_work import ONE, run


def test_child_graph_is_a_copy(memory, kernels, stream):
    child = GraphDefinition()
    child.launch(ONE, kernels["add"], memory.buffer, 3)
    graph = GraphDefinition()
    node = graph.embed(child)
    child.launch(ONE, kernels["add"], memory.buffer, 1000)
    view = node.child_graph
    assert view == node.child_graph and view != child and len(view.nodes()) == 1
    assert repr(node) == f"<ChildGraphNode handle={int(node.handle):#x} child={int(view.handle):#x}>"
    run(graph, stream)
    assert memory.values[0] == 3
    (inner,) = view.nodes()
    node.destroy()
    assert not view.is_valid and not inner.is_valid and int(view.handle) == 0 and not node.child_graph.is_valid
    for work in (view.nodes, view.edges, view.empty, view.instantiate, view.create_condition, inner.join):
        with pytest.raises(RuntimeError, match="is gone|is destroyed"):
            work()


def test_child_node_keeps_the_view_of_its_destroyed_graph(device):
    inner = GraphDefinition()
    inner.embed(GraphDefinition())
    outer = GraphDefinition().embed(inner)
    (node,) = outer.child_graph.nodes()
    view = node.child_graph
    outer.destroy()
    assert not view.is_valid and node.child_graph == view


def test_event_nodes_return_and_update_their_event(device, stream):
    event, other = device.create_event(EventOptions(timing_enabled=True)), device.create_event()
    graph = GraphDefinition()
    record = graph.record(event)
    wait = record.wait(event)
    assert record.event == wait.event == event and record.event.is_timing_enabled
    assert repr(record).endswith(f" event={int(event.handle):#x}>") and "EventWaitNode" in repr(wait)
    run(graph, stream)
    assert event.is_done
    record.update(other)
    wait.update(other)
    assert record.event == wait.event == other

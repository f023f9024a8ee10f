# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Parameters of nodes that record an event or wait for it: nodes keep the event, and reject other objects."""

import pytest

from cuda.core.graph import GraphDefinition


def test_node_keeps_a_closed_event(device, stream):
    event = device.create_event()
    graph = GraphDefinition()
    record = graph.record(event)
    wait = record.wait(event)
    event.close()
    assert not record.event.is_closed and not wait.event.is_closed
    graph.instantiate().launch(stream)
    stream.sync()
    assert record.event.is_done


def test_closed_events_and_other_objects_are_rejected(device, stream):
    event = device.create_event()
    graph = GraphDefinition()
    record = graph.record(event)
    wait = record.wait(event)
    event.close()
    for work in (graph.record, graph.wait, record.update, wait.update):
        with pytest.raises(TypeError, match="event must be an Event, not Stream"):
            work(stream)
        with pytest.raises(RuntimeError, match="this Event is closed"):
            work(event)

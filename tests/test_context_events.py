# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Events of whole contexts, and the numbers of contexts."""

import numpy as np
import pytest

from cuda.core import ContextOptions, CUDAError, Device


@pytest.fixture
def flag(device):
    return device.zeros((), np.int32, pinned=True)


def hold(stream, flag):
    """Keep a stream busy until the flag is set."""
    stream.wait_value(flag, 1)


@pytest.mark.requires(cuda=(12, 5))
def test_event_follows_all_streams_of_the_context(device, flag):
    one, two = device.create_stream(), device.create_stream()
    hold(one, flag)
    event = device.context.record(device.create_event())
    assert not event.is_done
    two.write_value(flag, 1)
    event.sync()
    assert one.is_done


@pytest.mark.requires(cuda=(12, 5))
def test_all_streams_wait_for_an_event(device, flag):
    held, one, two = device.create_stream(), device.create_stream(), device.create_stream()
    hold(held, flag)
    event = held.record()
    device.context.wait(event)
    marks = [one.record(), two.record()]
    assert not any(mark.is_done for mark in marks)
    np.asarray(flag)[...] = 1
    for mark in marks:
        mark.sync()
    assert held.is_done


@pytest.mark.requires(cuda=(12, 5))
def test_context_events_are_checked(device):
    for call in (device.context.record, device.context.wait):
        with pytest.raises(TypeError, match="event must be an Event"):
            call(device.create_stream())
        closed = device.create_event()
        closed.close()
        with pytest.raises(RuntimeError, match="closed"):
            call(closed)


@pytest.mark.requires(cuda=(12, 5))
def test_context_events_are_rejected_in_a_capture(device):
    builder = device.create_graph_builder().begin_building()
    for call in (device.context.record, device.context.wait):
        with pytest.raises(CUDAError, match="STREAM_CAPTURE_UNSUPPORTED"):
            call(device.create_event())
    builder.end_building()


def test_contexts_have_numbers(device):
    assert device.context.id == Device(0).context.id > 0


@pytest.mark.requires(cuda=(13, 1), compute=(9, 0))
def test_green_contexts_have_events_and_numbers(device):
    groups, _ = device.resources.sm.split({"count": 8})
    green = device.create_context(ContextOptions([groups[0]]))
    assert green.id > 0
    stream = green.create_stream()
    event = green.record(stream.record())
    green.wait(event)
    event.sync()
    stream.sync()  # for the wait, too
    assert stream.is_done
    green.close()
    with pytest.raises(RuntimeError, match="closed"):
        green.id  # noqa: B018

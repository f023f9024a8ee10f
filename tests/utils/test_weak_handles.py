# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Weak handles: they tell when the resource ends, not the Python object."""

import pytest

from cuda.core._utils._weak_handles import WeakHandle, weak_handle
from cuda.core.graph import GraphDefinition
from support.graph_work import is_released


def test_memory_lives_as_long_as_a_node_keeps_it(device, stream):
    buffer = device.allocate(64, stream=stream)
    handle = weak_handle(buffer)
    assert handle and not handle.expired() and handle.use_count() == 1
    definition = GraphDefinition()
    node = definition.memset(buffer, 0, 64)
    assert handle.use_count() > 1
    buffer.close()
    assert handle and not handle.expired()
    node.destroy()
    assert is_released(lambda: handle or None)
    assert not handle and handle.expired() and handle.use_count() == 0


def test_memory_lives_as_long_as_an_executable_uses_it(device, stream):
    buffer = device.allocate(64, stream=stream)
    definition = GraphDefinition()
    definition.memset(buffer, 0, 64)
    graph = definition.instantiate()
    handle = weak_handle(buffer)
    del buffer, definition
    graph.launch(stream)
    assert handle
    stream.sync()
    graph.close()
    assert is_released(lambda: handle or None)


def test_a_slice_owns_the_allocation_of_its_buffer(device, stream):
    buffer = device.allocate(64, stream=stream)
    handle = weak_handle(buffer)
    part = buffer[:32]
    assert handle.use_count() == 2 and weak_handle(part).use_count() == 1
    part.close()
    assert handle.use_count() == 1
    buffer.close()
    assert handle.expired()


def test_a_graph_lives_as_long_as_a_view_of_it(device):
    definition = GraphDefinition()
    node = definition.empty()
    handle = weak_handle(definition)
    assert handle and handle.use_count() == 1
    del definition
    assert handle and not handle.expired()
    del node
    assert not handle and handle.use_count() == 0


def test_a_child_graph_lives_as_long_as_its_whole_graph(device):
    definition, child = GraphDefinition(), GraphDefinition()
    node = definition.embed(child)
    handle = weak_handle(node.child_graph)
    assert handle and handle.use_count() == weak_handle(definition).use_count()
    del definition, child, node
    assert handle.expired()


def test_what_has_no_handle_is_refused(device, stream):
    buffer = device.allocate(64, stream=stream)
    buffer.close()
    with pytest.raises(ValueError, match="closed"):
        weak_handle(buffer)
    for wrong in (None, 3, stream, device, type(buffer), GraphDefinition):
        with pytest.raises(TypeError, match="must be a Buffer or a GraphDefinition"):
            weak_handle(wrong)
    with pytest.raises(RuntimeError, match="weak_handle"):
        WeakHandle()

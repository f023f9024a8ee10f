# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Weak handles expire when the resource is released, not when the Python object is."""

import textwrap
import threading

import pytest

from cuda.core.graph import GraphDefinition
from support.contract import WeakHandle, weak_handle
from support.graph_work import is_released
from support.interpreter import run


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


def test_slice_owns_the_allocation_of_its_buffer(device, stream):
    buffer = device.allocate(64, stream=stream)
    handle = weak_handle(buffer)
    part = buffer[:32]
    assert handle.use_count() == 2 and weak_handle(part).use_count() == 1
    part.close()
    assert handle.use_count() == 1
    buffer.close()
    assert handle.expired()


def test_graph_lives_as_long_as_a_view_of_it(device):
    definition = GraphDefinition()
    node = definition.empty()
    handle = weak_handle(definition)
    assert handle and handle.use_count() == 1
    del definition
    assert handle and not handle.expired()
    del node
    assert not handle and handle.use_count() == 0


def test_child_graph_lives_as_long_as_its_whole_graph(device):
    definition, child = GraphDefinition(), GraphDefinition()
    node = definition.embed(child)
    handle = weak_handle(node.child_graph)
    assert handle and handle.use_count() == weak_handle(definition).use_count()
    del definition, child, node
    assert handle.expired()


def test_objects_without_a_handle_are_rejected(device, stream):
    buffer = device.allocate(64, stream=stream)
    buffer.close()
    with pytest.raises(ValueError, match="closed"):
        weak_handle(buffer)
    for wrong in (None, 3, stream, device, type(buffer), GraphDefinition):
        with pytest.raises(TypeError, match="must be a Buffer or a GraphDefinition"):
            weak_handle(wrong)
    with pytest.raises(RuntimeError, match="weak_handle"):
        WeakHandle()


def test_handle_is_alive_in_all_threads_until_the_last_close(device, stream):
    for _ in range(20):
        buffer = device.allocate(64, stream=stream)
        handle = weak_handle(buffer)
        parts = [buffer[:8] for _ in range(8)]
        del buffer
        seen = []

        def drop(part, handle=handle, seen=seen):
            # The allocation exists as long as this thread has its slice.
            seen.append(bool(handle))
            part.close()

        threads = [threading.Thread(target=drop, args=(part,)) for part in parts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert seen == [True] * 8 and handle.expired() and handle.use_count() == 0


@pytest.mark.requires(device=True)
def test_weak_handles_live_on_in_a_forked_child():
    program = """
        import os
        from cuda.core import Device
        from cuda.core.graph import GraphDefinition
        from support.contract import weak_handle
        Device().set_current()
        buffer = Device().allocate(64, stream=Device().default_stream)
        definition = GraphDefinition()
        handles = [weak_handle(buffer), weak_handle(definition)]
        child = os.fork()
        if child == 0:
            good = all(handles) and [handle.use_count() for handle in handles] == [1, 1]
            del buffer, definition
            good = good and not any(handles)
            del handles
            os._exit(0 if good else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert all(handles)
        buffer.close()
        del definition
        print([handle.expired() for handle in handles])
    """
    assert run(textwrap.dedent(program)).strip() == "[True, True]"

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Host callbacks: Python callables and C functions."""

import ctypes
import functools
import gc
import weakref

import pytest

from cuda.core.graph import GraphDefinition
from support.graph_work import Thing, is_released, run

CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def test_callable_is_called_at_each_launch(device, stream):
    calls = []
    graph = GraphDefinition()
    node = graph.callback(functools.partial(calls.append, 1))
    assert node.callback.args == (1,) and "callback=?" in repr(node)
    node.update(functools.partial(calls.append, 2))
    graph.embed(graph_of_callback(functools.partial(calls.append, 3)))
    for _ in range(2):
        run(graph, stream)
    assert sorted(calls) == [2, 2, 3, 3]


def graph_of_callback(function):
    graph = GraphDefinition()
    graph.callback(function)
    return graph


def test_clone_returns_the_same_callable(device):
    def work():
        pass

    (node,) = GraphDefinition().embed(graph_of_callback(work)).child_graph.nodes()
    assert node.callback is work and "callback=work>" in repr(node)


def test_exception_is_reported_and_later_work_runs(device, stream, unraisable):
    calls = []

    def fail():
        raise KeyboardInterrupt("not here")

    graph = GraphDefinition()
    graph.callback(fail).join().callback(lambda: calls.append(1))
    run(graph, stream)
    assert calls == [1] and len(unraisable) == 1
    assert unraisable[0].kind is KeyboardInterrupt
    assert unraisable[0].object == f"host callback fail of the graph {int(graph.handle):#x}"


@pytest.mark.parametrize("data", [None, 0, 77, b"abc", b"", bytearray(b"xyz"), memoryview(b"12")])
def test_c_function_gets_its_user_data(device, stream, data):
    seen = []
    graph = GraphDefinition()
    size = len(data) if data is not None and not isinstance(data, int) else None
    function = CALLBACK(lambda address: seen.append(address if size is None else ctypes.string_at(address, size)))
    node = graph.callback(function, user_data=data)
    assert node.callback is None and "cfunc=0x" in repr(node)
    run(graph, stream)
    assert seen == [data or None if size is None else bytes(data)]


def test_wrong_callbacks_are_rejected(device):
    graph = GraphDefinition()
    with pytest.raises(TypeError, match="fn must be callable"):
        graph.callback(3)
    with pytest.raises(ValueError, match="user_data must be None for a Python callable"):
        graph.callback(print, user_data=0)
    with pytest.raises(TypeError, match="CFUNCTYPE"):
        graph.callback(ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(lambda address: 0))
    with pytest.raises(TypeError, match="whose restype and argtypes are set"):
        graph.callback(ctypes.CDLL(None).free)
    for data, error in (("text", TypeError), (1.5, TypeError), (-1, OverflowError)):
        with pytest.raises(error, match="user_data must be"):
            graph.callback(CALLBACK(lambda address: None), user_data=data)
    assert graph.nodes() == set()


def test_callable_is_released_with_its_last_user(device, stream):
    thing = Thing()
    reference = weakref.ref(thing)
    graph = graph_of_callback(functools.partial(id, thing))
    executable = graph.instantiate()
    del thing, graph
    gc.collect()
    assert reference() is not None
    executable.launch(stream)
    executable.close()
    del executable
    stream.sync()
    assert is_released(reference)

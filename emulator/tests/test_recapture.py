# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Recapturing into an existing graph, as the comments of cuda.h describe it."""

import ctypes
import time

import numpy as np
import pytest

STEP = 32 << 20


@pytest.fixture
def mode(driver):
    return driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED


@pytest.fixture
def captured(driver, context, queue, mode):
    """Return a function that captures another one, or captures it again into a graph; it returns the graph."""
    made = []

    def run(function, graph=None, callback=None):
        if graph is None:
            driver.cuStreamBeginCapture(queue, mode)
            function()
            made.append(driver.cuStreamEndCapture(queue))
            return made[-1]
        address = ctypes.cast(callback, ctypes.c_void_p).value if callback else 0
        driver.cuStreamBeginRecaptureToGraph(queue, mode, graph, driver.CUgraphRecaptureCallback(address), 0)
        try:
            function()
        finally:
            result, ended = driver.raw.cuStreamEndCapture(queue)
        assert result == 0, result
        return ended

    yield run
    driver.cuCtxSynchronize()
    for graph in made:
        driver.raw.cuGraphDestroy(graph)


@pytest.fixture
def changes():
    """A callback, which records the address of each node and its status in a list."""
    kind = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4, ctypes.c_int)
    seen = []

    def note(data, node, original, recaptured, status):
        seen.append((node, ctypes.c_int.from_address(original).value, original != recaptured, status))
        return note.result

    note.result = 0
    note.seen, note.callback = seen, kind(note)
    return note


def nodes_of(driver, graph):
    count = driver.cuGraphGetNodes(graph)[1]
    return [int(node) for node in driver.cuGraphGetNodes(graph, count)[0]] if count else []


def filling(driver, queue, memory, *values):
    def run():
        for value in values:
            driver.cuMemsetD8Async(memory, value, 16, queue)

    return run


def read(driver, pointer, count=4):
    out = np.zeros(count, dtype=np.uint8)
    driver.cuMemcpyDtoH(out.ctypes.data, pointer, count)
    return out.tolist()


def test_nodes_stay_and_get_new_parameters(driver, queue, memory, captured):
    graph = captured(filling(driver, queue, memory, 1, 2))
    nodes = nodes_of(driver, graph)
    assert int(captured(filling(driver, queue, memory, 1, 3), graph)) == int(graph)
    assert nodes_of(driver, graph) == nodes
    executable = driver.cuGraphInstantiate(graph, 0)
    driver.cuGraphLaunch(executable, queue)
    driver.cuStreamSynchronize(queue)
    assert read(driver, memory) == [3] * 4
    driver.cuGraphExecDestroy(executable)


def test_callback_sees_the_changed_nodes_only(driver, queue, memory, captured, changes):
    graph = captured(filling(driver, queue, memory, 1, 2))
    captured(filling(driver, queue, memory, 1, 3), graph, changes.callback)
    memset = int(driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET)
    assert changes.seen == [(nodes_of(driver, graph)[1], memset, True, 0)]


@pytest.mark.parametrize("kind", ["kernel", "copy", "host", "event", "operation"])
def test_kinds_of_nodes_are_compared(driver, queue, memory, kernel, captured, changes, kind):
    functions = [ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)] * 1
    host = driver.CUhostFn(ctypes.cast(functions[0], ctypes.c_void_p).value)
    events = [driver.cuEventCreate(2) for _ in range(2)]

    def work(number):
        if kind == "kernel":
            values = (memory, number), (ctypes.c_void_p, ctypes.c_int)
            return lambda: driver.cuLaunchKernel(kernel("add"), 1, 1, 1, 1, 1, 1, 0, queue, values, 0)
        if kind == "copy":
            return lambda: driver.cuMemcpyDtoDAsync(memory + 64, memory + 4 * number, 4, queue)
        if kind == "host":
            return lambda: driver.cuLaunchHostFunc(queue, host, number)
        if kind == "event":
            return lambda: driver.cuEventRecordWithFlags(events[number], queue, 1)
        return lambda: driver.cuStreamWriteValue32(queue, memory, number, 0)

    graph = captured(work(0))
    captured(work(0), graph, changes.callback)
    if kind != "operation":  # whose parameters the device does not keep
        assert changes.seen == []
    changes.seen.clear()
    captured(work(1), graph, changes.callback)
    assert [node for node, *_ in changes.seen] == nodes_of(driver, graph)
    for event in events:
        driver.cuEventDestroy(event)


@pytest.mark.parametrize("values", [(1,), (1, 2, 3)])
def test_another_number_of_nodes_fails(driver, queue, memory, captured, mode, values):
    graph = captured(filling(driver, queue, memory, 1, 2))
    driver.cuStreamBeginRecaptureToGraph(queue, mode, graph, driver.CUgraphRecaptureCallback(0), 0)
    results = [driver.raw.cuMemsetD8Async(memory, value, 16, queue)[0].name for value in values]
    end = driver.raw.cuStreamEndCapture(queue)[0].name
    failure = "CUDA_ERROR_GRAPH_RECAPTURE_FAILURE"
    assert results[:2] == ["CUDA_SUCCESS"] * len(results[:2]) and results[2:] == [failure][: len(values) - 2]
    assert end == (failure if len(values) == 1 else "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED")
    assert int(driver.cuStreamIsCapturing(queue)) == 0


def test_another_kind_of_node_fails(driver, queue, memory, captured, mode):
    graph = captured(filling(driver, queue, memory, 1))
    driver.cuStreamBeginRecaptureToGraph(queue, mode, graph, driver.CUgraphRecaptureCallback(0), 0)
    assert driver.result("cuMemcpyDtoDAsync", memory + 64, memory, 4, queue) == "GRAPH_RECAPTURE_FAILURE"
    assert driver.raw.cuStreamEndCapture(queue)[0] != 0


def test_callback_can_end_the_recapture(driver, queue, memory, captured, changes, mode):
    graph = captured(filling(driver, queue, memory, 1))
    changes.result = 1
    address = ctypes.cast(changes.callback, ctypes.c_void_p).value
    driver.cuStreamBeginRecaptureToGraph(queue, mode, graph, driver.CUgraphRecaptureCallback(address), 0)
    assert driver.result("cuMemsetD8Async", memory, 2, 16, queue) == "GRAPH_RECAPTURE_FAILURE"
    assert driver.raw.cuStreamEndCapture(queue)[0] != 0


def test_edges_must_be_the_same(driver, queue, memory, captured, mode):
    other = driver.cuStreamCreate(1)
    fork, join = driver.cuEventCreate(2), driver.cuEventCreate(2)

    def forked():
        driver.cuEventRecord(fork, queue)
        driver.cuStreamWaitEvent(other, fork, 0)
        driver.cuMemsetD8Async(memory, 1, 4, queue)
        driver.cuMemsetD8Async(memory + 64, 1, 4, other)
        driver.cuEventRecord(join, other)
        driver.cuStreamWaitEvent(queue, join, 0)

    graph = captured(forked)
    assert int(captured(forked, graph)) == int(graph)
    driver.cuStreamBeginRecaptureToGraph(queue, mode, graph, driver.CUgraphRecaptureCallback(0), 0)
    driver.cuMemsetD8Async(memory, 1, 4, queue)
    assert driver.result("cuMemsetD8Async", memory + 64, 1, 4, queue) == "GRAPH_RECAPTURE_FAILURE"
    driver.raw.cuStreamEndCapture(queue)
    driver.cuStreamDestroy(other)
    for event in (fork, join):
        driver.cuEventDestroy(event)


@pytest.mark.parametrize("size", [64, 128])
def test_memory_keeps_its_address_or_fails(driver, queue, captured, mode, size):
    addresses = []

    def work(size):
        def run():
            addresses.append(int(driver.cuMemAllocAsync(size, queue)))
            driver.cuMemsetD8Async(addresses[-1], 1, 64, queue)
            driver.cuMemFreeAsync(addresses[-1], queue)

        return run

    graph = captured(work(64))
    if size == 64:
        captured(work(64), graph)
        assert addresses[0] == addresses[1]
        return
    driver.cuStreamBeginRecaptureToGraph(queue, mode, graph, driver.CUgraphRecaptureCallback(0), 0)
    assert driver.result("cuMemAllocAsync", size, queue) == "GRAPH_RECAPTURE_FAILURE"
    assert driver.raw.cuStreamEndCapture(queue)[0] != 0


def test_user_objects_of_the_graph_are_released(driver, queue, memory, captured):
    released = []
    destroy = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: released.append(1))
    function = driver.CUhostFn(ctypes.cast(destroy, ctypes.c_void_p).value)
    graph = captured(filling(driver, queue, memory, 1))
    thing = driver.cuUserObjectCreate(0, function, 1, 1)
    driver.cuGraphRetainUserObject(graph, thing, 1, 1)
    captured(filling(driver, queue, memory, 2), graph)
    end = time.monotonic() + 10
    while not released and time.monotonic() < end:  # another thread calls the function
        time.sleep(0.001)
    assert released == [1]


def test_invalid_arguments_are_rejected(driver, queue, memory, captured, mode):
    graph = captured(filling(driver, queue, memory, 1))
    none = driver.CUgraphRecaptureCallback(0)
    wrong = driver.CUgraph(0x77)
    assert driver.result("cuStreamBeginRecaptureToGraph", queue, mode, wrong, none, 0) == "INVALID_VALUE"
    driver.cuStreamBeginRecaptureToGraph(queue, mode, graph, none, 0)
    assert driver.result("cuStreamBeginRecaptureToGraph", queue, mode, graph, none, 0) == "ILLEGAL_STATE"
    driver.cuMemsetD8Async(memory, 1, 16, queue)
    driver.cuStreamEndCapture(queue)

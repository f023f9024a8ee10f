# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Capturing streams into graphs, with results that an H200 returned."""

import ctypes
import threading

import numpy as np
import pytest

NONE, ACTIVE, INVALIDATED = 0, 1, 2
STEP = 32 << 20


@pytest.fixture
def modes(driver):
    mode = driver.CUstreamCaptureMode
    return {name: getattr(mode, f"CU_STREAM_CAPTURE_MODE_{name}") for name in ("GLOBAL", "THREAD_LOCAL", "RELAXED")}


@pytest.fixture
def capture(driver, context, queue, modes):
    """Return a function that captures another one; it returns the other's result, the graph and its executable."""
    made = []

    def run(function, mode="RELAXED", flags=0):
        driver.cuStreamBeginCapture(queue, modes[mode])
        value = function()
        graph = driver.cuStreamEndCapture(queue)
        made.append((graph, driver.cuGraphInstantiate(graph, flags)))
        return value, *made[-1]

    yield run
    driver.cuCtxSynchronize()
    for graph, executable in made:
        driver.raw.cuGraphExecDestroy(executable)
        driver.raw.cuGraphDestroy(graph)


def state(driver, stream):
    return int(driver.cuStreamIsCapturing(stream))


def types(driver, graph):
    count = driver.cuGraphGetNodes(graph)[1]
    nodes = driver.cuGraphGetNodes(graph, count)[0] if count else []
    return [driver.cuGraphNodeGetType(node).name.removeprefix("CU_GRAPH_NODE_TYPE_") for node in nodes]


def read(driver, pointer, count=4):
    out = np.zeros(count, dtype=np.uint8)
    driver.cuMemcpyDtoH(out.ctypes.data, pointer, count)
    return out.tolist()


def end_of_capture(driver, stream):
    result, graph = driver.raw.cuStreamEndCapture(stream)
    if result == 0:
        driver.cuGraphDestroy(graph)
    return result.name.removeprefix("CUDA_").removeprefix("ERROR_")


def test_captured_work_runs_only_when_the_graph_is_launched(driver, queue, memory, kernel, capture):
    def work():
        driver.cuMemsetD8Async(memory, 1, 4, queue)
        values = (memory, 1), (ctypes.c_void_p, ctypes.c_int)
        driver.cuLaunchKernel(kernel("add"), 1, 1, 1, 1, 1, 1, 0, queue, values, 0)
        driver.cuMemcpyDtoDAsync(memory + 64, memory, 4, queue)

    _, graph, executable = capture(work)
    assert types(driver, graph) == ["MEMSET", "KERNEL", "MEMCPY"]
    assert driver.cuGraphGetEdges(graph)[3] == 2
    assert driver.cuGraphGetRootNodes(graph)[1] == 1
    assert read(driver, memory) == [0, 0, 0, 0]
    for _ in range(2):
        driver.cuGraphLaunch(executable, queue)
    driver.cuStreamSynchronize(queue)
    assert read(driver, memory + 64) == [2, 1, 1, 1]


def test_host_memory_is_read_when_the_graph_runs(driver, queue, memory, capture):
    source = np.full(16, 3, dtype=np.uint8)
    _, _, executable = capture(lambda: driver.cuMemcpyHtoDAsync(memory, source.ctypes.data, 16, queue))
    for value in (7, 9):
        source[:] = value
        driver.cuGraphLaunch(executable, queue)
        driver.cuStreamSynchronize(queue)
        assert read(driver, memory) == [value] * 4


def test_host_functions_are_called_by_every_launch(driver, queue, capture):
    calls = []
    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: calls.append(1))
    function = driver.CUhostFn(ctypes.cast(callback, ctypes.c_void_p).value)
    _, graph, executable = capture(lambda: driver.cuLaunchHostFunc(queue, function, 0))
    assert types(driver, graph) == ["HOST"]
    for _ in range(3):
        driver.cuGraphLaunch(executable, queue)
    driver.cuStreamSynchronize(queue)
    assert len(calls) == 3


def test_stream_forks_by_an_event_and_joins_by_another(driver, queue, memory, capture):
    other = driver.cuStreamCreate(1)
    fork, join = driver.cuEventCreate(2), driver.cuEventCreate(2)

    def work():
        driver.cuEventRecord(fork, queue)
        driver.cuStreamWaitEvent(other, fork, 0)
        assert state(driver, other) == ACTIVE
        driver.cuMemsetD8Async(memory, 5, 4, other)
        driver.cuMemsetD8Async(memory + 4, 6, 4, queue)
        driver.cuEventRecord(join, other)
        driver.cuStreamWaitEvent(queue, join, 0)
        driver.cuMemcpyDtoDAsync(memory + 64, memory, 8, queue)

    _, graph, executable = capture(work)
    assert state(driver, other) == NONE
    assert types(driver, graph) == ["MEMSET", "MEMSET", "MEMCPY"]
    assert (driver.cuGraphGetEdges(graph)[3], driver.cuGraphGetRootNodes(graph)[1]) == (2, 2)
    driver.cuGraphLaunch(executable, queue)
    driver.cuStreamSynchronize(queue)
    assert read(driver, memory + 64, 8) == [5] * 4 + [6] * 4
    assert driver.result("cuEventQuery", fork) == "INVALID_VALUE"


def test_unjoined_forked_stream_fails_capture(driver, queue, memory, modes):
    other, fork = driver.cuStreamCreate(1), driver.cuEventCreate(2)
    driver.cuStreamBeginCapture(queue, modes["RELAXED"])
    driver.cuEventRecord(fork, queue)
    driver.cuStreamWaitEvent(other, fork, 0)
    driver.cuMemsetD8Async(memory, 1, 4, other)
    assert end_of_capture(driver, queue) == "STREAM_CAPTURE_UNJOINED"
    assert (state(driver, queue), state(driver, other)) == (NONE, NONE)


def test_capture_begins_and_ends_once_and_on_one_thread(driver, queue, modes):
    assert driver.result("cuStreamBeginCapture", driver.CUstream(0), modes["GLOBAL"]) == "STREAM_CAPTURE_UNSUPPORTED"
    assert end_of_capture(driver, queue) == "ILLEGAL_STATE"
    driver.cuStreamBeginCapture(queue, modes["GLOBAL"])
    assert driver.result("cuStreamBeginCapture", queue, modes["GLOBAL"]) == "ILLEGAL_STATE"
    results = []
    thread = threading.Thread(target=lambda: results.append(end_of_capture(driver, queue)))
    thread.start()
    thread.join()
    assert results == ["STREAM_CAPTURE_WRONG_THREAD"]
    assert state(driver, queue) == NONE


def test_capture_cannot_end_on_a_forked_stream(driver, queue, modes):
    other, fork = driver.cuStreamCreate(1), driver.cuEventCreate(2)
    driver.cuStreamBeginCapture(queue, modes["GLOBAL"])
    driver.cuEventRecord(fork, queue)
    driver.cuStreamWaitEvent(other, fork, 0)
    assert end_of_capture(driver, other) == "STREAM_CAPTURE_UNMATCHED"
    assert end_of_capture(driver, queue) == "STREAM_CAPTURE_INVALIDATED"


@pytest.mark.parametrize("name", ["cuStreamSynchronize", "cuStreamQuery", "cuStreamGetId"])
def test_unsupported_query_invalidates_capture(driver, queue, modes, name):
    driver.cuStreamBeginCapture(queue, modes["RELAXED"])
    assert driver.result(name, queue) == "STREAM_CAPTURE_UNSUPPORTED"
    assert state(driver, queue) == INVALIDATED
    assert end_of_capture(driver, queue) == "STREAM_CAPTURE_INVALIDATED"


def test_rejected_launch_invalidates_capture(driver, queue, kernel, modes):
    driver.cuStreamBeginCapture(queue, modes["RELAXED"])
    function, shared = kernel("nothing"), 100_000
    assert driver.result("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, shared, queue, 0, 0) == "INVALID_VALUE"
    result = driver.result("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, queue, 0, 0)
    assert result == "STREAM_CAPTURE_INVALIDATED"
    assert end_of_capture(driver, queue) == "STREAM_CAPTURE_INVALIDATED"


def test_captured_event_cannot_be_queried(driver, queue, modes):
    event = driver.cuEventCreate(0)
    driver.cuStreamBeginCapture(queue, modes["RELAXED"])
    driver.cuEventRecord(event, queue)
    assert driver.result("cuEventQuery", event) == "CAPTURED_EVENT"
    assert state(driver, queue) == INVALIDATED
    end_of_capture(driver, queue)


def test_earlier_event_needs_an_external_wait(driver, queue, modes, capture):
    event = driver.cuEventCreate(0)
    driver.cuEventRecord(event, driver.cuStreamCreate(1))
    driver.cuCtxSynchronize()
    driver.cuStreamBeginCapture(queue, modes["GLOBAL"])
    assert driver.result("cuStreamWaitEvent", queue, event, 0) == "STREAM_CAPTURE_ISOLATION"
    assert end_of_capture(driver, queue) == "STREAM_CAPTURE_INVALIDATED"

    def work():
        driver.cuStreamWaitEvent(queue, event, 1)
        driver.cuEventRecordWithFlags(event, queue, 1)

    _, graph, executable = capture(work)
    assert types(driver, graph) == ["WAIT_EVENT", "EVENT_RECORD"]
    driver.cuGraphLaunch(executable, queue)
    driver.cuEventSynchronize(event)


def test_two_captures_cannot_merge(driver, queue, modes):
    other, event = driver.cuStreamCreate(1), driver.cuEventCreate(2)
    for stream in (queue, other):
        driver.cuStreamBeginCapture(stream, modes["GLOBAL"])
    driver.cuEventRecord(event, queue)
    assert driver.result("cuStreamWaitEvent", other, event, 0) == "STREAM_CAPTURE_MERGE"
    assert [end_of_capture(driver, stream) for stream in (queue, other)] == ["STREAM_CAPTURE_INVALIDATED"] * 2


def test_legacy_stream_fails_while_blocking_stream_captures(driver, context, memory, modes):
    blocking = driver.cuStreamCreate(0)
    driver.cuStreamBeginCapture(blocking, modes["RELAXED"])
    legacy = driver.CUstream(0)
    assert driver.result("cuStreamIsCapturing", legacy) == "STREAM_CAPTURE_IMPLICIT"
    assert state(driver, blocking) == ACTIVE
    assert driver.result("cuMemsetD8Async", memory, 1, 4, legacy) == "STREAM_CAPTURE_IMPLICIT"
    assert state(driver, blocking) == INVALIDATED
    end_of_capture(driver, blocking)


UNSAFE = {"GLOBAL": {"same", "other"}, "THREAD_LOCAL": {"same"}, "RELAXED": set()}


@pytest.mark.parametrize("mode", UNSAFE)
@pytest.mark.parametrize("thread", ["same", "other"])
def test_mode_decides_which_threads_can_make_unsafe_calls(driver, context, queue, modes, mode, thread):
    results = []

    def call():
        driver.cuCtxSetCurrent(context)
        results.append(driver.raw.cuMemAllocHost(64))

    driver.cuStreamBeginCapture(queue, modes[mode])
    if thread == "same":
        call()
    else:
        other = threading.Thread(target=call)
        other.start()
        other.join()
    rejected = thread in UNSAFE[mode]
    assert state(driver, queue) == (INVALIDATED if rejected else ACTIVE)
    assert results[0][0].name == ("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED" if rejected else "CUDA_SUCCESS")
    end_of_capture(driver, queue)
    if not rejected:
        driver.cuMemFreeHost(results[0][1])


@pytest.mark.parametrize("mode", UNSAFE)
def test_only_relaxed_captures_allow_frees_on_other_streams(driver, context, queue, modes, mode):
    other = driver.cuStreamCreate(1)
    pointer = driver.cuMemAllocAsync(64, other)
    driver.cuStreamBeginCapture(queue, modes[mode])
    result = driver.result("cuMemFreeAsync", pointer, other)
    rejected = "same" in UNSAFE[mode]
    assert result == ("STREAM_CAPTURE_UNSUPPORTED" if rejected else "SUCCESS")
    assert state(driver, queue) == (INVALIDATED if rejected else ACTIVE)
    end_of_capture(driver, queue)
    if rejected:
        driver.cuMemFreeAsync(pointer, other)


def test_thread_can_relax_its_own_calls(driver, queue, modes):
    driver.cuStreamBeginCapture(queue, modes["GLOBAL"])
    assert driver.cuThreadExchangeStreamCaptureMode(modes["RELAXED"]) == modes["GLOBAL"]
    driver.cuMemFree(driver.cuMemAlloc(64))
    assert driver.cuThreadExchangeStreamCaptureMode(modes["GLOBAL"]) == modes["RELAXED"]
    assert state(driver, queue) == ACTIVE
    end_of_capture(driver, queue)


def test_destroyed_stream_ends_its_capture(driver, context, modes):
    stream = driver.cuStreamCreate(1)
    driver.cuStreamBeginCapture(stream, modes["GLOBAL"])
    with pytest.raises(driver.Error):
        driver.cuMemAlloc(64)
    driver.cuStreamDestroy(stream)
    assert driver.cuMemAlloc(64)


@pytest.mark.parametrize("is_joined", [True, False])
def test_fork_can_be_destroyed_after_it_was_joined(driver, queue, memory, modes, is_joined):
    fork = driver.cuStreamCreate(1)
    driver.cuStreamBeginCapture(queue, modes["RELAXED"])
    for first, second in ((queue, fork), (fork, queue)) if is_joined else ((queue, fork),):
        event = driver.cuEventCreate(2)
        driver.cuEventRecord(event, first)
        driver.cuStreamWaitEvent(second, event, 0)
        driver.cuMemsetD8Async(memory, 1, 4, second)
    driver.cuStreamDestroy(fork)
    assert end_of_capture(driver, queue) == ("SUCCESS" if is_joined else "STREAM_CAPTURE_INVALIDATED")


def test_fork_can_be_destroyed_after_another_fork_joined_it(driver, queue, memory, modes):
    outer, inner = driver.cuStreamCreate(1), driver.cuStreamCreate(1)
    driver.cuStreamBeginCapture(queue, modes["RELAXED"])
    for first, second in ((queue, outer), (outer, inner), (inner, outer)):
        event = driver.cuEventCreate(2)
        driver.cuEventRecord(event, first)
        driver.cuStreamWaitEvent(second, event, 0)
        driver.cuMemsetD8Async(memory, 1, 4, second)
    driver.cuStreamDestroy(inner)
    driver.cuEventRecord(event, outer)
    driver.cuStreamWaitEvent(queue, event, 0)
    driver.cuStreamDestroy(outer)
    assert end_of_capture(driver, queue) == "SUCCESS"


def test_capture_reports_its_graph_and_last_nodes(driver, queue, memory, modes):
    driver.cuStreamBeginCapture(queue, modes["RELAXED"])
    driver.cuMemsetD8Async(memory, 1, 4, queue)
    status, number, graph, nodes, _, count = driver.cuStreamGetCaptureInfo(queue)
    assert (int(status), count, len(nodes)) == (ACTIVE, 1, 1)
    assert int(number) > 0
    ended = driver.cuStreamEndCapture(queue)
    assert int(ended) == int(graph)
    driver.cuGraphDestroy(ended)
    assert driver.result("cuGraphDestroy", ended) == "INVALID_VALUE"


def test_graph_launch_on_capturing_stream_invalidates_capture(driver, queue, memory, modes, capture):
    _, _, inner = capture(lambda: driver.cuMemsetD8Async(memory, 8, 4, queue))
    driver.cuStreamBeginCapture(queue, modes["RELAXED"])
    assert driver.result("cuGraphLaunch", inner, queue) == "STREAM_CAPTURE_UNSUPPORTED"
    assert end_of_capture(driver, queue) == "STREAM_CAPTURE_INVALIDATED"


def test_unjoined_forked_stream_fails_capture_into_graph(driver, context, queue, memory, modes):
    graph = driver.cuGraphCreate(0)
    other, fork = driver.cuStreamCreate(1), driver.cuEventCreate(2)
    for is_joined in (True, False):
        driver.cuStreamBeginCaptureToGraph(queue, graph, [], [], 0, modes["RELAXED"])
        driver.cuEventRecord(fork, queue)
        driver.cuStreamWaitEvent(other, fork, 0)
        driver.cuMemsetD8Async(memory, 1, 4, other)
        if is_joined:
            driver.cuEventRecord(fork, other)
            driver.cuStreamWaitEvent(queue, fork, 0)
            driver.cuStreamEndCapture(queue)
        else:
            assert end_of_capture(driver, queue) == "STREAM_CAPTURE_UNJOINED"
    driver.cuGraphDestroy(graph)


# ------------------------------------------------------------------------- memory of graphs


def graph_memory(driver):
    """Return the device's numbers for graph memory: used now and at most, reserved now and at most."""
    names = driver.CUgraphMem_attribute
    return [int(driver.cuDeviceGetGraphMemAttribute(0, names(number))) for number in range(4)]


@pytest.fixture
def trimmed(driver, context):
    driver.cuDeviceGraphMemTrim(0)
    for number in (1, 3):
        driver.cuDeviceSetGraphMemAttribute(0, driver.CUgraphMem_attribute(number), driver.cuuint64_t(0))
    yield
    driver.cuCtxSynchronize()
    driver.cuDeviceGraphMemTrim(0)


def test_graph_memory_exists_from_launch_until_freed(driver, queue, capture, trimmed):
    def work():
        pointer = driver.cuMemAllocAsync(1 << 20, queue)
        driver.cuMemsetD8Async(pointer, 7, 64, queue)
        return pointer

    pointer, graph, executable = capture(work)
    assert types(driver, graph) == ["MEM_ALLOC", "MEMSET"]
    assert graph_memory(driver) == [0, 0, 0, 0]
    out = np.zeros(4, dtype=np.uint8)
    assert driver.result("cuMemcpyDtoH", out.ctypes.data, pointer, 4) == "INVALID_VALUE"
    assert driver.result("cuMemFreeAsync", pointer, queue) == "INVALID_VALUE"
    driver.cuGraphLaunch(executable, queue)
    assert graph_memory(driver) == [STEP] * 4
    driver.cuStreamSynchronize(queue)
    assert read(driver, pointer) == [7] * 4
    assert driver.result("cuGraphLaunch", executable, queue) == "INVALID_VALUE"
    driver.cuMemFreeAsync(pointer, queue)
    assert driver.result("cuMemFreeAsync", pointer, queue) == "INVALID_VALUE"
    driver.cuGraphLaunch(executable, queue)
    driver.cuMemFree(pointer)
    driver.cuDeviceGraphMemTrim(0)
    assert graph_memory(driver) == [0, STEP, 0, STEP]


def test_graph_frees_its_own_memory(driver, queue, kernel, capture, trimmed, memory):
    def work():
        pointer = driver.cuMemAllocAsync(64, queue)
        driver.cuMemsetD8Async(pointer, 0, 64, queue)
        values = (int(pointer), 5), (ctypes.c_void_p, ctypes.c_int)
        driver.cuLaunchKernel(kernel("add"), 1, 1, 1, 1, 1, 1, 0, queue, values, 0)
        driver.cuMemcpyDtoDAsync(memory, pointer, 4, queue)
        driver.cuMemFreeAsync(pointer, queue)
        assert driver.result("cuMemFreeAsync", pointer, queue) == "INVALID_VALUE"

    _, graph, executable = capture(work)
    assert types(driver, graph) == ["MEM_ALLOC", "MEMSET", "KERNEL", "MEMCPY", "MEM_FREE"]
    for _ in range(5):
        driver.cuGraphLaunch(executable, queue)
    driver.cuStreamSynchronize(queue)
    assert read(driver, memory) == [5, 0, 0, 0]
    assert graph_memory(driver)[0] == STEP


def test_auto_free_frees_memory_at_the_next_launch(driver, queue, capture, trimmed):
    flag = driver.CUgraphInstantiate_flags.CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
    pointer, _, executable = capture(lambda: driver.cuMemAllocAsync(64, queue), flags=flag)
    for _ in range(3):
        driver.cuGraphLaunch(executable, queue)
    driver.cuMemFree(pointer)


def test_another_graph_frees_memory(driver, queue, capture, trimmed):
    pointer, _, allocates = capture(lambda: driver.cuMemAllocAsync(64, queue))
    _, _, frees = capture(lambda: driver.cuMemFreeAsync(pointer, queue))
    assert driver.result("cuGraphLaunch", frees, queue) == "INVALID_VALUE"
    for _ in range(2):
        driver.cuGraphLaunch(allocates, queue)
        driver.cuGraphLaunch(frees, queue)


def test_memory_outlives_its_graph(driver, queue, modes, trimmed):
    driver.cuStreamBeginCapture(queue, modes["RELAXED"])
    pointer = driver.cuMemAllocAsync(64, queue)
    graph = driver.cuStreamEndCapture(queue)
    executable = driver.cuGraphInstantiate(graph, 0)
    assert driver.result("cuGraphInstantiate", graph, 0) == "NOT_SUPPORTED"
    driver.cuGraphLaunch(executable, queue)
    driver.cuGraphExecDestroy(executable)
    driver.cuGraphDestroy(graph)
    driver.cuMemsetD8(pointer, 3, 64)
    assert read(driver, pointer) == [3] * 4
    driver.cuMemFreeAsync(pointer, queue)
    driver.cuStreamSynchronize(queue)
    assert driver.result("cuMemFree", pointer) == "INVALID_VALUE"


def test_graph_cannot_free_other_memory(driver, queue, memory, modes):
    driver.cuStreamBeginCapture(queue, modes["RELAXED"])
    assert driver.result("cuMemFreeAsync", memory, queue) == "INVALID_VALUE"
    assert state(driver, queue) == ACTIVE
    end_of_capture(driver, queue)


def test_graph_exceeding_device_memory_fails_on_launch(driver, queue, capture, trimmed):
    total = driver.cuMemGetInfo()[1]
    _, _, executable = capture(lambda: driver.cuMemAllocAsync(total + (1 << 20), queue))
    assert driver.result("cuGraphLaunch", executable, queue) == "OUT_OF_MEMORY"


def test_use_of_memory_freed_by_graph_is_reported(child):
    text = child(
        """
import ctypes
from cuda.bindings import driver as d, nvrtc
d.cuInit(0); c = d.cuDevicePrimaryCtxRetain(0)[1]; d.cuCtxSetCurrent(c)
p = nvrtc.nvrtcCreateProgram(b'extern "C" __global__ void put(int *p) {\\n*p = 1; }', b"put.cu", 0, [], [])[1]
nvrtc.nvrtcCompileProgram(p, 1, [b"--gpu-architecture=sm_90"])
image = b" " * nvrtc.nvrtcGetCUBINSize(p)[1]; nvrtc.nvrtcGetCUBIN(p, image)
lib = d.cuLibraryLoadData(image, [], [], 0, [], [], 0)[1]; k = d.CUfunction(int(d.cuLibraryGetKernel(lib, b"put")[1]))
s = d.cuStreamCreate(1)[1]
d.cuStreamBeginCapture(s, d.CUstreamCaptureMode(2)); a = d.cuMemAllocAsync(64, s)[1]; d.cuMemFreeAsync(a, s)
d.cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, s, ((int(a),), (ctypes.c_void_p,)), 0)
g = d.cuStreamEndCapture(s)[1]; x = d.cuGraphInstantiate(g, 0)[1]
d.cuGraphLaunch(x, s); print(d.cuStreamSynchronize(s)[0].name)
"""
    )
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in text
    assert "put.cu:2" in text
    assert "freed" in text

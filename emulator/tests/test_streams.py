# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Streams, events and host functions."""

import ctypes
import threading
import time

import numpy as np
import pytest


def launch(driver, kernel, stream, *arguments, grid=1, block=1):
    values = tuple(value for value, _ in arguments)
    types = tuple(kind for _, kind in arguments)
    driver.cuLaunchKernel(kernel, grid, 1, 1, block, 1, 1, 0, stream, (values, types), 0)


def pinned(driver, count):
    """Return an int32 array in pinned memory and its address."""
    address = driver.cuMemHostAlloc(4 * count, 0)
    array = np.ctypeslib.as_array((ctypes.c_int32 * count).from_address(address))
    array[:] = 0
    return array, address


@pytest.fixture
def flag(driver, context):
    array, address = pinned(driver, 5)
    yield array[:4], address
    driver.cuMemFreeHost(address)


def finish_other_work(driver, kernel, address):
    """Run kernels on another stream to their end; earlier work that could begin has begun by then."""
    stream = driver.cuStreamCreate(1)
    for _ in range(3):
        launch(driver, kernel("add"), stream, (address + 16, ctypes.c_void_p), (1, ctypes.c_int))
        driver.cuStreamSynchronize(stream)
    driver.cuStreamDestroy(stream)


HOST = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def call(driver, stream, function):
    """Enqueue a Python function; return the callback, which must be kept alive."""
    callback = HOST(lambda _: function())
    driver.cuLaunchHostFunc(stream, driver.CUhostFn(ctypes.cast(callback, ctypes.c_void_p).value), 0)
    return callback


def test_streams_have_flags_and_priorities_until_destroyed(driver, context):
    stream = driver.cuStreamCreateWithPriority(1, -99)
    assert driver.cuStreamGetPriority(stream) == -5
    assert driver.cuStreamGetFlags(stream) == 1
    assert int(driver.cuStreamGetCtx(stream)) == int(context)
    assert driver.result("cuStreamCreate", 7) == "INVALID_VALUE"
    driver.cuStreamDestroy(stream)
    assert driver.result("cuStreamQuery", stream) == "INVALID_HANDLE"
    assert driver.result("cuStreamDestroy", stream) == "INVALID_HANDLE"


@pytest.mark.parametrize("handle", [0, 1, 2])
def test_default_streams_cannot_be_destroyed(driver, context, handle):
    assert driver.cuStreamGetFlags(driver.CUstream(handle)) == 0
    assert driver.result("cuStreamDestroy", driver.CUstream(handle)) == "INVALID_HANDLE"


def test_kernel_can_wait_for_the_host(driver, queue, kernel, flag):
    array, address = flag
    launch(driver, kernel("wait_for"), queue, (address, ctypes.c_void_p), (address + 4, ctypes.c_void_p))
    assert driver.result("cuStreamQuery", queue) == "NOT_READY"
    array[0] = 5
    driver.cuStreamSynchronize(queue)
    assert array[1] == 5
    assert driver.result("cuStreamQuery", queue) == "SUCCESS"


@pytest.mark.parametrize("call", [None, "cuStreamQuery"])
def test_kernel_runs_although_no_thread_waits_for_it(driver, queue, kernel, flag, call):
    array, address = flag
    for number in range(1, 41):  # a worker that looked for work by itself a moment ago is not woken
        launch(driver, kernel("add"), queue, (address, ctypes.c_void_p), (1, ctypes.c_int))
        end = time.monotonic() + 10
        while array[0] != number and time.monotonic() < end:
            if call:
                driver.result(call, queue)
        assert array[0] == number
        if number % 10 == 0:
            time.sleep(0.01)
    driver.cuStreamSynchronize(queue)


def test_streams_run_at_the_same_time(driver, context, kernel, flag):
    array, address = flag
    waiting, other = (driver.cuStreamCreate(1) for _ in range(2))
    launch(driver, kernel("wait_for"), waiting, (address, ctypes.c_void_p), (address + 4, ctypes.c_void_p))
    launch(driver, kernel("add"), other, (address + 8, ctypes.c_void_p), (3, ctypes.c_int))
    driver.cuStreamSynchronize(other)
    assert (array[1], array[2]) == (0, 3)
    array[0] = 1
    driver.cuCtxSynchronize()


def test_legacy_and_blocking_streams_wait_for_each_other(driver, context, kernel, flag):
    array, address = flag
    blocking = driver.cuStreamCreate(0)
    legacy = driver.CUstream(1)
    launch(driver, kernel("wait_for"), blocking, (address, ctypes.c_void_p), (address + 4, ctypes.c_void_p))
    launch(driver, kernel("add"), legacy, (address + 8, ctypes.c_void_p), (1, ctypes.c_int))
    launch(driver, kernel("add"), blocking, (address + 12, ctypes.c_void_p), (1, ctypes.c_int))
    finish_other_work(driver, kernel, address)
    assert list(array[1:]) == [0, 0, 0]
    assert driver.result("cuStreamQuery", legacy) == "NOT_READY"
    array[0] = 1
    driver.cuStreamSynchronize(legacy)
    assert list(array[1:3]) == [1, 1]
    driver.cuStreamSynchronize(blocking)
    assert array[3] == 1


def test_non_blocking_stream_does_not_wait_for_legacy_stream(driver, queue, kernel, flag):
    array, address = flag
    launch(driver, kernel("wait_for"), driver.CUstream(0), (address, ctypes.c_void_p), (address + 4, ctypes.c_void_p))
    launch(driver, kernel("add"), queue, (address + 8, ctypes.c_void_p), (1, ctypes.c_int))
    driver.cuStreamSynchronize(queue)
    assert list(array[1:3]) == [0, 1]
    array[0] = 1
    driver.cuCtxSynchronize()


def test_per_thread_streams_differ_by_thread(driver, context):
    ids = [driver.cuStreamGetId(driver.CUstream(2))]

    def other():
        driver.cuCtxSetCurrent(context)
        ids.append(driver.cuStreamGetId(driver.CUstream(2)))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert len(set(ids)) == 2
    assert driver.cuStreamGetId(driver.CUstream(2)) == ids[0]


def test_events_order_streams(driver, context, kernel, flag):
    array, address = flag
    first, second = (driver.cuStreamCreate(1) for _ in range(2))
    event = driver.cuEventCreate(0)
    launch(driver, kernel("wait_for"), first, (address, ctypes.c_void_p), (address + 4, ctypes.c_void_p))
    driver.cuEventRecord(event, first)
    driver.cuStreamWaitEvent(second, event, 0)
    launch(driver, kernel("add"), second, (address + 8, ctypes.c_void_p), (1, ctypes.c_int))
    finish_other_work(driver, kernel, address)
    assert array[2] == 0
    assert driver.result("cuEventQuery", event) == "NOT_READY"
    array[0] = 1
    driver.cuStreamSynchronize(second)
    assert list(array[1:3]) == [1, 1]


def test_later_record_does_not_change_an_earlier_wait(driver, context, kernel, flag):
    array, address = flag
    first, second = (driver.cuStreamCreate(1) for _ in range(2))
    event = driver.cuEventCreate(0)
    driver.cuEventRecord(event, first)
    driver.cuStreamWaitEvent(second, event, 0)
    launch(driver, kernel("wait_for"), first, (address, ctypes.c_void_p), (address + 4, ctypes.c_void_p))
    driver.cuEventRecord(event, first)
    driver.cuStreamSynchronize(second)
    array[0] = 1
    driver.cuEventSynchronize(event)
    assert array[1] == 1


def test_time_between_events_includes_the_kernels_between(driver, queue, kernel, flag):
    start, end, untimed = driver.cuEventCreate(0), driver.cuEventCreate(0), driver.cuEventCreate(2)
    assert driver.result("cuEventQuery", start) == "SUCCESS"
    assert driver.result("cuEventElapsedTime", start, end) == "INVALID_HANDLE"
    driver.cuEventRecord(start, queue)
    launch(driver, kernel("slow"), queue, (flag[1], ctypes.c_void_p), (1, ctypes.c_int))
    driver.cuEventRecord(end, queue)
    driver.cuEventRecord(untimed, queue)
    driver.cuEventSynchronize(end)
    assert 0.1 <= driver.cuEventElapsedTime(start, end) < 1000
    assert driver.result("cuEventElapsedTime", start, untimed) == "INVALID_HANDLE"


@pytest.mark.parametrize("flags", [4, 64])
def test_invalid_event_flags_are_rejected(driver, context, flags):
    assert driver.result("cuEventCreate", flags) == "INVALID_VALUE"


def test_event_can_only_be_recorded_in_its_own_context(driver, context):
    event = driver.cuEventCreate(0)
    other = driver.cuCtxCreate(None, 0, 0)
    assert driver.result("cuEventRecord", event, driver.CUstream(0)) == "INVALID_HANDLE"
    driver.cuCtxDestroy(other)


def test_host_functions_run_in_order_without_driver_calls(driver, queue, flag):
    array, address = flag
    seen = []
    pointer = driver.cuMemAlloc(16)
    driver.cuMemsetD32Async(pointer, 9, 4, queue)
    driver.cuMemcpyDtoHAsync(address, pointer, 16, queue)
    keep = call(driver, queue, lambda: seen.append((int(array[3]), driver.result("cuMemAlloc", 4))))
    driver.cuStreamSynchronize(queue)
    assert seen == [(9, "NOT_PERMITTED")]
    driver.cuMemFree(pointer)
    del keep


def test_waiting_host_function_does_not_block_other_streams(driver, context):
    first, second = (driver.cuStreamCreate(1) for _ in range(2))
    gate, seen = threading.Event(), []
    keep = [call(driver, first, gate.wait), call(driver, second, lambda: seen.append(1))]
    driver.cuStreamSynchronize(second)
    assert seen == [1]
    gate.set()
    driver.cuCtxSynchronize()
    del keep


def test_streams_wait_for_values(driver, queue, flag):
    array, address = flag
    other = driver.cuStreamCreate(1)
    driver.cuStreamWaitValue32(queue, address, 3, 0)
    driver.cuStreamWriteValue32(queue, address + 4, 8, 0)
    assert driver.result("cuStreamQuery", queue) == "NOT_READY"
    driver.cuStreamWriteValue32(other, address, 4, 0)
    driver.cuStreamSynchronize(queue)
    assert list(array[:2]) == [4, 8]
    assert driver.result("cuStreamWaitValue32", queue, address + 1, 3, 0) == "INVALID_VALUE"


def test_destroyed_stream_finishes_its_work(driver, context, kernel, flag):
    array, address = flag
    stream = driver.cuStreamCreate(0)
    for _ in range(50):
        launch(driver, kernel("add"), stream, (address, ctypes.c_void_p), (1, ctypes.c_int))
    driver.cuStreamDestroy(stream)
    driver.cuCtxSynchronize()
    assert array[0] == 50


def test_many_threads_launch_on_their_own_streams(driver, context, kernel, flag):
    array, address = flag
    function = kernel("add")

    def work():
        driver.cuCtxSetCurrent(context)
        stream = driver.cuStreamCreate(1)
        for _ in range(50):
            launch(driver, function, stream, (address, ctypes.c_void_p), (1, ctypes.c_int))
        driver.cuStreamSynchronize(stream)
        driver.cuStreamDestroy(stream)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert array[0] == 400


def test_new_stream_is_not_capturing(driver, queue):
    none = driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    assert driver.cuStreamIsCapturing(queue) == none
    assert driver.cuStreamGetCaptureInfo(queue)[0] == none


def test_work_completes_within_call_in_deterministic_mode(child):
    out = child(
        "from cuda.bindings import driver as d; d.cuInit(0); d.cuCtxSetCurrent(d.cuDevicePrimaryCtxRetain(0)[1])\n"
        "s = d.cuStreamCreate(0)[1]; p = d.cuMemAlloc(1 << 24)[1]\n"
        "for i in range(5): d.cuMemsetD8Async(p, i, 1 << 24, s); print(d.cuStreamQuery(s)[0].value, end='')",
        MODE="deterministic",
    )
    assert out == "00000"

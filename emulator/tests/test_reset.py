# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""After a faulty kernel, reset() makes the device work again."""

import threading

import numpy as np
import pytest

import cuda.emulator

pytestmark = pytest.mark.requires(software=True, device=True)

SOURCE = r"""
extern "C" __global__ void wild() { *(volatile int*)8 = 1; }
extern "C" __global__ void late(volatile int* go) { while (!*go) ; __trap(); }
extern "C" __global__ void fill(int* p, int value) { p[threadIdx.x] = value; }
extern "C" __global__ void spin(volatile int* p) { while (*p != -1) ; }
"""


@pytest.fixture(scope="module")
def code():
    from cuda.core import Device, Program

    Device(0).set_current()
    get_kernel = Program(SOURCE, "c++").compile("cubin", name_expressions=()).get_kernel
    get_kernel("wild")  # loads the code, which stays loaded
    return get_kernel


@pytest.fixture(autouse=True)
def ends_well(device):
    yield
    cuda.emulator.reset()


def start(stream, kernel, *arguments, block=1):
    from cuda.core import LaunchConfig, launch

    launch(stream, LaunchConfig(grid=1, block=block), kernel, *arguments)


def spoil(code, stream):
    from cuda.core import CUDAError

    start(stream, code("wild"))
    with pytest.raises(CUDAError, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
        stream.sync()
    with pytest.raises(CUDAError, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
        stream.device.create_stream()


def contents(code, stream, buffer, value):
    start(stream, code("fill"), buffer, np.int32(value), block=8)
    out = np.zeros(8, np.int32)
    buffer.copy_to(out, stream=stream)
    stream.sync()
    return out.tolist()


@pytest.mark.parametrize("name", ["cuStreamQuery", "cuEventQuery"])
def test_query_never_succeeds_after_a_fault(code, device, driver, name):
    from cuda.core import LegacyPinnedMemoryResource

    flag = LegacyPinnedMemoryResource().allocate(4)
    go = np.from_dlpack(flag).view(np.int32)
    with device.create_stream() as stream, device.create_event() as event:
        handle = stream.handle if name == "cuStreamQuery" else event.handle
        for _ in range(100):  # one fault in about 200 falls between two steps of a query
            go[0] = 0
            start(stream, code("late"), flag)
            stream.record(event)
            go[0] = 1
            result = "NOT_READY"
            while result == "NOT_READY":
                result = driver.result(name, handle)
            assert result == "LAUNCH_FAILED"
            cuda.emulator.reset()


def test_new_objects_work_after_a_reset(code, device):
    with device.create_stream() as stream, device.allocate(32, stream=stream) as buffer:
        spoil(code, stream)
        cuda.emulator.reset()
    device.set_current()
    with device.create_stream() as stream, device.allocate(32, stream=stream) as buffer:
        assert contents(code, stream, buffer, 7) == [7] * 8


def test_old_objects_work_after_a_reset(code, device):
    with device.create_stream() as stream, device.allocate(32, stream=stream) as buffer:
        event = stream.record()
        spoil(code, stream)
        cuda.emulator.reset()
        event.sync()
        assert contents(code, stream, buffer, 5) == [5] * 8


def test_objects_closed_while_the_context_was_lost_leave_nothing(code, device, recwarn):
    before = set(cuda.emulator.leaks())
    stream = device.create_stream()
    buffer = device.allocate(32, stream=stream)
    spoil(code, stream)
    buffer.close()
    stream.close()
    cuda.emulator.reset()
    with device.create_stream() as other:  # the pool frees the buffer in its stream's order
        other.sync()
    assert set(cuda.emulator.leaks()) <= before


def test_reset_covers_all_devices_and_contexts(code, driver):
    from cuda.core import Device

    context = driver.cuCtxCreate(None, 0, 0)
    devices = Device.get_all_devices()
    for device in devices:
        device.set_current()
        with device.create_stream() as stream, device.allocate(32, stream=stream) as buffer:
            spoil(code, stream)
            cuda.emulator.reset()
            assert contents(code, stream, buffer, 3) == [3] * 8
    driver.cuCtxSetCurrent(context)
    driver.cuCtxSynchronize()
    driver.cuCtxDestroy(context)


def test_reset_stops_endless_kernels(code, device):
    with device.create_stream() as stream, device.allocate(32, stream=stream) as buffer:
        buffer.fill(0, stream=stream)
        start(stream, code("spin"), buffer)
        start(stream, code("fill"), buffer, np.int32(1), block=8)
        cuda.emulator.reset()
        stream.sync()  # reports no dropped work
        assert contents(code, stream, buffer, 4) == [4] * 8


def test_reset_ends_a_capture(driver, device):
    stream = driver.cuStreamCreate(0)
    driver.cuStreamBeginCapture(stream, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL)
    assert driver.result("cuMemAlloc", 16) == "STREAM_CAPTURE_UNSUPPORTED"
    cuda.emulator.reset()
    driver.cuMemFree(driver.cuMemAlloc(16))
    assert driver.result("cuStreamEndCapture", stream) == "ILLEGAL_STATE"
    driver.cuStreamDestroy(stream)


def test_other_threads_have_a_working_device_after_a_reset(code, device):
    results = []
    with device.create_stream() as stream, device.allocate(32, stream=stream) as buffer:

        def work():
            device.set_current()
            ready.set()
            go_on.wait(60)
            results.append(contents(code, stream, buffer, 9))

        ready, go_on = threading.Event(), threading.Event()
        thread = threading.Thread(target=work)
        thread.start()
        ready.wait(60)
        spoil(code, stream)
        cuda.emulator.reset()
        go_on.set()
        thread.join()
    assert results == [[9] * 8]


def test_reset_needs_the_software_device(child):
    code = "import cuda.emulator\ntry: cuda.emulator.reset()\nexcept RuntimeError as error: print(error)"
    assert "the software device is not active" in child(code, device=False)

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies of memory that nobody has written, and memory that the host changes beside queued work, are reported."""

import re
from importlib.metadata import entry_points

import pytest

pytestmark = pytest.mark.requires(software=True)

HEAD = """
import sys
import cuda.emulator
import numpy as np
from support.compiled import Program
from support.driver import Driver
import ctypes
driver = Driver()
driver.cuInit(0)
driver.cuCtxCreate(None, 0, 0)
stream = driver.cuStreamCreate(1)
other = driver.cuStreamCreate(1)
image = Program('''extern "C" __global__ void set(int* x, int n) { if (threadIdx.x < n) x[threadIdx.x] = 1; }
extern "C" __global__ void add(const int* x, int* y) { y[threadIdx.x] = x[threadIdx.x] + 1; }
extern "C" __global__ void first(const int* x, int* y) { if (threadIdx.x < 32) y[threadIdx.x] = x[threadIdx.x]; }
extern "C" __global__ void through(int* const* x, int* y) { y[threadIdx.x] = x[0][threadIdx.x]; }
extern "C" __global__ void slow(const int* x, int* y)
{
    long long end = clock64() + 800000000;
    while (clock64() < end) {}
    y[threadIdx.x] = 3;
}
extern "C" __global__ void listen(const int* x, int* y)
{
    if (threadIdx.x == 0) while (*(volatile const int*)(x + 63) != 7) {}
    __syncthreads();
    y[threadIdx.x] = x[threadIdx.x];
}''', "-arch=sm_90").image
library = driver.cuLibraryLoadData(image, [], [], 0, [], [], 0)
def launch(name, first, second, kind, threads=64):
    kernel = driver.CUfunction(int(driver.cuLibraryGetKernel(library, name.encode())))
    arguments = ((int(first), int(second)), (ctypes.c_void_p, kind))
    driver.cuLaunchKernel(kernel, 1, 1, 1, threads, 1, 1, 0, stream, arguments, 0)
def pinned():
    address = int(driver.cuMemAllocHost(256))
    return address, np.ctypeslib.as_array((ctypes.c_int * 64).from_address(address))
def managed():
    address = int(driver.cuMemAllocManaged(256, 1))
    return address, np.ctypeslib.as_array((ctypes.c_int * 64).from_address(address))
x, y = int(driver.cuMemAlloc(256)), int(driver.cuMemAlloc(256))
out = np.zeros(64, np.int32)
"""
TAIL = """
print(driver.result("cuCtxSynchronize"))
"""
EXCEPT = "\nexcept Driver.Error as error:\n    print(error)\n"
UNWRITTEN = {
    "never": (
        "if not bad: launch('set', x, 64, ctypes.c_int)\ndriver.cuStreamSynchronize(stream)\n"
        "driver.cuMemcpyDtoH(out.ctypes.data, x, 256)"
    ),
    "tail": (
        "launch('set', x, 60 if bad else 64, ctypes.c_int)\ndriver.cuStreamSynchronize(stream)\n"
        "driver.cuMemcpyDtoH(out.ctypes.data, x, 256)"
    ),
    "pinned": (
        "launch('set', x, 32 if bad else 64, ctypes.c_int)\ntarget, memory = pinned()\n"
        "driver.cuMemcpyDtoHAsync(target, x, 256, stream)"
    ),
    "copied_on": (
        "launch('set', x, 32 if bad else 64, ctypes.c_int)\ndriver.cuMemcpyDtoDAsync(y, x, 256, stream)\n"
        "driver.cuStreamSynchronize(stream)\ndriver.cuMemcpyDtoH(out.ctypes.data, y, 256)"
    ),
    "half_a_fill": (
        "driver.cuMemsetD32(x, 5, 32 if bad else 64)\ndriver.cuCtxSynchronize()\n"
        "driver.cuMemcpyDtoH(out.ctypes.data, x, 256)"
    ),
}
REUSED = {
    "overwritten": "memory[:] = 1\ndriver.cuMemcpyHtoDAsync(x, source, 256, stream)\n{wait}\nmemory[:] = 2",
    "one_element": "memory[:] = 1\ndriver.cuMemcpyHtoDAsync(x, source, 256, stream)\n{wait}\nmemory[63] += 1",
    "loop": (
        "memory[:] = 0\nfor i in range(3):\n    memory[:] = i + 1\n"
        "    driver.cuMemcpyHtoDAsync(x, source, 256, stream)\n"
        "    {wait}"
    ),
    "part": "memory[:] = 1\ndriver.cuMemcpyHtoDAsync(x, source + 64, 64, stream)\n{wait}\nmemory[20] = 3",
    "kernel_after": (
        "memory[:] = 1\ndriver.cuMemcpyHtoDAsync(x, source, 256, stream)\n"
        "launch('add', x, y, ctypes.c_void_p)\n{wait}\n"
        "memory[:] = 5"
    ),
}
# Correct programs: the host waits, changes other bytes, or the device itself changes the source.
FINE = {
    "other_bytes": "memory[:] = 1\ndriver.cuMemcpyHtoDAsync(x, source, 128, stream)\nmemory[32:] = 2",
    "event": (
        "memory[:] = 1\ndriver.cuMemcpyHtoDAsync(x, source, 256, stream)\nevent = driver.cuEventCreate(0)\n"
        "driver.cuEventRecord(event, stream)\ndriver.cuEventSynchronize(event)\nmemory[:] = 2"
    ),
    "query": (
        "memory[:] = 1\ndriver.cuMemcpyHtoDAsync(x, source, 256, stream)\n"
        "while driver.result('cuStreamQuery', stream) != 'SUCCESS': pass\nmemory[:] = 2"
    ),
    "other_stream": (
        "memory[:] = 1\ndriver.cuMemcpyHtoDAsync(x, source, 256, stream)\nevent = driver.cuEventCreate(0)\n"
        "driver.cuEventRecord(event, stream)\ndriver.cuStreamWaitEvent(other, event, 0)\n"
        "driver.cuStreamSynchronize(other)\nmemory[:] = 2"
    ),
    "device_writes_back": (
        "memory[:] = 1\ndriver.cuMemcpyHtoDAsync(x, source, 256, stream)\nlaunch('add', x, y, ctypes.c_void_p)\n"
        "driver.cuMemcpyDtoHAsync(source, y, 256, stream)"
    ),
    "kernel_writes": (
        "memory[:] = 1\ndriver.cuMemcpyHtoDAsync(x, source, 256, stream)\nlaunch('set', source, 64, ctypes.c_int)"
    ),
    "kernel_writes_before": (
        "memory[:] = 1\nlaunch('slow', y, source, ctypes.c_void_p, 1)\nimport time\ntime.sleep(0.05)\n"
        "driver.cuMemcpyHtoDAsync(x, source, 256, stream)\nlaunch('add', source, y, ctypes.c_void_p)\n"
        "time.sleep(0.8)"
    ),
    "stream_waits_for_a_value": (
        "flag, flags = pinned()\nflags[:] = 0\nmemory[:] = 1\ndriver.cuStreamWaitValue32(stream, flag, 1, 1)\n"
        "driver.cuMemcpyHtoDAsync(x, source, 256, stream)\nmemory[:] = 2\nflags[0] = 1"
    ),
    "same_values": "memory[:] = 1\ndriver.cuMemcpyHtoDAsync(x, source, 256, stream)\nmemory[:] = 1",
    "freed": (
        "memory[:] = 1\ndriver.cuMemcpyHtoDAsync(x, source, 256, stream)\ndriver.cuMemFreeHost(source)\n"
        "source, memory = pinned()\nmemory[:] = 9"
    ),
    "pageable": "data = np.ones(64, np.int32)\ndriver.cuMemcpyHtoDAsync(x, data.ctypes.data, 256, stream)\ndata[:] = 2",
}


ADD = "launch('add', source, y, ctypes.c_void_p)\n"
BESIDE = {
    "written_at_once": "memory[:] = 1\n" + ADD + "{wait}\nmemory[:] = 2",
    "one_element": "memory[:] = 1\n" + ADD + "{wait}\nmemory[63] += 1",
    "managed": "source, memory = managed()\nmemory[:] = 1\n" + ADD + "{wait}\nmemory[5] = 2",
    "loop": "memory[:] = 0\nfor i in range(3):\n    memory[:] = i + 1\n    " + ADD + "    {wait}",
    "between_two_kernels": "memory[:] = 1\n" + ADD + "{wait}\nmemory[:] = 2\n" + ADD,
    "inside_the_allocation": (
        "memory[:] = 1\nlaunch('add', source + 128, y, ctypes.c_void_p, 32)\n{wait}\nmemory[40] = 2"
    ),
}
BESIDE_FINE = {
    "other_bytes": "memory[:] = 1\nlaunch('first', source, y, ctypes.c_void_p)\nmemory[32:] = 2",
    "event": (
        "memory[:] = 1\n" + ADD + "event = driver.cuEventCreate(0)\ndriver.cuEventRecord(event, stream)\n"
        "driver.cuEventSynchronize(event)\nmemory[:] = 2"
    ),
    "query": "memory[:] = 1\n" + ADD + "while driver.result('cuStreamQuery', stream) != 'SUCCESS': pass\nmemory[:] = 2",
    "two_buffers": (
        "second, other_memory = pinned()\nmemory[:] = 1\n" + ADD + "other_memory[:] = 2\n"
        "launch('add', second, y, ctypes.c_void_p)"
    ),
    "same_values": "memory[:] = 1\n" + ADD + "memory[:] = 1",
    "written_by_kernels": (
        "memory[:] = 1\nlaunch('set', source, 64, ctypes.c_int)\n" + ADD + "launch('set', source, 64, ctypes.c_int)"
    ),
    "written_by_a_copy": "memory[:] = 1\n" + ADD + "driver.cuMemcpyDtoHAsync(source, y, 256, stream)\n" + ADD,
    "polled": "memory[:] = 1\nlaunch('listen', source, y, ctypes.c_void_p)\nmemory[:32] = 2\nmemory[63] = 7",
    "stream_waits_for_a_value": (
        "flag, flags = pinned()\nflags[:] = 0\nmemory[:] = 1\ndriver.cuStreamWaitValue32(stream, flag, 1, 1)\n"
        + ADD + "driver.cuMemcpyHtoDAsync(x, source, 256, stream)\nmemory[:] = 2\nflags[0] = 1"
    ),
    "stream_writes_a_value": (
        "memory[:] = 1\ndriver.cuStreamWriteValue32(stream, source, 9, 0)\n" + ADD
        + "driver.cuStreamWriteValue32(stream, source + 4, 9, 0)"
    ),
    "freed": "memory[:] = 1\n" + ADD + "driver.cuMemFreeHost(source)\nsource, memory = pinned()\nmemory[:] = 9",
    "indirect": (
        "table, entries = pinned()\nentries[:2] = np.array([source], np.int64).view(np.int32)\nmemory[:] = 1\n"
        "launch('through', table, y, ctypes.c_void_p)\ndriver.cuStreamSynchronize(stream)\nentries[:2] = 0"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNWRITTEN)
def test_copy_of_unwritten_memory_to_the_host_is_reported(child, name):
    for checks in ("initialized", "all"):
        assert child(HEAD + "bad = 0\n" + UNWRITTEN[name] + TAIL, CHECK=checks).split() == ["SUCCESS"]
        text = child(
            HEAD + "bad = 1\ntry:\n    " + UNWRITTEN[name].replace("\n", "\n    ") + EXCEPT + TAIL, CHECK=checks
        )
        assert "uninitialized read: copy of 256 bytes to the host, but nobody has written" in text


@pytest.mark.parametrize("name", REUSED)
def test_source_that_the_host_changes_too_early_is_reported(child, name):
    head = HEAD + "source, memory = pinned()\n"
    fine = head + REUSED[name].format(wait="driver.cuStreamSynchronize(stream)") + TAIL
    assert child(fine, CHECK="races").split() == ["SUCCESS"]
    text = child(head + REUSED[name].format(wait="pass") + TAIL, CHECK="races")
    assert (
        "cuMemcpyHtoDAsync" in text and "data race: the host changed the source before it waited for the copy" in text
    )


@pytest.mark.parametrize("name", FINE)
def test_source_that_changes_later_is_not_reported(child, name):
    code = HEAD + "source, memory = pinned()\n" + FINE[name] + TAIL
    assert child(code, CHECK="races").split() == ["SUCCESS"]


@pytest.mark.parametrize("mode", ["eager", "shuffle", "deterministic"])
@pytest.mark.parametrize("name", BESIDE)
def test_host_change_beside_a_kernel_is_reported(child, name, mode):
    head = HEAD + "source, memory = pinned()\n"
    fine = head + BESIDE[name].format(wait="driver.cuStreamSynchronize(stream)") + TAIL
    assert child(fine, CHECK="races", MODE=mode).split() == ["SUCCESS"]
    body = BESIDE[name].format(wait="pass").replace("\n", "\n    ")
    text = child(head + "try:\n    " + body + EXCEPT + TAIL, CHECK="races", MODE=mode)
    assert "kernel add: data race: the host changed memory that the kernel loads before it waited" in text
    assert ":2 in add" in text and "y[threadIdx.x] = x[threadIdx.x] + 1;" in text


@pytest.mark.parametrize("mode", ["eager", "shuffle"])
@pytest.mark.parametrize("name", BESIDE_FINE)
def test_memory_that_the_host_may_change_is_not_reported(child, name, mode):
    code = HEAD + "source, memory = pinned()\n" + BESIDE_FINE[name] + TAIL
    assert child(code, CHECK="races", MODE=mode).split() == ["SUCCESS"]


def test_host_change_without_any_wait_fails_its_own_test(child, tmp_path):
    file = tmp_path / "test_two.py"
    body = BESIDE["one_element"].format(wait="pass").replace("\n", "\n    ")
    file.write_text(
        f"{HEAD}\ndef test_one():\n    source, memory = pinned()\n    {body}\n\n"
        "def test_two():\n    driver.cuCtxSynchronize()\n"
    )
    options = ["-q", "-p", "no:cacheprovider", "--cuda-device=software", str(file)]
    if not entry_points(group="pytest11", name="cuda-emulator"):  # not installed, but built in place
        options += ["-p", "cuda.emulator.pytest_plugin"]
    text = child(f"import pytest\npytest.main({options})", CHECK="races", MODE="deterministic")
    assert "kernel add: data race: the host changed memory" in text
    assert re.search(r"(ERROR|FAILED) .*::test_one", text) and not re.search(r"(ERROR|FAILED) .*::test_two", text)

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory of ``cuMemAlloc`` that another process opens by a handle."""

import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest

CHILD = r"""
import ctypes, sys
from cuda.bindings import driver as d
d.cuInit(0); d.cuCtxSetCurrent(d.cuDevicePrimaryCtxRetain(0)[1])
handle = d.CUipcMemHandle(); ctypes.memmove(handle.getPtr(), bytes.fromhex(sys.argv[1]), 64)
def name(result): return result.name.removeprefix("CUDA_").removeprefix("ERROR_")
def open_it(flags=1): return d.cuIpcOpenMemHandle(handle, flags)
def read(pointer):
    out = bytearray(4); return name(d.cuMemcpyDtoH(out, pointer, 4)[0]), list(out)
"""


@pytest.fixture
def memory(driver, context):
    pointer = driver.cuMemAlloc(1000)
    driver.cuMemsetD8(pointer, 5, 1000)
    driver.cuCtxSynchronize()
    yield int(pointer)
    driver.raw.cuMemFree(pointer)


def content(handle):
    return ctypes.string_at(handle.getPtr(), 64)


def lines_of(handle, code):
    """Return the lines that a process with the handle prints."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-u", "-m", "cuda.emulator", "-c", CHILD + code, content(handle).hex()]
    done = subprocess.run(
        command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, timeout=60
    )
    assert done.returncode == 0, done.stdout
    return done.stdout.splitlines()


def test_another_process_reads_and_writes_memory(driver, memory):
    inner = memory + 100
    handle = driver.cuIpcGetMemHandle(inner)
    assert content(driver.cuIpcGetMemHandle(memory)) == content(handle)
    code = (
        "result, pointer = open_it(); print(name(result), read(pointer))\n"
        "print(d.cuMemGetAddressRange(pointer)[2], int(d.cuMemGetAddressRange(pointer)[1]) == int(pointer))\n"
        "print(int(open_it()[1]) == int(pointer), name(d.cuMemFree(pointer)[0]))\n"
        "d.cuMemsetD8(pointer, 8, 4); d.cuCtxSynchronize()\n"
        "print(*(name(d.cuIpcCloseMemHandle(pointer)[0]) for _ in range(3)))\n"
        "print(read(pointer)[0], name(open_it()[0]))\n"
    )
    expected = ["SUCCESS ('SUCCESS', [5, 5, 5, 5])", "1000 True", "True INVALID_VALUE"]
    expected += ["SUCCESS SUCCESS INVALID_VALUE", "INVALID_VALUE SUCCESS"]
    assert lines_of(handle, code) == expected
    out = np.zeros(4, dtype=np.uint8)
    driver.cuMemcpyDtoH(out.ctypes.data, memory, 4)
    assert out.tolist() == [8] * 4


def test_fresh_memory_keeps_what_another_process_writes(driver, context):
    size = 1 << 20
    pointer = driver.cuMemAlloc(size)
    code = "pointer = open_it()[1]; print(read(pointer)[1]); d.cuMemsetD8(pointer, 8, 1 << 19); d.cuCtxSynchronize()\n"
    assert lines_of(driver.cuIpcGetMemHandle(pointer), code) == ["[253, 253, 253, 253]"]
    out = np.zeros(size, dtype=np.uint8)
    driver.cuMemcpyDtoH(out.ctypes.data, pointer, size)
    assert (out[: size // 2] == 8).all() and (out[size // 2 :] == 253).all()
    driver.cuMemFree(pointer)


def test_kernels_of_another_process_stay_within_memory(driver, memory):
    code = (
        "from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch\n"
        "device = Device(0); device.set_current(); stream = device.create_stream()\n"
        "text = 'extern \"C\" __global__ void put(char* x, int at) { x[at] = 3; }'\n"
        "put = Program(text, 'c++', ProgramOptions(arch=f'sm_{device.arch}')).compile('cubin').get_kernel('put')\n"
        "pointer = int(open_it()[1]); config = LaunchConfig(grid=1, block=1)\n"
        "import numpy as np\n"
        "launch(stream, config, put, pointer, np.int32(999)); stream.sync(); print(read(pointer + 996)[1])\n"
        "launch(stream, config, put, pointer, np.int32(1000))\n"
        "try: stream.sync()\n"
        "except Exception as error: print(error)\n"
    )
    got = lines_of(driver.cuIpcGetMemHandle(memory), code)
    assert got[0] == "[5, 5, 5, 3]" and "ILLEGAL_ADDRESS" in got[1]
    assert any("1000 bytes" in line for line in got[2:])  # the report has the size of the memory


def test_freed_memory_cannot_be_opened(driver, memory):
    handle = driver.cuIpcGetMemHandle(memory)
    pid = os.getpid()
    files = set(os.listdir(f"/proc/{pid}/fd"))
    driver.cuMemFree(memory)
    assert len(files - set(os.listdir(f"/proc/{pid}/fd"))) == 1
    assert lines_of(handle, "print(name(open_it()[0]))") == ["INVALID_VALUE"]
    assert driver.result("cuIpcGetMemHandle", memory) == "INVALID_VALUE"


def test_invalid_handles_and_memory_are_rejected(driver, context, memory):
    handle = driver.cuIpcGetMemHandle(memory)
    assert driver.result("cuIpcOpenMemHandle", handle, 1) == "INVALID_CONTEXT"  # of this process
    assert driver.result("cuIpcOpenMemHandle", handle, 0) == "INVALID_VALUE"
    assert driver.result("cuIpcOpenMemHandle", driver.CUipcMemHandle(), 1) == "INVALID_VALUE"
    assert driver.result("cuIpcCloseMemHandle", memory) == "INVALID_VALUE"
    assert driver.result("cuIpcGetMemHandle", 12345) == "INVALID_VALUE"
    pinned = driver.cuMemAllocHost(100)
    assert driver.result("cuIpcGetMemHandle", int(pinned)) == "INVALID_VALUE"
    driver.cuMemFreeHost(pinned)
    stream = driver.cuStreamCreate(1)
    pooled = driver.cuMemAllocAsync(100, stream)
    assert driver.result("cuIpcGetMemHandle", int(pooled)) == "INVALID_VALUE"
    driver.cuMemFreeAsync(pooled, stream)
    driver.cuStreamSynchronize(stream)


def test_attribute_tells_whether_memory_can_be_shared(driver, memory):
    attribute = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE
    assert driver.cuPointerGetAttribute(attribute, memory) == 1
    managed = driver.cuMemAllocManaged(64, 1)
    assert driver.cuPointerGetAttribute(attribute, int(managed)) == 0
    driver.cuMemFree(managed)


def test_opened_memory_is_closed_with_first_importing_context(driver, memory):
    code = (
        "pointer = open_it()[1]; context = d.cuCtxCreate(None, 0, 0)[1]\n"
        "print(int(open_it()[1]) == int(pointer))\n"
        "d.cuCtxPopCurrent(); d.cuCtxDestroy(context); print(read(pointer)[0])\n"
        "d.cuDevicePrimaryCtxReset(0); d.cuCtxSetCurrent(d.cuDevicePrimaryCtxRetain(0)[1]); print(read(pointer)[0])\n"
    )
    assert lines_of(driver.cuIpcGetMemHandle(memory), code) == ["True", "SUCCESS", "INVALID_VALUE"]

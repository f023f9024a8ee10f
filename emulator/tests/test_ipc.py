# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Pools, memory and events shared by processes, with results that an H200 returned."""

import array
import ctypes
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from support.driver import pool_properties

CHILD = r"""
import array, ctypes, os, socket, sys
from cuda.bindings import driver as d
d.cuInit(0); d.cuCtxSetCurrent(d.cuDevicePrimaryCtxRetain(0)[1])
FD = d.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
line = socket.socket(fileno=int(sys.argv[1]))
def name(result): return result.name.removeprefix("CUDA_").removeprefix("ERROR_")
message, extra, *_ = line.recvmsg(4096, socket.CMSG_SPACE(4))
file = array.array("i", extra[0][2])[0]
result, pool = d.cuMemPoolImportFromShareableHandle(file, FD, 0); os.close(file); assert result == 0, result
stream = d.cuStreamCreate(1)[1]
data = d.CUmemPoolPtrExportData(); ctypes.memmove(data.getPtr(), message[:64], 64)
handle = d.CUipcEventHandle(); ctypes.memmove(handle.getPtr(), message[64:128], 64)
def read(pointer):
    out = bytearray(4); return name(d.cuMemcpyDtoH(out, pointer, 4)[0]), list(out)
"""


@pytest.fixture
def kind(driver):
    return driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR


@pytest.fixture
def pool(driver, context, kind):
    shared = pool_properties(driver)
    shared.handleTypes = kind
    pool = driver.cuMemPoolCreate(shared)
    yield pool
    driver.raw.cuMemPoolDestroy(pool)


@pytest.fixture
def memory(driver, pool, queue):
    pointer = driver.cuMemAllocFromPoolAsync(1000, pool, queue)
    driver.cuMemsetD8Async(pointer, 5, 1000, queue)
    driver.cuStreamSynchronize(queue)
    yield int(pointer)
    driver.cuMemFreeAsync(pointer, queue)
    driver.cuStreamSynchronize(queue)


@pytest.fixture
def event(driver, context):
    return driver.cuEventCreate(6)


@pytest.fixture
def other(driver, pool, memory, event, kind):
    """Return a function that runs code in a process with the pool, the memory's export data and the event's handle."""
    ends = []

    def run(code):
        ours, theirs = socket.socketpair()
        ends.append(ours)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        text = CHILD + code
        process = subprocess.Popen(
            [sys.executable, "-m", "cuda.emulator", "-c", text, str(theirs.fileno())],
            pass_fds=[theirs.fileno()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment,
        )  # fmt: skip
        theirs.close()
        file = int(driver.cuMemPoolExportToShareableHandle(pool, kind, 0))
        message = ctypes.string_at(driver.cuMemPoolExportPointer(memory).getPtr(), 64)
        message += ctypes.string_at(driver.cuIpcGetEventHandle(event).getPtr(), 64)
        ours.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file]))])
        os.close(file)
        return ours, process

    yield run
    for end in ends:
        end.close()


def finish(process):
    text = process.communicate(timeout=30)[0]
    assert process.returncode == 0, text
    return text.splitlines()


def read(driver, pointer):
    out = np.zeros(4, dtype=np.uint8)
    driver.cuMemcpyDtoH(out.ctypes.data, pointer, 4)
    return out.tolist()


def test_another_process_reads_and_writes_memory(driver, memory, other):
    _, process = other(
        "pointer = d.cuMemPoolImportPointer(pool, data)[1]; print(read(pointer))\n"
        "d.cuMemsetD8(pointer, 8, 4); d.cuCtxSynchronize(); print(d.cuMemGetAddressRange(pointer)[2])"
    )
    assert finish(process) == ["('SUCCESS', [5, 5, 5, 5])", "1000"]
    assert read(driver, memory) == [8] * 4


def test_imports_of_same_memory_share_one_mapping(driver, other):
    _, process = other(
        "a, b = (d.cuMemPoolImportPointer(pool, data)[1] for _ in range(2)); print(int(a) == int(b))\n"
        "print(name(d.cuMemPoolDestroy(pool)[0])); print(name(d.cuMemFreeAsync(a, stream)[0]))\n"
        "d.cuStreamSynchronize(stream); print(read(a)[0], name(d.cuMemFree(b)[0]))\n"
        "c = d.cuMemPoolImportPointer(pool, data)[1]; print(int(c) == int(a), read(c)[0]); d.cuMemFree(c)\n"
        "print(name(d.cuMemPoolDestroy(pool)[0]))"
    )
    expected = ["True", "INVALID_VALUE", "SUCCESS", "INVALID_VALUE INVALID_VALUE", "True SUCCESS", "SUCCESS"]
    assert finish(process) == expected


def test_imported_pool_cannot_allocate_trim_or_export(driver, other):
    _, process = other(
        "print(name(d.cuMemAllocFromPoolAsync(64, pool, stream)[0]), name(d.cuMemPoolTrimTo(pool, 0)[0]))\n"
        "print(name(d.cuMemPoolExportToShareableHandle(pool, FD, 0)[0]))\n"
        "print(name(d.cuMemPoolGetAttribute(pool, d.CUmemPool_attribute(4))[0]))\n"
        "bad = d.CUmemPoolPtrExportData(); print(name(d.cuMemPoolImportPointer(pool, bad)[0]))"
    )
    assert finish(process) == ["INVALID_VALUE INVALID_VALUE", *["INVALID_VALUE"] * 3]


def test_imported_memory_outlives_the_exporting_pool(driver, kind, context, queue):
    shared = pool_properties(driver)
    shared.handleTypes = kind
    pool = driver.cuMemPoolCreate(shared)
    pointer = driver.cuMemAllocFromPoolAsync(64, pool, queue)
    driver.cuMemsetD8Async(pointer, 3, 64, queue)
    driver.cuStreamSynchronize(queue)
    file = int(driver.cuMemPoolExportToShareableHandle(pool, kind, 0))
    imported = driver.cuMemPoolImportFromShareableHandle(file, kind, 0)
    os.close(file)
    there = driver.cuMemPoolImportPointer(imported, driver.cuMemPoolExportPointer(pointer))
    driver.cuMemFree(pointer)
    driver.cuMemPoolDestroy(pool)
    assert read(driver, there) == [3] * 4
    driver.cuMemFree(there)
    driver.cuMemPoolDestroy(imported)


def test_memory_can_be_imported_again_while_a_free_is_pending(driver, other):
    _, process = other(
        "flag = d.cuMemHostAlloc(4, 0)[1]; place = ctypes.c_uint32.from_address(flag); place.value = 0\n"
        "a = d.cuMemPoolImportPointer(pool, data)[1]; d.cuStreamWaitValue32(stream, flag, 1, 1)\n"
        "d.cuMemFreeAsync(a, stream); b = d.cuMemPoolImportPointer(pool, data)[1]; print(int(a) == int(b))\n"
        "place.value = 1; d.cuStreamSynchronize(stream); print(read(b)); print(name(d.cuMemFree(b)[0]), read(b)[0])\n"
        "print(name(d.cuMemPoolDestroy(pool)[0]))"
    )
    assert finish(process) == ["True", "('SUCCESS', [5, 5, 5, 5])", "SUCCESS INVALID_VALUE", "SUCCESS"]


def test_events_order_work_of_two_processes(driver, memory, event, queue, other, kernel):
    flag = driver.cuMemHostAlloc(8, 0)
    numbers = (ctypes.c_int32 * 2).from_address(flag)
    numbers[0] = 0
    values = (flag, flag + 4), (ctypes.c_void_p, ctypes.c_void_p)
    driver.cuLaunchKernel(kernel("wait_for"), 1, 1, 1, 1, 1, 1, 0, queue, values, 0)
    driver.cuMemsetD8Async(memory, 9, 4, queue)
    driver.cuEventRecord(event, queue)
    line, process = other(
        "result, event = d.cuIpcOpenEventHandle(handle); print(name(result), name(d.cuEventQuery(event)[0]))\n"
        "pointer = d.cuMemPoolImportPointer(pool, data)[1]; d.cuStreamWaitEvent(stream, event, 0)\n"
        "second = d.cuMemAlloc(4)[1]; d.cuMemcpyDtoDAsync(second, pointer, 4, stream); line.send(b'x')\n"
        "d.cuStreamSynchronize(stream); print(read(second), name(d.cuEventQuery(event)[0]))\n"
        "print(name(d.cuIpcGetEventHandle(event)[0])); d.cuEventRecord(event, stream); d.cuEventSynchronize(event)"
    )
    assert line.recv(1) == b"x"
    numbers[0] = 1
    assert finish(process) == ["SUCCESS NOT_READY", "('SUCCESS', [9, 9, 9, 9]) SUCCESS", "INVALID_HANDLE"]
    driver.cuEventSynchronize(event)
    driver.cuMemFreeHost(flag)


def test_invalid_exports_and_imports_are_rejected(driver, context, pool, kind, memory, event):
    plain = driver.cuMemPoolCreate(pool_properties(driver))
    assert driver.result("cuMemPoolExportToShareableHandle", plain, kind, 0) == "INVALID_VALUE"
    driver.cuMemPoolDestroy(plain)
    assert driver.result("cuMemPoolExportPointer", memory + 8) == "INVALID_VALUE"
    file = os.open("/dev/null", os.O_RDWR)
    assert driver.result("cuMemPoolImportFromShareableHandle", file, kind, 0) == "UNKNOWN"
    os.close(file)
    assert driver.result("cuMemPoolImportFromShareableHandle", file, kind, 0) == "UNKNOWN"
    assert driver.result("cuEventCreate", 4) == "INVALID_VALUE"
    assert driver.result("cuIpcGetEventHandle", driver.cuEventCreate(2)) == "INVALID_HANDLE"
    assert driver.result("cuIpcOpenEventHandle", driver.cuIpcGetEventHandle(event)) == "INVALID_CONTEXT"
    assert driver.result("cuIpcOpenEventHandle", driver.CUipcEventHandle()) == "INVALID_VALUE"


def test_exporting_an_event_needs_a_current_context(driver, context, event):
    def export():
        before = driver.result("cuIpcGetEventHandle", event)
        driver.cuCtxSetCurrent(context)
        return before, driver.result("cuIpcGetEventHandle", event)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(export).result() == ("INVALID_CONTEXT", "SUCCESS")


def test_exports_and_imports_leak_no_descriptor(driver, context, pool, kind, queue):
    before = set(os.listdir("/proc/self/fd"))
    for _ in range(200):
        pointer = driver.cuMemAllocFromPoolAsync(4096, pool, queue)
        file = int(driver.cuMemPoolExportToShareableHandle(pool, kind, 0))
        imported = driver.cuMemPoolImportFromShareableHandle(file, kind, 0)
        os.close(file)
        driver.cuMemFree(driver.cuMemPoolImportPointer(imported, driver.cuMemPoolExportPointer(pointer)))
        driver.cuMemPoolDestroy(imported)
        driver.cuMemFreeAsync(pointer, queue)
    driver.cuStreamSynchronize(queue)
    assert set(os.listdir("/proc/self/fd")) <= before


@pytest.mark.parametrize("write", ["copy", "fill"])
def test_queued_write_completes_after_imported_memory_is_freed(driver, pool, memory, queue, kind, write):
    file = driver.cuMemPoolExportToShareableHandle(pool, kind, 0)
    imported = driver.cuMemPoolImportFromShareableHandle(file, kind, 0)
    os.close(file)
    there = driver.cuMemPoolImportPointer(imported, driver.cuMemPoolExportPointer(memory))
    source, gate, other = driver.cuMemAlloc(1000), driver.cuMemAlloc(4), driver.cuStreamCreate(1)
    driver.cuMemsetD8(source, 8, 1000)
    driver.cuMemsetD32(gate, 0, 1)
    driver.cuCtxSynchronize()
    driver.cuStreamWaitValue32(queue, gate, 1, 0)
    if write == "copy":
        driver.cuMemcpyDtoDAsync(there, source, 1000, queue)
    else:
        driver.cuMemsetD8Async(there, 8, 1000, queue)
    driver.cuMemFreeAsync(there, other)
    driver.cuStreamSynchronize(other)
    driver.cuMemPoolDestroy(imported)
    driver.cuMemsetD32Async(gate, 1, 1, other)
    driver.cuStreamSynchronize(queue)
    back = np.zeros(1000, "u1")
    driver.cuMemcpyDtoH(back.ctypes.data, memory, 1000)
    assert (back == 8).all()
    driver.cuMemFree(source)
    driver.cuMemFree(gate)

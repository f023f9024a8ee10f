# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory and semaphores of other interfaces, attributes of streams, and other calls that need no kernel."""

import ctypes
import os

import pytest


@pytest.fixture
def file():
    """A file that stands in for the memory or the semaphore of another interface."""
    number = os.memfd_create("exported")
    os.truncate(number, 8192)
    yield number
    os.close(number)


@pytest.fixture
def stream(driver, context):
    stream = driver.cuStreamCreate(1)
    yield stream
    driver.cuStreamDestroy(stream)


def import_memory(driver, file, size):
    description = driver.CUDA_EXTERNAL_MEMORY_HANDLE_DESC()
    description.type = driver.CUexternalMemoryHandleType.CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD
    description.handle.fd = os.dup(file)
    description.size = size
    return driver.cuImportExternalMemory(description)


def import_semaphore(driver, file):
    description = driver.CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC()
    kinds = driver.CUexternalSemaphoreHandleType
    description.type = kinds.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD
    description.handle.fd = os.dup(file)
    return driver.cuImportExternalSemaphore(description)


def test_mapped_memory_outlives_its_object(driver, context, file):
    memory = import_memory(driver, file, 8192)
    description = driver.CUDA_EXTERNAL_MEMORY_BUFFER_DESC()
    description.offset, description.size = 4096, 16
    pointer = driver.cuExternalMemoryGetMappedBuffer(memory, description)
    driver.cuDestroyExternalMemory(memory)
    driver.cuMemsetD8(pointer, 5, 16)
    driver.cuCtxSynchronize()
    assert os.pread(file, 17, 4096) == b"\5" * 16 + b"\0"
    driver.cuMemFree(pointer)
    assert driver.result("cuMemFree", pointer) == "INVALID_VALUE"
    assert driver.result("cuDestroyExternalMemory", memory) == "INVALID_HANDLE"


def test_range_beyond_the_memory_is_rejected(driver, context, file):
    memory = import_memory(driver, file, 8192)
    description = driver.CUDA_EXTERNAL_MEMORY_BUFFER_DESC()
    for description.offset, description.size in ((0, 8193), (8192, 1), (0, 0)):
        assert driver.result("cuExternalMemoryGetMappedBuffer", memory, description) == "INVALID_VALUE"
    driver.cuDestroyExternalMemory(memory)


def test_streams_signal_and_wait_for_a_counter(driver, context, stream, file):
    semaphore = import_semaphore(driver, file)
    wait, signal = driver.CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS(), driver.CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS()
    wait.params.fence.value, signal.params.fence.value = 2, 9
    driver.cuWaitExternalSemaphoresAsync([semaphore], [wait], 1, stream)
    driver.cuSignalExternalSemaphoresAsync([semaphore], [signal], 1, stream)
    assert driver.result("cuStreamQuery", stream) == "NOT_READY"
    os.pwrite(file, (2).to_bytes(8, "little"), 0)
    driver.cuStreamSynchronize(stream)
    assert os.pread(file, 8, 0) == (9).to_bytes(8, "little")
    driver.cuDestroyExternalSemaphore(semaphore)


def test_attributes_of_streams_are_kept_and_copied(driver, context, stream):
    ids = driver.CUstreamAttrID
    value = driver.CUstreamAttrValue()
    value.syncPolicy = driver.CUsynchronizationPolicy.CU_SYNC_POLICY_YIELD
    policy, cooperative = ids.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, ids.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
    driver.cuStreamSetAttribute(stream, policy, value)
    other = driver.cuStreamCreate(1)
    driver.cuStreamCopyAttributes(other, stream)
    assert driver.cuStreamGetAttribute(other, policy).syncPolicy == value.syncPolicy
    assert driver.result("cuStreamSetAttribute", stream, cooperative, value) == "INVALID_VALUE"
    driver.cuStreamDestroy(other)


def test_streams_of_a_context_wait_for_an_event(driver, context, stream):
    flag = driver.cuMemHostAlloc(4, 0)
    held, event = driver.cuStreamCreate(1), driver.cuEventCreate(2)
    ctypes.c_uint32.from_address(int(flag)).value = 0
    driver.cuStreamWaitValue32(held, flag, 1, 0)
    driver.cuEventRecord(event, held)
    driver.cuCtxWaitEvent(context, event)
    assert driver.result("cuStreamQuery", stream) in ("SUCCESS", "NOT_READY")
    mark = driver.cuEventCreate(2)
    driver.cuEventRecord(mark, stream)
    assert driver.result("cuEventQuery", mark) == "NOT_READY"
    ctypes.c_uint32.from_address(int(flag)).value = 1  # a call of the driver would wait, too
    driver.cuEventSynchronize(mark)
    for each in (event, mark):
        driver.cuEventDestroy(each)
    driver.cuStreamDestroy(held)
    driver.cuMemFreeHost(flag)


def test_ids_for_tools_are_unique(driver, context):
    graph = driver.cuGraphCreate(0)
    nodes = [driver.cuGraphAddEmptyNode(graph, None, 0) for _ in range(2)]
    assert len({driver.cuGraphNodeGetToolsId(node) for node in nodes}) == 2
    driver.cuGraphDestroy(graph)

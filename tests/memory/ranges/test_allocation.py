# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Allocations and frees in all forms, checked with the driver's counters of pools."""

import gc
import sys
import threading

import pytest
from cuda.bindings import driver

from cuda.core._memory import DeviceMemoryResource
from cuda.core._memory import _memory_resource as _allocation
from cuda.core._stream import LEGACY_DEFAULT_STREAM
from cuda.core._utils.cuda_utils import CUDAError, OutOfMemoryError, handle_return

MIB = 1 << 20


@pytest.fixture
def pool(device):
    """A pool of its own, whose counters count only the test's allocations."""
    return DeviceMemoryResource(device, {"max_size": 0})


@pytest.mark.parametrize("allocate", [_allocation.allocate_pinned, lambda size: _allocation.allocate_device(size, 0)])
@pytest.mark.parametrize(("size", "error"), [(-1, OverflowError), (1.5, TypeError), ("1", TypeError)])
def test_bad_sizes_are_refused_without_a_driver(allocate, size, error):
    with pytest.raises(error, match="size"):
        allocate(size)


def test_allocations_of_0_bytes_need_no_driver():
    assert _allocation.allocate_pinned(0) == 0
    assert _allocation.allocate_device(0, 0) == 0
    assert _allocation.free_pinned(0) is None
    assert _allocation.free_device(0, 0) is None
    assert _allocation.free_async(0, LEGACY_DEFAULT_STREAM) is None


@pytest.mark.requires(mempool=True)
@pytest.mark.parametrize("end", ["close", "drop", "with", "close on another stream"])
def test_freeing_returns_the_memory_to_the_pool(device, stream, pool, end):
    before = pool.attributes.used_mem_current
    buffer = pool.allocate(MIB, stream=stream)
    assert pool.attributes.used_mem_current >= before + MIB
    if end == "close":
        buffer.close()
    elif end == "with":
        with buffer:
            pass
    elif end == "close on another stream":
        stream.sync()
        other = device.create_stream()
        buffer.close(other)
        other.sync()
    del buffer
    stream.sync()
    assert pool.attributes.used_mem_current == before


@pytest.mark.requires(mempool=True)
def test_thousand_rounds_leak_nothing(stream, pool):
    before = pool.attributes.used_mem_current
    for _ in range(1000):
        pool.allocate(4096, stream=stream).close()
        pool.allocate(4096, stream=stream)
    gc.collect()
    stream.sync()
    assert pool.attributes.used_mem_current == before


@pytest.mark.requires(mempool=True)
def test_closed_pool_lives_until_its_last_buffer(stream, pool):
    buffer = pool.allocate(MIB, stream=stream)
    attributes = pool.attributes
    pool.close()
    buffer.fill(1, stream=stream)
    stream.sync()
    assert attributes.used_mem_current >= MIB
    buffer.close()
    stream.sync()
    assert attributes.used_mem_current == 0


@pytest.mark.requires(mempool=True)
def test_closed_stream_still_orders_the_free(device, pool):
    stream = device.create_stream()
    buffer = pool.allocate(MIB, stream=stream)
    buffer.fill(1, stream=stream)
    stream.close()
    buffer.close()
    device.sync()
    assert pool.attributes.used_mem_current == 0


@pytest.mark.requires(mempool=True)
def test_memory_of_a_default_stream_is_freed_on_any_thread(device, pool):
    held = [pool.allocate(MIB, stream=LEGACY_DEFAULT_STREAM)]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    device.sync()
    assert pool.attributes.used_mem_current == 0


@pytest.mark.requires(mempool=True)
def test_threads_without_a_context_allocate_on_a_stream(stream, pool):
    sizes = []

    def work():
        for _ in range(50):
            buffer = pool.allocate(4096, stream=stream)
            buffer.fill(1, stream=stream)
            sizes.append(buffer.size)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stream.sync()
    assert sizes == [4096] * 400
    assert pool.attributes.used_mem_current == 0


@pytest.mark.requires(mempool=True)
def test_default_stream_without_context_is_refused(pool):
    errors = []

    def work():
        try:
            pool.allocate(8, stream=LEGACY_DEFAULT_STREAM)
        except RuntimeError as error:
            errors.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(errors) == 1
    assert "set_current" in errors[0]


def test_impossible_size_is_out_of_memory(device, stream):
    with pytest.raises(OutOfMemoryError, match="OUT_OF_MEMORY") as caught:
        device.allocate(1 << 50, stream=stream)
    assert isinstance(caught.value, MemoryError)
    assert caught.value.code == 2
    assert 0 < caught.value.free <= caught.value.total
    assert f"{caught.value.free} of its {caught.value.total} bytes free" in str(caught.value)
    with pytest.raises(OutOfMemoryError):
        _allocation.allocate_device(1 << 50, 0)
    with pytest.raises(CUDAError):
        _allocation.allocate_pinned(1 << 50)


@pytest.mark.requires(mempool=True)
def test_failed_free_warns_with_size_and_address(stream, pool):
    buffer = pool.allocate(4096, stream=stream)
    address = buffer.handle
    _allocation.free_async(address, stream)
    stream.sync()
    with pytest.warns(ResourceWarning, match=f"4096 bytes at {address:#x} failed: CUDA_ERROR_INVALID_VALUE"):
        buffer.close()


@pytest.mark.requires(mempool=True)
@pytest.mark.parametrize("mode", ["GLOBAL", "RELAXED"])
def test_freeing_on_a_capturing_stream_waits_for_the_end_of_the_capture(stream, pool, mode):
    used = pool.attributes.used_mem_current
    buffer = pool.allocate(4096, stream=stream)
    c_mode = getattr(driver.CUstreamCaptureMode, f"CU_STREAM_CAPTURE_MODE_{mode}")
    handle_return(driver.cuStreamBeginCapture(stream.handle, c_mode))
    buffer.close()
    assert pool.attributes.used_mem_current >= used + 4096
    handle_return(driver.cuGraphDestroy(handle_return(driver.cuStreamEndCapture(stream.handle))))
    # This library did not begin the capture, so the next allocation does the pending free.
    pool.allocate(4096, stream=stream).close()
    stream.sync()
    assert pool.attributes.used_mem_current == used


@pytest.mark.requires(mempool=True)
def test_failed_free_is_reported_if_warnings_are_errors(stream, pool, monkeypatch):
    reports = []
    monkeypatch.setattr(sys, "unraisablehook", lambda report: reports.append(str(report.exc_value)))
    buffer = pool.allocate(4096, stream=stream)
    _allocation.free_async(buffer.handle, stream)
    stream.sync()
    buffer.close()
    assert len(reports) == 1
    assert "4096 bytes" in reports[0]


@pytest.mark.requires(mempool=True)
def test_freeing_a_wrong_address_raises(stream, pool):
    with pytest.raises(CUDAError, match="cuMemFreeAsync"):
        pool.deallocate(4096, 8, stream=stream)

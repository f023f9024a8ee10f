# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The base class of all resources, pointer information, locations, and allocations with their frees."""

import gc
import threading
import weakref

import numpy as np
import pytest
from cuda.bindings import driver

from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    Buffer,
    CUDAError,
    CUDAWarning,
    Device,
    DeviceMemoryResource,
    LegacyPinnedMemoryResource,
    MemoryResource,
    OutOfMemoryError,
)
from support.bindings import call_driver, handle_return
from support.interpreter import run
from support.memory import HostMemoryResource, _SynchronousMemoryResource


@pytest.mark.parametrize(
    "use",
    [
        lambda mr: mr.allocate(8, stream=LEGACY_DEFAULT_STREAM),
        lambda mr: mr.deallocate(4096, 8, stream=LEGACY_DEFAULT_STREAM),
        lambda mr: mr.is_device_accessible,
        lambda mr: mr.is_host_accessible,
        lambda mr: mr.device_id,
    ],
)
def test_resource_without_members_rejects_everything(use):
    class Incomplete(MemoryResource):
        pass

    for mr in (MemoryResource(), Incomplete()):
        with pytest.raises(TypeError, match=type(mr).__name__):
            use(mr)
    assert MemoryResource().is_managed is False


def test_resources_compare_by_identity():
    first, second = HostMemoryResource(), HostMemoryResource()
    assert first == first
    assert first != second
    assert len({first, second}) == 2
    assert weakref.ref(first)() is first


def test_error_names_the_class_and_the_missing_member():
    class Incomplete(MemoryResource):
        pass

    with pytest.raises(TypeError, match=r"Incomplete must define allocate\(\), as every memory resource does"):
        Incomplete().allocate(8, stream=LEGACY_DEFAULT_STREAM)


def shown(buffer):
    return buffer.device_id, buffer.is_device_accessible, buffer.is_host_accessible, buffer.is_managed


def test_address_unknown_to_the_driver_is_host_memory():
    array = np.zeros(8, np.uint8)
    assert shown(Buffer.from_handle(array.ctypes.data, 8, owner=array)) == (-1, False, True, False)


def test_device_memory_is_not_host_accessible(device, stream):
    buffer = device.allocate(64, stream=stream)
    assert shown(Buffer.from_handle(int(buffer.handle), 64, owner=buffer)) == (device.device_id, True, False, False)


def test_pinned_memory_is_accessible_from_both_sides(device):
    buffer = LegacyPinnedMemoryResource().allocate(64)
    _, *rest = shown(Buffer.from_handle(int(buffer.handle), 64, owner=buffer))
    assert rest == [True, True, False]


@pytest.mark.requires(mempool=True)
def test_slice_has_the_properties_of_its_allocation(device, stream):
    buffer = Device().allocate(64, stream=stream)
    assert shown(Buffer.from_handle(int(buffer.handle), 64, owner=buffer)[32:]) == (
        device.device_id,
        True,
        False,
        False,
    )


MIB = 1 << 20


@pytest.fixture
def pool(device):
    """A private pool, whose counters count only the test's allocations."""
    return DeviceMemoryResource(device, {"max_size": 0})


SYNCHRONOUS = [LegacyPinnedMemoryResource(), _SynchronousMemoryResource(0)]


@pytest.mark.parametrize("mr", SYNCHRONOUS)
@pytest.mark.parametrize(("size", "error"), [(-1, OverflowError), (1.5, TypeError), ("1", TypeError)])
def test_bad_sizes_are_rejected_without_a_driver(mr, size, error):
    with pytest.raises(error, match="size"):
        mr.allocate(size)


@pytest.mark.parametrize("mr", SYNCHRONOUS)
def test_allocations_of_0_bytes_need_no_driver(mr):
    assert mr.allocate(0).handle == 0
    assert mr.deallocate(0, 0, stream=LEGACY_DEFAULT_STREAM) is None


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
def test_default_stream_without_context_is_rejected(pool):
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
        _SynchronousMemoryResource(0).allocate(1 << 50)
    with pytest.raises(CUDAError):
        LegacyPinnedMemoryResource().allocate(1 << 50)


@pytest.mark.requires(mempool=True)
def test_failed_free_warns_with_size_and_address(stream, pool):
    buffer = pool.allocate(4096, stream=stream)
    address = buffer.handle
    call_driver("cuMemFreeAsync", address, stream.handle)
    stream.sync()
    with pytest.warns(CUDAWarning, match=f"4096 bytes at {address:#x} failed: CUDA_ERROR_INVALID_VALUE"):
        buffer.close()


@pytest.mark.requires(mempool=True)
@pytest.mark.parametrize("mode", ["GLOBAL", "RELAXED"])
def test_freeing_on_a_capturing_stream_waits_for_the_capture_end(stream, pool, mode):
    used = pool.attributes.used_mem_current
    buffer = pool.allocate(4096, stream=stream)
    c_mode = getattr(driver.CUstreamCaptureMode, f"CU_STREAM_CAPTURE_MODE_{mode}")
    handle_return(driver.cuStreamBeginCapture(stream.handle, c_mode))
    buffer.close()
    assert pool.attributes.used_mem_current >= used + 4096
    handle_return(driver.cuGraphDestroy(handle_return(driver.cuStreamEndCapture(stream.handle))))
    # This library did not begin the capture, so the next synchronization does the pending free.
    stream.sync()
    assert pool.attributes.used_mem_current == used


@pytest.mark.requires(mempool=True)
def test_failed_free_is_reported_if_warnings_are_errors(stream, pool, unraisable):
    buffer = pool.allocate(4096, stream=stream)
    call_driver("cuMemFreeAsync", buffer.handle, stream.handle)
    stream.sync()
    buffer.close()
    assert len(unraisable) == 1
    assert "4096 bytes" in unraisable[0].text


@pytest.mark.requires(mempool=True)
def test_freeing_a_wrong_address_raises(stream, pool):
    with pytest.raises(CUDAError, match="cuMemFreeAsync"):
        pool.deallocate(4096, 8, stream=stream)


# A process without a driver. On a machine with one, it is not used.
USES_WITHOUT_A_DRIVER = {
    "close": "mr.allocate(64).close()",
    "drop": "mr.allocate(64)",
    "slice": "part = mr.allocate(64)[8:16]; del part",
    "context manager": "with mr.allocate(64) as buffer: pass",
    "another thread": "threading.Thread(target=mr.allocate(64).close).start()",
    "garbage": "loop = [mr.allocate(64)]; loop.append(loop); del loop; gc.collect()",
    "exit": "kept = mr.allocate(64)",
    "two": "a, b = mr.allocate(64), mr.allocate(64); b.close(); a.close()",
    "tracking": "cuda.core.StatisticsMemoryResource(mr).allocate(64, stream=cuda.core.LEGACY_DEFAULT_STREAM).close()",
    "caching": "cuda.core.CachingMemoryResource(mr).allocate(64, stream=cuda.core.LEGACY_DEFAULT_STREAM).close()",
}


@pytest.mark.parametrize("use", USES_WITHOUT_A_DRIVER)
def test_host_buffer_is_released_without_a_driver(use):
    program = f"""
import cuda.core, gc, sys, threading
from support.memory import HostMemoryResource

class HostResource(HostMemoryResource):
    def allocate(self, size, *, stream=None):
        return super().allocate(size, stream=stream)

    def deallocate(self, ptr, size, *, stream=None):
        print("freed")
        super().deallocate(ptr, size, stream=stream)

def report(unraisable):
    print(unraisable.exc_value)

sys.unraisablehook = report
mr = HostResource()
{USES_WITHOUT_A_DRIVER[use]}
"""
    lines = run(program, CUDA_CORE_DEVICE="hardware").splitlines()
    assert set(lines) == {"freed"} or (use == "exit" and not lines)

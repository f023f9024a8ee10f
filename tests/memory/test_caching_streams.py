# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The cache of freed memory over a device: work that still uses it, other streams, captures, threads."""

import contextlib
import gc
import threading

import pytest
from cuda.bindings import driver

from cuda.core import (
    CachingMemoryResource,
    DeviceMemoryResource,
    LegacyPinnedMemoryResource,
    StatisticsMemoryResource,
)
from cuda.core._utils.cuda_utils import handle_return
from support.graphs import capture
from support.memory import allocate_and_free, read
from support.threads import in_thread
from support.work import busy


@pytest.fixture
def pool(device):
    """A pool of its own, with statistics."""
    return StatisticsMemoryResource(DeviceMemoryResource(device, {}))


@pytest.fixture
def cache(pool):
    """A cache over memory of the device."""
    return CachingMemoryResource(pool)


@pytest.mark.requires(mempool=True)
def test_busy_stream_reuses_its_own_memory_at_once(stream, cache, pool):
    buffer = cache.allocate(4096, stream=stream)
    with busy(stream):
        buffer.fill(1, stream=stream)
        address = buffer.handle
        buffer.close()
        assert allocate_and_free(cache, 4096, stream) == address
    assert pool.statistics.total_count == 1
    stream.sync()
    cache.close()


@pytest.mark.requires(mempool=True)
def test_other_stream_waits_for_the_work_before_the_free(device, stream, cache, pool):
    other = device.create_stream()
    buffer = cache.allocate(4096, stream=stream)
    address = buffer.handle
    with busy(stream) as release:
        buffer.fill(1, stream=stream)
        buffer.close()
        held = [cache.allocate(4096, stream=other) for _ in range(2)]
        assert address not in [buffer.handle for buffer in held]
        release()
        stream.sync()
        late = cache.allocate(4096, stream=other)
        assert late.handle == address
    assert pool.statistics.total_count == 3
    for buffer in (*held, late):
        buffer.close()
    assert cache.cached_bytes == 3 * 4096
    other.sync()
    cache.close()


@pytest.mark.requires(mempool=True)
def test_memory_of_a_busy_stream_is_reused_by_others_after_the_work_before_its_free(device, stream, cache):
    other = device.create_stream()
    address = allocate_and_free(cache, 4096, stream)
    with busy(stream) as release:
        # The event is recorded here, between the first and the second work.
        held = cache.allocate(4096, stream=other)
        assert held.handle != address
        with busy(stream):
            release()
            while (late := cache.allocate(4096, stream=other)).handle != address:
                late.close()
                held = [held, cache.allocate(4096, stream=other)]
            assert not stream.is_done
    stream.sync()
    del held, late
    gc.collect()
    other.sync()
    cache.close()


@pytest.mark.requires(mempool=True)
def test_memory_freed_after_the_event_is_not_reused_by_others(device, stream, cache):
    other = device.create_stream()
    first, second = (cache.allocate(4096, stream=stream) for _ in range(2))
    early, late = first.handle, second.handle
    with busy(stream) as release:
        first.close()
        held = [cache.allocate(4096, stream=other)]
        with busy(stream):
            second.close()
            release()
            for _ in range(100):
                held.append(cache.allocate(4096, stream=other))
            addresses = {buffer.handle for buffer in held}
            assert late not in addresses
    stream.sync()
    held.append(cache.allocate(4096, stream=other))
    held.append(cache.allocate(4096, stream=other))
    assert {early, late} <= {buffer.handle for buffer in held}
    held.clear()
    other.sync()
    cache.close()


@pytest.mark.requires(mempool=True)
def test_memory_of_an_idle_stream_is_reused_by_others_at_once(device, stream, cache):
    address = allocate_and_free(cache, 4096, stream)
    stream.sync()
    other = device.create_stream()
    assert allocate_and_free(cache, 4096, other) == address
    assert allocate_and_free(cache, 4096, other) == address
    assert (cache.hit_count, cache.miss_count) == (2, 1)
    cache.close()


@pytest.mark.requires(mempool=True)
def test_memory_of_the_default_stream_is_cached_as_for_other_streams(device, stream, cache):
    address = allocate_and_free(cache, 4096)
    assert allocate_and_free(cache, 4096) == address
    device.sync()
    assert allocate_and_free(cache, 4096, stream) == address
    stream.sync()
    assert in_thread(lambda: (device.set_current(), allocate_and_free(cache, 4096))[1]) == address
    cache.close()


@pytest.mark.requires(mempool=True)
def test_memory_of_closed_streams_is_reused_by_others(device, cache, pool):
    for _ in range(50):
        stream = device.create_stream()
        allocate_and_free(cache, 4096, stream)
        stream.sync()
        stream.close()
    assert pool.statistics.total_count == 1
    cache.close()
    assert pool.statistics.current_count == 0


@pytest.mark.requires(mempool=True)
def test_cached_memory_of_a_closed_stream_can_be_trimmed(device, cache, pool):
    stream = device.create_stream()
    allocate_and_free(cache, 4096, stream)
    stream.close()
    assert cache.trim() == 4096
    device.sync()
    assert pool.upstream.attributes.used_mem_current == 0


@pytest.mark.requires(mempool=True)
def test_memory_of_a_stream_with_an_owner_is_cached(device, stream, cache):
    class Foreign:
        def __cuda_stream__(self):
            return (0, int(stream.handle))

    address = allocate_and_free(cache, 4096, device.create_stream(Foreign()))
    assert allocate_and_free(cache, 4096, stream) == address
    cache.close()


# Capture


@pytest.mark.requires(mempool=True)
def test_capturing_stream_gets_no_cached_memory(stream, cache):
    allocate_and_free(cache, 4096, stream)
    with capture(stream) as graph:
        with pytest.raises(RuntimeError, match="GraphMemoryResource"):
            cache.allocate(4096, stream=stream)
    graph.destroy()
    assert cache.cached_bytes == 4096
    cache.close()


@pytest.mark.requires(mempool=True)
def test_other_streams_neither_invalidate_a_capture_nor_reuse_its_memory(device, stream, cache):
    other = device.create_stream()
    address = allocate_and_free(cache, 4096, stream)
    with capture(stream) as graph:
        held = cache.allocate(4096, stream=other)
        assert held.handle != address
    graph.destroy()
    stream.sync()
    assert allocate_and_free(cache, 4096, other) == address
    held.close()
    other.sync()
    cache.close()


@pytest.mark.requires(mempool=True)
def test_queries_of_other_streams_do_not_invalidate_a_capture_of_the_program(device, stream, cache):
    other, third = device.create_stream(), device.create_stream()
    address = allocate_and_free(cache, 4096, other)
    other.sync()
    mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
    handle_return(driver.cuStreamBeginCapture(stream.handle, mode))
    try:
        assert allocate_and_free(cache, 4096, third) == address
    finally:
        graph = handle_return(driver.cuStreamEndCapture(stream.handle))
    handle_return(driver.cuGraphDestroy(graph))
    cache.close()


@pytest.mark.requires(mempool=True)
def test_memory_of_a_capturing_stream_is_not_trimmed(stream, cache, pool):
    allocate_and_free(cache, 4096, stream)
    with capture(stream) as graph:
        assert cache.trim() == 0
    graph.destroy()
    assert cache.trim() == 4096
    assert pool.statistics.current_count == 0


@pytest.mark.requires(mempool=True)
def test_memory_freed_during_a_capture_is_reused_after_it(stream, cache, pool):
    buffer = cache.allocate(4096, stream=stream)
    with capture(stream) as graph:
        buffer.close()
    graph.destroy()
    assert cache.cached_bytes == 4096
    allocate_and_free(cache, 4096, stream)
    cache.close()
    assert pool.statistics.total_count == 1


# Threads, failures


@pytest.mark.requires(mempool=True)
def test_threads_with_streams_of_their_own_never_share_memory_in_use(device, cache, pool):
    in_use = set()
    clashes = []

    def work():
        device.set_current()
        stream = device.create_stream()
        for i in range(100):
            buffers = [cache.allocate(512 << (i % 3), stream=stream) for _ in range(4)]
            addresses = {buffer.handle for buffer in buffers}
            clashes.extend(addresses & in_use)
            in_use.update(addresses)
            for buffer in buffers:
                buffer.fill(i, stream=stream)
            in_use.difference_update(addresses)
            for buffer in buffers:
                buffer.close()
        stream.sync()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert clashes == []
    assert pool.statistics.total_count <= 4 * 4 * 3
    cache.close()
    assert pool.statistics.current_count == 0


@pytest.mark.requires(mempool=True, software=True)
@pytest.mark.parametrize(
    "call",
    [
        "cuStreamGetCtx",
        "cuCtxPushCurrent",
        "cuStreamQuery",
        "cuEventCreate",
        "cuEventRecord",
        "cuThreadExchangeStreamCaptureMode",
    ],
)
def test_failed_query_of_another_stream_only_prevents_the_reuse(device, stream, cache, pool, call):
    from cuda import emulator

    other = device.create_stream()
    buffer = cache.allocate(4096, stream=stream)
    with busy(stream):
        buffer.close()
        # Only a failure to restore the thread's capture mode gives a warning.
        warning = pytest.warns(ResourceWarning, match=call) if "CaptureMode" in call else contextlib.nullcontext()
        with warning, emulator.fail(call, "CUDA_ERROR_UNKNOWN") as plan:
            held = cache.allocate(4096, stream=other)
        assert plan.fired
    assert pool.statistics.total_count == 2
    held.close()
    stream.sync()
    other.sync()
    cache.close()
    assert pool.statistics.current_count == 0


@pytest.mark.requires(mempool=True, software=True)
def test_cached_memory_is_freed_when_the_device_is_out_of_memory(stream, cache, pool):
    from cuda import emulator

    allocate_and_free(cache, 4096, stream)
    with emulator.fail("cuMemAllocFromPoolAsync", nth=1) as plan:
        buffer = cache.allocate(8192, stream=stream)
    assert plan.fired == 1
    assert (buffer.size, cache.cached_bytes) == (8192, 0)
    buffer.close()
    cache.close()
    assert pool.statistics.current_count == 0


def test_pinned_memory_is_allocated_once(device, stream):
    counted = StatisticsMemoryResource(LegacyPinnedMemoryResource())
    cache = CachingMemoryResource(counted)
    addresses = {allocate_and_free(cache, 10_000, stream) for _ in range(10)}
    assert len(addresses) == counted.statistics.total_count == 1
    cache.close()
    assert counted.statistics.current_count == 0


def test_pinned_memory_in_use_by_the_device_is_not_reused(device, stream):
    cache = CachingMemoryResource(LegacyPinnedMemoryResource())
    source = cache.allocate(4096, stream=stream)
    target = device.allocate(4096, stream=stream)
    address = source.handle
    stream.sync()
    with busy(stream):
        memoryview(source)[:] = b"\1" * 4096
        target.copy_from(source, stream=stream)
        source.close()
        other = cache.allocate(4096, stream=stream)
        assert other.handle != address
        memoryview(other)[:] = b"\2" * 4096
    stream.sync()
    assert read(target, stream) == b"\1" * 4096
    assert allocate_and_free(cache, 4096, stream) == address
    other.close()
    cache.close()

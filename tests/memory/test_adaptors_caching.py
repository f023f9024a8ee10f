# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The cache of freed memory, over host memory and over memory pools."""

import contextlib
import gc
import threading

import pytest
from cuda.bindings import driver

from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    Buffer,
    CachingMemoryResource,
    CUDAWarning,
    DeviceMemoryResource,
    LegacyPinnedMemoryResource,
    LimitingMemoryResource,
    OutOfMemoryError,
    StatisticsMemoryResource,
    Stream,
)
from support.bindings import handle_return
from support.graphs import capture
from support.memory import HostMemoryResource, allocate_and_free, read
from support.threads import in_thread
from support.work import busy, settle


@pytest.fixture
def upstream():
    return HostMemoryResource()


@pytest.fixture
def mr(upstream):
    """A cache over host memory."""
    return CachingMemoryResource(upstream)


def allocate(mr, size, stream=LEGACY_DEFAULT_STREAM):
    return mr.allocate(size, stream=stream)


# Bins


@pytest.mark.parametrize(
    ("size", "block"),
    [
        (1, 512),
        (512, 512),
        (513, 1024),
        (4095, 4096),
        (4096, 4096),
        (4097, 5120),
        (5120, 5120),
        (5121, 6144),
        (7169, 8192),
        (8192, 8192),
        (8193, 10240),
        (10**6, 2**20),
        (2**20 + 1, 5 * 2**18),
        (100_000_000, 100_663_296),
    ],
)
def test_sizes_are_rounded_up_to_bins(size, block):
    class Recording(HostMemoryResource):
        sizes = []

        def allocate(self, size, *, stream=None):
            self.sizes.append(size)
            return Buffer.from_handle(4096, size)  # an address that is never accessed

    mr = CachingMemoryResource(Recording())
    buffer = allocate(mr, size)
    assert buffer.size == size
    assert mr.upstream.sizes == [block]
    buffer.close()
    assert mr.cached_bytes == block
    mr.close()
    assert mr.cached_bytes == 0


def test_bins_exceed_the_requested_size_by_at_most_a_quarter():
    class Recording(HostMemoryResource):
        def allocate(self, size, *, stream=None):
            self.size = size
            return Buffer.from_handle(4096, size)  # an address that is never accessed

    upstream = Recording()
    mr = CachingMemoryResource(upstream)
    for power in range(12, 61):
        for size in (2**power - 1, 2**power, 2**power + 1, 3 * 2 ** (power - 1) + 1):
            upstream.size = size
            mr.allocate(size, stream=LEGACY_DEFAULT_STREAM).close()
            assert size <= upstream.size <= 1.25 * size + 1 or upstream.size == size
    mr.close()


def test_sizes_over_all_bins_are_passed_on(upstream):
    class Recording(HostMemoryResource):
        def allocate(self, size, *, stream=None):
            self.size = size
            raise MemoryError(f"{size} bytes")

    mr = CachingMemoryResource(Recording())
    with pytest.raises(MemoryError, match=str(2**62 + 1)):
        allocate(mr, 2**62 + 1)
    assert mr.upstream.size == 2**62 + 1


# Reuse


def test_freed_memory_is_reused(mr, upstream):
    first = allocate_and_free(mr, 1000)
    again = allocate(mr, 600)
    assert (again.handle, again.size, again.memory_resource) == (first, 600, mr)
    other = allocate(mr, 600)
    assert other.handle != first
    again.close()
    other.close()
    assert (mr.hit_count, mr.miss_count, mr.cached_bytes) == (1, 2, 2048)
    assert upstream.freed == []


def test_block_freed_last_is_reused_first(mr):
    buffers = [allocate(mr, 100) for _ in range(3)]
    addresses = [buffer.handle for buffer in buffers]
    for buffer in buffers:
        buffer.close()
    assert allocate_and_free(mr, 100) == addresses[-1]
    del buffers
    assert mr.cached_bytes == 3 * 512


def test_other_sizes_are_not_reused(mr):
    first = allocate_and_free(mr, 512)
    buffer = allocate(mr, 513)
    assert buffer.handle != first
    buffer.close()


def test_allocations_of_0_bytes_are_not_cached(mr, upstream):
    allocate_and_free(mr, 0)
    assert (mr.cached_bytes, len(upstream.freed)) == (0, 1)


def test_memory_of_the_per_thread_stream_is_not_cached(mr, upstream):
    allocate_and_free(mr, 100, PER_THREAD_DEFAULT_STREAM)
    assert (mr.cached_bytes, len(upstream.freed)) == (0, 1)


def test_memory_of_a_foreign_stream_is_not_cached(mr, upstream):
    allocate_and_free(mr, 100, Stream.from_handle(0x123450))
    assert (mr.cached_bytes, len(upstream.freed)) == (0, 1)


def test_memory_is_cached_for_the_stream_that_freed_it(mr):
    buffer = mr.allocate(100, stream=PER_THREAD_DEFAULT_STREAM)
    address = buffer.handle
    buffer.close(LEGACY_DEFAULT_STREAM)
    assert allocate_and_free(mr, 100) == address


# The limit


@pytest.mark.parametrize("limit", [-1, 2.5, "1", True])
def test_bad_limits_are_rejected(upstream, limit):
    with pytest.raises((TypeError, ValueError), match="max_cached_bytes"):
        CachingMemoryResource(upstream, max_cached_bytes=limit)


def test_limit_of_the_cache_can_be_read(upstream):
    assert CachingMemoryResource(upstream).max_cached_bytes is None
    assert CachingMemoryResource(upstream, max_cached_bytes=4096).max_cached_bytes == 4096
    assert CachingMemoryResource(upstream, max_cached_bytes=2**80).max_cached_bytes is None


def test_second_initialization_keeps_the_memory_in_use(upstream):
    mr = CachingMemoryResource(upstream)
    held = allocate(mr, 1000)
    other = HostMemoryResource()
    mr.__init__(other, max_cached_bytes=512)
    assert (mr.upstream, mr.max_cached_bytes) == (other, 512)
    held.close()
    assert upstream.blocks == {}
    allocate(mr, 8).close()
    assert (mr.cached_bytes, len(other.blocks)) == (512, 1)


def test_least_recently_used_memory_is_freed_first(upstream):
    mr = CachingMemoryResource(upstream, max_cached_bytes=2048)
    buffers = [allocate(mr, 1024) for _ in range(3)]
    addresses = [buffer.handle for buffer in buffers]
    for buffer in buffers:
        buffer.close()
    assert mr.cached_bytes == 2048
    assert [freed[0] for freed in upstream.freed] == addresses[:1]


def test_memory_over_the_limit_has_exact_size_and_is_not_cached(upstream):
    mr = CachingMemoryResource(upstream, max_cached_bytes=1000)
    allocate_and_free(mr, 1001)
    allocate_and_free(mr, 600)  # its block would have 1024 bytes
    assert [freed[1] for freed in upstream.freed] == [1001, 1024]
    assert mr.cached_bytes == 0
    allocate_and_free(mr, 400)
    assert mr.cached_bytes == 512


def test_limit_of_0_bytes_caches_nothing(upstream):
    mr = CachingMemoryResource(upstream, max_cached_bytes=0)
    allocate_and_free(mr, 8)
    assert (mr.cached_bytes, upstream.blocks) == (0, {})


# Trimming


def test_trim_keeps_the_last_blocks(mr, upstream):
    buffers = [allocate(mr, size) for size in (512, 1024, 2048)]
    for buffer in buffers:
        buffer.close()
    assert mr.trim(3 * 1024) == 512
    assert mr.trim(3000) == 1024
    assert mr.cached_bytes == 2048
    assert mr.trim() == 2048
    assert mr.trim() == 0
    assert upstream.blocks == {}


@pytest.mark.parametrize(("size", "error"), [(-1, OverflowError), (1.5, TypeError), (None, TypeError)])
def test_bad_trims_are_rejected(mr, size, error):
    with pytest.raises(error, match="size"):
        mr.trim(size)


def test_closed_cache_frees_memory_immediately(mr, upstream):
    buffer = allocate(mr, 100)
    allocate_and_free(mr, 1000)
    mr.close()
    assert len(upstream.blocks) == 1
    buffer.close()
    assert upstream.blocks == {}
    assert (mr.trim(), mr.cached_bytes) == (0, 0)


# Out of memory


def test_cached_memory_is_freed_if_the_upstream_is_exhausted(upstream):
    mr = CachingMemoryResource(LimitingMemoryResource(upstream, 4096))
    for size in (1024, 2048):
        allocate_and_free(mr, size)
    with allocate(mr, 3000) as buffer:
        assert (buffer.size, mr.cached_bytes) == (3000, 0)
    mr.close()
    assert mr.upstream.bytes_in_use == 0


def test_exact_size_is_tried_when_its_block_does_not_fit(upstream):
    mr = CachingMemoryResource(LimitingMemoryResource(upstream, 4500))
    with allocate(mr, 4400) as buffer:
        assert buffer.size == 4400
        assert mr.upstream.bytes_in_use == 4400
    assert (mr.cached_bytes, mr.upstream.bytes_in_use) == (0, 0)


def test_upstream_error_is_raised_if_freeing_does_not_help(upstream):
    mr = CachingMemoryResource(LimitingMemoryResource(upstream, 4096))
    allocate_and_free(mr, 1024)
    held = allocate(mr, 2048)
    with pytest.raises(OutOfMemoryError, match="limit") as caught:
        allocate(mr, 4096)
    assert (caught.value.free, caught.value.total) == (2048, 4096)
    assert mr.cached_bytes == 0
    held.close()
    allocate_and_free(mr, 4096)
    mr.close()
    assert upstream.blocks == {}


def test_only_errors_of_memory_empty_the_cache(mr, upstream):
    allocate_and_free(mr, 100)
    upstream.error = ZeroDivisionError("not about memory")
    with pytest.raises(ZeroDivisionError):
        allocate(mr, 5000)
    assert mr.cached_bytes == 512


@pytest.fixture
def pool(device):
    """A private pool, with statistics."""
    return StatisticsMemoryResource(DeviceMemoryResource(device, {}))


@pytest.fixture
def cache(pool):
    """A cache over device memory."""
    return CachingMemoryResource(pool)


@pytest.mark.requires(mempool=True)
def test_busy_stream_reuses_its_own_memory_immediately(stream, cache, pool):
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
def test_other_streams_reuse_busy_memory_after_its_work(device, stream, cache):
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
def test_other_streams_reuse_idle_memory_immediately(device, stream, cache):
    address = allocate_and_free(cache, 4096, stream)
    stream.sync()
    other = device.create_stream()
    assert allocate_and_free(cache, 4096, other) == address
    assert allocate_and_free(cache, 4096, other) == address
    assert (cache.hit_count, cache.miss_count) == (2, 1)
    cache.close()


@pytest.mark.requires(mempool=True)
def test_default_stream_memory_is_cached_as_for_other_streams(device, stream, cache):
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
def test_other_streams_leave_a_capture_and_its_memory_alone(device, stream, cache):
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
def test_stream_queries_do_not_invalidate_the_programs_capture(device, stream, cache):
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
def test_threads_with_separate_streams_never_share_memory_in_use(device, cache, pool):
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
        warning = pytest.warns(CUDAWarning, match=call) if "CaptureMode" in call else contextlib.nullcontext()
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

    settle()  # an allocation tries again first if earlier tests left something to destroy
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

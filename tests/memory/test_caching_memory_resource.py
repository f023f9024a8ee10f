# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The cache of freed memory; over host memory where no device is needed."""

import gc
import threading

import pytest

from cuda.core import (
    CachingMemoryResource,
    DeviceMemoryResource,
    LegacyPinnedMemoryResource,
    LimitingMemoryResource,
    OutOfMemoryError,
    StatisticsMemoryResource,
    Stream,
)
from cuda.core._stream import LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM
from support.graphs import capture
from support.memory import HostMemoryResource, read
from support.threads import in_thread
from support.work import busy


@pytest.fixture
def upstream():
    return HostMemoryResource()


@pytest.fixture
def mr(upstream):
    """A cache over host memory."""
    return CachingMemoryResource(upstream)


@pytest.fixture
def pool(device):
    """A pool of its own, counted."""
    return StatisticsMemoryResource(DeviceMemoryResource(device, {}))


@pytest.fixture
def cache(pool):
    """A cache over memory of the device."""
    return CachingMemoryResource(pool)


def allocate(mr, size, stream=LEGACY_DEFAULT_STREAM):
    return mr.allocate(size, stream=stream)


def cycle(mr, size, stream=LEGACY_DEFAULT_STREAM):
    """Allocate and free memory, and return its address."""
    with mr.allocate(size, stream=stream) as buffer:
        return buffer.handle


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
    class Noting(HostMemoryResource):
        sizes = []

        def allocate(self, size, *, stream=None):
            self.sizes.append(size)
            return super().allocate(min(size, 64), stream=stream)

    mr = CachingMemoryResource(Noting())
    buffer = allocate(mr, size)
    assert buffer.size == size
    assert mr.upstream.sizes == [block]
    buffer.close()
    assert mr.cached_bytes == block
    mr.close()
    assert mr.cached_bytes == 0


def test_every_bin_is_at_most_a_quarter_larger_than_what_it_is_for():
    class Noting(HostMemoryResource):
        def allocate(self, size, *, stream=None):
            self.size = size
            return super().allocate(8, stream=stream)

    upstream = Noting()
    mr = CachingMemoryResource(upstream)
    for power in range(12, 61):
        for size in (2**power - 1, 2**power, 2**power + 1, 3 * 2 ** (power - 1) + 1):
            upstream.size = size
            mr.allocate(size, stream=LEGACY_DEFAULT_STREAM).close()
            assert size <= upstream.size <= 1.25 * size + 1 or upstream.size == size
    mr.close()


def test_sizes_beyond_all_bins_are_passed_on(upstream):
    class Noting(HostMemoryResource):
        def allocate(self, size, *, stream=None):
            self.size = size
            raise MemoryError(f"{size} bytes")

    mr = CachingMemoryResource(Noting())
    with pytest.raises(MemoryError, match=str(2**62 + 1)):
        allocate(mr, 2**62 + 1)
    assert mr.upstream.size == 2**62 + 1


# Reuse


def test_freed_memory_is_handed_out_again(mr, upstream):
    first = cycle(mr, 1000)
    again = allocate(mr, 600)
    assert (again.handle, again.size, again.memory_resource) == (first, 600, mr)
    other = allocate(mr, 600)
    assert other.handle != first
    again.close()
    other.close()
    assert (mr.hit_count, mr.miss_count, mr.cached_bytes) == (1, 2, 2048)
    assert upstream.freed == []


def test_newest_block_comes_first(mr):
    buffers = [allocate(mr, 100) for _ in range(3)]
    addresses = [buffer.handle for buffer in buffers]
    for buffer in buffers:
        buffer.close()
    assert [allocate(mr, 100).handle for _ in range(1)] == addresses[2:]
    del buffers
    assert mr.cached_bytes == 3 * 512


def test_other_sizes_are_not_reused(mr):
    first = cycle(mr, 512)
    buffer = allocate(mr, 513)
    assert buffer.handle != first
    buffer.close()


def test_no_bytes_are_not_cached(mr, upstream):
    cycle(mr, 0)
    assert (mr.cached_bytes, len(upstream.freed)) == (0, 1)


def test_memory_of_the_per_thread_stream_goes_back(mr, upstream):
    cycle(mr, 100, PER_THREAD_DEFAULT_STREAM)
    assert (mr.cached_bytes, len(upstream.freed)) == (0, 1)


def test_memory_of_a_raw_stream_goes_back(mr, upstream):
    cycle(mr, 100, Stream.from_handle(0x123450))
    assert (mr.cached_bytes, len(upstream.freed)) == (0, 1)


def test_memory_freed_on_another_stream_is_the_other_streams(mr):
    buffer = mr.allocate(100, stream=PER_THREAD_DEFAULT_STREAM)
    address = buffer.handle
    buffer.close(LEGACY_DEFAULT_STREAM)
    assert cycle(mr, 100) == address


# The limit


@pytest.mark.parametrize("limit", [-1, 2.5, "1", True])
def test_bad_limits_are_refused(upstream, limit):
    with pytest.raises((TypeError, ValueError), match="max_cached_bytes"):
        CachingMemoryResource(upstream, max_cached_bytes=limit)


def test_limit_is_shown(upstream):
    assert CachingMemoryResource(upstream).max_cached_bytes is None
    assert CachingMemoryResource(upstream, max_cached_bytes=4096).max_cached_bytes == 4096
    assert CachingMemoryResource(upstream, max_cached_bytes=2**80).max_cached_bytes is None


def test_construction_again_keeps_what_is_in_use(upstream):
    mr = CachingMemoryResource(upstream)
    held = allocate(mr, 1000)
    other = HostMemoryResource()
    mr.__init__(other, max_cached_bytes=512)
    assert (mr.upstream, mr.max_cached_bytes) == (other, 512)
    held.close()
    assert upstream.blocks == {}
    allocate(mr, 8).close()
    assert (mr.cached_bytes, len(other.blocks)) == (512, 1)


def test_least_recently_used_memory_goes_back_first(upstream):
    mr = CachingMemoryResource(upstream, max_cached_bytes=2048)
    buffers = [allocate(mr, 1024) for _ in range(3)]
    addresses = [buffer.handle for buffer in buffers]
    for buffer in buffers:
        buffer.close()
    assert mr.cached_bytes == 2048
    assert [freed[0] for freed in upstream.freed] == addresses[:1]


def test_memory_above_the_limit_is_passed_on_in_its_exact_size(upstream):
    mr = CachingMemoryResource(upstream, max_cached_bytes=1000)
    cycle(mr, 1001)
    cycle(mr, 600)  # its block would have 1024 bytes
    assert [freed[1] for freed in upstream.freed] == [1001, 1024]
    assert mr.cached_bytes == 0
    cycle(mr, 400)
    assert mr.cached_bytes == 512


def test_limit_of_nothing_caches_nothing(upstream):
    mr = CachingMemoryResource(upstream, max_cached_bytes=0)
    cycle(mr, 8)
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
def test_bad_trims_are_refused(mr, size, error):
    with pytest.raises(error, match="size"):
        mr.trim(size)


def test_closed_cache_takes_nothing_back(mr, upstream):
    buffer = allocate(mr, 100)
    cycle(mr, 1000)
    mr.close()
    assert len(upstream.blocks) == 1
    buffer.close()
    assert upstream.blocks == {}
    assert (mr.trim(), mr.cached_bytes) == (0, 0)


# Out of memory


def test_cache_is_given_back_when_the_upstream_is_out_of_memory(upstream):
    mr = CachingMemoryResource(LimitingMemoryResource(upstream, 4096))
    for size in (1024, 2048):
        cycle(mr, size)
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


def test_memory_that_is_really_short_is_told(upstream):
    mr = CachingMemoryResource(LimitingMemoryResource(upstream, 4096))
    cycle(mr, 1024)
    held = allocate(mr, 2048)
    with pytest.raises(OutOfMemoryError, match="limit") as caught:
        allocate(mr, 4096)
    assert (caught.value.free, caught.value.total) == (2048, 4096)
    assert mr.cached_bytes == 0
    held.close()
    cycle(mr, 4096)
    mr.close()
    assert upstream.blocks == {}


def test_only_errors_of_memory_empty_the_cache(mr, upstream, monkeypatch):
    cycle(mr, 100)

    def fail(size, *, stream):
        raise ZeroDivisionError("not about memory")

    monkeypatch.setattr(upstream, "allocate", fail)
    with pytest.raises(ZeroDivisionError):
        allocate(mr, 5000)
    assert mr.cached_bytes == 512


# Streams of a device


@pytest.mark.requires(mempool=True)
def test_busy_stream_reuses_its_own_memory_at_once(stream, cache, pool):
    buffer = cache.allocate(4096, stream=stream)
    with busy(stream):
        buffer.fill(1, stream=stream)
        address = buffer.handle
        buffer.close()
        assert cycle(cache, 4096, stream) == address
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
def test_stream_that_never_rests_gives_its_memory_away(device, stream, cache):
    other = device.create_stream()
    address = cycle(cache, 4096, stream)
    with busy(stream) as release:
        # The mark is recorded here, behind the first work and before the second.
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
def test_frees_after_the_mark_are_not_covered_by_it(device, stream, cache):
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
def test_idle_stream_gives_its_memory_away_at_once(device, stream, cache):
    address = cycle(cache, 4096, stream)
    stream.sync()
    other = device.create_stream()
    assert cycle(cache, 4096, other) == address
    assert cycle(cache, 4096, other) == address
    assert (cache.hit_count, cache.miss_count) == (2, 1)
    cache.close()


@pytest.mark.requires(mempool=True)
def test_default_stream_is_a_stream_like_others(device, stream, cache):
    address = cycle(cache, 4096)
    assert cycle(cache, 4096) == address
    device.sync()
    assert cycle(cache, 4096, stream) == address
    stream.sync()
    assert in_thread(lambda: (device.set_current(), cycle(cache, 4096))[1]) == address
    cache.close()


@pytest.mark.requires(mempool=True)
def test_closed_streams_leave_their_memory_to_others(device, cache, pool):
    for _ in range(50):
        stream = device.create_stream()
        cycle(cache, 4096, stream)
        stream.sync()
        stream.close()
    assert pool.statistics.total_count == 1
    cache.close()
    assert pool.statistics.current_count == 0


@pytest.mark.requires(mempool=True)
def test_cached_memory_of_a_closed_stream_goes_back(device, cache, pool):
    stream = device.create_stream()
    cycle(cache, 4096, stream)
    stream.close()
    assert cache.trim() == 4096
    device.sync()
    assert pool.upstream.attributes.used_mem_current == 0


@pytest.mark.requires(mempool=True)
def test_stream_with_an_owner_is_cached(device, stream, cache):
    class Foreign:
        def __cuda_stream__(self):
            return (0, int(stream.handle))

    address = cycle(cache, 4096, device.create_stream(Foreign()))
    assert cycle(cache, 4096, stream) == address
    cache.close()


# Capture


@pytest.mark.requires(mempool=True)
def test_capturing_stream_gets_nothing_from_the_cache(stream, cache):
    cycle(cache, 4096, stream)
    with capture(stream) as graph:
        with pytest.raises(RuntimeError, match="GraphMemoryResource"):
            cache.allocate(4096, stream=stream)
    graph.destroy()
    assert cache.cached_bytes == 4096
    cache.close()


@pytest.mark.requires(mempool=True)
def test_other_streams_neither_break_a_capture_nor_take_its_memory(device, stream, cache):
    other = device.create_stream()
    address = cycle(cache, 4096, stream)
    with capture(stream) as graph:
        held = cache.allocate(4096, stream=other)
        assert held.handle != address
    graph.destroy()
    stream.sync()
    assert cycle(cache, 4096, other) == address
    held.close()
    other.sync()
    cache.close()


@pytest.mark.requires(mempool=True)
def test_looking_at_other_streams_does_not_end_a_capture_of_the_program(device, stream, cache):
    from cuda.bindings import driver

    from cuda.core._utils.cuda_utils import handle_return

    other, third = device.create_stream(), device.create_stream()
    address = cycle(cache, 4096, other)
    other.sync()
    mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
    handle_return(driver.cuStreamBeginCapture(stream.handle, mode))
    try:
        assert cycle(cache, 4096, third) == address
    finally:
        graph = handle_return(driver.cuStreamEndCapture(stream.handle))
    handle_return(driver.cuGraphDestroy(graph))
    cache.close()


@pytest.mark.requires(mempool=True)
def test_memory_of_a_capturing_stream_stays_when_trimmed(stream, cache, pool):
    cycle(cache, 4096, stream)
    with capture(stream) as graph:
        assert cache.trim() == 0
    graph.destroy()
    assert cache.trim() == 4096
    assert pool.statistics.current_count == 0


@pytest.mark.requires(mempool=True)
def test_memory_freed_while_capturing_is_used_after_the_capture(stream, cache, pool):
    buffer = cache.allocate(4096, stream=stream)
    with capture(stream) as graph:
        buffer.close()
    graph.destroy()
    assert cache.cached_bytes == 4096
    cycle(cache, 4096, stream)
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
def test_failing_question_about_another_stream_only_costs_memory(device, stream, cache, pool, call):
    from cuda import emulator

    other = device.create_stream()
    buffer = cache.allocate(4096, stream=stream)
    with busy(stream):
        buffer.close()
        with emulator.fail(call, "CUDA_ERROR_UNKNOWN") as plan:
            held = cache.allocate(4096, stream=other)
        assert plan.fired
    assert pool.statistics.total_count == 2
    held.close()
    stream.sync()
    other.sync()
    cache.close()
    assert pool.statistics.current_count == 0


@pytest.mark.requires(mempool=True, software=True)
def test_cache_is_given_back_when_the_device_is_out_of_memory(stream, cache, pool):
    from cuda import emulator

    cycle(cache, 4096, stream)
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
    addresses = {cycle(cache, 10_000, stream) for _ in range(10)}
    assert len(addresses) == counted.statistics.total_count == 1
    cache.close()
    assert counted.statistics.current_count == 0


def test_pinned_memory_in_use_by_the_device_is_not_handed_to_the_host(device, stream):
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
    assert cycle(cache, 4096, stream) == address
    other.close()
    cache.close()

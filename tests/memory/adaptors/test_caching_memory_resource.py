# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The cache of freed memory, over host memory, so that no device is needed."""

import pytest

from cuda.core import (
    Buffer,
    CachingMemoryResource,
    LimitingMemoryResource,
    OutOfMemoryError,
    Stream,
)
from cuda.core._stream import LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM
from support.memory import HostMemoryResource, allocate_and_free


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


def test_bins_are_at_most_a_quarter_larger_than_the_requested_size():
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


def test_sizes_beyond_all_bins_are_passed_on(upstream):
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


def test_the_block_freed_last_is_reused_first(mr):
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


def test_memory_freed_on_another_stream_is_cached_for_that_stream(mr):
    buffer = mr.allocate(100, stream=PER_THREAD_DEFAULT_STREAM)
    address = buffer.handle
    buffer.close(LEGACY_DEFAULT_STREAM)
    assert allocate_and_free(mr, 100) == address


# The limit


@pytest.mark.parametrize("limit", [-1, 2.5, "1", True])
def test_bad_limits_are_refused(upstream, limit):
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


def test_memory_above_the_limit_is_allocated_in_its_exact_size_and_not_cached(upstream):
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
def test_bad_trims_are_refused(mr, size, error):
    with pytest.raises(error, match="size"):
        mr.trim(size)


def test_closed_cache_frees_memory_at_once(mr, upstream):
    buffer = allocate(mr, 100)
    allocate_and_free(mr, 1000)
    mr.close()
    assert len(upstream.blocks) == 1
    buffer.close()
    assert upstream.blocks == {}
    assert (mr.trim(), mr.cached_bytes) == (0, 0)


# Out of memory


def test_cached_memory_is_freed_when_the_upstream_is_out_of_memory(upstream):
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


def test_error_of_the_upstream_is_raised_if_freeing_the_cache_does_not_help(upstream):
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


def test_only_errors_of_memory_empty_the_cache(mr, upstream, monkeypatch):
    allocate_and_free(mr, 100)

    def fail(size, *, stream):
        raise ZeroDivisionError("not about memory")

    monkeypatch.setattr(upstream, "allocate", fail)
    with pytest.raises(ZeroDivisionError):
        allocate(mr, 5000)
    assert mr.cached_bytes == 512

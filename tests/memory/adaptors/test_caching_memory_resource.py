# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The cache of freed memory; over host memory where no device is needed."""

import pytest

from cuda.core import (
    Buffer,
    CachingMemoryResource,
    LimitingMemoryResource,
    OutOfMemoryError,
    Stream,
)
from cuda.core._stream import LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM
from support.memory import HostMemoryResource


@pytest.fixture
def upstream():
    return HostMemoryResource()


@pytest.fixture
def mr(upstream):
    """A cache over host memory."""
    return CachingMemoryResource(upstream)


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
            return Buffer.from_handle(4096, size)  # nobody reads it

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
            return Buffer.from_handle(4096, size)  # nobody reads it

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

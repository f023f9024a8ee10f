# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The limit on the bytes in use, over host memory, so that most tests need no driver."""

import threading

import pytest

from cuda.core import (
    CachingMemoryResource,
    DeviceMemoryResource,
    LimitingMemoryResource,
    OutOfMemoryError,
    VirtualMemoryResource,
)
from cuda.core._memory._adaptors import AccountingMemoryResource
from cuda.core._stream import LEGACY_DEFAULT_STREAM
from support.memory import HostMemoryResource


def allocate(mr, size):
    return mr.allocate(size, stream=LEGACY_DEFAULT_STREAM)


@pytest.fixture
def mr():
    """A resource with a limit of 1000 bytes."""
    return LimitingMemoryResource(HostMemoryResource(), 1000)


@pytest.mark.parametrize(
    ("limit", "error"), [(-1, ValueError), (2**64, ValueError), (None, TypeError), (1.5, TypeError)]
)
def test_bad_limits_are_refused(limit, error):
    with pytest.raises(error, match="limit"):
        LimitingMemoryResource(HostMemoryResource(), limit)


def test_memory_up_to_the_limit_is_allocated(mr):
    buffers = [allocate(mr, 600), allocate(mr, 400), allocate(mr, 0)]
    assert (mr.limit, mr.bytes_in_use) == (1000, 1000)
    for buffer in buffers:
        buffer.close()
    assert mr.bytes_in_use == 0


def test_memory_beyond_the_limit_is_refused_with_the_free_bytes(mr):
    held = allocate(mr, 600)
    with pytest.raises(OutOfMemoryError, match="401 bytes exceeds .* 400 of its 1000 bytes are free") as caught:
        allocate(mr, 401)
    error = caught.value
    assert isinstance(error, MemoryError)
    assert (error.free, error.total, error.code, error.name) == (400, 1000, 2, "CUDA_ERROR_OUT_OF_MEMORY")
    assert mr.upstream.blocks.keys() == {held.handle}
    allocate(mr, 400).close()
    held.close()
    assert mr.bytes_in_use == 0


def test_largest_size_does_not_wrap_around(mr):
    held = allocate(mr, 1)
    with pytest.raises(OutOfMemoryError):
        allocate(mr, 2**63 - 1)
    held.close()


def test_limit_of_0_bytes_allows_only_0_bytes():
    mr = LimitingMemoryResource(HostMemoryResource(), 0)
    allocate(mr, 0).close()
    with pytest.raises(OutOfMemoryError, match="0 of its 0 bytes"):
        allocate(mr, 1)


def test_failure_of_the_upstream_counts_nothing(mr, monkeypatch):
    def fail(size, *, stream):
        raise KeyboardInterrupt

    monkeypatch.setattr(mr.upstream, "allocate", fail)
    with pytest.raises(KeyboardInterrupt):
        allocate(mr, 10)
    assert mr.bytes_in_use == 0


def test_size_that_the_upstream_rounds_up_counts_in_full():
    class Rounding(HostMemoryResource):
        def allocate(self, size, *, stream=None):
            return super().allocate(size + -size % 100, stream=stream)

    mr = LimitingMemoryResource(Rounding(), 250)
    held = allocate(mr, 110)
    assert (held.size, mr.bytes_in_use) == (200, 200)
    with pytest.raises(OutOfMemoryError, match="100 bytes exceeds .* 50 of its 250"):
        allocate(mr, 10)
    assert mr.bytes_in_use == 200
    assert len(mr.upstream.blocks) == 1
    held.close()
    assert (mr.bytes_in_use, mr.upstream.blocks) == (0, {})


def test_too_small_a_buffer_of_the_upstream_is_refused_and_not_counted():
    class Short(HostMemoryResource):
        def allocate(self, size, *, stream=None):
            return super().allocate(size // 2, stream=stream)

    mr = LimitingMemoryResource(Short(), 250)
    with pytest.raises(RuntimeError, match="Short.* returned a Buffer of 50 bytes"):
        allocate(mr, 100)
    assert mr.bytes_in_use == 0


def test_nested_limits_apply_both(mr):
    outer = LimitingMemoryResource(mr, 5000)
    with pytest.raises(OutOfMemoryError) as caught:
        allocate(outer, 2000)
    assert caught.value.total == 1000
    assert outer.bytes_in_use == 0


def test_limit_below_a_cache_counts_cached_memory():
    limited = LimitingMemoryResource(HostMemoryResource(), 4096)
    cache = CachingMemoryResource(limited)
    allocate(cache, 100).close()
    assert limited.bytes_in_use == 512
    over = LimitingMemoryResource(cache, 100)
    allocate(over, 100).close()
    assert (over.bytes_in_use, limited.bytes_in_use) == (0, 512)


def test_threads_never_exceed_the_limit_and_lose_no_byte():
    class Watching(HostMemoryResource):
        in_use = 0
        most = 0

        def __init__(self):
            super().__init__()
            self.lock = threading.Lock()

        def allocate(self, size, *, stream=None):
            with self.lock:
                self.in_use += size
                self.most = max(self.most, self.in_use)
            return super().allocate(size, stream=stream)

        def deallocate(self, ptr, size, *, stream):
            super().deallocate(ptr, size, stream=stream)
            with self.lock:
                self.in_use -= size

    mr = LimitingMemoryResource(Watching(), 1000)
    outcomes = []

    def work():
        for i in range(300):
            try:
                allocate(mr, 100 + 50 * (i % 5)).close()
                outcomes.append(True)
            except OutOfMemoryError:
                outcomes.append(False)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 2400
    assert mr.upstream.most <= 1000
    assert (mr.bytes_in_use, mr.upstream.in_use) == (0, 0)


def test_base_class_refuses_with_a_memory_error():
    mr = AccountingMemoryResource(HostMemoryResource(), 10)
    with pytest.raises(MemoryError, match="11 bytes"):
        allocate(mr, 11)


@pytest.mark.requires(vmm=True)
def test_virtual_memory_counts_with_its_granularity(device, stream):
    mr = LimitingMemoryResource(VirtualMemoryResource(device), 2**30)
    with mr.allocate(1, stream=stream) as buffer:
        assert mr.bytes_in_use == buffer.size > 1
    assert mr.bytes_in_use == 0


@pytest.mark.requires(mempool=True)
def test_memory_of_a_device_is_limited(device, stream):
    mr = LimitingMemoryResource(DeviceMemoryResource(device, {}), 1 << 20)
    first = mr.allocate(1 << 19, stream=stream)
    with pytest.raises(OutOfMemoryError):
        mr.allocate((1 << 19) + 1, stream=stream)
    first.close()
    mr.allocate(1 << 20, stream=stream).close()
    assert mr.bytes_in_use == 0

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Statistics of allocations, over host memory, so that no driver is needed."""

import gc
import threading

import pytest

from cuda.core import MemoryStatistics, StatisticsMemoryResource
from cuda.core._stream import LEGACY_DEFAULT_STREAM
from support.memory import HostMemoryResource


@pytest.fixture
def mr():
    return StatisticsMemoryResource(HostMemoryResource())


def allocate(mr, size):
    return mr.allocate(size, stream=LEGACY_DEFAULT_STREAM)


def test_counts_begin_with_0(mr):
    assert mr.statistics == MemoryStatistics(0, 0, 0, 0, 0, 0, 0)


def test_each_allocation_and_each_free_counts(mr):
    first, second = allocate(mr, 100), allocate(mr, 50)
    first.close()
    third = allocate(mr, 10)
    assert mr.statistics == MemoryStatistics(
        current_bytes=60,
        current_count=2,
        peak_bytes=150,
        peak_count=2,
        total_bytes=160,
        total_count=3,
        failed_count=0,
    )
    del second, third
    gc.collect()
    assert (mr.statistics.current_bytes, mr.statistics.current_count) == (0, 0)


def test_allocations_of_0_bytes_are_counted(mr):
    allocate(mr, 0).close()
    assert (mr.statistics.total_count, mr.statistics.total_bytes) == (1, 0)


def test_peaks_can_be_reset(mr):
    held = allocate(mr, 10)
    allocate(mr, 100).close()
    assert (mr.statistics.peak_bytes, mr.statistics.peak_count) == (110, 2)
    mr.reset_peaks()
    assert (mr.statistics.peak_bytes, mr.statistics.peak_count) == (10, 1)
    assert mr.statistics.total_bytes == 110
    held.close()


def test_failures_are_counted_only_as_failures(mr, monkeypatch):
    def fail(size, *, stream):
        raise MemoryError

    monkeypatch.setattr(mr.upstream, "allocate", fail)
    for _ in range(2):
        with pytest.raises(MemoryError):
            allocate(mr, 100)
    assert mr.statistics == MemoryStatistics(0, 0, 0, 0, 0, 0, failed_count=2)


def test_statistics_that_were_read_do_not_change(mr):
    before = mr.statistics
    held = allocate(mr, 10)
    assert before.current_bytes == 0
    held.close()


def test_threads_lose_no_count(mr):
    def work():
        for _ in range(500):
            allocate(mr, 8).close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = mr.statistics
    assert (counts.current_bytes, counts.current_count, counts.total_bytes, counts.total_count) == (0, 0, 16000, 2000)
    assert 1 <= counts.peak_count <= 4

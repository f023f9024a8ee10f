# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The count of allocations in use, on which the adaptors that report or limit it are based."""

import pytest

from cuda.core import LEGACY_DEFAULT_STREAM, MemoryStatistics, StatisticsMemoryResource
from cuda.core._memory._adaptors import AccountingMemoryResource
from support.memory import HostMemoryResource


def test_statistics_are_a_plain_tuple_with_names():
    counts = MemoryStatistics(1, 2, 3, 4, 5, 6, 7)
    assert counts == (1, 2, 3, 4, 5, 6, 7)
    assert counts.current_bytes == 1 and counts.failed_count == 7
    with pytest.raises(AttributeError):
        counts.current_bytes = 0


def test_adaptors_that_count_share_one_base():
    assert issubclass(StatisticsMemoryResource, AccountingMemoryResource)


def test_freed_memory_is_not_in_use_in_nested_adaptors():
    upstream = HostMemoryResource()
    outer = StatisticsMemoryResource(StatisticsMemoryResource(upstream))
    buffer = outer.allocate(64, stream=LEGACY_DEFAULT_STREAM)
    assert outer.statistics.current_bytes == 64
    buffer.close()
    assert outer.statistics[:4] == (0, 0, 64, 1)


def test_a_failing_upstream_counts_as_a_failure_and_nothing_else():
    class Full(HostMemoryResource):
        def allocate(self, size, *, stream):
            raise MemoryError("full")

    mr = StatisticsMemoryResource(Full())
    with pytest.raises(MemoryError, match="full"):
        mr.allocate(8, stream=LEGACY_DEFAULT_STREAM)
    assert mr.statistics == (0, 0, 0, 0, 0, 0, 1)

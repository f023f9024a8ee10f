# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Counts of what any memory resource allocates."""

from __future__ import annotations

from collections import namedtuple

from cuda.core._memory._adaptor import ObservingMemoryResource
from cuda.core._memory._usage import MemoryUsage

__all__ = ["MemoryStatistics", "StatisticsMemoryResource"]


class MemoryStatistics(
    namedtuple(
        "MemoryStatistics",
        "current_bytes current_count peak_bytes peak_count total_bytes total_count failed_count",
    )
):
    """What a :class:`StatisticsMemoryResource` has counted, at one moment.

    Attributes
    ----------
    current_bytes, current_count : int
        The bytes, and the number, of the allocations in use.
    peak_bytes, peak_count : int
        The most that were in use at once.
    total_bytes, total_count : int
        All that were ever allocated.
    failed_count : int
        The number of allocations that failed.
    """

    __slots__ = ()


class StatisticsMemoryResource(ObservingMemoryResource):
    """Counts the allocations of another resource.

    An allocation is in use from the moment it succeeds until its free is enqueued.

    Parameters
    ----------
    upstream : :class:`MemoryResource`
        The resource that memory comes from.

    Raises
    ------
    TypeError
        If ``upstream`` is no :class:`MemoryResource`.
    """

    def __init__(self, upstream):
        super().__init__(upstream)
        self._usage = MemoryUsage()

    @property
    def statistics(self) -> MemoryStatistics:
        """The counts of this moment."""
        return MemoryStatistics(*self._usage.figures())

    def reset_peaks(self) -> None:
        """Let the peaks start again from what is in use."""
        self._usage.reset_peaks()

    def _refused(self, size, stream, error):
        self._usage.fail()

    def _allocated(self, pointer, size, asked, stream):
        self._usage.take(size)

    def _freed(self, note, pointer, size, stream):
        self._usage.give(size)

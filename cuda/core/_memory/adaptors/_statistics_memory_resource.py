# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Counts of what any memory resource allocates."""

from __future__ import annotations

from cuda.core._memory.adaptors._accounting import AccountingMemoryResource, MemoryStatistics

__all__ = ["MemoryStatistics", "StatisticsMemoryResource"]


class StatisticsMemoryResource(AccountingMemoryResource):
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

    @property
    def statistics(self) -> MemoryStatistics:
        """The present counts."""
        return self._count()

    def reset_peaks(self) -> None:
        """Reset the peaks to what is in use now."""
        self._reset_peaks()

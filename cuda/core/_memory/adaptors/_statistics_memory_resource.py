# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""An adaptor that counts the allocations of another resource."""

from __future__ import annotations

from cuda.core._memory.adaptors._accounting import AccountingMemoryResource, MemoryStatistics

__all__ = ["MemoryStatistics", "StatisticsMemoryResource"]


class StatisticsMemoryResource(AccountingMemoryResource):
    """Counts the allocations of another resource.

    An allocation counts as in use from its success until its free is enqueued.

    Parameters
    ----------
    upstream : :class:`MemoryResource`
        The resource that the memory is allocated from.

    Raises
    ------
    TypeError
        If ``upstream`` is not a :class:`MemoryResource`.
    """

    def __init__(self, upstream):
        super().__init__(upstream)

    @property
    def statistics(self) -> MemoryStatistics:
        """A snapshot of the current counts."""
        return self._count()

    def reset_peaks(self) -> None:
        """Reset the peaks to the current values."""
        self._reset_peaks()

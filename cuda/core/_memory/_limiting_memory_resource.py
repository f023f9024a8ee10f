# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A limit on the bytes in use of any memory resource."""

from __future__ import annotations

from cuda.core._memory._adaptor import ObservingMemoryResource
from cuda.core._memory._memory_pool import check_byte_option
from cuda.core._memory._usage import MemoryUsage
from cuda.core._utils.cuda_utils import OutOfMemoryError

__all__ = ["LimitingMemoryResource"]


class LimitingMemoryResource(ObservingMemoryResource):
    """Refuses allocations of another resource beyond a number of bytes in use.

    What counts is the size of each buffer, from its allocation until its free is enqueued.

    Parameters
    ----------
    upstream : :class:`MemoryResource`
        The resource that memory comes from.
    limit : int
        The most bytes that may be in use at once.

    Raises
    ------
    TypeError
        If ``upstream`` is no :class:`MemoryResource`, or ``limit`` no integer.
    ValueError
        If ``limit`` is negative or no size of memory.

    Notes
    -----
    Over a :class:`CachingMemoryResource` it limits what the program uses; below one, as its upstream,
    also what the cache keeps.
    """

    def __init__(self, upstream, limit: int):
        check_byte_option("limit", limit, 2**64 - 1)
        super().__init__(upstream)
        self._limit = limit
        self._usage = MemoryUsage()

    @property
    def limit(self) -> int:
        """The most bytes that may be in use at once."""
        return self._limit

    @property
    def bytes_in_use(self) -> int:
        """The bytes in use now."""
        return self._usage.in_use()

    def _admit(self, size, stream):
        if not self._usage.take(size, self._limit):
            raise self._refusal(size)

    def _refused(self, size, stream, error):
        self._usage.give(size)

    def _allocated(self, pointer, size, asked, stream):
        # Some resources round up, and then the buffer has more than was asked for.
        if size > asked and not self._usage.take(size - asked, self._limit, 0):
            raise self._refusal(size)

    def _freed(self, note, pointer, size, stream):
        self._usage.give(size)

    def _refusal(self, size):
        free = max(self._limit - self._usage.in_use(), 0)
        error = OutOfMemoryError(
            f"{size} bytes would exceed the limit of this {type(self).__name__}: "
            f"{free} of its {self._limit} bytes are free.",
            code=2,
            name="CUDA_ERROR_OUT_OF_MEMORY",
        )
        error.free = free
        error.total = self._limit
        return error

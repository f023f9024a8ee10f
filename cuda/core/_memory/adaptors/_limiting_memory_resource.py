# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A limit on the bytes in use of any memory resource."""

from __future__ import annotations

from cuda.core._memory._memory_pool import check_byte_option
from cuda.core._memory.adaptors._accounting import AccountingMemoryResource
from cuda.core._utils.cuda_utils import OutOfMemoryError
from cuda.core._utils.errors.initialised import needs_init

__all__ = ["LimitingMemoryResource"]


@needs_init("_bytes")
class LimitingMemoryResource(AccountingMemoryResource):
    """Refuses allocations of another resource beyond a number of bytes in use.

    The size of each buffer counts from its allocation until its free is enqueued.

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
        super().__init__(upstream, limit)
        self._bytes = limit

    @property
    def limit(self) -> int:
        """The most bytes that may be in use at once."""
        return self._bytes

    @property
    def bytes_in_use(self) -> int:
        """The bytes in use now."""
        return self._count().current_bytes

    def _refusal(self, size):
        free = self._bytes - self.bytes_in_use
        error = OutOfMemoryError(
            f"{size} bytes would exceed the limit of this {type(self).__name__}: "
            f"{free} of its {self._bytes} bytes are free.",
            code=2,
            name="CUDA_ERROR_OUT_OF_MEMORY",
        )
        error.free = free
        error.total = self._bytes
        return error

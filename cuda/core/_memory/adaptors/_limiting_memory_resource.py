# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""An adaptor that limits the memory in use of another resource."""

from __future__ import annotations

from cuda.core._memory._memory_pool import check_byte_option
from cuda.core._memory.adaptors._accounting import AccountingMemoryResource
from cuda.core._utils.cuda_utils import OutOfMemoryError
from cuda.core._utils.errors.uninitialized import raise_if_uninitialized

__all__ = ["LimitingMemoryResource"]


@raise_if_uninitialized("_bytes")
class LimitingMemoryResource(AccountingMemoryResource):
    """Limits how many bytes of another resource are in use: further allocations raise OutOfMemoryError.

    A buffer counts with its size from its allocation until its free is enqueued.

    Parameters
    ----------
    upstream : :class:`MemoryResource`
        The resource that the memory is allocated from.
    limit : int
        The maximum number of bytes in use.

    Raises
    ------
    TypeError
        If ``upstream`` is not a :class:`MemoryResource`, or ``limit`` not an integer.
    ValueError
        If ``limit`` is negative or 2**64 or more.

    Notes
    -----
    With a :class:`CachingMemoryResource` as its upstream, it limits the memory that the program uses. As the upstream
    of a :class:`CachingMemoryResource`, it also limits the cached memory.
    """

    def __init__(self, upstream, limit: int):
        check_byte_option("limit", limit, 2**64 - 1)
        super().__init__(upstream, limit)
        self._bytes = limit

    @property
    def limit(self) -> int:
        """The maximum number of bytes in use."""
        return self._bytes

    @property
    def bytes_in_use(self) -> int:
        """The number of bytes now in use."""
        return self._count().current_bytes

    def _refusal(self, size):
        free = self._bytes - self.bytes_in_use
        error = OutOfMemoryError(
            f"an allocation of {size} bytes exceeds the limit of this {type(self).__name__}: "
            f"{free} of its {self._bytes} bytes are free.",
            code=2,
            name="CUDA_ERROR_OUT_OF_MEMORY",
        )
        error.free = free
        error.total = self._bytes
        return error

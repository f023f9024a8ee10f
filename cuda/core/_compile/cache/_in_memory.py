# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The cache of compiled programs in the memory of this process."""

from __future__ import annotations

from collections import OrderedDict

from cuda.core._compile.cache._abc import Counters, ProgramCacheResource, checked_key, checked_limit, checked_value
from cuda.core._utils.errors.uninitialized import raise_if_uninitialized

__all__ = ["InMemoryProgramCache"]


@raise_if_uninitialized("_values", "_size")
class InMemoryProgramCache(Counters, ProgramCacheResource):
    """A cache of compiled programs in the memory of this process, which threads can share.

    Parameters
    ----------
    max_size_bytes : int, optional
        The maximum size of all values in bytes; above it, the least recently read ones are removed. If None, there is
        no limit.

    Raises
    ------
    TypeError
        If ``max_size_bytes`` is not an int.
    ValueError
        If it is below 1.

    Examples
    --------
    >>> cache = InMemoryProgramCache(max_size_bytes=64 << 20)
    >>> code = Program(source, "c++", options).compile("cubin", cache=cache)
    """

    def __init__(self, *, max_size_bytes: int | None = None):
        super().__init__()
        self._limit = checked_limit(max_size_bytes)
        self._values = OrderedDict()  # the least recently read one comes first
        self._size = 0

    def __getitem__(self, key):
        key = checked_key(key)
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
                self._hits += 1
                return value
            self._misses += 1
        raise KeyError(key)

    def __setitem__(self, key, value):
        key, value = checked_key(key), checked_value(value)
        with self._lock:
            self._remove(key)
            # A value above the limit is not stored, so that it does not displace all others.
            if self._limit is not None and len(value) > self._limit:
                return
            self._values[key] = value
            self._size += len(value)
            while self._limit is not None and self._size > self._limit:
                self._remove(next(iter(self._values)))

    def __delitem__(self, key):
        key = checked_key(key)
        with self._lock:
            if not self._remove(key):
                raise KeyError(key)

    def __len__(self):
        return len(self._values)

    def __repr__(self):
        return f"<InMemoryProgramCache of {len(self)} programs, {self.size_bytes} bytes>"

    def clear(self) -> None:
        """Remove all values."""
        with self._lock:
            self._values.clear()
            self._size = 0

    @property
    def size_bytes(self) -> int:
        """The size of all values, in bytes."""
        return self._size

    def _remove(self, key) -> bool:
        value = self._values.pop(key, None)
        self._size -= len(value or b"")
        return value is not None

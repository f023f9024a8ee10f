# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The base class of caches of compiled programs, hit counters, and checks of keys and values."""

from __future__ import annotations

import abc
from _thread import RLock
from collections.abc import Iterable, Mapping

from cuda.core._module import ObjectCode
from cuda.core._utils.errors.uninitialized import raise_if_uninitialized
from cuda.core._utils.validators import name_bytes, shown

__all__ = ["ProgramCacheResource"]


class ProgramCacheResource(abc.ABC):
    """A store of compiled programs, by key, that :meth:`Program.compile` takes as ``cache``.

    A subclass defines ``__getitem__``, ``__setitem__``, ``__delitem__``, ``__len__`` and
    :meth:`clear`. Keys are bytes, or str, which is encoded as UTF-8. Values are bytes, or an
    :class:`ObjectCode`, whose code is stored. There is no ``in`` and no iteration, because another
    process may change the cache at any time; use :meth:`get`.
    """

    __iter__ = None

    def __repr__(self):
        return f"<{type(self).__name__} at {id(self):#x}>"

    @abc.abstractmethod
    def __getitem__(self, key: bytes | str) -> bytes:
        """Return the value, or raise KeyError."""

    @abc.abstractmethod
    def __setitem__(self, key: bytes | str, value: bytes | bytearray | memoryview | ObjectCode) -> None:
        """Store a value, which replaces an earlier value of the key."""

    @abc.abstractmethod
    def __delitem__(self, key: bytes | str) -> None:
        """Remove the value, or raise KeyError."""

    @abc.abstractmethod
    def __len__(self) -> int:
        """Return the number of values."""

    @abc.abstractmethod
    def clear(self) -> None:
        """Remove all values."""

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.close()

    def get(self, key: bytes | str, default: bytes | None = None) -> bytes | None:
        """Return the value, or ``default`` if there is none.

        Parameters
        ----------
        key : bytes | str
            The key.
        default : bytes, optional
            The result for a key without a value. Default is None.

        Raises
        ------
        TypeError
            If ``key`` has the wrong type.
        """
        try:
            return self[key]
        except KeyError:
            return default

    def update(
        self, items: Mapping[bytes | str, bytes | ObjectCode] | Iterable[tuple[bytes | str, bytes | ObjectCode]], /
    ) -> None:
        """Store several values, one after the other.

        Parameters
        ----------
        items : Mapping or iterable of pairs
            Keys and values.
        """
        for key, value in items.items() if isinstance(items, Mapping) else items:
            self[key] = value

    def close(self) -> None:  # noqa: B027
        """Release the resources of the cache; does nothing unless a subclass overrides it."""


@raise_if_uninitialized("_lock", "_hits", "_misses")
class Counters:
    """Thread-safe counters of the hits and misses of a cache."""

    def __init__(self):
        self._lock = RLock()
        self._hits = 0
        self._misses = 0

    def _count(self, is_hit: bool) -> None:
        with self._lock:
            if is_hit:
                self._hits += 1
            else:
                self._misses += 1

    @property
    def hits(self) -> int:
        """The number of lookups through this object that found a value."""
        return self._hits

    @property
    def misses(self) -> int:
        """The number of lookups through this object that found no value."""
        return self._misses


def checked_key(key) -> bytes:
    """Return a key as bytes, or raise TypeError."""
    if type(key) is bytes:
        return key
    if isinstance(key, str):
        return name_bytes("a key", key) if "\0" not in key else key.encode()
    if isinstance(key, (bytes, bytearray)):
        return bytes(key)
    raise TypeError(f"a key must be bytes or str, not {type(key).__name__}")


def checked_value(value) -> bytes:
    """Return a value as bytes, or raise TypeError; for an ObjectCode of a file, read the file."""
    if isinstance(value, ObjectCode):
        value = value.code
        if isinstance(value, str):
            with open(value, "rb") as file:
                return file.read()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise TypeError(f"a value must be bytes, a bytearray, a memoryview or an ObjectCode, not {type(value).__name__}")


def checked_limit(max_size_bytes) -> int | None:
    """Return a size limit, or raise TypeError or ValueError."""
    if max_size_bytes is None:
        return None
    if isinstance(max_size_bytes, bool) or not isinstance(max_size_bytes, int):
        raise TypeError(f"max_size_bytes must be an int or None, not {type(max_size_bytes).__name__}")
    if max_size_bytes <= 0:
        raise ValueError(f"max_size_bytes must be at least 1, or None for no limit, but is {shown(max_size_bytes)}")
    return max_size_bytes

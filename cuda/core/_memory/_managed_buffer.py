# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Buffers of managed memory, with advice to the driver and migration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet

from cuda.core._handles import _late
from cuda.core._host import Host
from cuda.core._memory._buffer import Buffer
from cuda.core._memory._managed_memory_ops import (
    discard_batch,
    discard_prefetch_batch,
    get_accessed_by,
    get_preferred_location,
    get_read_mostly,
    prefetch_batch,
    set_accessed_by,
    set_preferred_location,
    set_read_mostly,
)
from cuda.core._utils.errors.initialised import needs_init
from cuda.core._utils.errors.values import answering
from cuda.core._utils.validators import shown

__all__ = ["ManagedBuffer"]


@answering
class ManagedBuffer(Buffer):
    """A range of managed memory, which migrates between the host and devices.

    Managed buffers come from :meth:`ManagedMemoryResource.allocate` and :meth:`from_handle`; there is no
    direct construction. Methods that advise or migrate raise ValueError for memory that is not managed, and
    RuntimeError if the buffer is closed.
    """

    _made_by = "ManagedMemoryResource.allocate() or ManagedBuffer.from_handle()"

    @classmethod
    def from_handle(cls, ptr, size: int, mr=None, owner=None, *, stream=None) -> ManagedBuffer:
        """Wrap the address of managed memory; the arguments are those of :meth:`Buffer.from_handle`."""
        return cls._init(ptr, size, mr, None, owner, stream=stream)

    def prefetch(self, location, *, stream) -> None:
        """Migrate the memory, in stream order (``cuMemPrefetchAsync``).

        Parameters
        ----------
        location : :class:`Device` | :class:`Host`
            Where to.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream.

        Raises
        ------
        ValueError
            If ``location`` is None.
        TypeError
            If ``location`` is no place, or ``stream`` no stream.
        """
        prefetch_batch(stream, (self,), (location,))

    def discard(self, *, stream) -> None:
        """Drop the contents without migrating, in stream order (``cuMemDiscardBatchAsync``).

        Parameters
        ----------
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream.

        Raises
        ------
        TypeError
            If ``stream`` is no stream.
        NotImplementedError
            If the driver is older than CUDA 13.0.
        """
        discard_batch(stream, (self,))

    def discard_prefetch(self, location, *, stream) -> None:
        """Drop the contents and migrate, in stream order (``cuMemDiscardAndPrefetchBatchAsync``).

        Parameters
        ----------
        location : :class:`Device` | :class:`Host`
            Where to.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream.

        Raises
        ------
        ValueError
            If ``location`` is None.
        TypeError
            If ``location`` is no place, or ``stream`` no stream.
        NotImplementedError
            If the driver is older than CUDA 13.0.
        """
        discard_prefetch_batch(stream, (self,), (location,))

    @property
    def read_mostly(self) -> bool:
        """Whether copies of the memory are kept wherever it is read (``cuMemAdvise``)."""
        return get_read_mostly(self)

    @read_mostly.setter
    def read_mostly(self, value: bool) -> None:
        set_read_mostly(self, value)

    @property
    def preferred_location(self):
        """The preferred location, a :class:`Device` or :class:`Host`, or None (``cuMemAdvise``)."""
        return get_preferred_location(self)

    @preferred_location.setter
    def preferred_location(self, location) -> None:
        set_preferred_location(self, location)

    @property
    def accessed_by(self) -> AccessedBySetProxy:
        """The devices, and ``Host()``, to which the memory stays mapped (``cuMemAdvise``).

        A set that shows the state now, whenever it is read. Assigning an iterable replaces the members;
        nothing changes if one of them is no place.
        """
        return AccessedBySetProxy(self)

    @accessed_by.setter
    def accessed_by(self, locations: Iterable) -> None:
        if not isinstance(locations, Iterable):
            raise TypeError(f"accessed_by takes an iterable of Device and Host(), not {type(locations).__name__}")
        wanted = {_check_member(location) for location in locations}
        members = set(get_accessed_by(self))
        for location in members - wanted:
            set_accessed_by(self, location, False)
        for location in wanted - members:
            set_accessed_by(self, location, True)


@needs_init("_buffer")
class AccessedBySetProxy(MutableSet):
    """The locations to which managed memory stays mapped; reads and writes go to the driver."""

    __slots__ = ("_buffer",)

    def __init__(self, buffer: ManagedBuffer):
        self._buffer = buffer

    @classmethod
    def _from_iterable(cls, iterable) -> set:
        # What & | - ^ give.
        return set(iterable)

    def __contains__(self, location) -> bool:
        return location in get_accessed_by(self._buffer)

    def __iter__(self) -> Iterator:
        return iter(get_accessed_by(self._buffer))

    def __len__(self) -> int:
        return len(get_accessed_by(self._buffer))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({set(self)!r})"

    def add(self, location) -> None:
        """Map the memory to a :class:`Device`, or to ``Host()``.

        Raises
        ------
        TypeError
            If ``location`` is something else.
        ValueError
            If it is a NUMA node.
        """
        set_accessed_by(self._buffer, _check_member(location), True)

    def discard(self, location) -> None:
        """Remove a location; others are ignored."""
        if location in self:
            set_accessed_by(self._buffer, location, False)


def _check_member(location):
    if isinstance(location, Host):
        if location != Host():
            raise ValueError(f"accessed_by takes Host() and no NUMA nodes, not {shown(location)}")
    elif not _late.is_device(location):
        raise TypeError(f"accessed_by takes Device objects and Host(), not {type(location).__name__}")
    return location

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Buffers of managed memory: memory advice, prefetching and discarding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet

from cuda.core._host import Host
from cuda.core._memory._buffer import Buffer
from cuda.core._memory._managed_memory_ops import (
    discard_batch,
    discard_prefetch_batch,
    get_accessed_by,
    get_last_prefetch_location,
    get_locations,
    get_preferred_location,
    get_read_mostly,
    prefetch_batch,
    set_accessed_by,
    set_preferred_location,
    set_read_mostly,
)
from cuda.core._utils import slots
from cuda.core._utils.validators import shown

__all__ = ["ManagedBuffer"]


class ManagedBuffer(Buffer):
    """A range of managed memory, which migrates between the host and devices.

    A managed buffer cannot be constructed directly: :meth:`ManagedMemoryResource.allocate` and :meth:`from_handle`
    return one. The methods and properties of this class raise ValueError if the memory is not managed, and
    RuntimeError if the buffer is closed.

    Examples
    --------
    >>> from cuda.core import Device, ManagedMemoryResource
    >>> device = Device()
    >>> device.set_current()
    >>> stream = device.create_stream()
    >>> buffer = ManagedMemoryResource().allocate(1 << 16, stream=stream)
    >>> buffer.prefetch(device, stream=stream)
    """

    _made_by = "ManagedMemoryResource.allocate() or ManagedBuffer.from_handle()"

    @classmethod
    def from_handle(cls, ptr, size: int, mr=None, owner=None, *, stream=None) -> ManagedBuffer:
        """Wrap existing managed memory.

        Parameters
        ----------
        ptr, size, mr, owner, stream
            As for :meth:`Buffer.from_handle`.

        Returns
        -------
        :class:`ManagedBuffer`
            The buffer.
        """
        return cls._init(ptr, size, mr, None, owner, stream=stream)

    def prefetch(self, location, *, stream) -> None:
        """Prefetch the memory: migrate it to a location, in stream order (``cuMemPrefetchAsync``).

        Parameters
        ----------
        location : :class:`Device` | :class:`Host`
            The destination.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream that the migration is enqueued on.

        Raises
        ------
        ValueError
            If ``location`` is None.
        TypeError
            If ``location`` is neither a :class:`Device` nor a :class:`Host`, or ``stream`` not a stream.
        """
        prefetch_batch(stream, (self,), (location,))

    def discard(self, *, stream) -> None:
        """Discard the contents, in stream order (``cuMemDiscardBatchAsync``).

        Reads are undefined until the memory is written or prefetched.

        Parameters
        ----------
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream that the operation is enqueued on.

        Raises
        ------
        TypeError
            If ``stream`` is not a stream.
        NotImplementedError
            If the driver is older than CUDA 13.0.
        """
        discard_batch(stream, (self,))

    def discard_prefetch(self, location, *, stream) -> None:
        """Discard the contents and prefetch the memory without a copy (``cuMemDiscardAndPrefetchBatchAsync``).

        Parameters
        ----------
        location : :class:`Device` | :class:`Host`
            The destination.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream that the operation is enqueued on.

        Raises
        ------
        ValueError
            If ``location`` is None.
        TypeError
            If ``location`` is neither a :class:`Device` nor a :class:`Host`, or ``stream`` not a stream.
        NotImplementedError
            If the driver is older than CUDA 13.0.
        """
        discard_prefetch_batch(stream, (self,), (location,))

    @property
    def read_mostly(self) -> bool:
        """Get or set whether the memory is mostly read, so that each processor that reads it keeps a read-only copy
        (``cuMemAdvise``, ``CU_MEM_ADVISE_SET_READ_MOSTLY``).
        """
        return get_read_mostly(self)

    @read_mostly.setter
    def read_mostly(self, value: bool) -> None:
        set_read_mostly(self, value)

    @property
    def preferred_location(self):
        """Get or set the preferred location: a :class:`Device`, a :class:`Host`, or None for no preference
        (``cuMemAdvise``, ``CU_MEM_ADVISE_SET_PREFERRED_LOCATION``).
        """
        return get_preferred_location(self)

    @preferred_location.setter
    def preferred_location(self, location) -> None:
        set_preferred_location(self, location)

    @property
    def last_prefetch_location(self):
        """The location that all pages were last explicitly prefetched to: a :class:`Device` or a :class:`Host`.

        None if a page was never prefetched, or pages have different targets. This is the requested target: the
        prefetch might not have completed, and the pages might have migrated since. Memory that a pool uses again keeps
        the location of its earlier use.
        """
        return get_last_prefetch_location(self)

    def locations(self, granularity: int | None = None, *, sampling: int | None = None) -> list:
        """Return where parts of the memory are now (``cuMemGetLocationInfo``).

        Parameters
        ----------
        granularity : int, optional
            The size of a part in bytes. Defaults to the whole buffer, as one part.
        sampling : int, optional
            The distance in bytes between the addresses that the driver looks up; the most frequent location of a part
            counts. Defaults to the driver's choice.

        Returns
        -------
        list
            For each part, a :class:`Device` or :class:`Host`, or None if its memory is nowhere yet.

        Raises
        ------
        TypeError
            If an argument is not an int.
        ValueError
            If an argument is not positive, or ``sampling`` exceeds ``granularity``.
        NotSupportedError
            If the driver is older than CUDA 13.4, or a device does not support concurrent access to managed memory.

        Examples
        --------
        >>> from cuda.core import Device, ManagedMemoryResource
        >>> device = Device()
        >>> device.set_current()
        >>> stream = device.create_stream()
        >>> buffer = ManagedMemoryResource().allocate(1 << 20, stream=stream)
        >>> buffer.prefetch(device, stream=stream)
        >>> stream.sync()
        >>> buffer.locations(1 << 19) == [device, device]
        True
        """
        return get_locations(self, granularity, sampling)

    @property
    def accessed_by(self) -> AccessedBySetProxy:
        """Get or set the locations that access the memory, to which it stays mapped: a set of :class:`Device` and
        ``Host()`` (``cuMemAdvise``, ``CU_MEM_ADVISE_SET_ACCESSED_BY``).

        The set is a live view: each access queries the driver. Assigning an iterable replaces the members; if one of
        them is not a valid location, nothing changes.
        """
        return AccessedBySetProxy(self)

    @accessed_by.setter
    def accessed_by(self, locations: Iterable) -> None:
        if not isinstance(locations, Iterable):
            raise TypeError(f"accessed_by must be an iterable of Device and Host(), not {type(locations).__name__}")
        wanted = {_check_member(location) for location in locations}
        members = set(get_accessed_by(self))
        for location in members - wanted:
            set_accessed_by(self, location, False)
        for location in wanted - members:
            set_accessed_by(self, location, True)


class AccessedBySetProxy(MutableSet):
    """The locations to which managed memory stays mapped, as a live view: each operation calls the driver."""

    __slots__ = ("_buffer",)

    def __init__(self, buffer: ManagedBuffer):
        self._buffer = buffer

    @classmethod
    def _from_iterable(cls, iterable) -> set:
        # The result of the operators & | - ^.
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
        """Keep the memory mapped to a location (``CU_MEM_ADVISE_SET_ACCESSED_BY``).

        Parameters
        ----------
        location : :class:`Device` | :class:`Host`
            The location; of hosts, only ``Host()``.

        Raises
        ------
        TypeError
            If ``location`` is neither a :class:`Device` nor a :class:`Host`.
        ValueError
            If ``location`` is a NUMA node.
        """
        set_accessed_by(self._buffer, _check_member(location), True)

    def discard(self, location) -> None:
        """Remove a location if it is a member (``CU_MEM_ADVISE_UNSET_ACCESSED_BY``)."""
        if location in self:
            set_accessed_by(self._buffer, location, False)


def _check_member(location):
    if isinstance(location, Host):
        if location != Host():
            raise ValueError(f"accessed_by must contain Host(), not the NUMA node {shown(location)}")
    elif not isinstance(location, slots.get("Device")):
        raise TypeError(f"accessed_by must contain Device and Host() objects, not {type(location).__name__}")
    return location

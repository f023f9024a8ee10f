# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The host as a memory location."""

from __future__ import annotations

from cuda.core._utils.validators import shown

__all__ = ["Host"]


class Host:
    """The host, or one of its NUMA nodes, as a memory location: the counterpart of :class:`Device`.

    Equal arguments give the same object.

    Parameters
    ----------
    numa_id : int, optional
        The NUMA node. If None, the host without a specific node.
    is_numa_current : bool, optional
        Whether the location is the NUMA node of the calling thread. Excludes ``numa_id``. Default is False.

    Raises
    ------
    ValueError
        If ``numa_id`` is not an integer from 0 to 2**31 - 1, or both arguments are given.

    Examples
    --------
    >>> from cuda.core import Device, Host, ManagedMemoryResource
    >>> device = Device()
    >>> device.set_current()
    >>> buffer = ManagedMemoryResource().allocate(4096, stream=device.default_stream)
    >>> buffer.prefetch(Host(), stream=device.default_stream)
    """

    __slots__ = ("__weakref__", "_is_numa_current", "_numa_id")

    _instances: dict[tuple[int | None, bool], Host] = {}

    def __new__(cls, numa_id: int | None = None, *, is_numa_current: bool = False):
        if numa_id is not None:
            if isinstance(numa_id, bool) or not isinstance(numa_id, int) or not 0 <= numa_id < 1 << 31:
                raise ValueError(f"numa_id must be an int, from 0 to 2**31 - 1, or None, not {shown(numa_id)}")
            if is_numa_current:
                raise ValueError("numa_id and is_numa_current exclude each other: either a node or the current one")
        key = (numa_id, bool(is_numa_current))
        found = cls._instances.get(key)
        if found is not None:
            return found
        self = super().__new__(cls)
        object.__setattr__(self, "_numa_id", numa_id)
        object.__setattr__(self, "_is_numa_current", key[1])
        return cls._instances.setdefault(key, self)  # atomic: of several threads, one sets the object

    def __setattr__(self, name, value):
        raise AttributeError(f"Host is immutable: {name} cannot be set")

    def __delattr__(self, name):
        raise AttributeError(f"Host is immutable: {name} cannot be deleted")

    def __eq__(self, other):
        return self is other if isinstance(other, Host) else NotImplemented

    def __hash__(self):
        return hash((Host, self._numa_id, self._is_numa_current))

    def __repr__(self):
        if self._is_numa_current:
            return "Host.numa_current()"
        return "Host()" if self._numa_id is None else f"Host(numa_id={self._numa_id})"

    def __reduce__(self):
        return (_host, (self._numa_id, self._is_numa_current))

    @classmethod
    def numa_current(cls) -> Host:
        """Return the location that means the NUMA node of the calling thread."""
        return cls(is_numa_current=True)

    @property
    def numa_id(self) -> int | None:
        """The NUMA node, or None for the host without a specific node."""
        return self._numa_id

    @property
    def is_numa_current(self) -> bool:
        """Whether the location is the NUMA node of the calling thread."""
        return self._is_numa_current


def _host(numa_id, is_numa_current):
    return Host(numa_id, is_numa_current=is_numa_current)

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Peer access to a memory pool, as a mutable set of devices."""

from __future__ import annotations

from collections.abc import Iterable, MutableSet

from cuda.core._memory._memory_pool import (
    _MemPool,
    can_access_peer,
    device_argument,
    get_access,
    peers_with_access,
    set_access,
)
from cuda.core._utils import slots
from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils.enums import MEMORY_POOL_ACCESS

__all__ = ["DMR_mempool_get_access", "PeerAccessibleBySetProxy", "replace_peers"]


class PeerAccessibleBySetProxy(MutableSet):
    """The peer devices with read and write access to the memory of a pool, as a live view.

    The elements are :class:`~cuda.core.Device` objects; all methods also accept ordinals. A change is one driver call
    (``cuMemPoolSetAccess``), which can take seconds: prefer one ``update`` to several ``add``.
    """

    __slots__ = ("_resource",)

    def __init__(self, resource):
        self._resource = resource

    @classmethod
    def _from_iterable(cls, devices):
        # The binary operators return built-in sets.
        return set(devices)

    def __contains__(self, value):
        return _find_ordinal(value) in peers_with_access(self._resource)  # None, for other objects, is never a member

    def __iter__(self):
        return iter([slots.get("Device")(ordinal) for ordinal in sorted(peers_with_access(self._resource))])

    def __len__(self):
        return len(peers_with_access(self._resource))

    def __repr__(self):
        return f"{type(self).__name__}({set(self)})"

    def add(self, value) -> None:
        """Grant a device access to the pool.

        Parameters
        ----------
        value : :class:`~cuda.core.Device` | int
            The device, or its ordinal.

        Raises
        ------
        TypeError
            If ``value`` is neither a :class:`~cuda.core.Device` nor an int.
        ValueError
            If there is no such device, or it cannot access the memory of the pool's device.
        """
        _change_peers(self._resource, {_ordinal(value)}, set())

    def discard(self, value) -> None:
        """Revoke the access of a device, if it has any."""
        _change_peers(self._resource, set(), _ordinals_found([value]))

    def clear(self) -> None:
        """Revoke the access of all devices."""
        _change_peers(self._resource, set(), peers_with_access(self._resource))

    def update(self, *others) -> None:
        """Grant access to all devices in the iterables."""
        _change_peers(self._resource, {_ordinal(value) for other in others for value in other}, set())

    def difference_update(self, *others) -> None:
        """Revoke the access of all devices in the iterables."""
        _change_peers(self._resource, set(), _ordinals_found([value for other in others for value in other]))

    def intersection_update(self, *others) -> None:
        """Revoke the access of all devices that are missing in one of the iterables."""
        kept = peers_with_access(self._resource)
        for other in others:
            kept &= _ordinals_found(other)
        _change_peers(self._resource, set(), peers_with_access(self._resource) - kept)

    def symmetric_difference_update(self, other) -> None:
        """Toggle the access of the devices in an iterable: revoke it if a device has it, otherwise grant it."""
        toggled = {_ordinal(value) for value in other}
        present = peers_with_access(self._resource)
        _change_peers(self._resource, toggled - present, toggled & present)

    def __ior__(self, other):
        self.update(other)
        return self

    def __iand__(self, other):
        self.intersection_update(other)
        return self

    def __isub__(self, other):
        self.difference_update(other)
        return self

    def __ixor__(self, other):
        self.symmetric_difference_update(other)
        return self


def replace_peers(resource, devices) -> None:
    """Grant access to exactly these peer devices."""
    if not isinstance(devices, Iterable):
        raise TypeError(f"peer_accessible_by must be an iterable of Device or int, not {type(devices).__name__}")
    wanted = {_ordinal(value) for value in devices}
    _change_peers(resource, wanted, peers_with_access(resource) - wanted)


def DMR_mempool_get_access(dmr, device_id):
    """Return the access of a device to the memory of a pool (``cuMemPoolGetAccess``).

    Parameters
    ----------
    dmr : :class:`DeviceMemoryResource`
        The resource over the pool.
    device_id : :class:`Device` | int
        The device, or its ordinal.

    Returns
    -------
    MemoryPoolAccessType
        ``"rw"``, ``"r"`` or ``""``.
    """
    if not isinstance(dmr, _MemPool):
        raise TypeError(f"dmr must be a memory resource over a pool, not {type(dmr).__name__}")
    return MEMORY_POOL_ACCESS.from_driver(get_access(dmr, _ordinal(device_id)))


def _change_peers(resource, granted, revoked):
    """Grant and revoke access in one call for the devices that need a change, or change nothing if it fails."""
    before = peers_with_access(resource)
    owner = resource.device_id
    granted = granted - before - {owner}
    revoked = (revoked & before) - granted
    for ordinal in sorted(granted):
        if not can_access_peer(ordinal, owner):
            raise ValueError(f"device {ordinal} cannot access the memory of device {owner}")
    if not granted and not revoked:
        return
    try:
        set_access(resource, granted, revoked)
    except CUDAError:
        # The call may have changed some devices before it failed, so undo these.
        after = peers_with_access(resource)
        if after != before:
            set_access(resource, before - after, after - before)
        raise


def _ordinal(value):
    return device_argument(value, "a peer")


def _ordinals_found(values):
    """Return the ordinals of those values that are devices."""
    return {_find_ordinal(value) for value in values} - {None}


def _find_ordinal(value):
    try:
        return _ordinal(value)
    except (TypeError, ValueError):
        return None

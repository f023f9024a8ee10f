# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Peer access to a memory pool, as a mutable set of devices."""

from __future__ import annotations

from libc.stdlib cimport free, malloc

from cuda.core._native._cuda_core cimport CaptureModeScope, relax_capture_mode
from cuda.core._native._cuda_core cimport KeptMemoryPool
from cuda.core._memory._memory_pool cimport MemPool_check_open, MemPool_keep, _MemPool
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN

from collections.abc import Iterable, MutableSet

from cuda.core._utils import slots
from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils.enums import MEMORY_POOL_ACCESS
from cuda.core._utils.attribute_errors import raise_if_uninitialized
from cuda.core._utils.validators import shown

__all__ = ["DMR_mempool_get_access", "PeerAccessibleBySetProxy", "replace_peers"]


@raise_if_uninitialized("_resource")
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
        return find_ordinal(value) in read_peers(self._resource)  # find_ordinal() returns None for other objects

    def __iter__(self):
        return iter([slots.get("Device")(ordinal) for ordinal in sorted(read_peers(self._resource))])

    def __len__(self):
        return len(read_peers(self._resource))

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
        change_peers(self._resource, {check_ordinal(value)}, set())

    def discard(self, value) -> None:
        """Revoke the access of a device; does nothing if it has none."""
        change_peers(self._resource, set(), find_ordinals([value]))

    def clear(self) -> None:
        """Revoke the access of all devices."""
        change_peers(self._resource, set(), read_peers(self._resource))

    def update(self, *others) -> None:
        """Grant access to all devices in the iterables."""
        change_peers(self._resource, {check_ordinal(value) for other in others for value in other}, set())

    def difference_update(self, *others) -> None:
        """Revoke the access of all devices in the iterables."""
        change_peers(self._resource, set(), find_ordinals([value for other in others for value in other]))

    def intersection_update(self, *others) -> None:
        """Revoke the access of all devices that are missing in one of the iterables."""
        kept = read_peers(self._resource)
        for other in others:
            kept &= find_ordinals(other)
        change_peers(self._resource, set(), read_peers(self._resource) - kept)

    def symmetric_difference_update(self, other) -> None:
        """Toggle the access of the devices in an iterable: revoke it if a device has it, otherwise grant it."""
        toggled = {check_ordinal(value) for value in other}
        present = read_peers(self._resource)
        change_peers(self._resource, toggled - present, toggled & present)

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
    wanted = {check_ordinal(value) for value in devices}
    change_peers(resource, wanted, read_peers(resource) - wanted)


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
    return MEMORY_POOL_ACCESS.from_driver(<int>get_access(dmr, check_ordinal(device_id)))


cdef cydriver.CUmemAccess_flags get_access(_MemPool resource, int ordinal) except *:
    cdef cydriver.CUmemAccess_flags flags = cydriver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_NONE
    cdef cydriver.CUmemLocation location
    cdef KeptMemoryPool pool
    cdef CaptureModeScope mode
    MemPool_keep(resource, &pool)
    location.type = cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    location.id = ordinal
    relax_capture_mode(mode)
    HANDLE_RETURN(cydriver.cuMemPoolGetAccess(&flags, pool.get(), &location), b"cuMemPoolGetAccess")
    return flags


# The ordinals of the peer devices with access, without the pool's own device.
cdef set read_peers(_MemPool resource):
    MemPool_check_open(resource)
    return {
        ordinal
        for ordinal in range(device_count())
        if ordinal != resource.device_id
        and get_access(resource, ordinal) == cydriver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    }


# Grants and revokes access in one call, for those devices that need a change. If it fails, nothing is changed.
cdef int change_peers(_MemPool resource, set granted, set revoked) except -1:
    cdef set before = read_peers(resource)
    owner = resource.device_id
    granted = granted - before - {owner}
    revoked = (revoked & before) - granted
    for ordinal in sorted(granted):
        check_peer(ordinal, owner)
    if not granted and not revoked:
        return 0
    try:
        set_access(resource, granted, revoked)
    except CUDAError:
        # The call may have changed some devices before it failed: undo these.
        after = read_peers(resource)
        if after != before:
            set_access(resource, before - after, after - before)
        raise
    return 0


cdef int set_access(_MemPool resource, set granted, set revoked) except -1:
    cdef KeptMemoryPool pool
    cdef size_t count = len(granted) + len(revoked)
    cdef size_t i
    cdef cydriver.CUmemAccessDesc* access = <cydriver.CUmemAccessDesc*>malloc(count * sizeof(cydriver.CUmemAccessDesc))
    if access == NULL:
        raise MemoryError
    try:
        MemPool_keep(resource, &pool)
        for i, ordinal in enumerate([*granted, *revoked]):
            access[i].location.type = cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
            access[i].location.id = ordinal
            access[i].flags = (
                cydriver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                if ordinal in granted
                else cydriver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_NONE
            )
        with nogil:
            HANDLE_RETURN(cydriver.cuMemPoolSetAccess(pool.get(), access, count), b"cuMemPoolSetAccess")
    finally:
        free(access)
    return 0


cdef int check_peer(int ordinal, int owner) except -1:
    cdef int can_access = 0
    HANDLE_RETURN(cydriver.cuDeviceCanAccessPeer(&can_access, ordinal, owner), b"cuDeviceCanAccessPeer")
    if not can_access:
        raise ValueError(f"device {ordinal} cannot access the memory of device {owner}")
    return 0


cdef int device_count() except -1:
    cdef int count = 0
    HANDLE_RETURN(cydriver.cuDeviceGetCount(&count), b"cuDeviceGetCount")
    return count


# The ordinal of a Device or int; TypeError or ValueError for other objects. find_ordinal() returns None for them.
cdef object check_ordinal(object value):
    ordinal = getattr(value, "device_id", value)
    if isinstance(ordinal, bool) or not isinstance(ordinal, int):
        raise TypeError(f"a peer must be a Device or an int, not {type(value).__name__}")
    if not 0 <= ordinal < device_count():
        raise ValueError(f"a peer must be from 0 to {device_count() - 1}, not {shown(ordinal)}")
    return ordinal


cdef object find_ordinal(object value):
    try:
        return check_ordinal(value)
    except (TypeError, ValueError):
        return None


cdef set find_ordinals(object values):
    return {find_ordinal(value) for value in values} - {None}

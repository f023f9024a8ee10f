# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory resource over a pool of managed memory."""

from __future__ import annotations

from cuda.core._context cimport Context_current, Context_ordinal
from cuda.core._native._cuda_core cimport ContextHandle, MemoryPoolHandle
from cuda.core._memory._memory_pool cimport MemPool_open, _MemPool
from cuda.core._memory._memory_pool cimport MemPool_adopt, MemPool_create
from cuda.core._memory._memory_resource cimport device_attribute, location_of, nearest_numa_node
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport ALLOW_RETURN, check_or_create_options, init_driver
from cuda.core._utils.cuda_utils cimport c_driver_version

import warnings

from cuda.core._memory._managed_buffer import ManagedBuffer
from cuda.core._memory._memory_pool import check_threshold
from cuda.core._utils.options import Options, options
from cuda.core._utils.validators import check_str_enum
from cuda.core.typing import ManagedMemoryLocationType

__all__ = ["ManagedMemoryResource", "ManagedMemoryResourceOptions"]


cdef class ManagedMemoryResource(_MemPool):
    """Allocates managed memory in stream order from a memory pool; returns :class:`ManagedBuffer` objects.

    Without options it uses the driver's current pool of managed memory (``cuMemGetMemPool``), which it does not own,
    with a release threshold as for :class:`DeviceMemoryResource`. With options it creates a pool of its own
    (``cuMemPoolCreate``).

    Parameters
    ----------
    options : :class:`ManagedMemoryResourceOptions` | dict, optional
        The options of a new pool. If None, the current pool is used.

    Raises
    ------
    TypeError
        If ``options`` has the wrong type.
    ValueError
        If ``preferred_location`` and ``preferred_location_type`` do not go together.
    RuntimeError
        If the driver is older than CUDA 13.0 or has no current pool of managed memory, or the NUMA node nearest to the
        current device is requested and unknown.

    Warns
    -----
    UserWarning
        Once per process, if the device does not support concurrent managed access.
    """

    _accessible_by = ("device", "host")

    def __init__(self, options: ManagedMemoryResourceOptions | None = None):
        """Use the current pool of managed memory, or create one with options."""
        options = check_or_create_options(
            ManagedMemoryResourceOptions, options, "managed memory resource options", keep_none=True
        )
        _refuse_old_driver(c_driver_version())
        self._buffer_class = ManagedBuffer
        if options is None:
            MemPool_open(self, current_pool())
        else:
            self._preferred_location = preferred_location(options)
            MemPool_open(self, new_pool(self._preferred_location, options.release_threshold))
        warn_without_concurrent_access(self.device_id)

    @property
    def device_id(self) -> int:
        """The ordinal of the device that is the preferred location; -1 if the location is not a device."""
        location = self._preferred_location
        return location[1] if location is not None and location[0] == ManagedMemoryLocationType.DEVICE else -1

    @property
    def preferred_location(self) -> tuple[ManagedMemoryLocationType, int | None] | None:
        """The preferred location as ``(type, id)``, where the id is None for the host; None for no preference."""
        return self._preferred_location

    @property
    def is_managed(self) -> bool:
        """True: the memory migrates between the host and devices."""
        return True


@options
class ManagedMemoryResourceOptions(Options):
    """Options of the pool of a new :class:`ManagedMemoryResource`.

    The resource checks whether the two fields of the preferred location go together.

    Attributes
    ----------
    preferred_location : int, optional
        The ordinal of a device, or the number of a NUMA node. If ``preferred_location_type`` is None: a device, or -1
        for the host.
    preferred_location_type : :class:`~cuda.core.typing.ManagedMemoryLocationType` | str, optional
        The type of location. For ``"host"``, ``preferred_location`` must be None. For ``"host_numa"``, None means the
        NUMA node nearest to the current device.
    release_threshold : int, optional
        How many bytes of unused memory the pool keeps when a stream or event is synchronized; the rest is returned to
        the operating system. If None, the pool keeps all memory.
    """

    preferred_location: int | None = None
    preferred_location_type: ManagedMemoryLocationType | str | None = None
    release_threshold: int | None = None

    def _check(self):
        number = self.preferred_location
        if number is not None and (isinstance(number, bool) or not isinstance(number, int)):
            raise TypeError(f"preferred_location must be an int or None, not {type(number).__name__}")
        self.preferred_location_type = check_str_enum(
            self.preferred_location_type, ManagedMemoryLocationType, allow_none=True
        )
        check_threshold(self.release_threshold)


def reset_concurrent_access_warning() -> None:
    """Warn again for the next resource on a device without concurrent managed access."""
    global _has_warned
    _has_warned = False


cdef object preferred_location(object options):
    number = options.preferred_location
    kind = options.preferred_location_type
    if kind is None:
        if number is None:
            return None
        if number == -1:
            return (ManagedMemoryLocationType.HOST, None)
        kind = ManagedMemoryLocationType.DEVICE
    if kind == ManagedMemoryLocationType.HOST:
        if number is not None:
            raise ValueError(f"preferred_location must be None with the type 'host', not {number}")
        return (kind, None)
    if kind == ManagedMemoryLocationType.HOST_NUMA and number is None:
        return (kind, nearest_numa_node())
    if number is None or number < 0:
        raise ValueError(f"preferred_location must be at least 0 with the type '{kind}', not {number}")
    return (kind, number)


cdef MemoryPoolHandle current_pool() except *:
    cdef cydriver.CUmemoryPool c_pool = NULL
    cdef cydriver.CUmemLocation c_location = location_of(cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_NONE, 0)
    cdef bint is_there = False
    init_driver()
    with nogil:
        is_there = ALLOW_RETURN(
            cydriver.cuMemGetMemPool(
                &c_pool, &c_location, cydriver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_MANAGED
            ),
            cydriver.CUresult.CUDA_ERROR_NOT_SUPPORTED,
            b"cuMemGetMemPool",
        )
    _refuse_without_pool(is_there)
    return MemPool_adopt(c_pool)


cdef MemoryPoolHandle new_pool(object location, object release_threshold) except *:
    cdef cydriver.CUmemLocationType kind = cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_NONE
    cdef int number = 0
    if location is not None:
        number = location[1] or 0
        if location[0] == ManagedMemoryLocationType.DEVICE:
            kind = cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        elif location[0] == ManagedMemoryLocationType.HOST:
            kind = cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST
        else:
            kind = cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST_NUMA
    return MemPool_create(
        cydriver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_MANAGED,
        location_of(kind, number),
        False,
        0,
        release_threshold,
    )


cdef bint _has_warned = False


# If the preferred location is not a device, the current device is checked, or device 0 if none is current.
cdef int warn_without_concurrent_access(int device_id) except -1:
    cdef ContextHandle h_context
    if _has_warned:
        return 0
    if device_id < 0:
        Context_current(&h_context)
        device_id = Context_ordinal(h_context) if h_context else 0
    _warn_concurrent_access(device_id, bool(device_attribute(
        cydriver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, device_id
    )))
    return 0


def _warn_concurrent_access(device_id: int, is_supported: bool) -> None:
    global _has_warned
    if is_supported or _has_warned:
        return
    _has_warned = True
    warnings.warn(
        f"device {device_id} has no concurrent managed access: the host must not access managed memory while it works",
        UserWarning,
        stacklevel=1,
    )


def _refuse_old_driver(version: int) -> None:
    if version < 13000:
        raise RuntimeError("pools of managed memory need a driver of CUDA 13.0 or newer")


def _refuse_without_pool(is_there: bool) -> None:
    if not is_there:
        raise RuntimeError("the driver has no current pool of managed memory; pass options to create a pool")

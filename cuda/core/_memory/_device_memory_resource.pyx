# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory of a device, from one of its pools."""

from __future__ import annotations

from libc.stdint cimport UINT64_MAX, uint64_t
from libc.string cimport memset

from cuda.bindings cimport cydriver

from cuda.core._handles._handles cimport MemoryPoolHandle
from cuda.core._memory._allocation cimport size_argument
from cuda.core._memory._memory_pool cimport MemPool_create, MemPool_wrap, _MemPool
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, check_or_create_options, init_driver

from dataclasses import dataclass

from cuda.core._utils.cuda_utils import NotSupportedError
from cuda.core._utils.options import Options

__all__ = ["DeviceMemoryResource", "DeviceMemoryResourceOptions"]


cdef class DeviceMemoryResource(_MemPool):
    """Stream-ordered memory of one device.

    Without options it hands out memory of the device's current pool, which it does not own. Adopting
    that pool raises its release threshold from 0 to the maximum, so that freed memory is kept for
    reuse; another threshold is left alone. With options it makes a pool of its own.

    Parameters
    ----------
    device_id : :class:`Device` | int
        The device.
    options : :class:`DeviceMemoryResourceOptions` | dict, optional
        How to make a new pool.

    Raises
    ------
    TypeError
        If ``device_id`` is neither.
    ValueError
        If there is no such device.
    NotSupportedError
        If the device has no memory pools, or the options ask for sharing between processes.
    """

    def __init__(self, device_id, options: DeviceMemoryResourceOptions | None = None):
        options = check_or_create_options(
            DeviceMemoryResourceOptions, options, "device memory resource options", keep_none=True
        )
        self._device_id = device_argument(device_id)
        _refuse_without_pools(self._device_id, has_pools(self._device_id))
        self._h_pool = current_pool(self._device_id) if options is None else new_pool(self._device_id, options)

    def __repr__(self):
        state = "closed" if self.is_closed else f"of device {self._device_id}"
        return f"<{type(self).__name__} {state}>"

    @property
    def device_id(self) -> int:
        """The ordinal of the device."""
        return self._device_id

    @property
    def is_device_accessible(self) -> bool:
        """True: this is memory of a device."""
        return True

    @property
    def is_host_accessible(self) -> bool:
        """False: the host reads it through copies only."""
        return False


@dataclass
class DeviceMemoryResourceOptions(Options):
    """How the pool of a :class:`DeviceMemoryResource` is made.

    Attributes
    ----------
    ipc_enabled : bool, optional
        Whether other processes may open the memory; not supported yet. Default is False.
    max_size : int, optional
        The most bytes the pool may have; 0, the default, leaves that to the driver.
    """

    ipc_enabled: bool = False
    max_size: int = 0

    def __post_init__(self):
        if isinstance(self.max_size, bool) or not isinstance(self.max_size, int):
            raise TypeError(f"max_size must be an int, a number of bytes, not {type(self.max_size).__name__}")
        if self.max_size < 0:
            raise ValueError(f"max_size must be a number of bytes, or 0 for no limit, not {self.max_size}")


cdef MemoryPoolHandle current_pool(int device_id) except *:
    cdef cydriver.CUmemoryPool c_pool = NULL
    cdef uint64_t threshold = 0
    with nogil:
        HANDLE_RETURN(cydriver.cuDeviceGetMemPool(&c_pool, device_id), b"cuDeviceGetMemPool")
        HANDLE_RETURN(
            cydriver.cuMemPoolGetAttribute(
                c_pool, cydriver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold
            ),
            b"cuMemPoolGetAttribute",
        )
        if threshold == 0:
            # Otherwise each synchronisation gives all freed memory back to the operating system.
            threshold = UINT64_MAX
            HANDLE_RETURN(
                cydriver.cuMemPoolSetAttribute(
                    c_pool, cydriver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold
                ),
                b"cuMemPoolSetAttribute",
            )
    return MemPool_wrap(c_pool)


cdef MemoryPoolHandle new_pool(int device_id, object options) except *:
    cdef cydriver.CUmemPoolProps properties
    if options.ipc_enabled:
        raise NotSupportedError("ipc_enabled=True is not supported yet: memory cannot be shared between processes")
    memset(&properties, 0, sizeof(properties))
    properties.allocType = cydriver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.handleTypes = cydriver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_NONE
    properties.location.type = cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    properties.location.id = device_id
    properties.maxSize = size_argument(options.max_size)
    return MemPool_create(&properties)


cdef int device_argument(object device_id) except -1:
    cdef int count = 0
    # A Device, which is of a higher layer, knows its ordinal.
    ordinal = getattr(device_id, "device_id", device_id)
    if isinstance(ordinal, bool) or not isinstance(ordinal, int):
        raise TypeError(f"device_id must be a Device or an int, not {type(device_id).__name__}")
    init_driver()
    HANDLE_RETURN(cydriver.cuDeviceGetCount(&count), b"cuDeviceGetCount")
    if not 0 <= ordinal < count:
        raise ValueError(f"device_id must be from 0 to {count - 1}, not {ordinal}")
    return ordinal


cdef bint has_pools(int device_id) except -1:
    cdef int c_value = 0
    HANDLE_RETURN(
        cydriver.cuDeviceGetAttribute(
            &c_value, cydriver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, device_id
        ),
        b"cuDeviceGetAttribute",
    )
    return c_value != 0


def _refuse_without_pools(device_id: int, is_supported: bool) -> None:
    if not is_supported:
        raise NotSupportedError(
            f"device {device_id} has no memory pools; Device.memory_resource allocates without them there"
        )

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory resource over a pool of device memory."""

from __future__ import annotations

from cuda.core._native._cuda_core cimport MemoryPoolHandle
from cuda.core._memory._memory_pool cimport MemPool_check_open, MemPool_open
from cuda.core._memory._memory_pool cimport MemPool_adopt, MemPool_create
from cuda.core._memory._ipc cimport IPCMemPool_open, IPCMemPool_registered, IPCMemPool_share, _IPCMemPool
from cuda.core._memory._memory_resource cimport size_argument
from cuda.core._memory._memory_resource cimport location_of
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, check_or_create_options, init_driver

from cuda.core._memory._ipc import check_platform
from cuda.core._memory._peer_access_utils import DMR_mempool_get_access  # no-cython-lint (programs import it from here)
from cuda.core._memory._peer_access_utils import PeerAccessibleBySetProxy, replace_peers
from cuda.core._memory._memory_pool import check_byte_option, check_threshold
from cuda.core._utils.cuda_utils import NotSupportedError
from cuda.core._utils.options import Options, options
from cuda.core._utils.validators import shown

__all__ = ["DeviceMemoryResource", "DeviceMemoryResourceOptions"]


cdef class DeviceMemoryResource(_IPCMemPool):
    """Allocates device memory in stream order from a memory pool.

    Without options it uses the device's current pool (``cuDeviceGetMemPool``), which it does not own. If the release
    threshold of that pool is 0, the driver's default, it is raised to the maximum, so that freed memory is kept for
    reuse; any other threshold is not changed. With options it creates a pool of its own (``cuMemPoolCreate``).

    Parameters
    ----------
    device_id : :class:`Device` | int
        The device, or its ordinal.
    options : :class:`DeviceMemoryResourceOptions` | dict, optional
        The options of a new pool. If None, the current pool is used.

    Raises
    ------
    TypeError
        If ``device_id`` is neither a :class:`Device` nor an int, or ``options`` has the wrong type.
    ValueError
        If there is no such device.
    NotSupportedError
        If the device has no memory pools, or ``ipc_enabled`` is set and its pools cannot be shared.
    RuntimeError
        If ``ipc_enabled`` is set and the system is not Linux.
    """

    _accessible_by = ("device",)

    def __init__(self, device_id, options: DeviceMemoryResourceOptions | None = None):
        """Use the current pool of the device, or create one with options."""
        options = check_or_create_options(
            DeviceMemoryResourceOptions, options, "device memory resource options", keep_none=True
        )
        self._device_id = device_argument(device_id)
        _refuse_without_pools(self._device_id, has_pools(self._device_id))
        if options is None:
            MemPool_open(self, current_pool(self._device_id))
        else:
            MemPool_open(self, new_pool(self._device_id, options))
            if options.ipc_enabled:
                IPCMemPool_share(self)

    def __repr__(self):
        state = "closed" if self.is_closed else f"of device {self._device_id}"
        return f"<{type(self).__name__} {state}>"

    @classmethod
    def from_allocation_handle(cls, device_id, alloc_handle: int | IPCAllocationHandle) -> DeviceMemoryResource:
        """Import the pool of another process (``cuMemPoolImportFromShareableHandle``).

        Parameters
        ----------
        device_id : :class:`Device` | int
            The device of the pool.
        alloc_handle : int | IPCAllocationHandle
            The :attr:`allocation_handle` of the resource in the exporting process, or its file descriptor, which is
            duplicated.

        Returns
        -------
        :class:`DeviceMemoryResource`
            A resource that opens buffers of the exporting process and cannot allocate. If a resource is registered
            for the UUID of the handle, that resource.

        Raises
        ------
        TypeError
            If an argument has the wrong type, or the resource registered for the UUID has another class.
        ValueError
            If the handle is closed, or there is no such device.
        OSError
            If the file descriptor is not open.
        """
        cdef DeviceMemoryResource self
        found = IPCMemPool_registered(cls, alloc_handle)
        if found is not None:
            return found
        self = cls.__new__(cls)
        self._device_id = device_argument(device_id)
        return IPCMemPool_open(self, alloc_handle)

    @property
    def peer_accessible_by(self) -> PeerAccessibleBySetProxy:
        """Get or set the peer devices that can access the memory of the pool, as a set.

        A change affects all memory of the pool, allocated before or afterwards, and can take seconds. Assigning an
        iterable of :class:`Device` or int replaces the set with one driver call (``cuMemPoolSetAccess``).

        Raises
        ------
        TypeError
            If the new value is not an iterable of :class:`Device` or int.
        ValueError
            If a device does not exist, or cannot access the memory of this device. Nothing is changed.
        RuntimeError
            If the resource is closed.
        """
        MemPool_check_open(self)
        return PeerAccessibleBySetProxy(self)

    @peer_accessible_by.setter
    def peer_accessible_by(self, devices):
        MemPool_check_open(self)
        replace_peers(self, devices)

    @property
    def device_id(self) -> int:
        """The ordinal of the device."""
        return self._device_id


@options
class DeviceMemoryResourceOptions(Options):
    """Options of the pool of a new :class:`DeviceMemoryResource`.

    Attributes
    ----------
    ipc_enabled : bool, optional
        Whether other processes can open the memory; Linux only. Default is False.
    max_size : int, optional
        The maximum size of the pool in bytes. Default is 0: the driver's limit.
    release_threshold : int, optional
        How many bytes of unused memory the pool keeps when a stream or event is synchronized; the rest is returned to
        the operating system. If None, the pool keeps all memory.
    """

    ipc_enabled: bool = False
    max_size: int = 0
    release_threshold: int | None = None

    def _check(self):
        check_byte_option("max_size", self.max_size)
        check_threshold(self.release_threshold)


cdef MemoryPoolHandle current_pool(int device_id) except *:
    cdef cydriver.CUmemoryPool c_pool = NULL
    with nogil:
        HANDLE_RETURN(cydriver.cuDeviceGetMemPool(&c_pool, device_id), b"cuDeviceGetMemPool")
    return MemPool_adopt(c_pool)


cdef MemoryPoolHandle new_pool(int device_id, object options) except *:
    if options.ipc_enabled:
        check_platform()
    return MemPool_create(
        cydriver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED,
        location_of(cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, device_id),
        options.ipc_enabled,
        size_argument(options.max_size),
        options.release_threshold,
    )


cdef int device_argument(object device_id) except -1:
    cdef int count = 0
    # Device is in a higher layer, so it is recognized by its attribute.
    ordinal = getattr(device_id, "device_id", device_id)
    if isinstance(ordinal, bool) or not isinstance(ordinal, int):
        raise TypeError(f"device_id must be a Device or an int, not {type(device_id).__name__}")
    init_driver()
    HANDLE_RETURN(cydriver.cuDeviceGetCount(&count), b"cuDeviceGetCount")
    if not 0 <= ordinal < count:
        raise ValueError(f"device_id must be from 0 to {count - 1}, not {shown(ordinal)}")
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
            f"device {device_id} does not support memory pools; use Device.memory_resource, which allocates without"
        )

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Device memory from a pool."""

from __future__ import annotations

from cuda.core._handles._handles cimport MemoryPoolHandle
from cuda.core._memory._memory_pool cimport MemPool_adopt, MemPool_check_open, MemPool_create, MemPool_open
from cuda.core._memory.pools._sharing cimport IPCMemPool_open, IPCMemPool_registered, IPCMemPool_share, _IPCMemPool
from cuda.core._memory.ranges._allocation cimport size_argument
from cuda.core._memory.ranges._location cimport location_of
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport answer_hasattr
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, check_or_create_options, init_driver

from cuda.core._memory.pools._sharing import check_platform
from cuda.core._memory._peer_access_utils import DMR_mempool_get_access  # no-cython-lint (programs import it from here)
from cuda.core._memory._peer_access_utils import PeerAccessibleBySetProxy, replace_peers
from cuda.core._memory._memory_pool import check_byte_option, check_threshold
from cuda.core._utils.cuda_utils import NotSupportedError
from cuda.core._utils.options import Options, options_class
from cuda.core._utils.validators import shown

__all__ = ["DeviceMemoryResource", "DeviceMemoryResourceOptions"]


cdef class DeviceMemoryResource(_IPCMemPool):
    """Stream-ordered memory of one device.

    Without options it allocates from the device's current pool, which it does not own. Using
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
        If the device has no memory pools, or none that processes can share.
    RuntimeError
        If processes are to share the pool, and the system is not Linux.
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
            The :attr:`allocation_handle` of the resource there, or its file descriptor, which stays open.

        Returns
        -------
        :class:`DeviceMemoryResource`
            A resource that opens buffers of the other process and cannot allocate. A handle whose
            UUID is registered gives the registered resource.

        Raises
        ------
        TypeError
            If an argument is of another type, or the UUID is that of a resource of another class.
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
        """Get or set the devices that may access the memory, besides its own.

        Granting or revoking applies to memory allocated before and after, and can take seconds.
        Assigning an iterable of :class:`Device` or int replaces the set in one driver call
        (``cuMemPoolSetAccess``).

        Raises
        ------
        ValueError
            If a device cannot access the memory of this one; nothing is changed then.
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


@options_class
class DeviceMemoryResourceOptions(Options):
    """Options of the pool of a new :class:`DeviceMemoryResource`.

    Attributes
    ----------
    ipc_enabled : bool, optional
        Whether other processes may open the memory; Linux only. Default is False.
    max_size : int, optional
        The maximum size of the pool in bytes; 0, the default, is the driver's limit.
    release_threshold : int, optional
        How many unused bytes the pool keeps for reuse when a stream or event is synchronised; more than
        that is returned to the operating system then. If None, it keeps all.
    """

    ipc_enabled: bool = False
    max_size: int = 0
    release_threshold: int | None = None

    def __post_init__(self):
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
    # A Device, which is of a higher layer, knows its ordinal.
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
            f"device {device_id} has no memory pools; Device.memory_resource allocates without them there"
        )


answer_hasattr(DeviceMemoryResource)

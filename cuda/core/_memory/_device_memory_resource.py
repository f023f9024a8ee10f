# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory resource over a pool of device memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuda.core._memory._ipc import IPCAllocationHandle, _IPCMemPool, check_platform, find_registered
from cuda.core._memory._memory_pool import (
    adopt_device_pool,
    check_byte_option,
    check_threshold,
    create_device_pool,
    device_argument,
    has_memory_pools,
    pool_domain,
)
from cuda.core._memory._peer_access_utils import (
    DMR_mempool_get_access,  # noqa: F401 (programs import it from here)
    PeerAccessibleBySetProxy,
    replace_peers,
)
from cuda.core._utils.cuda_utils import NotSupportedError, check_or_create_options
from cuda.core._utils.options import Options, options
from cuda.core._utils.validators import check_locality_domain

if TYPE_CHECKING:
    from typing import Any

__all__ = ["DeviceMemoryResource", "DeviceMemoryResourceOptions"]


class DeviceMemoryResource(_IPCMemPool):
    """Allocates device memory in stream order from a memory pool.

    Without options it uses the device's current pool (``cuDeviceGetMemPool``), which it does not own. If the release
    threshold of that pool is 0, the driver's default, it is raised to the maximum, so that freed memory is kept for
    reuse; any other threshold is left unchanged. With options it creates its own pool (``cuMemPoolCreate``).

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
        If the device has no memory pools, or ``ipc_enabled`` is set and its pools cannot be shared, or
        ``locality_domain`` is set and the driver is older than CUDA 13.4.
    RuntimeError
        If ``ipc_enabled`` is set and the system is not Linux.

    Examples
    --------
    >>> from cuda.core import Device, DeviceMemoryResource
    >>> device = Device()
    >>> device.set_current()
    >>> pool = DeviceMemoryResource(device)
    >>> buffer = pool.allocate(1 << 20, stream=device.default_stream)
    >>> buffer.is_device_accessible, buffer.is_host_accessible
    (True, False)
    """

    __slots__ = ()

    _accessible_by = ("device",)

    def __init__(self, device_id, options: DeviceMemoryResourceOptions | dict[str, Any] | None = None):
        options = check_or_create_options(
            DeviceMemoryResourceOptions, options, "device memory resource options", keep_none=True
        )
        self._device_id = device_argument(device_id)
        _check_pools(self._device_id, has_memory_pools(self._device_id))
        if options is None:
            adopt_device_pool(self, self._device_id)
        else:
            if options.ipc_enabled:
                check_platform()
            create_device_pool(self, self._device_id, options)
            if options.ipc_enabled:
                self._share()

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
        found = find_registered(cls, alloc_handle)
        if found is not None:
            return found
        self = cls.__new__(cls)
        self._device_id = device_argument(device_id)
        return self._open_shared(alloc_handle)

    @property
    def locality_domain(self) -> int | None:
        """The locality domain of the memory, or None if it is not in one domain (``cuMemPoolGetAttribute``).

        It is None on devices with a single domain, and with drivers older than CUDA 13.4.

        Raises
        ------
        RuntimeError
            If the resource is closed.
        """
        return pool_domain(self)

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
        self._check_open()
        return PeerAccessibleBySetProxy(self)

    @peer_accessible_by.setter
    def peer_accessible_by(self, devices):
        self._check_open()
        replace_peers(self, devices)


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
    locality_domain : int, optional
        The locality domain of the memory, from 0 to ``Device.properties.locality_domain_count - 1``. If None, the
        memory is in all domains. Needs a driver of CUDA 13.4.

    Examples
    --------
    >>> from cuda.core import Device, DeviceMemoryResource, DeviceMemoryResourceOptions
    >>> Device().set_current()
    >>> pool = DeviceMemoryResource(Device(), DeviceMemoryResourceOptions(max_size=64 << 20))
    >>> pool.device_id
    0
    """

    ipc_enabled: bool = False
    max_size: int = 0
    release_threshold: int | None = None
    locality_domain: int | None = None

    def _check(self):
        check_byte_option("max_size", self.max_size)
        check_threshold(self.release_threshold)
        check_locality_domain(self.locality_domain)


def _check_pools(device_id: int, is_supported: bool) -> None:
    if not is_supported:
        raise NotSupportedError(
            f"device {device_id} does not support memory pools; use Device.memory_resource, which allocates without"
        )

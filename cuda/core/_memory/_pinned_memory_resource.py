# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory resource over a pool of page-locked host memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuda.core._memory._ipc import IPCAllocationHandle, _IPCMemPool, check_platform, find_registered
from cuda.core._memory._memory_pool import adopt_host_pool, check_byte_option, check_threshold, create_host_pool
from cuda.core._memory._memory_resource import nearest_numa_node
from cuda.core._utils.cuda_utils import check_or_create_options, require_call
from cuda.core._utils.options import Options, options
from cuda.core._utils.validators import shown

if TYPE_CHECKING:
    from typing import Any

__all__ = ["PinnedMemoryResource", "PinnedMemoryResourceOptions"]


class PinnedMemoryResource(_IPCMemPool):
    """Allocates page-locked host memory, which all devices can access, in stream order from a memory pool.

    Without options it uses the driver's current pool of host memory (``cuMemGetMemPool``), which it does not own, with
    a release threshold as for :class:`DeviceMemoryResource`. With options it creates its own pool
    (``cuMemPoolCreate``).

    Parameters
    ----------
    options : :class:`PinnedMemoryResourceOptions` | dict, optional
        The options of a new pool. If None, the current pool is used.

    Raises
    ------
    TypeError
        If ``options`` has the wrong type.
    RuntimeError
        If ``options`` is None and the driver is older than CUDA 13.0 (use :class:`LegacyPinnedMemoryResource` there),
        or ``ipc_enabled`` is set and the nearest NUMA node is unknown or the system is not Linux.

    Examples
    --------
    >>> import numpy as np
    >>> from cuda.core import Device, PinnedMemoryResource
    >>> device = Device()
    >>> device.set_current()
    >>> buffer = PinnedMemoryResource().allocate(64, stream=device.default_stream)
    >>> device.default_stream.sync()
    >>> np.asarray(buffer).shape  # the same memory
    (64,)
    """

    __slots__ = ()

    _accessible_by = ("device", "host")

    def __init__(self, options: PinnedMemoryResourceOptions | dict[str, Any] | None = None):
        options = check_or_create_options(
            PinnedMemoryResourceOptions, options, "pinned memory resource options", keep_none=True
        )
        if options is None:
            require_call(
                "cuMemGetMemPool",
                "the current pool of host memory",
                "use LegacyPinnedMemoryResource, or pass options to create a pool",
            )
            adopt_host_pool(self)
        else:
            if options.ipc_enabled:
                check_platform()
            self._location = options.numa_id
            if self._location is None and options.ipc_enabled:
                # Only memory on a specific NUMA node can be shared between processes.
                self._location = nearest_numa_node()
            create_host_pool(self, self.numa_id, options)
            if options.ipc_enabled:
                self._share()

    def __repr__(self):
        place = "of the host" if self.numa_id < 0 else f"of NUMA node {self.numa_id}"
        return f"<{type(self).__name__} {'closed' if self.is_closed else place}>"

    @classmethod
    def from_allocation_handle(cls, alloc_handle: int | IPCAllocationHandle) -> PinnedMemoryResource:
        """Import the pool of another process (``cuMemPoolImportFromShareableHandle``).

        Parameters
        ----------
        alloc_handle : int | IPCAllocationHandle
            The :attr:`allocation_handle` of the resource in the exporting process, or its file descriptor, which is
            duplicated.

        Returns
        -------
        :class:`PinnedMemoryResource`
            A resource that opens buffers of the exporting process and cannot allocate. If a resource is registered
            for the UUID of the handle, that resource.

        Raises
        ------
        TypeError
            If ``alloc_handle`` has the wrong type, or the resource registered for the UUID has another class.
        ValueError
            If the handle is closed.
        OSError
            If the file descriptor is not open.
        """
        found = find_registered(cls, alloc_handle)
        if found is not None:
            return found
        # Device access is not imported with the pool: each process grants it to its devices.
        return cls.__new__(cls)._open_shared(alloc_handle, grant_devices=True)

    @property
    def numa_id(self) -> int:
        """The NUMA node of the memory, or -1 if the operating system chooses it or the pool was imported."""
        return -1 if self._location is None else self._location


@options
class PinnedMemoryResourceOptions(Options):
    """Options of the pool of a new :class:`PinnedMemoryResource`.

    Attributes
    ----------
    ipc_enabled : bool, optional
        Whether other processes can open the memory; Linux only. Default is False.
    max_size : int, optional
        The maximum size of the pool in bytes. Default is 0: the driver's limit.
    numa_id : int, optional
        The NUMA node of the memory. If None, the operating system chooses; with ``ipc_enabled``, the node nearest to
        the current device is used.
    release_threshold : int, optional
        How many bytes of unused memory the pool keeps when a stream or event is synchronized; the rest is returned to
        the operating system. If None, the pool keeps all memory.
    """

    ipc_enabled: bool = False
    max_size: int = 0
    numa_id: int | None = None
    release_threshold: int | None = None

    def _check(self):
        check_byte_option("max_size", self.max_size)
        if self.numa_id is not None:
            if isinstance(self.numa_id, bool) or not isinstance(self.numa_id, int):
                raise TypeError(f"numa_id must be an int or None, not {type(self.numa_id).__name__}")
            if not 0 <= self.numa_id < 1 << 31:
                raise ValueError(
                    f"numa_id must be a NUMA node, from 0 to 2**31 - 1, or None, not {shown(self.numa_id)}"
                )
        check_threshold(self.release_threshold)

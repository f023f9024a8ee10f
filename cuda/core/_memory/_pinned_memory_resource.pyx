# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory resource over a pool of page-locked host memory."""

from __future__ import annotations

from libcpp.vector cimport vector

from cuda.core._native._cuda_core cimport CaptureModeScope, relax_capture_mode
from cuda.core._native._cuda_core cimport MemoryPoolHandle
from cuda.core._memory._memory_pool cimport MemPool_open
from cuda.core._memory._memory_pool cimport MemPool_adopt, MemPool_create
from cuda.core._memory._ipc cimport IPCMemPool_open, IPCMemPool_registered, IPCMemPool_share, _IPCMemPool
from cuda.core._memory._memory_resource cimport size_argument
from cuda.core._memory._memory_resource cimport device_attribute, location_of, nearest_numa_node
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, check_or_create_options, init_driver
from cuda.core._utils.cuda_utils cimport c_driver_version

from cuda.core._memory._memory_pool import check_byte_option, check_threshold
from cuda.core._memory._ipc import check_platform
from cuda.core._utils.options import Options, options
from cuda.core._utils.validators import shown

__all__ = ["PinnedMemoryResource", "PinnedMemoryResourceOptions"]


cdef class PinnedMemoryResource(_IPCMemPool):
    """Allocates page-locked host memory in stream order from a memory pool; all devices can access it.

    Without options it uses the driver's current pool of host memory (``cuMemGetMemPool``), which it does not own, with
    a release threshold as for :class:`DeviceMemoryResource`. With options it creates a pool of its own
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
    """

    _accessible_by = ("device", "host")

    def __init__(self, options: PinnedMemoryResourceOptions | None = None):
        """Use the current pool of host memory, or create one with options."""
        options = check_or_create_options(
            PinnedMemoryResourceOptions, options, "pinned memory resource options", keep_none=True
        )
        self._numa_id = -1
        if options is None:
            _refuse_old_driver(c_driver_version())
            MemPool_open(self, current_pool())
        else:
            if options.ipc_enabled:
                check_platform()
            if options.numa_id is not None:
                self._numa_id = options.numa_id
            elif options.ipc_enabled:
                # Only memory on a specific NUMA node can be shared between processes.
                self._numa_id = nearest_numa_node()
            MemPool_open(self, new_pool(self._numa_id, options))
            if options.ipc_enabled:
                IPCMemPool_share(self)

    def __repr__(self):
        place = "of the host" if self._numa_id < 0 else f"of NUMA node {self._numa_id}"
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
        cdef PinnedMemoryResource self
        found = IPCMemPool_registered(cls, alloc_handle)
        if found is not None:
            return found
        init_driver()
        self = cls.__new__(cls)
        self._numa_id = -1
        # Device access is not imported with the pool: each process grants it to its devices.
        self._grant_access = &grant_access_to_node
        return IPCMemPool_open(self, alloc_handle)

    @property
    def device_id(self) -> int:
        """-1: host memory belongs to no device."""
        return -1

    @property
    def numa_id(self) -> int:
        """The NUMA node of the memory; -1 if the operating system chooses."""
        return self._numa_id


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


cdef MemoryPoolHandle current_pool() except *:
    cdef cydriver.CUmemoryPool c_pool = NULL
    cdef cydriver.CUmemLocation c_location = location_of(cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST, 0)
    init_driver()
    with nogil:
        HANDLE_RETURN(
            cydriver.cuMemGetMemPool(
                &c_pool, &c_location, cydriver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
            ),
            b"cuMemGetMemPool",
        )
    grant_access(c_pool, cydriver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED)
    return MemPool_adopt(c_pool)


cdef MemoryPoolHandle new_pool(int numa_id, object options) except *:
    cdef MemoryPoolHandle h_pool
    cdef cydriver.CUmemLocation c_location
    cdef cydriver.CUdevice_attribute support
    if numa_id < 0:
        support = cydriver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED
        c_location = location_of(cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST, 0)
    else:
        support = cydriver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED
        c_location = location_of(cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST_NUMA, numa_id)
    h_pool = MemPool_create(
        cydriver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED,
        c_location,
        options.ipc_enabled,
        size_argument(options.max_size),
        options.release_threshold,
    )
    grant_access(h_pool.get(), support)
    return h_pool


cdef int grant_access_to_node(cydriver.CUmemoryPool c_pool) except -1:
    return grant_access(c_pool, cydriver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED)


# Only the host can access a new pool of host memory. Grants access to all devices that support such pools.
cdef int grant_access(cydriver.CUmemoryPool c_pool, cydriver.CUdevice_attribute support) except -1:
    cdef vector[cydriver.CUmemAccessDesc] grants
    cdef int count = 0
    cdef CaptureModeScope mode
    HANDLE_RETURN(cydriver.cuDeviceGetCount(&count), b"cuDeviceGetCount")
    relax_capture_mode(mode)
    find_grants(c_pool, support, count, grants)
    if grants.size() != 0:
        with nogil:
            HANDLE_RETURN(cydriver.cuMemPoolSetAccess(c_pool, grants.data(), grants.size()), b"cuMemPoolSetAccess")
    return 0


cdef int find_grants(
    cydriver.CUmemoryPool c_pool,
    cydriver.CUdevice_attribute support,
    int count,
    vector[cydriver.CUmemAccessDesc]& grants,
) except -1:
    cdef cydriver.CUmemAccessDesc grant
    cdef cydriver.CUmemAccess_flags c_flags = cydriver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_NONE
    grant.flags = cydriver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    for device_id in range(count):
        grant.location = location_of(cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, device_id)
        if device_attribute(support, device_id):
            HANDLE_RETURN(cydriver.cuMemPoolGetAccess(&c_flags, c_pool, &grant.location), b"cuMemPoolGetAccess")
            if c_flags != grant.flags:
                grants.push_back(grant)
    return 0


def _refuse_old_driver(version: int) -> None:
    if version < 13000:
        raise RuntimeError(
            "the current pool of host memory needs a driver of CUDA 13.0 or newer; "
            "use LegacyPinnedMemoryResource, or pass options to create a pool"
        )

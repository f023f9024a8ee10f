# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Graph memory, and the creation, adoption, import, access and destruction of memory pools."""

from __future__ import annotations

from libc.stdint cimport UINT64_MAX, int64_t, uint64_t, uintptr_t
from libc.string cimport memset
from libcpp cimport bool as cpp_bool
from libcpp.utility cimport move
from libcpp.vector cimport vector

from cpython.object cimport PyObject

from cuda.core._context cimport Context_current, Context_ordinal
from cuda.core._memory._buffer cimport Buffer, Buffer_create, Buffer_update_members
from cuda.core._memory._memory_resource cimport (
    MemoryResource,
    allocate_from_pool,
    allocate_in_graph,
    attribute_or_zero,
    freed_address,
    domain_of,
    location_of,
    own_pools,
    size_argument,
)
from cuda.core._native._cuda_core cimport (
    AllocationHandle,
    CaptureModeScope,
    ContextHandle,
    Handle,
    Anchor,
    MemoryPoolPin,
    StreamPin,
    MemoryPoolHandle,
    Retired,
    address,
    bindings_object,
    count_retired,
    destroy_idle,
    find_foreign_frees,
    find_work,
    has_pending_streams,
    limit_backlog,
    note_release_threshold,
    pool_lock,
    query_streams,
    refuse_closed,
    refuse_pickle,
    relax_capture_mode,
    retire_entry,
    wait_for_retired,
    wait_until_at_most,
)
from cuda.core._native._device_wait cimport call_interruptibly
from cuda.core._stream cimport Stream, Stream_accept, Stream_context, Stream_pin
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport check_self_in_methods
from cuda.core._utils.cuda_utils cimport (
    ALLOW_RETURN,
    HANDLE_RETURN,
    WARN_RETURN,
    c_driver_version,
    init_driver,
    require_driver,
)

from cuda.core._memory._memory_resource import free_async
from cuda.core._utils.cuda_utils import CUDAError, UnavailableError
from cuda.core._utils.validators import shown

__all__ = [
    "adopt_device_pool",
    "adopt_host_pool",
    "adopt_managed_pool",
    "allocate_as",
    "allocate_graph_memory",
    "can_access_peer",
    "check_byte_option",
    "check_threshold",
    "create_device_pool",
    "create_host_pool",
    "create_managed_pool",
    "current_device_id",
    "device_argument",
    "get_access",
    "get_graph_memory",
    "has_concurrent_managed_access",
    "has_memory_pools",
    "peers_with_access",
    "pool_domain",
    "require_domains",
    "reset_graph_memory",
    "set_access",
    "trim_graph_memory",
]


cdef class _MemPool(MemoryResource):
    """Base of memory resources over a memory pool (``CUmemoryPool``)."""

    def __cinit__(self, *args, **kwargs):
        self._device_id = -1
        self._is_overridden = type(self).allocate is not _MemPool.allocate

    def __repr__(self):
        state = "closed" if self.is_closed else f"{address(self._h_pool):#x}"
        return f"<{type(self).__name__} {state}>"

    def __reduce__(self):
        raise RuntimeError(f"a {type(self).__name__} cannot be pickled: its pool belongs to this process")

    def allocate(self, size: int, *, stream: Stream | GraphBuilder) -> Buffer:
        """Allocate memory in stream order (``cuMemAllocFromPoolAsync``).

        Parameters
        ----------
        size : int
            The size in bytes. A buffer of 0 bytes has the address 0.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream that the allocation is ordered on: work enqueued on it afterwards can use the memory. The
            memory is freed on the same stream, unless another one is set.

        Returns
        -------
        :class:`Buffer`
            The allocated memory, uninitialized.

        Raises
        ------
        OutOfMemoryError
            If there is not enough memory.
        RuntimeError
            If the resource is closed, or the stream is capturing.
        TypeError
            If ``size`` is not an integer or ``stream`` not a stream, or the pool belongs to another process.
        OverflowError
            If ``size`` is negative.
        """
        return MemPool_allocate(self, size_argument(size), Stream_accept(stream))

    def deallocate(self, ptr: DevicePointerType, size: int, *, stream: Stream | GraphBuilder) -> None:
        """Free memory of the pool in stream order, even if the resource is closed (``cuMemFreeAsync``).

        Parameters
        ----------
        ptr : int | driver.CUdeviceptr
            The address of the memory.
        size : int
            The size in bytes, which is ignored.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream that the free is ordered on.
        """
        free_async(freed_address(ptr), Stream_accept(stream))

    _own_deallocate = deallocate

    def close(self) -> None:
        """Drop the reference to the pool. A pool that this resource created is destroyed after its last allocation is
        freed (``cuMemPoolDestroy``).
        """
        self._h_users.reset()
        self._h_pool.close()

    def trim(self, bytes_to_keep: int = 0) -> None:
        """Return unused memory to the operating system (``cuMemPoolTrimTo``).

        Memory is in use until its free has been executed: synchronize the stream first.

        Parameters
        ----------
        bytes_to_keep : int, optional
            The pool keeps at least this many bytes, used or unused, if it has them. Default is 0.

        Raises
        ------
        TypeError
            If ``bytes_to_keep`` is not an integer.
        OverflowError
            If ``bytes_to_keep`` is negative.
        RuntimeError
            If the resource is closed.
        """
        cdef MemoryPoolPin pool
        cdef size_t c_size = size_argument(bytes_to_keep)
        MemPool_pin(self, &pool)
        with nogil:
            query_streams()
            HANDLE_RETURN(cydriver.cuMemPoolTrimTo(pool.get(), c_size), b"cuMemPoolTrimTo")

    @property
    def attributes(self) -> _MemPoolAttributes:
        """The attributes of the pool. Every access queries the driver."""
        cdef _MemPoolAttributes attributes = _MemPoolAttributes.__new__(_MemPoolAttributes)
        attributes._h_pool = self._h_pool.copy()
        if not attributes._h_pool:
            refuse_closed(self)
        return attributes

    @property
    def allocation_count(self) -> int:
        """The number of allocations of this resource that have not been freed, without empty buffers.

        The memory of a closed buffer counts as long as a DLPack consumer or a graph keeps it.
        """
        MemPool_check_open(self)
        return max(<int64_t>self._h_users.use_count() - 1, 0)

    @property
    def handle(self):
        """The bindings' ``CUmemoryPool``, which is null if closed."""
        return bindings_object("CUmemoryPool", address(self._h_pool))

    @property
    def is_handle_owned(self) -> bool:
        """Whether this resource owns the pool, because it created or imported it. False if closed."""
        return self._h_pool.copy().is_owner()

    @property
    def device_id(self) -> int:
        """The ordinal of the device, or -1 if the memory is not tied to one."""
        return self._device_id

    @property
    def is_ipc_enabled(self) -> bool:
        """Whether other processes can open the memory."""
        return False

    @property
    def is_mapped(self) -> bool:
        """Whether the pool was imported from another process, and so cannot allocate."""
        return self._is_mapped

    @property
    def uuid(self) -> uuid.UUID | None:
        """The UUID of a shared pool, the same in all processes, or None for other pools."""
        return None

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return not self._h_pool

    cdef object _allocate(self, size_t size, Stream stream):
        if self._is_overridden:
            return MemoryResource._allocate(self, size, stream)
        return MemPool_allocate(self, size, stream)


cdef class _MemPoolAttributes:
    """The attributes of a memory pool. Every access queries the driver (``cuMemPoolGetAttribute``).

    Setting ``reserved_mem_high`` or ``used_mem_high`` to 0 resets it to the current value; all others are read-only.
    """

    cdef MemoryPoolHandle _h_pool   # set once

    def __init__(self, *args, **kwargs):
        raise RuntimeError("_MemPoolAttributes cannot be constructed directly; use the resource's attributes")

    def __repr__(self):
        try:
            figures = ", ".join(f"{name}={getattr(self, name)}" for name in _ATTRIBUTES)
        except CUDAError as error:
            figures = f"unknown: {error.name}"
        except RuntimeError:
            figures = "no memory pool"
        return f"{type(self).__name__}({figures})"

    def __reduce__(self):
        refuse_pickle(self)

    @property
    def reuse_follow_event_dependencies(self) -> bool:
        """Whether memory freed on one stream is reused on another that is ordered after the free by events."""
        return MemPool_flag(self, cydriver.CUmemPool_attribute.CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES)

    @property
    def reuse_allow_opportunistic(self) -> bool:
        """Whether memory freed on another stream is reused if the free has already completed."""
        return MemPool_flag(self, cydriver.CUmemPool_attribute.CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC)

    @property
    def reuse_allow_internal_dependencies(self) -> bool:
        """Whether the driver may insert stream dependencies to reuse memory."""
        return MemPool_flag(self, cydriver.CUmemPool_attribute.CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES)

    @property
    def release_threshold(self) -> int:
        """How many bytes of unused memory the pool keeps when a stream or event is synchronized."""
        return MemPool_figure(self, cydriver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)

    @property
    def reserved_mem_current(self) -> int:
        """The number of bytes now reserved for the pool."""
        return MemPool_figure(self, cydriver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)

    @property
    def reserved_mem_high(self) -> int:
        """The largest number of bytes reserved for the pool. Set it to 0 to reset it."""
        return MemPool_figure(self, cydriver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)

    @reserved_mem_high.setter
    def reserved_mem_high(self, value):
        MemPool_reset_high(
            self, "reserved_mem_high", value, cydriver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH
        )

    @property
    def used_mem_current(self) -> int:
        """The number of bytes now allocated from the pool."""
        return MemPool_figure(self, cydriver.CUmemPool_attribute.CU_MEMPOOL_ATTR_USED_MEM_CURRENT)

    @property
    def used_mem_high(self) -> int:
        """The largest number of bytes allocated at the same time. Set it to 0 to reset it."""
        return MemPool_figure(self, cydriver.CUmemPool_attribute.CU_MEMPOOL_ATTR_USED_MEM_HIGH)

    @used_mem_high.setter
    def used_mem_high(self, value):
        MemPool_reset_high(self, "used_mem_high", value, cydriver.CUmemPool_attribute.CU_MEMPOOL_ATTR_USED_MEM_HIGH)


_ATTRIBUTES = [name for name in vars(_MemPoolAttributes) if not name.startswith("_")]


def allocate_as(cls: type, _MemPool pool) -> None:
    """Set the class of the buffers that a pool allocates. Call this only before other threads use the pool.

    Raises
    ------
    TypeError
        If ``cls`` is not a subclass of :class:`Buffer`.
    """
    if not (isinstance(cls, type) and issubclass(cls, Buffer)):
        raise TypeError(f"cls must be a subclass of Buffer, not {cls!r}")
    pool._buffer_class = cls


def check_byte_option(name: str, value, limit: int | None = None) -> None:
    """Check that an option is a number of bytes from 0 to ``limit``.

    Raises
    ------
    TypeError
        If ``value`` is not an integer.
    ValueError
        If ``value`` is out of range.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, a number of bytes, not {type(value).__name__}")
    if value < 0 or (limit is not None and value > limit):
        raise ValueError(f"{name} must be a number of bytes, at least 0, not {shown(value)}")


def check_threshold(release_threshold) -> None:
    """Check that the option ``release_threshold`` is None or a number of bytes of 64 bits."""
    if release_threshold is not None:
        check_byte_option("release_threshold", release_threshold, UINT64_MAX)


def adopt_device_pool(_MemPool self, int device_id) -> None:
    """Use the current pool of a device, without owning it (``cuDeviceGetMemPool``)."""
    cdef cydriver.CUmemoryPool c_pool = NULL
    with nogil:
        HANDLE_RETURN(cydriver.cuDeviceGetMemPool(&c_pool, device_id), b"cuDeviceGetMemPool")
    MemPool_open(self, MemPool_adopt(c_pool))


def adopt_host_pool(_MemPool self) -> None:
    """Use the current pool of page-locked host memory, without owning it (``cuMemGetMemPool``)."""
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
    grant_devices(c_pool, cydriver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED)
    MemPool_open(self, MemPool_adopt(c_pool))


def adopt_managed_pool(_MemPool self) -> bool:
    """Use the current pool of managed memory, without owning it (``cuMemGetMemPool``).

    Returns False if the driver has none.
    """
    cdef cydriver.CUmemoryPool c_pool = NULL
    cdef cydriver.CUmemLocation c_location = location_of(cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_NONE, 0)
    cdef bint is_found = False
    init_driver()
    with nogil:
        is_found = ALLOW_RETURN(
            cydriver.cuMemGetMemPool(
                &c_pool, &c_location, cydriver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_MANAGED
            ),
            cydriver.CUresult.CUDA_ERROR_NOT_SUPPORTED,
            b"cuMemGetMemPool",
        )
    if is_found:
        MemPool_open(self, MemPool_adopt(c_pool))
    return is_found


def create_device_pool(_MemPool self, int device_id, options) -> None:
    """Create a pool of device memory (``cuMemPoolCreate``)."""
    cdef cydriver.CUmemLocation location
    location = location_of(cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, device_id)
    if options.locality_domain is not None:
        require_domains()
        location = domain_of(device_id, options.locality_domain)
    MemPool_open(self, MemPool_create(
        cydriver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED,
        location,
        options.ipc_enabled, size_argument(options.max_size), options.release_threshold,
    ))


def require_domains() -> None:
    """Raise NotSupportedError if the driver has no memory in locality domains."""
    require_driver(13040, "memory in a locality domain")


def pool_domain(_MemPool pool) -> int | None:
    """Return the locality domain of a pool, or None if it has none (``cuMemPoolGetAttribute``)."""
    cdef int c_domain = -1
    cdef MemoryPoolPin pool_pin
    MemPool_pin(pool, &pool_pin)
    if c_driver_version() >= 13040:
        MemPool_get(
            pool_pin.get(), cydriver.CUmemPool_attribute.CU_MEMPOOL_ATTR_LOCALITY_DOMAIN_ID, &c_domain
        )
    return None if c_domain < 0 else c_domain


def create_host_pool(_MemPool self, int numa_id, options) -> None:
    """Create a pool of page-locked host memory (``cuMemPoolCreate``).

    If ``numa_id`` is negative, the operating system chooses the NUMA node.
    """
    cdef MemoryPoolHandle h_pool
    cdef bint has_node = numa_id >= 0
    h_pool = MemPool_create(
        cydriver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED,
        location_of(
            cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST_NUMA if has_node
            else cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST,
            max(numa_id, 0),
        ),
        options.ipc_enabled, size_argument(options.max_size), options.release_threshold,
    )
    grant_devices(
        h_pool.get(),
        cydriver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED if has_node
        else cydriver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED,
    )
    MemPool_open(self, h_pool)


def create_managed_pool(_MemPool self, kind: str | None, int number, release_threshold) -> None:
    """Create a pool of managed memory (``cuMemPoolCreate``).

    The preferred location is a :class:`~cuda.core.typing.ManagedMemoryLocationType` with its number; None for none.
    """
    MemPool_open(self, MemPool_create(
        cydriver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_MANAGED,
        location_of(<cydriver.CUmemLocationType><int>_LOCATION_TYPES[kind], number),
        False, 0, release_threshold,
    ))


cdef dict _LOCATION_TYPES = {
    None: <int>cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_NONE,
    "device": <int>cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE,
    "host": <int>cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST,
    "host_numa": <int>cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST_NUMA,
}


def device_argument(device, name: str = "device_id") -> int:
    """Return the ordinal of an argument, a :class:`~cuda.core.Device` or an int.

    Raises
    ------
    TypeError
        If the argument has the wrong type.
    ValueError
        If there is no such device.
    """
    cdef int count = 0
    # Device is in a higher layer, so it is recognized by its attribute.
    ordinal = getattr(device, "device_id", device)
    if isinstance(ordinal, bool) or not isinstance(ordinal, int):
        raise TypeError(f"{name} must be a Device or an int, not {type(device).__name__}")
    init_driver()
    HANDLE_RETURN(cydriver.cuDeviceGetCount(&count), b"cuDeviceGetCount")
    if not 0 <= ordinal < count:
        raise ValueError(f"{name} must be from 0 to {count - 1}, not {shown(ordinal)}")
    return ordinal


def has_memory_pools(int device_id) -> bool:
    """Return whether a device supports memory pools."""
    cdef int c_value = 0
    HANDLE_RETURN(
        cydriver.cuDeviceGetAttribute(
            &c_value, cydriver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, device_id
        ),
        b"cuDeviceGetAttribute",
    )
    return c_value != 0


def has_concurrent_managed_access(int device_id) -> bool:
    """Return whether the host can access managed memory while a device works."""
    return attribute_or_zero(
        cydriver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, device_id
    ) != 0


def current_device_id() -> int:
    """Return the ordinal of the device of the current context, or 0 if no context is current."""
    cdef ContextHandle h_context
    Context_current(&h_context)
    return Context_ordinal(h_context) if h_context else 0


def peers_with_access(_MemPool pool) -> set:
    """Return the ordinals of the peer devices with read and write access, without the pool's own device."""
    cdef int count = 0
    cdef int ordinal
    MemPool_check_open(pool)
    HANDLE_RETURN(cydriver.cuDeviceGetCount(&count), b"cuDeviceGetCount")
    return {
        ordinal
        for ordinal in range(count)
        if ordinal != pool._device_id
        and get_access(pool, ordinal) == <int>cydriver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    }


def get_access(_MemPool pool, int device_id) -> int:
    """Return the ``CUmemAccess_flags`` of a device for the memory of a pool (``cuMemPoolGetAccess``)."""
    cdef cydriver.CUmemAccess_flags flags = cydriver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_NONE
    cdef cydriver.CUmemLocation location
    cdef MemoryPoolPin pool_pin
    cdef CaptureModeScope mode
    MemPool_pin(pool, &pool_pin)
    location = location_of(cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, device_id)
    relax_capture_mode(mode)
    HANDLE_RETURN(cydriver.cuMemPoolGetAccess(&flags, pool_pin.get(), &location), b"cuMemPoolGetAccess")
    return <int>flags


def set_access(_MemPool pool, granted: set, revoked: set) -> None:
    """Grant and revoke read and write access of devices, by their ordinals, in one call (``cuMemPoolSetAccess``)."""
    cdef vector[cydriver.CUmemAccessDesc] changes
    cdef cydriver.CUmemAccessDesc change
    cdef MemoryPoolPin pool_pin
    MemPool_pin(pool, &pool_pin)
    for ordinal in [*granted, *revoked]:
        change.location = location_of(cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, ordinal)
        change.flags = (
            cydriver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
            if ordinal in granted
            else cydriver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_NONE
        )
        changes.push_back(change)
    with nogil:
        HANDLE_RETURN(
            cydriver.cuMemPoolSetAccess(pool_pin.get(), changes.data(), changes.size()), b"cuMemPoolSetAccess"
        )


def can_access_peer(int device_id, int owner) -> bool:
    """Return whether a device can access the memory of another device (``cuDeviceCanAccessPeer``)."""
    cdef int c_value = 0
    HANDLE_RETURN(cydriver.cuDeviceCanAccessPeer(&c_value, device_id, owner), b"cuDeviceCanAccessPeer")
    return c_value != 0


def allocate_graph_memory(MemoryResource resource, int device_id, size, stream) -> Buffer:
    """Allocate graph memory of a device on a capturing stream."""
    cdef AllocationHandle h_allocation
    cdef ContextHandle h_context
    cdef StreamPin stream_pin
    cdef size_t c_size = size_argument(size)
    cdef Stream c_stream = Stream_accept(stream)
    cdef int ordinal = -1
    Stream_pin(c_stream, &stream_pin)
    Stream_context(c_stream, &h_context, &ordinal)
    if ordinal != device_id:
        raise ValueError(f"stream must be a stream of device {device_id}, not of device {ordinal}")
    allocate_in_graph(c_size, stream_pin.handle(), &h_allocation)
    return Buffer_create(Buffer, h_allocation, resource, None)


def trim_graph_memory(int device_id) -> None:
    """Return unused graph memory of a device to the operating system (``cuDeviceGraphMemTrim``)."""
    with nogil:
        HANDLE_RETURN(cydriver.cuDeviceGraphMemTrim(device_id), b"cuDeviceGraphMemTrim")


def get_graph_memory(int device_id, str name) -> int:
    """Return an attribute of the graph memory of a device (``cuDeviceGetGraphMemAttribute``)."""
    cdef uint64_t value = 0
    cdef cydriver.CUgraphMem_attribute attribute = <cydriver.CUgraphMem_attribute><int>_GRAPH_ATTRIBUTES[name]
    with nogil:
        HANDLE_RETURN(
            cydriver.cuDeviceGetGraphMemAttribute(device_id, attribute, &value), b"cuDeviceGetGraphMemAttribute"
        )
    return value


def reset_graph_memory(int device_id, str name, value) -> None:
    """Reset an attribute of the graph memory of a device, for a ``value`` of 0 (``cuDeviceSetGraphMemAttribute``)."""
    cdef uint64_t zero = 0
    cdef cydriver.CUgraphMem_attribute attribute = <cydriver.CUgraphMem_attribute><int>_GRAPH_ATTRIBUTES[name]
    check_reset(name, value)
    with nogil:
        HANDLE_RETURN(
            cydriver.cuDeviceSetGraphMemAttribute(device_id, attribute, &zero), b"cuDeviceSetGraphMemAttribute"
        )


cdef dict _GRAPH_ATTRIBUTES = {
    "reserved_mem_current": <int>cydriver.CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT,
    "reserved_mem_high": <int>cydriver.CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH,
    "used_mem_current": <int>cydriver.CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT,
    "used_mem_high": <int>cydriver.CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH,
}


# Sets the pool that a resource allocates from.
cdef void MemPool_open(_MemPool self, const MemoryPoolHandle& h_pool) except *:
    self._h_users.set(MemoryPoolHandle.borrow(h_pool.get(), h_pool.anchor()))
    self._h_pool.set(h_pool)


cdef inline Buffer MemPool_allocate(_MemPool self, size_t size, Stream stream):
    # Like Buffer_create, but moves the handle instead of copying it, because allocation is called in loops.
    cdef Buffer buffer
    cdef AllocationHandle h_allocation
    cdef MemoryPoolPin users
    cdef StreamPin stream_pin
    if not users.hold(self._h_users):
        refuse_closed(self)
    Stream_pin(stream, &stream_pin)
    if self._is_mapped:
        raise TypeError("this pool was imported from another process, and only that process can allocate from it")
    if self._buffer_class is None:
        buffer = Buffer.__new__(Buffer)
    else:
        buffer = self._buffer_class.__new__(self._buffer_class)
    allocate_from_pool(users.handle(), size, stream_pin.handle(), &h_allocation)
    buffer._h_allocation.set(move(h_allocation))
    Buffer_update_members(buffer)
    buffer._memory_resource = self
    return buffer


cdef int MemPool_check_open(_MemPool self) except -1:
    return 0 if self._h_pool else refuse_closed(self)


cdef int MemPool_pin(_MemPool self, MemoryPoolPin* pin) except -1:
    return 0 if pin.hold(self._h_pool) else refuse_closed(self)


cdef int MemPool_reset_high(
    _MemPoolAttributes self, str name, object value, cydriver.CUmemPool_attribute attribute
) except -1:
    cdef uint64_t zero = 0
    check_reset(name, value)
    MemPool_set(self._h_pool.get(), attribute, &zero)
    return 0


cdef int check_reset(str name, object value) except -1:
    if value != 0:
        raise AttributeError(f"{name} can only be set to 0, which resets it, not to {shown(value)}")
    return 0


cdef bint MemPool_flag(_MemPoolAttributes self, cydriver.CUmemPool_attribute attribute) except -1:
    cdef int value = 0
    MemPool_get(self._h_pool.get(), attribute, &value)
    return value != 0


cdef uint64_t MemPool_figure(_MemPoolAttributes self, cydriver.CUmemPool_attribute attribute) except? 0:
    cdef uint64_t value = 0
    MemPool_get(self._h_pool.get(), attribute, &value)
    return value


# --- Pools of the driver -----------------------------------------------------------------------------

# Creates a pool of at most `max_size` bytes (0: no limit), which keeps `release_threshold` bytes when a stream or event
# is synchronized (None: all).
cdef MemoryPoolHandle MemPool_create(
    cydriver.CUmemAllocationType kind, cydriver.CUmemLocation location, bint is_shared, size_t max_size,
    object release_threshold
) except *:
    cdef MemoryPoolHandle h_pool
    cdef cydriver.CUmemoryPool c_pool = NULL
    cdef cydriver.CUmemPoolProps properties
    memset(&properties, 0, sizeof(properties))
    properties.allocType = kind
    properties.handleTypes = (
        cydriver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
        if is_shared
        else cydriver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_NONE
    )
    properties.location = location
    properties.maxSize = max_size
    init_driver()
    with nogil:
        make_pool(&c_pool, &properties)
    h_pool = MemoryPoolHandle.own_with_wait(c_pool, &MemPool_destroy, Anchor())
    MemPool_set_threshold(h_pool, release_threshold)
    return h_pool


cdef int make_pool(cydriver.CUmemoryPool* c_pool, const cydriver.CUmemPoolProps* properties) except -1 nogil:
    cdef cydriver.CUresult err
    cdef CaptureModeScope mode
    relax_capture_mode(mode)
    limit_backlog()
    destroy_idle()
    err = create_pool(c_pool, properties)
    if err == cydriver.CUresult.CUDA_ERROR_OUT_OF_MEMORY and wait_for_retired():
        err = create_pool(c_pool, properties)
    HANDLE_RETURN(err, b"cuMemPoolCreate")
    own_pools.fetch_add(1)
    return 0


cdef cydriver.CUresult create_pool(
    cydriver.CUmemoryPool* c_pool, const cydriver.CUmemPoolProps* properties
) noexcept nogil:
    cdef cydriver.CUresult err
    pool_lock().lock()
    err = cydriver.cuMemPoolCreate(c_pool, properties)
    pool_lock().unlock()
    return err


# Borrows a pool of the driver. If its release threshold is 0, the default, it is set to keep all freed memory.
cdef MemoryPoolHandle MemPool_adopt(cydriver.CUmemoryPool c_pool) except *:
    cdef MemoryPoolHandle h_pool = MemoryPoolHandle.borrow(c_pool, Anchor())
    cdef uint64_t threshold = 0
    MemPool_get(c_pool, cydriver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold)
    if threshold == 0:
        MemPool_set_threshold(h_pool, None)
    elif threshold != UINT64_MAX:
        note_release_threshold()
    return h_pool


cdef int MemPool_set_threshold(const MemoryPoolHandle& h_pool, object release_threshold) except -1:
    # The driver's default of 0 returns all freed memory to the operating system on every synchronization.
    cdef uint64_t threshold = UINT64_MAX if release_threshold is None else release_threshold
    if threshold != UINT64_MAX:
        note_release_threshold()
    MemPool_set(h_pool.get(), cydriver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold)
    return 0


cdef MemoryPoolHandle MemPool_import(int descriptor, object owner) except *:
    cdef PoolImport importing
    cdef Handle[PoolImport] h_import
    cdef cydriver.CUmemoryPool c_pool = NULL
    cdef cydriver.CUresult err
    importing.descriptor = descriptor
    importing.c_pool = NULL
    init_driver()
    h_import = Handle[PoolImport].own(importing, &end_import, Anchor.of_object(<PyObject*>owner))
    with nogil:
        # Unused pools take up addresses until they are destroyed.
        limit_backlog()
        destroy_idle()
        err = <cydriver.CUresult>call_interruptibly(&import_pool, &h_import.value(), h_import.anchor())
        if err == cydriver.CUresult.CUDA_ERROR_OUT_OF_MEMORY and wait_for_retired():
            err = <cydriver.CUresult>call_interruptibly(&import_pool, &h_import.value(), h_import.anchor())
        HANDLE_RETURN(err, b"cuMemPoolImportFromShareableHandle")
    c_pool = h_import.value().c_pool
    (&h_import.value()).c_pool = NULL
    return MemoryPoolHandle.own_with_wait(c_pool, &MemPool_destroy, Anchor())


# Argument and result of cuMemPoolImportFromShareableHandle on another thread. If a signal handler abandons that call,
# the imported pool is destroyed with this struct.
cdef struct PoolImport:
    int descriptor
    cydriver.CUmemoryPool c_pool


cdef int import_pool(void* what) noexcept nogil:
    cdef PoolImport* importing = <PoolImport*>what
    cdef cydriver.CUresult err
    pool_lock().lock()
    err = cydriver.cuMemPoolImportFromShareableHandle(
        &importing.c_pool, <void*><uintptr_t>importing.descriptor,
        cydriver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0,
    )
    pool_lock().unlock()
    if err == cydriver.CUresult.CUDA_SUCCESS:
        own_pools.fetch_add(1)
    return <int>err


cdef void end_import(PoolImport importing) noexcept nogil:
    if importing.c_pool != NULL:
        MemPool_destroy(importing.c_pool, False)


# If a pool is destroyed while a free in it is pending, the driver for CUDA 13.0 can crash or hang, then or later.
# A free counts as pending until its stream is queried. An event recorded after it is not enough, so all streams are
# queried again.
cdef void MemPool_destroy(cydriver.CUmemoryPool c_pool, cpp_bool may_wait) noexcept nogil:
    cdef size_t others = count_retired()
    end_pool(c_pool)
    if may_wait:
        # Usually the last free was enqueued just before: wait for it briefly.
        wait_until_at_most(others, 5_000_000)


cdef void end_pool(cydriver.CUmemoryPool c_pool) noexcept nogil:
    cdef cydriver.CUresult err
    cdef CaptureModeScope mode
    cdef Retired entry
    # Streams must be destroyed before the pool: cuStreamDestroy accesses the pools that were used on the stream.
    find_work(&entry)
    find_foreign_frees(&entry)
    if not entry.events.empty() or not entry.captured.empty() or has_pending_streams():
        entry.resource = MemoryPoolHandle.own(c_pool, &end_pool, Anchor()).anchor()
        retire_entry(entry)
        return
    relax_capture_mode(mode)
    pool_lock().lock()
    err = cydriver.cuMemPoolDestroy(c_pool)
    pool_lock().unlock()
    own_pools.fetch_sub(1)
    # Last, because a warning can run Python code that destroys pools.
    WARN_RETURN(err, b"cuMemPoolDestroy", c_pool)


# The driver forbids pool queries in the capture modes "global" and "thread_local", although they are harmless.
cdef int MemPool_get(
    cydriver.CUmemoryPool c_pool, cydriver.CUmemPool_attribute attribute, void* value
) except -1:
    cdef CaptureModeScope mode
    if c_pool == NULL:
        raise UnavailableError("these attributes have no memory pool; use the attributes property of a memory resource")
    with nogil:
        relax_capture_mode(mode)
        HANDLE_RETURN(cydriver.cuMemPoolGetAttribute(c_pool, attribute, value), b"cuMemPoolGetAttribute")
    return 0


cdef int MemPool_set(
    cydriver.CUmemoryPool c_pool, cydriver.CUmemPool_attribute attribute, void* value
) except -1:
    cdef CaptureModeScope mode
    with nogil:
        relax_capture_mode(mode)
        HANDLE_RETURN(cydriver.cuMemPoolSetAttribute(c_pool, attribute, value), b"cuMemPoolSetAttribute")
    return 0


# Grants access to a new or imported pool of host memory, which only the host can access, to all devices that support
# such pools.
cdef int grant_devices(cydriver.CUmemoryPool c_pool, cydriver.CUdevice_attribute support) except -1:
    cdef vector[cydriver.CUmemAccessDesc] grants
    cdef cydriver.CUmemAccessDesc grant
    cdef cydriver.CUmemAccess_flags c_flags = cydriver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_NONE
    cdef CaptureModeScope mode
    cdef int count = 0
    if c_driver_version() < 13000:  # older drivers do not have these attributes, so none would get access
        support = cydriver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED
    HANDLE_RETURN(cydriver.cuDeviceGetCount(&count), b"cuDeviceGetCount")
    relax_capture_mode(mode)
    grant.flags = cydriver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    for device_id in range(count):
        grant.location = location_of(cydriver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, device_id)
        if attribute_or_zero(support, device_id):
            HANDLE_RETURN(cydriver.cuMemPoolGetAccess(&c_flags, c_pool, &grant.location), b"cuMemPoolGetAccess")
            if c_flags != grant.flags:
                grants.push_back(grant)
    if grants.size() != 0:
        with nogil:
            HANDLE_RETURN(cydriver.cuMemPoolSetAccess(c_pool, grants.data(), grants.size()), b"cuMemPoolSetAccess")
    return 0


cdef int MemPool_grant_imported(cydriver.CUmemoryPool c_pool) except -1:
    return grant_devices(c_pool, cydriver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED)


cdef extern from *:
    """
    namespace cuda_core { CUDA_CORE_API bool set_foreign_source(int, CUmemoryPool, void*, void*) noexcept; }
    """
    bint set_foreign_source "cuda_core::set_foreign_source"(
        int device, cydriver.CUmemoryPool pool, void* allocate, void* free
    ) noexcept nogil


def set_pool_of_functions(int device_id, MemoryResource resource not None, uintptr_t allocate, uintptr_t free) -> None:
    """Let the exported functions of the native core allocate from a pool, or by the given functions otherwise.

    The caller keeps ``resource`` for the rest of the process.
    """
    cdef MemoryPoolHandle h_pool
    if allocate == 0:
        h_pool = (<_MemPool?>resource)._h_pool.copy()
        if not h_pool:
            refuse_closed(resource)
    if not set_foreign_source(device_id, h_pool.get() if allocate == 0 else NULL, <void*>allocate, <void*>free):
        raise ValueError(f"device {device_id} is beyond the devices that other libraries can allocate for")


check_self_in_methods(globals())

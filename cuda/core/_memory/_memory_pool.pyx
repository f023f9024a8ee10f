# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory pools: how they are created, adopted, shared and destroyed."""

from __future__ import annotations

from libc.stdint cimport UINT64_MAX, int64_t, uint64_t, uintptr_t
from libc.string cimport memset
from libcpp cimport bool as cpp_bool
from libcpp.atomic cimport atomic
from libcpp.utility cimport move

from cpython.object cimport PyObject
from posix.unistd cimport usleep

from cuda.core._memory._buffer cimport Buffer, MemoryRange_update_members
from cuda.core._memory._memory_resource cimport MemoryResource, allocate_from_pool, own_pools, size_argument
from cuda.core._native._cuda_core cimport (
    AllocationHandle,
    CaptureModeScope,
    Handle,
    Keep,
    KeptMemoryPool,
    KeptStream,
    MemoryPoolHandle,
    Retired,
    address,
    bindings_object,
    destroy_idle,
    find_work,
    has_pending_streams,
    limit_backlog,
    query_streams,
    refuse_closed,
    refuse_pickle,
    relax_capture_mode,
    retire_entry,
    wait_for_retired,
)
from cuda.core._native._device_wait cimport call_interruptibly
from cuda.core._stream cimport Stream, Stream_accept, Stream_keep
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, WARN_RETURN, init_driver

from cuda.core._memory._memory_resource import free_async
from cuda.core._utils.cuda_utils import CUDAError, UnavailableError
from cuda.core._utils.validators import address_argument, shown

__all__ = ["allocate_as", "check_byte_option", "check_threshold"]


cdef extern from "locks.hpp" nogil:
    cppclass Mutex "std::mutex":
        void lock()
        void unlock()

    Mutex& pool_lock "cuda_core::pool_lock"()


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
    h_pool = MemoryPoolHandle.own_with_wait(c_pool, &MemPool_destroy, Keep())
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


cdef MemoryPoolHandle MemPool_wrap(cydriver.CUmemoryPool c_pool) except *:
    return MemoryPoolHandle.borrow(c_pool, Keep())


cdef MemoryPoolHandle MemPool_adopt(cydriver.CUmemoryPool c_pool) except *:
    cdef MemoryPoolHandle h_pool = MemPool_wrap(c_pool)
    cdef uint64_t threshold = 0
    MemPool_get(c_pool, cydriver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold)
    if threshold == 0:
        MemPool_set_threshold(h_pool, None)
    return h_pool


cdef int MemPool_set_threshold(const MemoryPoolHandle& h_pool, object release_threshold) except -1:
    # The driver's default of 0 returns all freed memory to the operating system at each synchronization.
    cdef uint64_t threshold = UINT64_MAX if release_threshold is None else release_threshold
    MemPool_set(h_pool.get(), cydriver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold)
    return 0


cdef MemoryPoolHandle MemPool_import(int descriptor, object owner) except *:
    cdef PoolImport importing
    cdef Handle[PoolImport] h_import
    cdef cydriver.CUmemoryPool c_pool = NULL
    cdef cydriver.CUresult err
    importing.descriptor = descriptor
    importing.c_pool = NULL
    h_import = Handle[PoolImport].own(importing, &end_import, Keep.of_object(<PyObject*>owner))
    with nogil:
        # Pools that are no longer used take up addresses until they are destroyed.
        limit_backlog()
        destroy_idle()
        err = <cydriver.CUresult>call_interruptibly(&import_pool, &h_import.value(), h_import.keep())
        if err == cydriver.CUresult.CUDA_ERROR_OUT_OF_MEMORY and wait_for_retired():
            err = <cydriver.CUresult>call_interruptibly(&import_pool, &h_import.value(), h_import.keep())
        HANDLE_RETURN(err, b"cuMemPoolImportFromShareableHandle")
    c_pool = h_import.value().c_pool
    (&h_import.value()).c_pool = NULL
    return MemoryPoolHandle.own_with_wait(c_pool, &MemPool_destroy, Keep())


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
# A free counts as pending until its stream is queried. An event behind it is not enough, so all streams are queried
# again.
cdef void MemPool_destroy(cydriver.CUmemoryPool c_pool, cpp_bool may_wait) noexcept nogil:
    cdef int others = _waiting_pools.fetch_add(1)
    cdef int times = 0
    end_pool(c_pool)
    # Usually the last free was enqueued just before: wait for it briefly.
    while may_wait and _waiting_pools.load() > others and times < MAX_QUERIES:
        usleep(50)
        times += 1
        destroy_idle()


cdef int MAX_QUERIES = 100
cdef atomic[int]* _waiting_pools = new atomic[int](0)


cdef void end_pool(cydriver.CUmemoryPool c_pool) noexcept nogil:
    cdef cydriver.CUresult err
    cdef CaptureModeScope mode
    cdef Retired entry
    # Streams must be destroyed before the pool: cuStreamDestroy accesses the pools that were used on the stream.
    if find_work(&entry) or has_pending_streams():
        entry.resource = MemoryPoolHandle.own(c_pool, &end_pool, Keep()).keep()
        retire_entry(entry)
        return
    relax_capture_mode(mode)
    pool_lock().lock()
    err = cydriver.cuMemPoolDestroy(c_pool)
    pool_lock().unlock()
    own_pools.fetch_sub(1)
    _waiting_pools.fetch_sub(1)
    WARN_RETURN(err, b"cuMemPoolDestroy")  # last, because a warning can run Python code that destroys pools


# Queries of a pool are forbidden in the capture modes "global" and "thread_local", although they are harmless.
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


cdef class _MemPool(MemoryResource):
    """Base of memory resources over a memory pool (``CUmemoryPool``)."""

    def __cinit__(self, *args, **kwargs):
        self._is_overridden = type(self).allocate is not _MemPool.allocate

    def __repr__(self):
        state = "closed" if self.is_closed else f"{address(self._h_pool):#x}"
        return f"<{type(self).__name__} {state}>"

    def __reduce__(self):
        raise RuntimeError(f"a {type(self).__name__} cannot be pickled: its pool belongs to this process")

    def allocate(self, size: int, *, stream) -> Buffer:
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

    def deallocate(self, ptr, size: int, *, stream) -> None:
        """Free memory of the pool in stream order, also if the resource is closed (``cuMemFreeAsync``).

        Parameters
        ----------
        ptr : int | driver.CUdeviceptr
            The address of the memory.
        size : int
            The size in bytes; ignored.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream that the free is ordered on.
        """
        free_async(address_argument("ptr", ptr), Stream_accept(stream))

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
        cdef KeptMemoryPool pool
        cdef size_t c_size = size_argument(bytes_to_keep)
        MemPool_keep(self, &pool)
        with nogil:
            query_streams()
            HANDLE_RETURN(cydriver.cuMemPoolTrimTo(pool.get(), c_size), b"cuMemPoolTrimTo")

    @property
    def attributes(self) -> _MemPoolAttributes:
        """The attributes of the pool; each access queries the driver."""
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
        """The ``CUmemoryPool`` of the bindings; null when closed."""
        return bindings_object("CUmemoryPool", address(self._h_pool))

    @property
    def is_handle_owned(self) -> bool:
        """Whether this resource owns the pool, because it created or imported it; False when closed."""
        return self._h_pool.copy().is_owner()

    @property
    def is_ipc_enabled(self) -> bool:
        """Whether other processes can open the memory."""
        return False

    @property
    def is_mapped(self) -> bool:
        """Whether the pool was imported from another process; such a pool cannot allocate."""
        return self._is_mapped

    @property
    def uuid(self) -> uuid.UUID | None:
        """The UUID of a shared pool, the same in all processes; None for other pools."""
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
    """The attributes of a memory pool; each access queries the driver (``cuMemPoolGetAttribute``).

    Setting ``reserved_mem_high`` or ``used_mem_high`` to 0 resets it to the current value; all others are read-only.
    """

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
        """The bytes now reserved for the pool."""
        return MemPool_figure(self, cydriver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)

    @property
    def reserved_mem_high(self) -> int:
        """The largest number of bytes reserved for the pool; set it to 0 to reset it."""
        return MemPool_figure(self, cydriver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)

    @reserved_mem_high.setter
    def reserved_mem_high(self, value):
        MemPool_reset_high(
            self, "reserved_mem_high", value, cydriver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH
        )

    @property
    def used_mem_current(self) -> int:
        """The bytes now allocated from the pool."""
        return MemPool_figure(self, cydriver.CUmemPool_attribute.CU_MEMPOOL_ATTR_USED_MEM_CURRENT)

    @property
    def used_mem_high(self) -> int:
        """The largest number of bytes allocated at the same time; set it to 0 to reset it."""
        return MemPool_figure(self, cydriver.CUmemPool_attribute.CU_MEMPOOL_ATTR_USED_MEM_HIGH)

    @used_mem_high.setter
    def used_mem_high(self, value):
        MemPool_reset_high(self, "used_mem_high", value, cydriver.CUmemPool_attribute.CU_MEMPOOL_ATTR_USED_MEM_HIGH)


_ATTRIBUTES = [name for name in vars(_MemPoolAttributes) if not name.startswith("_")]


def allocate_as(cls: type, _MemPool pool) -> None:
    """Set the class of the buffers that a pool resource allocates; only before other threads use the pool.

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


cdef void MemPool_open(_MemPool self, const MemoryPoolHandle& h_pool) except *:
    self._h_users.set(MemoryPoolHandle.borrow(h_pool.get(), h_pool.keep()))
    self._h_pool.set(h_pool)


cdef inline Buffer MemPool_allocate(_MemPool self, size_t size, Stream stream):
    # Like Buffer_create, but moves the handle instead of copying it, because allocation is called in loops.
    cdef Buffer buffer
    cdef AllocationHandle h_allocation
    cdef KeptMemoryPool users
    cdef KeptStream kept_stream
    if not users.hold(self._h_users):
        refuse_closed(self)
    Stream_keep(stream, &kept_stream)
    if self._is_mapped:
        raise TypeError("this pool was imported from another process, and only that process can allocate from it")
    if self._buffer_class is None:
        buffer = Buffer.__new__(Buffer)
    else:
        buffer = self._buffer_class.__new__(self._buffer_class)
    allocate_from_pool(users.handle(), size, kept_stream.handle(), &h_allocation)
    buffer._h_allocation.set(move(h_allocation))
    MemoryRange_update_members(buffer)
    buffer._memory_resource = self
    return buffer


cdef int MemPool_check_open(_MemPool self) except -1:
    return 0 if self._h_pool else refuse_closed(self)


cdef int MemPool_keep(_MemPool self, KeptMemoryPool* kept) except -1:
    return 0 if kept.hold(self._h_pool) else refuse_closed(self)


cdef int MemPool_reset_high(
    _MemPoolAttributes self, str name, object value, cydriver.CUmemPool_attribute attribute
) except -1:
    cdef uint64_t zero = 0
    if value != 0:
        raise AttributeError(f"{name} can only be set to 0, which resets it, not to {shown(value)}")
    MemPool_set(self._h_pool.get(), attribute, &zero)
    return 0


cdef bint MemPool_flag(_MemPoolAttributes self, cydriver.CUmemPool_attribute attribute) except -1:
    cdef int value = 0
    MemPool_get(self._h_pool.get(), attribute, &value)
    return value != 0


cdef uint64_t MemPool_figure(_MemPoolAttributes self, cydriver.CUmemPool_attribute attribute) except? 0:
    cdef uint64_t value = 0
    MemPool_get(self._h_pool.get(), attribute, &value)
    return value

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The base of memory resources over a memory pool (``CUmemoryPool``)."""

from __future__ import annotations

from libc.stdint cimport UINT64_MAX, int64_t, uint64_t
from libcpp.utility cimport move

from cuda.core._handles._deferred_destruction cimport set_closing
from cuda.core._handles._driver_object cimport bindings_object, refuse_closed, refuse_pickle
from cuda.core._handles._handles cimport AllocationHandle, KeptMemoryPool, KeptStream, MemoryPoolHandle, address
from cuda.core._handles._work cimport query_streams
from cuda.core._memory._buffer cimport Buffer
from cuda.core._memory._memory_resource cimport MemoryResource
from cuda.core._memory.pools._driver_pools cimport MemPool_get, MemPool_set
from cuda.core._memory.ranges._allocation cimport allocate_from_pool, size_argument
from cuda.core._memory.ranges._memory_range cimport MemoryRange_update_members
from cuda.core._stream cimport Stream, Stream_accept, Stream_keep
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport make_hasattr_safe
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN

from cuda.core._memory.ranges._allocation import free_async
from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils.validators import address_argument, shown

__all__ = ["allocate_as", "check_byte_option", "check_threshold"]


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
        set_closing(True)
        self._h_pool.reset()
        set_closing(False)

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


make_hasattr_safe(_MemPool)
make_hasattr_safe(_MemPoolAttributes)

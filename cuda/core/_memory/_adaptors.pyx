# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The base of memory resources that wrap another one, and adaptors that count and cache allocations."""

from __future__ import annotations

cimport cython
from libc.stdint cimport UINT64_MAX, uint64_t
from libcpp cimport bool as cpp_bool
from libcpp.utility cimport move

from cpython.object cimport PyObject

from cuda.core._event cimport Event_destroy
from cuda.core._memory._buffer cimport Buffer, Buffer_allocate, Buffer_create, Buffer_update_members
from cuda.core._memory._memory_resource cimport MemoryResource, fix_context, size_argument
from cuda.core._native._cuda_core cimport (
    Allocation,
    AllocationHandle,
    Block,
    CaptureModeScope,
    ContextHandle,
    EventHandle,
    Handle,
    Anchor,
    Pin,
    StreamPin,
    HandleField,
    StreamHandle,
    capture_lock,
    free_after,
    refuse_closed,
    relax_capture_mode,
    stream_captures,
)
from cuda.core._native._device_wait cimport raise_later_if_from_handler
from cuda.core._stream cimport Stream, Stream_accept, Stream_pin, default_stream, is_default
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport call_with_interpreter, check_self_in_methods
from cuda.core._utils.cuda_utils cimport show_unraisable

from collections import namedtuple

from cuda.core._memory._memory_pool import check_byte_option
from cuda.core._utils.cuda_utils import UnavailableError

__all__ = ["AccountingMemoryResource", "CachingMemoryResource", "MemoryResourceAdaptor", "MemoryStatistics"]


cdef class MemoryResourceAdaptor(MemoryResource):
    """Base of memory resources that allocate from another memory resource, the upstream resource."""

    cdef:
        MemoryResource _upstream
        bint _is_closed
        bint _is_overridden     # a subclass defines allocate()
        bint _is_ordered        # devices can access the memory, so frees wait for their stream

    def __cinit__(self, *args, **kwargs):
        self._is_overridden = type(self).allocate is not MemoryResourceAdaptor.allocate

    def __init__(self, upstream):
        """Wrap another resource."""
        if not isinstance(upstream, MemoryResource):
            raise TypeError(f"upstream must be a MemoryResource, not {type(upstream).__name__}")
        self._is_ordered = upstream.is_device_accessible
        self._upstream = upstream

    def __repr__(self):
        return f"<{type(self).__name__} {'closed' if self._is_closed else 'over'} {self._upstream!r}>"

    def __reduce__(self):
        raise RuntimeError(f"a {type(self).__name__} cannot be pickled: its buffers belong to this process")

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.close()

    def allocate(self, size: int, *, stream: Stream | GraphBuilder | None = None) -> Buffer:
        """Allocate memory from the upstream resource.

        Parameters
        ----------
        size : int
            The size in bytes.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream that the allocation is ordered on: work enqueued on it afterwards can use the memory. The
            memory is freed on the same stream, unless another one is set. Optional if the upstream resource does not
            need a stream, such as :class:`LegacyPinnedMemoryResource`.

        Returns
        -------
        :class:`Buffer`
            A buffer of this resource, of the same class as the buffers of the upstream resource.

        Raises
        ------
        OutOfMemoryError
            If there is not enough memory.
        RuntimeError
            If the resource is closed.
        TypeError
            If ``size`` is not an integer or ``stream`` not a stream.
        OverflowError
            If ``size`` is negative.
        Exception
            Any exception raised by the upstream resource.
        """
        cdef size_t c_size = size_argument(size)
        cdef Stream c_stream
        Adaptor_check_open(self)
        c_stream = default_stream() if stream is None and not self._needs_stream else Stream_accept(stream)
        return self._allocate_open(c_size, c_stream)

    def deallocate(self, ptr: DevicePointerType, size: int, *, stream: Stream | GraphBuilder) -> None:
        """Call ``deallocate`` of the upstream resource. Buffers of this resource do not use it.

        Parameters
        ----------
        ptr : int | driver.CUdeviceptr
            The address of memory allocated directly from the upstream resource.
        size : int
            The size in bytes.
        stream : :class:`Stream`
            The stream that the free is ordered on.
        """
        Adaptor_upstream(self).deallocate(ptr, size, stream=stream)

    _own_deallocate = deallocate

    def close(self) -> None:
        """Reject further allocations. Buffers of this resource and the upstream resource stay valid."""
        self._is_closed = True

    @property
    def upstream(self) -> MemoryResource:
        """The resource that memory is allocated from."""
        return Adaptor_upstream(self)

    @property
    def is_device_accessible(self) -> bool:
        """Whether a device can access the memory, as for the upstream resource."""
        return Adaptor_upstream(self).is_device_accessible

    @property
    def is_host_accessible(self) -> bool:
        """Whether the host can access the memory, as for the upstream resource."""
        return Adaptor_upstream(self).is_host_accessible

    @property
    def is_managed(self) -> bool:
        """Whether the memory is managed memory, as for the upstream resource."""
        return Adaptor_upstream(self).is_managed

    @property
    def device_id(self) -> int:
        """The ordinal of the device of the memory, as for the upstream resource."""
        return Adaptor_upstream(self).device_id

    @property
    def _needs_stream(self):
        return Adaptor_upstream(self)._needs_stream

    @property
    def _waits_to_free(self):
        return Adaptor_upstream(self)._waits_to_free

    @property
    def attributes(self):
        """The attributes of the upstream resource. Raises AttributeError if it has none."""
        return Adaptor_upstream(self).attributes

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._is_closed

    cdef object _allocate(self, size_t size, Stream stream):
        if self._is_overridden:
            return MemoryResource._allocate(self, size, stream)
        Adaptor_check_open(self)
        return self._allocate_open(size, stream)

    cdef Buffer _allocate_open(self, size_t size, Stream stream):
        # By default, a buffer of this resource refers to the allocation of the upstream resource.
        cdef AllocationHandle h_memory
        cdef Buffer inner = Adaptor_allocate_upstream(self, size, stream, &h_memory)
        return Buffer_create(type(inner), h_memory, self, None)


class MemoryStatistics(
    namedtuple(
        "MemoryStatistics", "current_bytes current_count peak_bytes peak_count total_bytes total_count failed_count"
    )
):
    """A snapshot of the counts of a :class:`StatisticsMemoryResource`.

    Attributes
    ----------
    current_bytes, current_count : int
        The size in bytes, and the number, of the allocations in use.
    peak_bytes, peak_count : int
        The largest ``current_bytes`` and ``current_count`` since the last reset.
    total_bytes, total_count : int
        The size in bytes, and the number, of all allocations so far.
    failed_count : int
        The number of allocations that failed.
    """

    __slots__ = ()


cdef struct Usage:
    uint64_t reserved       # bytes in use, or about to be
    uint64_t current_bytes
    uint64_t current_count
    uint64_t peak_bytes
    uint64_t peak_count
    uint64_t total_bytes
    uint64_t total_count
    uint64_t failed_count


cdef class AccountingMemoryResource(MemoryResourceAdaptor):
    """Base of adaptors that count allocations, and call methods of a subclass for each allocation and free.

    Counting runs no Python code, so it cannot be interrupted halfway. If an exception interrupts an allocation, the
    allocation is undone.
    """

    cdef:
        Usage _usage
        uint64_t _limit
        dict _records           # for each allocation in use, the result of _allocated(), in order of allocation
        uint64_t _next_number

    def __cinit__(self, *args, **kwargs):
        self._limit = UINT64_MAX
        self._records = {}

    def __init__(self, upstream, limit: int | None = None):
        """Wrap another resource, and reject allocations that exceed the limit in bytes."""
        MemoryResourceAdaptor.__init__(self, upstream)
        if limit is not None:
            self._limit = limit

    def _limit_error(self, size: int) -> BaseException:
        """Return the exception for an allocation that exceeds the limit."""
        return MemoryError(f"an allocation of {size} bytes exceeds the limit")

    def _failed(self, size: int, stream: int, error: BaseException) -> None:
        """Called when the upstream resource has raised an exception."""

    def _allocated(self, pointer: int, size: int, stream: int) -> object:
        """Called after an allocation: return a record to keep until it is freed, or None."""

    def _freed(self, pointer: int, size: int, stream: int) -> None:
        """Called after a free was enqueued on a stream."""

    def _kept(self) -> list:
        """Return the records of the allocations in use, the oldest first."""
        return list(self._records.values())

    def _count(self) -> MemoryStatistics:
        """Return the current counts."""
        cdef Usage usage
        with cython.critical_section(self):
            usage = self._usage
        return MemoryStatistics(
            usage.current_bytes, usage.current_count, usage.peak_bytes, usage.peak_count,
            usage.total_bytes, usage.total_count, usage.failed_count,
        )

    def _reset_peaks(self) -> None:
        """Reset the peaks to the current values."""
        with cython.critical_section(self):
            self._usage.peak_bytes = self._usage.current_bytes
            self._usage.peak_count = self._usage.current_count

    cdef Buffer _allocate_open(self, size_t size, Stream stream):
        cdef AllocationHandle h_allocation
        cdef Allocation value
        cdef Anchor anchor
        cdef Buffer inner
        cdef size_t c_stream
        # If anything fails after this, the lease is destroyed and undoes its counts.
        cdef Lease lease = Lease_create(self)
        Adaptor_set_stream(self, stream, &value)
        c_stream = <size_t>value.h_stream.get()
        try:
            Lease_reserve(lease, size)
            inner = Adaptor_allocate_upstream(self, size, stream, &lease.h_memory)
            value.pointer = lease.h_memory.value().pointer
            value.size = lease.h_memory.value().size
            # The buffer may be larger than requested, because some resources round sizes up.
            Lease_reserve(lease, value.size)
        except BaseException as error:
            with cython.critical_section(self):
                self._usage.failed_count += 1
            self._failed(size, c_stream, error)
            raise
        note = self._allocated(value.pointer, value.size, c_stream)
        if note is not None:
            self._records[lease.number] = note
        Lease_commit(lease)
        value.resource = <PyObject*>lease
        anchor = Anchor.of_object(<PyObject*>lease)
        h_allocation = AllocationHandle.own_with_wait(move(value), &end_lease, move(anchor))
        return Buffer_create(type(inner), h_allocation, self, None)


cdef extern from "block_cache.hpp" namespace "cuda_core" nogil:
    const size_t largest_block
    size_t bin_of(size_t size) noexcept
    size_t size_of_bin(size_t bin) noexcept

    cppclass Lane:
        StreamHandle h_stream
        ContextHandle h_context
        EventHandle event
        cpp_bool is_event_pending
        uint64_t recorded_at
        uint64_t done_until

    cppclass BlockCache:
        BlockCache(cpp_bool (*can_free)(Lane*) noexcept nogil) except +
        Block* reuse(cydriver.CUstream stream, cydriver.CUcontext context, size_t bin, cpp_bool at_once) noexcept
        Block* reuse_done(size_t bin, cpp_bool (*is_lane_done)(Lane*, uint64_t, uint64_t) noexcept nogil) noexcept
        Block* shrink(size_t bytes_to_keep) noexcept
        Block* close() noexcept
        size_t bytes() noexcept
        uint64_t hits() noexcept
        uint64_t misses() noexcept
        size_t limit() noexcept
        void set_limit(size_t bytes) noexcept
        cpp_bool is_of_this_process() noexcept

    Block* make_block(BlockCache* cache, size_t bin, const AllocationHandle& memory) noexcept
    cydriver.CUdeviceptr pointer_of(const Block* block) noexcept
    size_t free_blocks(Block* block) noexcept
    void return_to_cache(Allocation user) noexcept
    void destroy_cache(BlockCache* cache) noexcept


ctypedef BlockCache* BlockCachePointer
ctypedef Handle[BlockCachePointer] CacheHandle
ctypedef HandleField[BlockCachePointer] CacheField
ctypedef Pin[BlockCachePointer] CachePin


cdef class CachingMemoryResource(MemoryResourceAdaptor):
    """Caches freed memory of another resource, and serves allocations from the cache.

    Memory is cached in blocks of fixed sizes: multiples of 512 bytes up to 4 KiB, above that four sizes per power of
    two (5, 6, 7, 8, 10, 12, ... KiB), so at most a fifth of a block is unused. The buffer has the requested size.
    If the upstream resource is out of memory, the whole cache is returned to it, and the allocation is repeated with
    the exact size.

    A block freed on a stream can be reused on the same stream immediately. On another stream, it can be reused after
    the work before the free has completed, which is queried if no other block fits. The cache never makes a stream wait
    for another one. For memory that both the host and devices can access, completion is also required on the same
    stream, because the host does not follow stream order.

    Allocations of 0 bytes, of more than ``max_cached_bytes``, and on a capturing stream are passed to the upstream
    resource. Memory freed on ``PER_THREAD_DEFAULT_STREAM`` or on a stream of :meth:`Stream.from_handle` is not cached,
    because the cache cannot know when such a stream is destroyed.

    Parameters
    ----------
    upstream : :class:`MemoryResource`
        The resource that the memory is allocated from.
    max_cached_bytes : int, optional
        The maximum size of the cache in bytes. Blocks freed longest ago are returned upstream first. Defaults to no
        limit.

    Raises
    ------
    TypeError
        If ``upstream`` is not a :class:`MemoryResource`, or ``max_cached_bytes`` not an integer.
    ValueError
        If ``max_cached_bytes`` is negative.

    Examples
    --------
    >>> from cuda.core import CachingMemoryResource, Device, DeviceMemoryResource
    >>> device = Device()
    >>> device.set_current()
    >>> resource = CachingMemoryResource(DeviceMemoryResource(device))
    >>> buffer = resource.allocate(1024, stream=device.default_stream)
    >>> buffer.close()  # the next allocation of this size takes the memory
    """

    cdef:
        CacheField _h_cache
        public bint _waits      # reuse needs completed work on every stream, because the host may access the memory
        object _buffer_class    # the class of the upstream resource's buffers; None for Buffer

    def __cinit__(self, *args, **kwargs):
        self._h_cache.set(new_cache())

    def __init__(self, upstream, *, max_cached_bytes: int | None = None):
        """Wrap another resource."""
        cdef CachePin cache
        if max_cached_bytes is not None:
            check_byte_option("max_cached_bytes", max_cached_bytes)
        MemoryResourceAdaptor.__init__(self, upstream)
        self._waits = upstream.is_host_accessible and upstream.is_device_accessible
        if max_cached_bytes is not None:
            Caching_pin(self, &cache)
            cache.get().set_limit(min(max_cached_bytes, largest_block))

    def trim(self, min_bytes_to_keep: int = 0) -> int:
        """Return cached memory to the upstream resource, starting with the blocks freed longest ago.

        Blocks freed on a stream that is capturing stay cached, because a capturing stream cannot free them.

        Parameters
        ----------
        min_bytes_to_keep : int, optional
            How many bytes of the blocks freed last stay cached. Default is 0.

        Returns
        -------
        int
            The number of bytes returned.

        Raises
        ------
        TypeError
            If ``min_bytes_to_keep`` is not an integer.
        OverflowError
            If ``min_bytes_to_keep`` is negative.
        """
        cdef size_t bytes_to_keep = size_argument(min_bytes_to_keep)
        cdef CachePin cache
        cdef size_t returned
        Caching_pin(self, &cache)
        with nogil:
            returned = free_blocks(cache.get().shrink(bytes_to_keep))
        return returned

    def close(self) -> None:
        """Return all cached memory to the upstream resource, and reject further allocations.

        Buffers stay valid; when they are closed, their memory is returned to the upstream resource.
        """
        cdef CachePin cache
        Caching_pin(self, &cache)
        MemoryResourceAdaptor.close(self)
        with nogil:
            free_blocks(cache.get().close())

    @property
    def max_cached_bytes(self) -> int | None:
        """The maximum size of the cache in bytes, or None for no limit."""
        cdef CachePin cache
        cdef size_t limit
        cache.hold(self._h_cache)
        limit = cache.get().limit()
        return None if limit == largest_block else limit

    @property
    def cached_bytes(self) -> int:
        """The size of the cached memory in bytes, without memory in use."""
        cdef CachePin cache
        Caching_pin(self, &cache)
        return cache.get().bytes()

    @property
    def hit_count(self) -> int:
        """The number of allocations served from the cache."""
        cdef CachePin cache
        Caching_pin(self, &cache)
        return cache.get().hits()

    @property
    def miss_count(self) -> int:
        """The number of allocations that could not be served from the cache."""
        cdef CachePin cache
        Caching_pin(self, &cache)
        return cache.get().misses()

    cdef Buffer _allocate_open(self, size_t size, Stream stream):
        cdef Allocation value
        cdef AllocationHandle h_allocation
        cdef Buffer buffer
        cdef CachePin cache_pin
        cdef StreamPin stream_pin
        cdef BlockCache* cache
        Caching_pin(self, &cache_pin)
        cache = cache_pin.get()
        Stream_pin(stream, &stream_pin)
        if is_default(stream_pin.handle()):
            Adaptor_set_stream(self, stream, &value)
        else:
            value.h_stream = stream_pin.handle()
        if size == 0 or size > cache.limit() or (self._is_ordered and stream_captures(value.h_stream.get())):
            return MemoryResourceAdaptor._allocate_open(self, size, stream)
        value.block = cache.reuse(value.h_stream.get(), value.h_context.get(), bin_of(size), not self._waits)
        if value.block == NULL:
            value.block = Caching_find(self, cache, size, stream)
            if value.block == NULL:
                return MemoryResourceAdaptor._allocate_open(self, size, stream)
        value.pointer = pointer_of(value.block)
        value.size = size
        # Like Buffer_create, but moves the handle instead of copying it, because allocation is called in loops. The
        # handle returns the block to the cache.
        h_allocation = AllocationHandle.own_holding_gil(move(value), &return_to_cache, cache_pin.anchor())
        with cython.critical_section(self):
            cls = self._buffer_class
        buffer = Buffer.__new__(Buffer) if cls is None else cls.__new__(cls)
        buffer._h_allocation.set(move(h_allocation))
        Buffer_update_members(buffer)
        buffer._memory_resource = self
        return buffer


# --- Adaptors --------------------------------------------------------------------------------------

cdef MemoryResource Adaptor_upstream(MemoryResourceAdaptor self):
    if self._upstream is None:
        raise UnavailableError(f"this {type(self).__name__} has no upstream; call super().__init__(upstream)")
    return self._upstream


# Raises RuntimeError if the adaptor is closed.
cdef int Adaptor_check_open(MemoryResourceAdaptor self) except -1:
    if self._is_closed:
        raise UnavailableError(f"this {type(self).__name__} is closed")
    if self._upstream is None:
        Adaptor_upstream(self)
    return 0


# Allocates from the upstream resource. Also returns the memory, checked to be open.
cdef Buffer Adaptor_allocate_upstream(
    MemoryResourceAdaptor self, size_t size, Stream stream, AllocationHandle* h_memory
):
    cdef Buffer inner = Buffer_allocate(self._upstream, size, stream)
    h_memory[0] = inner._h_allocation.copy()
    if not h_memory[0]:
        refuse_closed(inner)
    return inner


# Sets the stream on which memory of the adaptor will be freed.
cdef int Adaptor_set_stream(MemoryResourceAdaptor self, Stream stream, Allocation* value) except -1:
    cdef StreamPin stream_pin
    Stream_pin(stream, &stream_pin)
    value.h_stream = stream_pin.handle()
    if self._is_ordered:
        fix_context(value[0])
    return 0


# --- Leases ----------------------------------------------------------------------------------------

# An allocation in use, or in progress, with its share of the counts. It subtracts that share when it is destroyed.
@cython.final
@cython.no_gc_clear
cdef class Lease:
    cdef:
        AllocationHandle h_memory   # set once: the allocation of the upstream resource
        AccountingMemoryResource adaptor
        uint64_t number
        uint64_t size               # the bytes reserved
        bint is_committed

    def __dealloc__(self):
        self.h_memory.reset()
        if self.adaptor is not None:
            Lease_withdraw(self)
            self.adaptor._records.pop(self.number, None)


cdef Lease Lease_create(AccountingMemoryResource adaptor):
    cdef Lease self = Lease.__new__(Lease)
    with cython.critical_section(adaptor):
        self.number = adaptor._next_number
        adaptor._next_number += 1
    self.adaptor = adaptor
    return self


# Sets the number of bytes that the lease counts.
cdef int Lease_reserve(Lease self, uint64_t size) except -1:
    cdef AccountingMemoryResource adaptor = self.adaptor
    cdef bint is_within = True
    with cython.critical_section(adaptor):
        if size > self.size:
            is_within = size <= adaptor._limit and adaptor._usage.reserved - self.size <= adaptor._limit - size
        if is_within:
            adaptor._usage.reserved += size - self.size
            self.size = size
    if not is_within:
        raise adaptor._limit_error(size)
    return 0


cdef int Lease_commit(Lease self) except -1:
    cdef Usage* usage = &self.adaptor._usage
    with cython.critical_section(self.adaptor):
        self.is_committed = True
        usage.current_bytes += self.size
        usage.current_count += 1
        usage.total_bytes += self.size
        usage.total_count += 1
        usage.peak_bytes = max(usage.peak_bytes, usage.current_bytes)
        usage.peak_count = max(usage.peak_count, usage.current_count)
    return 0


cdef int Lease_withdraw(Lease self) except -1:
    cdef Usage* usage = &self.adaptor._usage
    with cython.critical_section(self.adaptor):
        usage.reserved -= self.size
        if self.is_committed:
            usage.current_bytes -= self.size
            usage.current_count -= 1
    return 0


cdef void end_lease(Allocation value, cpp_bool may_wait) noexcept nogil:
    if may_wait:
        call_with_interpreter(&Lease_close, value)
    call_with_interpreter(&Lease_end, value)


# Frees the memory of the lease, and may wait for that.
cdef void Lease_close(Allocation& value) noexcept:
    cdef Lease self = <Lease>value.resource
    free_after(self.h_memory, value)
    self.h_memory.close()


cdef void Lease_end(Allocation& value) noexcept:
    cdef Lease self = <Lease>value.resource
    if self.h_memory:
        free_after(self.h_memory, value)
        self.h_memory.reset()
    try:
        self.adaptor._freed(value.pointer, value.size, <size_t>value.h_stream.get())
    except BaseException as error:
        if not raise_later_if_from_handler(error):
            show_unraisable(error, self.adaptor)


# --- The cache -------------------------------------------------------------------------------------

cdef CacheHandle new_cache() except *:
    return CacheHandle.own(new BlockCache(&can_free), &destroy_cache, Anchor())


cdef inline int Caching_pin(CachingMemoryResource self, CachePin* pin) except -1:
    cdef CacheHandle h_fresh
    pin.hold(self._h_cache)
    # In a forked child, start an empty cache: the cached memory belongs to the parent, and is not freed here.
    if not pin.get().is_of_this_process():
        h_fresh = new_cache()
        h_fresh.get().set_limit(pin.get().limit())
        self._h_cache.set(h_fresh)
        pin.hold(self._h_cache)
    return 0


# Returns a block freed on another stream, or a new one, or NULL if there is no memory for a block of that size.
cdef Block* Caching_find(
    CachingMemoryResource self, BlockCache* cache, size_t size, Stream stream
) except? NULL:
    cdef AllocationHandle h_memory
    cdef size_t bin = bin_of(size)
    cdef size_t freed
    cdef Block* block
    cdef Buffer inner
    with nogil:
        block = cache.reuse_done(bin, &is_lane_done)
    if block != NULL:
        return block
    try:
        inner = Adaptor_allocate_upstream(self, size_of_bin(bin), stream, &h_memory)
    except MemoryError:
        with nogil:
            freed = free_blocks(cache.shrink(0))
        if freed == 0 and size == size_of_bin(bin):
            raise
        return NULL
    buffer_class = None if type(inner) is Buffer else type(inner)
    with cython.critical_section(self):
        if self._buffer_class is not buffer_class:
            self._buffer_class = buffer_class
    block = make_block(cache, bin, h_memory)
    if block == NULL:
        raise MemoryError("no host memory for the bookkeeping of the cache")
    return block


# These queries of the driver are made while the cache is locked, and must not raise.

# Returns true if the stream can free memory: a capturing stream cannot, and the legacy default stream cannot while a
# blocking stream is capturing.
cdef cpp_bool can_free(Lane* lane) noexcept nogil:
    cdef cydriver.CUstreamCaptureStatus c_capture = cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    cdef cydriver.CUcontext c_context = lane.h_context.get()
    cdef cydriver.CUresult err
    if is_without_driver(lane):
        return True
    # A default stream belongs to the context that is current, so make the right one current.
    if c_context != NULL and cydriver.cuCtxPushCurrent(c_context) != cydriver.CUresult.CUDA_SUCCESS:
        return True
    err = cydriver.cuStreamIsCapturing(lane.h_stream.get(), &c_capture)
    if c_context != NULL:
        cydriver.cuCtxPopCurrent(&c_context)
    return (
        err != cydriver.CUresult.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
        and c_capture == cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    )


# Memory that no device can access can be freed on a default stream without a context, and without a driver.
cdef inline bint is_without_driver(Lane* lane) noexcept nogil:
    return is_default(lane.h_stream) and not lane.h_context


# Frees record no event, so they cost no driver call. The first query after a free records one, which covers all frees
# until then. Later queries check whether it has completed.
cdef cpp_bool is_lane_done(Lane* lane, uint64_t freed_at, uint64_t now) noexcept nogil:
    cdef CaptureModeScope mode
    if freed_at <= lane.done_until:
        return True
    # In another capture mode, a query would invalidate a capture on another stream.
    if is_without_driver(lane) or not relax_capture_mode(mode):
        return False
    capture_lock().lock()
    if can_free(lane):
        if lane.is_event_pending and cydriver.cuEventQuery(lane.event.get()) == cydriver.CUresult.CUDA_SUCCESS:
            lane.is_event_pending = False
            lane.done_until = lane.recorded_at
        if freed_at > lane.done_until and not lane.is_event_pending:
            query_lane(lane, now)
    capture_lock().unlock()
    return freed_at <= lane.done_until


# Queries a stream. Unless it is idle, records an event after its pending work.
cdef void query_lane(Lane* lane, uint64_t now) noexcept nogil:
    cdef cydriver.CUcontext c_context = lane.h_context.get()
    cdef cydriver.CUevent c_event = NULL
    if c_context == NULL:
        if cydriver.cuStreamGetCtx(lane.h_stream.get(), &c_context) != cydriver.CUresult.CUDA_SUCCESS:
            return
    if cydriver.cuCtxPushCurrent(c_context) != cydriver.CUresult.CUDA_SUCCESS:
        return
    if cydriver.cuStreamQuery(lane.h_stream.get()) == cydriver.CUresult.CUDA_SUCCESS:
        lane.done_until = now
    else:
        if not lane.event:
            if cydriver.cuEventCreate(&c_event, cydriver.CU_EVENT_DISABLE_TIMING) == cydriver.CUresult.CUDA_SUCCESS:
                lane.event = EventHandle.own(c_event, &Event_destroy, lane.h_context.anchor())
        if lane.event:
            lane.recorded_at = now
            lane.is_event_pending = (
                cydriver.cuEventRecord(lane.event.get(), lane.h_stream.get()) == cydriver.CUresult.CUDA_SUCCESS
            )
    cydriver.cuCtxPopCurrent(&c_context)


check_self_in_methods(globals())

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""An adaptor that caches freed memory of another resource."""

from __future__ import annotations

cimport cython
from libc.stdint cimport uint64_t
from libcpp cimport bool as cpp_bool
from libcpp.utility cimport move

from cuda.core._handles._capture_mode cimport CaptureModeScope, relax_capture_mode, stream_captures
from cuda.core._handles._handles cimport (
    Allocation,
    AllocationHandle,
    Block,
    ContextHandle,
    EventHandle,
    Handle,
    Keep,
    Kept,
    KeptStream,
    Member,
    StreamHandle,
)
from cuda.core._memory._buffer cimport Buffer
from cuda.core._memory.adaptors._adaptor cimport (
    Adaptor_allocate_upstream,
    Adaptor_set_stream,
    MemoryResourceAdaptor,
)
from cuda.core._memory.ranges._allocation cimport size_argument
from cuda.core._memory.ranges._memory_range cimport MemoryRange_update_members
from cuda.core._stream cimport Stream, Stream_keep, is_default
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport make_hasattr_safe
from cuda.core._utils.cuda_utils cimport WARN_RETURN

from cuda.core._memory._memory_pool import check_byte_option

__all__ = ["CachingMemoryResource"]


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
        Block* reuse_done(size_t bin, cpp_bool (*is_done)(Lane*, uint64_t, uint64_t) noexcept nogil) noexcept
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
ctypedef Member[BlockCachePointer] CacheMember
ctypedef Kept[BlockCachePointer] KeptCache


cdef class CachingMemoryResource(MemoryResourceAdaptor):
    """Caches freed memory of another resource, and serves allocations from the cache.

    Memory is cached in blocks of fixed sizes: multiples of 512 bytes up to 4 KiB, above that four sizes per power of
    two (5, 6, 7, 8, 10, 12, ... KiB), so that at most a fifth of a block is unused. The buffer has the requested size.
    If the upstream resource is out of memory, the whole cache is returned to it, and the allocation is repeated with
    the exact size.

    A block freed on a stream can be reused on the same stream at once. On another stream, it can be reused after the
    work before the free has completed; this is queried if no other block fits. The cache never makes a stream wait for
    another one. For memory that both the host and devices can access, completion is also required on the same stream,
    because the host does not follow stream order.

    Allocations of 0 bytes, of more than ``max_cached_bytes``, and on a capturing stream are passed to the upstream
    resource. Memory freed on ``PER_THREAD_DEFAULT_STREAM`` or on a stream of :meth:`Stream.from_handle` is not cached,
    because the cache cannot know when such a stream is destroyed.

    Parameters
    ----------
    upstream : :class:`MemoryResource`
        The resource that the memory is allocated from.
    max_cached_bytes : int, optional
        The maximum size of the cache in bytes; blocks that were freed longest ago are returned upstream first. If
        None, there is no limit.

    Raises
    ------
    TypeError
        If ``upstream`` is not a :class:`MemoryResource`, or ``max_cached_bytes`` not an integer.
    ValueError
        If ``max_cached_bytes`` is negative.
    """

    cdef:
        CacheMember _h_cache
        public bint _waits      # reuse needs completed work on every stream, because the host may access the memory
        object _buffer_class    # the class of the upstream resource's buffers; None for Buffer

    def __cinit__(self, *args, **kwargs):
        self._h_cache.set(new_cache())

    def __init__(self, upstream, *, max_cached_bytes: int | None = None):
        """Wrap another resource."""
        cdef KeptCache cache
        if max_cached_bytes is not None:
            check_byte_option("max_cached_bytes", max_cached_bytes)
        MemoryResourceAdaptor.__init__(self, upstream)
        self._waits = upstream.is_host_accessible and upstream.is_device_accessible
        if max_cached_bytes is not None:
            Caching_keep(self, &cache)
            cache.get().set_limit(min(max_cached_bytes, largest_block))

    def trim(self, min_bytes_to_keep: int = 0) -> int:
        """Return cached memory to the upstream resource; blocks that were freed longest ago first.

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
        cdef KeptCache cache
        cdef size_t returned
        Caching_keep(self, &cache)
        with nogil:
            returned = free_blocks(cache.get().shrink(bytes_to_keep))
        return returned

    def close(self) -> None:
        """Return all cached memory to the upstream resource, and refuse further allocations.

        Buffers stay valid; when they are closed, their memory is returned to the upstream resource.
        """
        cdef KeptCache cache
        Caching_keep(self, &cache)
        MemoryResourceAdaptor.close(self)
        with nogil:
            free_blocks(cache.get().close())

    @property
    def max_cached_bytes(self) -> int | None:
        """The maximum size of the cache in bytes; None for no limit."""
        cdef KeptCache cache
        cdef size_t limit
        cache.hold(self._h_cache)
        limit = cache.get().limit()
        return None if limit == largest_block else limit

    @property
    def cached_bytes(self) -> int:
        """The size of the cached memory in bytes, without memory in use."""
        cdef KeptCache cache
        Caching_keep(self, &cache)
        return cache.get().bytes()

    @property
    def hit_count(self) -> int:
        """The number of allocations served from the cache."""
        cdef KeptCache cache
        Caching_keep(self, &cache)
        return cache.get().hits()

    @property
    def miss_count(self) -> int:
        """The number of allocations that could not be served from the cache."""
        cdef KeptCache cache
        Caching_keep(self, &cache)
        return cache.get().misses()

    cdef Buffer _allocate_open(self, size_t size, Stream stream):
        cdef Allocation value
        cdef AllocationHandle h_allocation
        cdef Buffer buffer
        cdef KeptCache kept_cache
        cdef KeptStream kept_stream
        cdef BlockCache* cache
        Caching_keep(self, &kept_cache)
        cache = kept_cache.get()
        Stream_keep(stream, &kept_stream)
        if is_default(kept_stream.handle()):
            Adaptor_set_stream(self, stream, &value)
        else:
            value.h_stream = kept_stream.handle()
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
        h_allocation = AllocationHandle.own_without_blocking(move(value), &return_to_cache, kept_cache.keep())
        with cython.critical_section(self):
            cls = self._buffer_class
        buffer = Buffer.__new__(Buffer) if cls is None else cls.__new__(cls)
        buffer._h_allocation.set(move(h_allocation))
        MemoryRange_update_members(buffer)
        buffer._memory_resource = self
        return buffer


cdef CacheHandle new_cache() except *:
    return CacheHandle.own(new BlockCache(&can_free), &destroy_cache, Keep())


cdef inline int Caching_keep(CachingMemoryResource self, KeptCache* kept) except -1:
    cdef CacheHandle h_fresh
    kept.hold(self._h_cache)
    # In a forked child, start an empty cache: the cached memory belongs to the parent, and is not freed here.
    if not kept.get().is_of_this_process():
        h_fresh = new_cache()
        h_fresh.get().set_limit(kept.get().limit())
        self._h_cache.set(h_fresh)
        kept.hold(self._h_cache)
    return 0


# A block that was freed on another stream, or a new one; NULL if there is no memory for a block of that size.
cdef Block* Caching_find(
    CachingMemoryResource self, BlockCache* cache, size_t size, Stream stream
) except? NULL:
    cdef AllocationHandle h_memory
    cdef size_t bin = bin_of(size)
    cdef size_t freed
    cdef Block* block
    cdef Buffer inner
    with nogil:
        block = cache.reuse_done(bin, &is_done)
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


# --- Queries of the driver, made while the lock of the cache is held; they must not raise. ----------

# Whether the stream can free memory: not while it is capturing, and the legacy default stream not while a blocking
# stream is capturing.
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


# Memory that no device can access may be freed on a default stream without a context, and without a driver.
cdef inline bint is_without_driver(Lane* lane) noexcept nogil:
    return is_default(lane.h_stream) and not lane.h_context


# Frees record no event, so that they cost no driver call. The first query after a free records one, which covers all
# frees so far; later queries check whether it has completed.
cdef cpp_bool is_done(Lane* lane, uint64_t freed_at, uint64_t now) noexcept nogil:
    cdef CaptureModeScope mode
    if freed_at <= lane.done_until:
        return True
    if is_without_driver(lane) or not can_free(lane):
        return False
    # In another capture mode, a query would invalidate a capture on another stream.
    if not relax_capture_mode(mode):
        return False
    if lane.is_event_pending and cydriver.cuEventQuery(lane.event.get()) == cydriver.CUresult.CUDA_SUCCESS:
        lane.is_event_pending = False
        lane.done_until = lane.recorded_at
    if freed_at > lane.done_until and not lane.is_event_pending:
        query_lane(lane, now)
    return freed_at <= lane.done_until


# Queries whether a stream is idle; if not, records an event after its work so far.
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
                lane.event = EventHandle.own(c_event, &Event_destroy, lane.h_context.keep())
        if lane.event:
            lane.recorded_at = now
            lane.is_event_pending = (
                cydriver.cuEventRecord(lane.event.get(), lane.h_stream.get()) == cydriver.CUresult.CUDA_SUCCESS
            )
    cydriver.cuCtxPopCurrent(&c_context)


cdef void Event_destroy(cydriver.CUevent c_event) noexcept nogil:
    WARN_RETURN(cydriver.cuEventDestroy(c_event), b"cuEventDestroy")


make_hasattr_safe(CachingMemoryResource)

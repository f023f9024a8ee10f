# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory pools of the driver: their creation, import, destruction and attributes."""

from __future__ import annotations

from libc.stdint cimport UINT64_MAX, uint64_t, uintptr_t
from libc.string cimport memset
from libcpp.atomic cimport atomic
from posix.unistd cimport usleep

from cpython.object cimport PyObject

from cuda.core._handles._capture_mode cimport CaptureModeScope, relax_capture_mode
from cuda.core._handles._deferred_destruction cimport (
    PendingDestruction,
    destroy_idle,
    destroy_later,
    find_work,
    has_pending_streams,
    limit_backlog,
    postpone,
    take_closing,
    wait_for_destructions,
)
from cuda.core._handles._handles cimport Handle, Keep, MemoryPoolHandle
from cuda.core._handles._waiting cimport call_interruptibly
from cuda.core._memory.ranges._allocation cimport own_pools
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, WARN_RETURN, init_driver

__all__ = []


cdef extern from "pool_lock.hpp" namespace "cuda_core" nogil:
    cppclass PoolLock:
        @staticmethod
        PoolLock& current()
        void lock()
        void unlock()


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
    h_pool = MemoryPoolHandle.own(c_pool, &MemPool_destroy, Keep())
    MemPool_set_threshold(h_pool, release_threshold)
    return h_pool


cdef int make_pool(cydriver.CUmemoryPool* c_pool, const cydriver.CUmemPoolProps* properties) except -1 nogil:
    cdef cydriver.CUresult err
    cdef CaptureModeScope mode
    relax_capture_mode(mode)
    limit_backlog()
    destroy_idle()
    err = create_pool(c_pool, properties)
    if err == cydriver.CUresult.CUDA_ERROR_OUT_OF_MEMORY and wait_for_destructions():
        err = create_pool(c_pool, properties)
    HANDLE_RETURN(err, b"cuMemPoolCreate")
    own_pools.fetch_add(1)
    return 0


cdef cydriver.CUresult create_pool(
    cydriver.CUmemoryPool* c_pool, const cydriver.CUmemPoolProps* properties
) noexcept nogil:
    cdef cydriver.CUresult err
    PoolLock.current().lock()
    err = cydriver.cuMemPoolCreate(c_pool, properties)
    PoolLock.current().unlock()
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
        if err == cydriver.CUresult.CUDA_ERROR_OUT_OF_MEMORY and wait_for_destructions():
            err = <cydriver.CUresult>call_interruptibly(&import_pool, &h_import.value(), h_import.keep())
        HANDLE_RETURN(err, b"cuMemPoolImportFromShareableHandle")
    c_pool = h_import.value().c_pool
    (&h_import.value()).c_pool = NULL
    return MemoryPoolHandle.own(c_pool, &MemPool_destroy, Keep())


# Argument and result of cuMemPoolImportFromShareableHandle on another thread. If a signal handler abandons that call,
# the imported pool is destroyed with this struct.
cdef struct PoolImport:
    int descriptor
    cydriver.CUmemoryPool c_pool


cdef int import_pool(void* what) noexcept nogil:
    cdef PoolImport* importing = <PoolImport*>what
    cdef cydriver.CUresult err
    PoolLock.current().lock()
    err = cydriver.cuMemPoolImportFromShareableHandle(
        &importing.c_pool, <void*><uintptr_t>importing.descriptor,
        cydriver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0,
    )
    PoolLock.current().unlock()
    if err == cydriver.CUresult.CUDA_SUCCESS:
        own_pools.fetch_add(1)
    return <int>err


cdef void end_import(PoolImport importing) noexcept nogil:
    if importing.c_pool != NULL:
        MemPool_destroy(importing.c_pool)


# If a pool is destroyed while a free in it is pending, the driver for CUDA 13.0 can crash or hang, then or later.
# A free counts as pending until its stream is queried. An event behind it is not enough, so all streams are queried
# again.
cdef void MemPool_destroy(cydriver.CUmemoryPool c_pool) noexcept nogil:
    cdef bint is_closing = take_closing()
    cdef int others = _waiting_pools.fetch_add(1)
    cdef int times = 0
    end_pool(c_pool)
    # Usually the last free was enqueued just before: wait for it briefly.
    while is_closing and _waiting_pools.load() > others and times < MAX_QUERIES:
        usleep(50)
        times += 1
        destroy_idle()


cdef int MAX_QUERIES = 100
cdef atomic[int]* _waiting_pools = new atomic[int](0)


# Streams must be destroyed before the pool: cuStreamDestroy accesses the pools that were used on the stream.
cdef bint must_wait(PendingDestruction* pending) noexcept nogil:
    return find_work(pending) or has_pending_streams()


cdef void end_pool(cydriver.CUmemoryPool c_pool) noexcept nogil:
    cdef cydriver.CUresult err
    cdef CaptureModeScope mode
    if postpone(c_pool, &end_pool, Keep(), must_wait, destroy_later):
        return
    relax_capture_mode(mode)
    PoolLock.current().lock()
    err = cydriver.cuMemPoolDestroy(c_pool)
    PoolLock.current().unlock()
    own_pools.fetch_sub(1)
    _waiting_pools.fetch_sub(1)
    WARN_RETURN(err, b"cuMemPoolDestroy")  # last, because a warning can run Python code that destroys pools


# Queries of a pool are forbidden in the capture modes "global" and "thread_local", although they are harmless.
cdef int MemPool_get(
    cydriver.CUmemoryPool c_pool, cydriver.CUmemPool_attribute attribute, void* value
) except -1:
    cdef CaptureModeScope mode
    if c_pool == NULL:
        raise RuntimeError("these attributes have no memory pool; use the attributes property of a memory resource")
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

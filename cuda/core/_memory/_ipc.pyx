# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Handles of pools and buffers shared between processes, and the mappings of imported memory."""

from __future__ import annotations

cimport cython
from libc.limits cimport INT_MAX
from libc.string cimport memcpy, memset
from libcpp.utility cimport move

from cpython.exc cimport PyErr_SetFromErrno
from cpython.object cimport PyObject

from cuda.core._context cimport Context_current, Context_enter, Context_leave, Context_primary
from cuda.core._handles._handles cimport (
    Allocation,
    AllocationHandle,
    ContextHandle,
    Handle,
    Keep,
    MemoryPoolHandle,
    StreamHandle,
    address,
)
from cuda.core._handles._waiting cimport call_interruptibly
from cuda.core._memory.pools._driver_pools cimport MemPool_import
from cuda.core._memory.ranges._allocation cimport fix_context, free_in_stream_order, size_argument
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport call_with_interpreter, make_hasattr_safe
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN

import os
import threading

from cuda.core._utils.importing.deferred import Deferred
from cuda.core._utils.sharing import picklable_descriptor, received_descriptor, register_reducer
from cuda.core._utils.validators import shown

__all__ = []

_helpers = Deferred("cuda.core._utils.helpers")


cdef extern from "unistd.h" nogil:
    int close(int descriptor)

cdef extern from "fcntl.h" nogil:
    int F_DUPFD_CLOEXEC
    int fcntl(int descriptor, int command, int argument)


cdef class IPCAllocationHandle:
    """A file descriptor from which another process imports a memory pool.

    It comes from the ``allocation_handle`` of a resource. Send it with ``multiprocessing``, or send its file
    descriptor through a Unix socket; it cannot be pickled otherwise.
    """

    def __cinit__(self):
        self._descriptor = -1

    def __init__(self, *args, **kwargs):
        raise RuntimeError("IPCAllocationHandle cannot be constructed directly; use allocation_handle of a resource")

    def __dealloc__(self):
        IPCAllocationHandle_close(self)

    def __int__(self):
        if self._descriptor < 0:
            raise ValueError("this IPCAllocationHandle is closed")
        return self._descriptor

    def __repr__(self):
        state = "closed" if self.is_closed else f"descriptor {self._descriptor}"
        return f"<IPCAllocationHandle {state}, pool {self._uuid}>"

    def __reduce__(self):
        raise TypeError("an IPCAllocationHandle can only be pickled by multiprocessing: it has a file descriptor")

    @classmethod
    def _init(cls, handle: int, uuid=None) -> IPCAllocationHandle:
        """Create a handle that owns an open file descriptor."""
        return IPCAllocationHandle_create(descriptor_argument(handle), uuid)

    def close(self) -> None:
        """Close the file descriptor; calling this again does nothing."""
        IPCAllocationHandle_close(self)

    @property
    def handle(self) -> int:
        """The file descriptor; -1 when closed."""
        return self._descriptor

    @property
    def uuid(self) -> uuid.UUID | None:
        """The UUID of the pool, the same in all processes."""
        return self._uuid

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._descriptor < 0


cdef class IPCBufferDescriptor:
    """The descriptor from which another process opens a :class:`~cuda.core.Buffer` of an imported pool.

    It comes from :attr:`Buffer.ipc_descriptor` and can be pickled.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("IPCBufferDescriptor cannot be constructed directly; use Buffer.ipc_descriptor")

    def __repr__(self):
        return f"<IPCBufferDescriptor of {self._size} bytes>"

    def __reduce__(self):
        return IPCBufferDescriptor._init, (self._payload, self._size)

    @classmethod
    def _init(cls, reserved: bytes, size: int) -> IPCBufferDescriptor:
        """Create a descriptor from the payload of another one; for pickle."""
        cdef IPCBufferDescriptor self = IPCBufferDescriptor.__new__(IPCBufferDescriptor)
        self._payload = reserved
        self._size = size_argument(size)
        return self

    @property
    def size(self) -> int:
        """The size of the buffer in bytes."""
        return self._size


# Memory of another process that is mapped here. All imports of it share one mapping: the driver returns the same
# address for each import, and the first free would unmap it for all others.
cdef class Mapping:
    cdef:
        MemoryPoolHandle h_pool     # set once: the pool of the resource, which is part of the key
        MemoryPoolHandle h_source   # set once: the pool that the memory was imported from
        object key
        cydriver.CUdeviceptr pointer
        size_t size     # 0 if the driver does not report it
        size_t users    # guarded by the lock


cdef dict _mappings = {}
# Reentrant, because a garbage collection inside may release a buffer of another mapping.
_lock = threading.RLock()


def _renew_lock():
    global _lock
    _lock = threading.RLock()


# In a forked child, the lock may be held by a thread that exists only in the parent.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


cdef IPCAllocationHandle IPCAllocationHandle_create(int descriptor, object uuid):
    cdef IPCAllocationHandle self = IPCAllocationHandle.__new__(IPCAllocationHandle)
    register_reducer(IPCAllocationHandle, _reduce_allocation_handle)
    self._descriptor = descriptor
    self._uuid = uuid
    return self


cdef IPCAllocationHandle IPCAllocationHandle_copy(object handle):
    cdef int descriptor
    cdef int mine
    # No other thread closes the descriptor meanwhile, and opens another file under it.
    with cython.critical_section(handle):
        number = int(handle)
        if number > INT_MAX:
            raise OverflowError(f"a file descriptor must be from 0 to {INT_MAX}, not {shown(number)}")
        descriptor = number
        mine = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    if mine < 0:
        PyErr_SetFromErrno(OSError)
    return IPCAllocationHandle_create(mine, getattr(handle, "uuid", None))


cdef void IPCAllocationHandle_close(IPCAllocationHandle self) noexcept:
    cdef int descriptor
    with cython.critical_section(self):
        descriptor, self._descriptor = self._descriptor, -1
    if descriptor >= 0:
        close(descriptor)


def _reduce_allocation_handle(handle):
    _helpers.check_multiprocessing_start_method()
    carried = picklable_descriptor(int(handle))
    return _rebuild_allocation_handle, (carried, handle.uuid)


def _rebuild_allocation_handle(carried, uuid):
    descriptor = received_descriptor(carried)
    return IPCAllocationHandle_create(descriptor, uuid)


cdef int descriptor_argument(object handle) except -1:
    if isinstance(handle, bool) or not isinstance(handle, int):
        raise TypeError(f"handle must be an int, a file descriptor, not {type(handle).__name__}")
    if handle < 0:
        raise ValueError(f"handle must be a file descriptor, at least 0, not {handle}")
    return handle


cdef IPCAllocationHandle export_pool(const MemoryPoolHandle& h_pool):
    cdef MemoryPoolHandle h_shared = h_pool
    cdef int descriptor = -1
    with nogil:
        HANDLE_RETURN(
            cydriver.cuMemPoolExportToShareableHandle(
                &descriptor, h_shared.get(),
                cydriver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0,
            ),
            b"cuMemPoolExportToShareableHandle",
        )
    import uuid

    return IPCAllocationHandle_create(descriptor, uuid.uuid4())


cdef IPCBufferDescriptor export_memory(const Allocation& memory, int device_id):
    cdef cydriver.CUmemPoolPtrExportData data
    cdef ContextHandle h_context
    cdef int is_entered = 0
    memset(&data, 0, sizeof(data))
    # The queues of multiprocessing pickle on threads of their own, where no context is current.
    Context_current(&h_context)
    if not h_context:
        Context_primary(max(device_id, 0), &h_context)
    with nogil:
        is_entered = Context_enter(h_context.get())
        try:
            HANDLE_RETURN(cydriver.cuMemPoolExportPointer(&data, memory.pointer), b"cuMemPoolExportPointer")
        finally:
            Context_leave(is_entered)
    return IPCBufferDescriptor._init((<char*>&data)[:sizeof(data)], memory.size)


cdef int import_memory(
    const MemoryPoolHandle& h_pool, IPCAllocationHandle handle, GrantAccess grant_access,
    IPCBufferDescriptor descriptor, const StreamHandle& h_stream, AllocationHandle* h_allocation
) except -1:
    cdef Allocation value
    cdef Mapping mapping
    cdef Keep keep
    if len(descriptor._payload) != sizeof(cydriver.CUmemPoolPtrExportData):
        raise ValueError(
            f"ipc_descriptor must have a payload of {sizeof(cydriver.CUmemPoolPtrExportData)} bytes, "
            f"not {len(descriptor._payload)}"
        )
    value.h_stream = h_stream
    fix_context(value)
    with _lock:
        mapping = _mappings.get((address(h_pool), descriptor._payload))
        if mapping is None:
            mapping = Mapping_create(h_pool, handle, grant_access, descriptor._payload, value)
            _mappings[mapping.key] = mapping
        mapping.users += 1
    value.pointer = mapping.pointer
    value.size = descriptor._size
    value.resource = <PyObject*>mapping
    keep = Keep.of_object(<PyObject*>mapping)
    h_allocation[0] = AllocationHandle.own(move(value), &leave_mapping, move(keep))
    if 0 < mapping.size < descriptor._size:
        h_allocation.reset()
        raise ValueError(f"ipc_descriptor is for {descriptor._size} bytes, but the memory has {mapping.size}")
    return 0


cdef Mapping Mapping_create(
    const MemoryPoolHandle& h_pool,
    IPCAllocationHandle handle,
    GrantAccess grant_access,
    bytes payload,
    Allocation value,
):
    cdef Mapping self = Mapping.__new__(Mapping)
    cdef IPCAllocationHandle mine
    cdef PointerImport importing
    cdef Handle[PointerImport] h_import
    memcpy(&importing.data, <char*>payload, sizeof(importing.data))
    importing.value = value
    self.key = (address(h_pool), payload)
    self.h_pool = h_pool
    # Works around a defect of drivers of CUDA 13.0: importing memory into a pool whose access was set before corrupts
    # pools that are created later. So each allocation has an imported pool of its own, whose access is set last.
    if grant_access == NULL:
        self.h_source = h_pool
    else:
        mine = IPCAllocationHandle_copy(handle)
        self.h_source = MemPool_import(mine._descriptor, mine)
    importing.h_source = self.h_source
    h_import = Handle[PointerImport].own(importing, &end_import, Keep())
    with nogil:
        HANDLE_RETURN(
            <cydriver.CUresult>call_interruptibly(&import_pointer, &h_import.value(), h_import.keep()),
            b"cuMemPoolImportPointer",
        )
    self.pointer = h_import.value().value.pointer
    (&h_import.value()).value.pointer = 0
    if grant_access != NULL:
        try:
            grant_access(self.h_source.get())
        except BaseException:
            value.pointer = self.pointer
            with nogil:
                free_in_stream_order(value)
            raise
    # After access was granted, because the driver reports the size only to devices with access.
    self.size = size_from(self.pointer)
    return self


# Argument and result of cuMemPoolImportPointer on another thread. If a signal handler abandons that call, the memory
# is freed with this struct.
cdef cppclass PointerImport:
    MemoryPoolHandle h_source
    cydriver.CUmemPoolPtrExportData data
    Allocation value


cdef int import_pointer(void* what) noexcept nogil:
    cdef PointerImport* importing = <PointerImport*>what
    return <int>cydriver.cuMemPoolImportPointer(
        &importing.value.pointer, importing.h_source.get(), &importing.data
    )


cdef void end_import(PointerImport importing) noexcept nogil:
    if importing.value.pointer != 0:
        free_in_stream_order(importing.value)


# The bytes from an address to the end of its allocation; 0 if the driver does not report it.
cdef size_t size_from(cydriver.CUdeviceptr pointer) except? 0:
    cdef cydriver.CUdeviceptr start = 0
    cdef size_t size = 0
    cdef cydriver.CUresult err = cydriver.cuMemGetAddressRange(&start, &size, pointer)
    if err != cydriver.CUresult.CUDA_SUCCESS or not start <= pointer < start + size:
        return 0
    return start + size - pointer


cdef void leave_mapping(Allocation value) noexcept nogil:
    call_with_interpreter(&Mapping_leave, value)


cdef void Mapping_leave(Allocation& value) noexcept:
    cdef Mapping self = <Mapping>value.resource
    with _lock:
        self.users -= 1
        if self.users == 0:
            del _mappings[self.key]
            # With the lock held, before another thread can import the same memory again.
            with nogil:
                free_in_stream_order(value)


make_hasattr_safe(IPCAllocationHandle)
make_hasattr_safe(IPCBufferDescriptor)

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory pools shared between processes: the base of device and pinned memory resources."""

from __future__ import annotations

from cuda.core._handles._handles cimport AllocationHandle, KeptAllocation, KeptMemoryPool, KeptStream
from cuda.core._memory._buffer cimport Buffer
from cuda.core._memory._ipc cimport (
    IPCAllocationHandle,
    IPCAllocationHandle_copy,
    IPCBufferDescriptor,
    export_memory,
    export_pool,
    import_memory,
)
from cuda.core._memory._memory_pool cimport MemPool_check_open, MemPool_keep, MemPool_open, _MemPool
from cuda.core._memory.pools._driver_pools cimport MemPool_import
from cuda.core._memory.ranges._memory_range cimport MemoryRange_keep
from cuda.core._stream cimport Stream, Stream_keep
from cuda.core._utils._cpython cimport make_hasattr_safe

import os
import sys
import threading
import weakref

from cuda.core._utils.importing.deferred import Deferred
from cuda.core._utils.sharing import register_reducer
from cuda.core._utils.validators import shown

__all__ = ["check_platform"]

_helpers = Deferred("cuda.core._utils.helpers")


cdef class _IPCMemPool(_MemPool):
    """Base of resources over a pool that can be shared between processes.

    The process that creates the pool exports it. Other processes import it, through the file descriptor in its
    :attr:`allocation_handle`, and then open single buffers of it.
    """

    def __reduce__(self):
        if self.uuid is None:
            raise RuntimeError(f"a {type(self).__name__} cannot be pickled: its pool belongs to this process")
        _helpers.check_multiprocessing_start_method()
        return _find_resource, (type(self), self.uuid)

    def register(self, uuid: uuid.UUID) -> _IPCMemPool:
        """Register this resource, so that :meth:`from_registry` and unpickling find it as long as it exists.

        Parameters
        ----------
        uuid : uuid.UUID
            The :attr:`uuid` of the resource in the exporting process.

        Returns
        -------
        :class:`MemoryResource`
            The resource that is registered for this UUID: an earlier one if it is open, otherwise this one.

        Raises
        ------
        TypeError
            If ``uuid`` is not a UUID.
        ValueError
            If this pool has another UUID.
        RuntimeError
            If the pool is not shared between processes, or the resource is closed.
        """
        return IPCMemPool_register(self, uuid)

    @classmethod
    def from_registry(cls, uuid: uuid.UUID) -> _IPCMemPool:
        """Return the resource that is registered for a UUID.

        Parameters
        ----------
        uuid : uuid.UUID
            The UUID that :meth:`register` was called with.

        Returns
        -------
        :class:`MemoryResource`
            The registered resource.

        Raises
        ------
        RuntimeError
            If no open resource is registered for ``uuid``.
        TypeError
            If the resource has another class.
        """
        resource = registered(cls, uuid)
        if resource is None:
            raise RuntimeError(f"no memory resource is registered for {shown(uuid)}; import its pool first")
        return resource

    def close(self) -> None:
        """Drop the reference to the pool. A pool that this resource created is destroyed after its last allocation is
        freed (``cuMemPoolDestroy``).
        """
        self._allocation_handle = None
        _MemPool.close(self)

    @property
    def allocation_handle(self) -> IPCAllocationHandle:
        """The handle from which other processes import the pool; its file descriptor belongs to the resource.

        Raises
        ------
        RuntimeError
            If the pool is not shared between processes, or the resource is closed.
        """
        return IPCMemPool_shared(self)

    @property
    def is_ipc_enabled(self) -> bool:
        """Whether other processes can open the memory; False when closed."""
        return self._allocation_handle is not None

    @property
    def uuid(self) -> uuid.UUID | None:
        """The UUID of a shared pool, the same in all processes; None for other pools."""
        cdef IPCAllocationHandle handle = self._allocation_handle
        return None if handle is None else handle._uuid

    cdef bint _is_shared(self) noexcept:
        return self._allocation_handle is not None

    cdef object _export(self, object buffer):
        cdef Buffer exported = <Buffer?>buffer
        cdef IPCBufferDescriptor descriptor
        cdef KeptAllocation memory
        cdef IPCAllocationHandle handle = IPCMemPool_shared(self)
        MemoryRange_keep(exported, &memory)
        descriptor = export_memory(memory.value(), self.device_id)
        if not self._is_mapped:
            _exports[handle._uuid, descriptor._payload] = exported
        return descriptor

    cdef bint _import(self, object descriptor, Stream stream, AllocationHandle* h_allocation) except -1:
        cdef IPCBufferDescriptor imported
        cdef KeptMemoryPool pool
        cdef KeptStream kept_stream
        cdef IPCAllocationHandle handle = IPCMemPool_shared(self)
        MemPool_keep(self, &pool)
        Stream_keep(stream, &kept_stream)
        if not isinstance(descriptor, IPCBufferDescriptor):
            raise TypeError(f"ipc_descriptor must be an IPCBufferDescriptor, not {type(descriptor).__name__}")
        imported = descriptor
        if self._is_mapped:
            import_memory(pool.handle(), handle, self._grant_access, imported, kept_stream.handle(), h_allocation)
        else:
            find_export(handle._uuid, imported, h_allocation)
        return self._is_mapped


# The resources over imported pools and over exported pools of this process, by UUID.
_imported = weakref.WeakValueDictionary()
_exported = weakref.WeakValueDictionary()
_lock = threading.RLock()

# The exported buffers of this process: opening one here gives the same memory, because the driver cannot import it.
_exports = weakref.WeakValueDictionary()

# The classes whose reducer is registered with multiprocessing.
_reducible = set()


def check_platform() -> None:
    """Raise RuntimeError on platforms where pools cannot be exported as file descriptors."""
    if sys.platform != "linux":
        raise RuntimeError("ipc_enabled=True is supported on Linux only: memory is shared through file descriptors")


cdef int IPCMemPool_share(_IPCMemPool self) except -1:
    cdef KeptMemoryPool pool
    MemPool_keep(self, &pool)
    IPCMemPool_set_handle(self, export_pool(pool.handle()))
    with _lock:
        _exported[self.uuid] = self
    return 0


cdef object IPCMemPool_registered(type cls, object alloc_handle):
    if isinstance(alloc_handle, IPCAllocationHandle) and alloc_handle.uuid is not None:
        return registered(cls, alloc_handle.uuid)
    return None


cdef object IPCMemPool_open(_IPCMemPool self, object alloc_handle):
    cdef IPCAllocationHandle mine
    if not isinstance(alloc_handle, IPCAllocationHandle) and (
        isinstance(alloc_handle, bool) or not isinstance(alloc_handle, int)
    ):
        raise TypeError(f"alloc_handle must be an IPCAllocationHandle or an int, not {type(alloc_handle).__name__}")
    if int(alloc_handle) < 0:
        raise ValueError(f"alloc_handle must be a file descriptor, at least 0, not {shown(alloc_handle)}")
    # Duplicate the caller's descriptor, so that this resource can pass it on to further processes.
    mine = IPCAllocationHandle_copy(alloc_handle)
    MemPool_open(self, MemPool_import(mine._descriptor, mine))
    self._is_mapped = True
    IPCMemPool_set_handle(self, mine)
    return self if mine._uuid is None else IPCMemPool_register(self, mine._uuid)


cdef int IPCMemPool_set_handle(_IPCMemPool self, IPCAllocationHandle handle) except -1:
    os.set_inheritable(handle._descriptor, False)
    self._allocation_handle = handle
    if type(self) not in _reducible:
        register_reducer(type(self), _reduce_resource)
        _reducible.add(type(self))
    return 0


cdef IPCAllocationHandle IPCMemPool_shared(_IPCMemPool self):
    cdef IPCAllocationHandle handle = self._allocation_handle
    MemPool_check_open(self)
    if handle is None:
        raise RuntimeError(f"this {type(self).__name__} is not shared between processes; set ipc_enabled=True")
    return handle


cdef object IPCMemPool_register(_IPCMemPool self, object uuid):
    cdef IPCAllocationHandle handle = IPCMemPool_shared(self)
    if not is_uuid(uuid):
        raise TypeError(f"uuid must be a UUID, not {type(uuid).__name__}")
    with _lock:
        resource = _imported.get(uuid)
        if resource is not None and not resource.is_closed:
            return resource
        if handle._uuid is not None and handle._uuid != uuid:
            raise ValueError(f"uuid must be the UUID of this pool, {handle._uuid}, not {uuid}")
        handle._uuid = uuid
        _imported[uuid] = self
    return self


cdef object registered(type cls, object uuid):
    # The argument may be unhashable.
    if not is_uuid(uuid):
        return None
    with _lock:
        return checked(cls, _imported.get(uuid))


cdef object checked(type cls, object resource):
    if resource is None or resource.is_closed:
        return None
    if not isinstance(resource, cls):
        raise TypeError(f"the registered resource is a {type(resource).__name__}, not a {cls.__name__}")
    return resource


def _find_resource(cls, uuid):
    # The resource may have come back to the process that exported it.
    with _lock:
        resource = checked(cls, _imported.get(uuid)) or checked(cls, _exported.get(uuid))
    return resource or cls.from_registry(uuid)


def _reduce_resource(resource):
    if resource.uuid is None and not resource.is_ipc_enabled:
        return resource.__reduce__()
    return _rebuild_resource, (type(resource), resource.device_id, resource.allocation_handle)


def _rebuild_resource(cls, device_id, allocation_handle):
    with _lock:
        resource = checked(cls, _exported.get(allocation_handle.uuid))
    if resource is not None:
        return resource
    # Resources of host memory have no device argument.
    device = () if device_id < 0 else (device_id,)
    return cls.from_allocation_handle(*device, allocation_handle)


cdef int find_export(object uuid, IPCBufferDescriptor descriptor, AllocationHandle* h_allocation) except -1:
    cdef Buffer buffer = _exports.get((uuid, descriptor._payload))
    cdef KeptAllocation memory
    if buffer is None or not memory.hold(buffer._h_allocation):
        raise RuntimeError("ipc_descriptor is of memory that this process has freed or never exported")
    if descriptor._size > memory.value().size:
        raise ValueError(f"ipc_descriptor is for {descriptor._size} bytes, but the memory has {memory.value().size}")
    h_allocation[0] = memory.handle()
    return 0


cdef bint is_uuid(value):
    import uuid  # slow to import, and only needed for sharing

    return isinstance(value, uuid.UUID)


make_hasattr_safe(_IPCMemPool)

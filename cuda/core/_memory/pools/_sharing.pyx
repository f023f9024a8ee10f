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
from cuda.core._memory._memory_pool cimport (
    MemPool_check_open,
    MemPool_import,
    MemPool_keep,
    MemPool_open,
    _MemPool,
)
from cuda.core._memory.ranges._memory_range cimport MemoryRange_keep
from cuda.core._stream cimport Stream, Stream_keep
from cuda.core._utils._cpython cimport answer_hasattr

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
    """A resource over a pool that may be shared between processes.

    The process that makes the pool is its exporter. Others import it, by the file descriptor in its
    :attr:`allocation_handle`, and then open single buffers of it.
    """

    def __reduce__(self):
        if self.uuid is None:
            raise RuntimeError(f"a {type(self).__name__} cannot be pickled: its pool belongs to this process")
        _helpers.check_multiprocessing_start_method()
        return _find_resource, (type(self), self.uuid)

    def register(self, uuid: uuid.UUID) -> _IPCMemPool:
        """Let :meth:`from_registry`, and unpickling, find this resource as long as it lives.

        Parameters
        ----------
        uuid : uuid.UUID
            What identifies the pool; the :attr:`uuid` of its exporter.

        Returns
        -------
        :class:`MemoryResource`
            The resource that was registered before, if there is one, else this one.

        Raises
        ------
        TypeError
            If ``uuid`` is no UUID.
        ValueError
            If this pool is known by another UUID.
        RuntimeError
            If the pool is not shared between processes, or the resource is closed.
        """
        return IPCMemPool_register(self, uuid)

    @classmethod
    def from_registry(cls, uuid: uuid.UUID) -> _IPCMemPool:
        """Return the resource that :meth:`register` was given this UUID for.

        Raises
        ------
        RuntimeError
            If there is none, or it is closed.
        TypeError
            If it is of another class.
        """
        resource = registered(cls, uuid)
        if resource is None:
            raise RuntimeError(f"no memory resource is registered for {shown(uuid)}; import its pool first")
        return resource

    def close(self) -> None:
        """Drop the reference to the pool; a pool of its own is destroyed after its last allocation."""
        self._allocation_handle = None
        _MemPool.close(self)

    @property
    def allocation_handle(self) -> IPCAllocationHandle:
        """The file descriptor by which other processes import the pool; it belongs to the resource.

        Raises
        ------
        RuntimeError
            If the pool is not shared between processes, or the resource is closed.
        """
        return IPCMemPool_shared(self)

    @property
    def is_ipc_enabled(self) -> bool:
        """Whether other processes may open the memory; False when closed."""
        return self._allocation_handle is not None

    @property
    def uuid(self) -> uuid.UUID | None:
        """The identity of a shared pool, the same in all processes."""
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
            import_memory(pool.handle(), handle, self._let_in, imported, kept_stream.handle(), h_allocation)
        else:
            find_export(handle._uuid, imported, h_allocation)
        return self._is_mapped


# Imported pools, and those of this process that others may open, by their UUIDs.
_imported = weakref.WeakValueDictionary()
_exported = weakref.WeakValueDictionary()
_lock = threading.RLock()

# The buffers of this process that others may open, so that one that comes back is the same memory.
_exports = weakref.WeakValueDictionary()

# The classes whose objects multiprocessing knows how to send.
_travelling = set()


def check_platform() -> None:
    """Refuse sharing where pools have no file descriptors."""
    if sys.platform != "linux":
        raise RuntimeError("ipc_enabled=True needs Linux: memory is shared by file descriptors")


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
    # The caller keeps its own descriptor; this one is for exporting the pool further.
    mine = IPCAllocationHandle_copy(alloc_handle)
    MemPool_open(self, MemPool_import(mine._descriptor, mine))
    self._is_mapped = True
    IPCMemPool_set_handle(self, mine)
    return self if mine._uuid is None else IPCMemPool_register(self, mine._uuid)


cdef int IPCMemPool_set_handle(_IPCMemPool self, IPCAllocationHandle handle) except -1:
    os.set_inheritable(handle._descriptor, False)
    self._allocation_handle = handle
    if type(self) not in _travelling:
        register_reducer(type(self), _reduce_resource)
        _travelling.add(type(self))
    return 0


cdef IPCAllocationHandle IPCMemPool_shared(_IPCMemPool self):
    cdef IPCAllocationHandle handle = self._allocation_handle
    MemPool_check_open(self)
    if handle is None:
        raise RuntimeError(f"memory of this {type(self).__name__} is not shared between processes; see ipc_enabled")
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
            raise ValueError(f"this pool is known as {handle._uuid}, and cannot be registered as {uuid}")
        handle._uuid = uuid
        _imported[uuid] = self
    return self


cdef object registered(type cls, object uuid):
    # What is no UUID, and may not be hashed, is registered for nothing.
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
    # Also the exporter itself, whose resource may come back.
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
    # Host memory is on no device.
    place = () if device_id < 0 else (device_id,)
    return cls.from_allocation_handle(*place, allocation_handle)


cdef int find_export(object uuid, IPCBufferDescriptor descriptor, AllocationHandle* h_allocation) except -1:
    cdef Buffer buffer = _exports.get((uuid, descriptor._payload))
    cdef KeptAllocation memory
    if buffer is None or not memory.hold(buffer._h_allocation):
        raise RuntimeError("the descriptor is of memory that this process has freed, or never shared")
    if descriptor._size > memory.value().size:
        raise ValueError(f"the descriptor claims {descriptor._size} bytes, but the memory has {memory.value().size}")
    h_allocation[0] = memory.handle()
    return 0


cdef bint is_uuid(value):
    import uuid  # for those who share only

    return isinstance(value, uuid.UUID)


answer_hasattr(_IPCMemPool)

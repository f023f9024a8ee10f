# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""IPC: sharing memory pools and buffers between processes."""

from __future__ import annotations

cimport cython
from libc.limits cimport INT_MAX
from libc.string cimport memcpy, memset
from libcpp.utility cimport move

from cpython.exc cimport PyErr_SetFromErrno
from cpython.object cimport PyObject

from cuda.core._context cimport Context_current, Context_enter, Context_leave, Context_primary
from cuda.core._memory._buffer cimport Buffer, Buffer_pin
from cuda.core._memory._memory_pool cimport (
    MemPool_check_open,
    MemPool_grant_imported,
    MemPool_import,
    MemPool_pin,
    MemPool_open,
    _MemPool,
)
from cuda.core._memory._memory_resource cimport fix_context, free_in_stream_order, size_argument
from cuda.core._native._cuda_core cimport (
    Allocation,
    AllocationHandle,
    ContextHandle,
    Handle,
    Anchor,
    AllocationPin,
    MemoryPoolPin,
    StreamPin,
    MemoryPoolHandle,
    StreamHandle,
    address,
)
from cuda.core._native._device_wait cimport call_interruptibly
from cuda.core._stream cimport Stream, Stream_pin
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport call_with_interpreter, check_self_in_methods
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, LEAVE_RETURN

import os
import sys
import weakref

from cuda.core._utils.cuda_utils import UnavailableError
from cuda.core._utils.helpers import check_multiprocessing_start_method
from cuda.core._utils.ipc import keep_for_child, picklable_descriptor, received_descriptor, register_reducer
from cuda.core._utils.locks import RLock
from cuda.core._utils.validators import list_argument, shown

__all__ = [
    "IPCAllocationHandle",
    "IPCBufferDescriptor",
    "VirtualMemoryFabricBufferDescriptor",
    "VirtualMemoryIPCBufferDescriptor",
    "check_platform",
    "find_registered",
]


cdef extern from "unistd.h" nogil:
    int close(int descriptor)

cdef extern from "fcntl.h" nogil:
    int F_DUPFD_CLOEXEC
    int fcntl(int descriptor, int command, int argument)


cdef class IPCAllocationHandle:
    """A file descriptor from which another process imports a memory pool or virtual memory.

    It comes from the ``allocation_handle`` of a resource, or the descriptor of a buffer. Send it with
    ``multiprocessing``, or send its file descriptor through a Unix socket; it cannot be pickled otherwise.
    """

    cdef:
        int _descriptor     # -1 when closed
        object _uuid

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
        """Close the file descriptor. Closing a closed handle has no effect."""
        IPCAllocationHandle_close(self)

    @property
    def handle(self) -> int:
        """The file descriptor, or -1 if closed."""
        return self._descriptor

    @property
    def uuid(self) -> uuid.UUID | None:
        """The UUID of the pool, the same in all processes."""
        return self._uuid

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._descriptor < 0


# A function, because cloudpickle cannot pickle a class method of an extension class.
def rebuild_buffer_descriptor(payload: bytes, size: int) -> IPCBufferDescriptor:
    """Create a descriptor from its pickled fields."""
    return IPCBufferDescriptor._init(payload, size)


cdef class IPCBufferDescriptor:
    """The descriptor from which another process opens a :class:`~cuda.core.Buffer` of an imported pool.

    It comes from :attr:`Buffer.ipc_descriptor` and can be pickled.
    """

    cdef:
        bytes _payload
        size_t _size

    def __init__(self, *args, **kwargs):
        raise RuntimeError("IPCBufferDescriptor cannot be constructed directly; use Buffer.ipc_descriptor")

    def __repr__(self):
        return f"<IPCBufferDescriptor of {self._size} bytes>"

    def __reduce__(self):
        return rebuild_buffer_descriptor, (self._payload, self._size)

    @classmethod
    def _init(cls, reserved: bytes, size: int) -> IPCBufferDescriptor:
        """Create a descriptor from the payload of another one, when it is unpickled."""
        cdef IPCBufferDescriptor self = IPCBufferDescriptor.__new__(IPCBufferDescriptor)
        self._payload = reserved
        self._size = size_argument(size)
        return self

    @property
    def size(self) -> int:
        """The size of the buffer in bytes."""
        return self._size


cdef class _IPCMemPool(_MemPool):
    """Base of resources over a pool that can be shared between processes.

    The process that creates the pool exports it. Other processes import it, through the file descriptor in its
    :attr:`allocation_handle`, and then open single buffers of it.
    """

    cdef:
        IPCAllocationHandle _allocation_handle  # None if the pool is not shared
        bint _grants_access     # imported memory is host memory, which devices cannot access until that is granted

    def __reduce__(self):
        if self.uuid is None:
            raise RuntimeError(f"a {type(self).__name__} cannot be pickled: its pool belongs to this process")
        check_multiprocessing_start_method()
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

    def _share(self) -> None:
        """Export the pool, which was created with a handle type that allows it."""
        cdef MemoryPoolPin pool
        MemPool_pin(self, &pool)
        IPCMemPool_set_handle(self, export_pool(pool.handle()))
        with _lock:
            _exported[self.uuid] = self

    def _open_shared(self, alloc_handle, grant_devices: bool = False) -> _IPCMemPool:
        """Import the pool of another process, and register it.

        Returns this resource, or the one registered before. With ``grant_devices``, imported memory is made accessible
        to all devices.
        """
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
        self._grants_access = grant_devices
        IPCMemPool_set_handle(self, mine)
        return self if mine._uuid is None else IPCMemPool_register(self, mine._uuid)

    def _check_open(self) -> None:
        MemPool_check_open(self)

    @property
    def allocation_handle(self) -> IPCAllocationHandle:
        """The handle that other processes import the pool from. The resource owns its file descriptor.

        Raises
        ------
        RuntimeError
            If the pool is not shared between processes, or the resource is closed.
        """
        return IPCMemPool_shared(self)

    @property
    def is_ipc_enabled(self) -> bool:
        """Whether other processes can open the memory. False if closed."""
        return self._allocation_handle is not None

    @property
    def uuid(self) -> uuid.UUID | None:
        """The UUID of a shared pool, the same in all processes, or None for other pools."""
        cdef IPCAllocationHandle handle = self._allocation_handle
        return None if handle is None else handle._uuid

    cdef bint _is_shared(self) noexcept:
        return self._allocation_handle is not None

    cdef object _export(self, object buffer):
        cdef Buffer exported = <Buffer?>buffer
        cdef IPCBufferDescriptor descriptor
        cdef AllocationPin memory
        cdef IPCAllocationHandle handle = IPCMemPool_shared(self)
        Buffer_pin(exported, &memory)
        descriptor = export_memory(memory.value(), self.device_id)
        if not self._is_mapped:
            _exports[handle._uuid, descriptor._payload] = exported
        return descriptor

    cdef bint _import(self, object descriptor, Stream stream, AllocationHandle* h_allocation) except -1:
        cdef IPCBufferDescriptor imported
        cdef MemoryPoolPin pool
        cdef StreamPin stream_pin
        cdef IPCAllocationHandle handle = IPCMemPool_shared(self)
        MemPool_pin(self, &pool)
        Stream_pin(stream, &stream_pin)
        if not isinstance(descriptor, IPCBufferDescriptor):
            raise TypeError(f"ipc_descriptor must be an IPCBufferDescriptor, not {type(descriptor).__name__}")
        imported = descriptor
        if self._is_mapped:
            import_memory(pool.handle(), handle, self._grants_access, imported, stream_pin.handle(), h_allocation)
        else:
            find_export(handle._uuid, imported, h_allocation)
        return self._is_mapped


def check_platform() -> None:
    """Raise RuntimeError on platforms where pools cannot be exported as file descriptors."""
    if sys.platform != "linux":
        raise RuntimeError("ipc_enabled=True is supported on Linux only: memory is shared through file descriptors")


def find_registered(cls: type, alloc_handle):
    """Return the resource that is registered under the UUID of an allocation handle, or None."""
    if isinstance(alloc_handle, IPCAllocationHandle) and alloc_handle.uuid is not None:
        return registered(cls, alloc_handle.uuid)
    return None


# The mapped memory of other processes, by pool and payload.
cdef dict _mappings = {}

# The resources over imported pools and over exported pools of this process, by UUID.
_imported = weakref.WeakValueDictionary()
_exported = weakref.WeakValueDictionary()

# The exported buffers of this process. Opening one here returns the same memory, because the driver cannot import it.
_exports = weakref.WeakValueDictionary()

# The classes whose reducer is registered with multiprocessing.
_reducible = set()

# Reentrant, because a garbage collection while it is held might release a buffer of another mapping.
_lock = RLock()


# --- Allocation handles ------------------------------------------------------------------------------

# Creates a handle that owns a file descriptor.
cdef IPCAllocationHandle IPCAllocationHandle_create(int descriptor, object uuid):
    cdef IPCAllocationHandle self = IPCAllocationHandle.__new__(IPCAllocationHandle)
    self._descriptor = descriptor
    self._uuid = uuid
    # Python code, which an exception can interrupt, only runs when the descriptor has its owner.
    register_reducer(IPCAllocationHandle, _reduce_allocation_handle)
    return self


# Creates a handle with a duplicate of the file descriptor of another handle, or of an open file descriptor.
cdef IPCAllocationHandle IPCAllocationHandle_copy(object handle):
    cdef int descriptor
    cdef int mine
    cdef object uuid = getattr(handle, "uuid", None)
    # Until it is duplicated, no other thread can close the descriptor and open another file under its number.
    with cython.critical_section(handle):
        number = int(handle)
        if number > INT_MAX:
            raise OverflowError(f"a file descriptor must be from 0 to {INT_MAX}, not {shown(number)}")
        descriptor = number
        mine = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    if mine < 0:
        PyErr_SetFromErrno(OSError)
    return IPCAllocationHandle_create(mine, uuid)


cdef void IPCAllocationHandle_close(IPCAllocationHandle self) noexcept:
    cdef int descriptor
    with cython.critical_section(self):
        descriptor, self._descriptor = self._descriptor, -1
    if descriptor >= 0:
        close(descriptor)


def _reduce_allocation_handle(handle):
    check_multiprocessing_start_method()
    carried = picklable_descriptor(int(handle))
    keep_for_child(handle)
    return _rebuild_allocation_handle, (carried, handle.uuid)


def _rebuild_allocation_handle(carried, uuid):
    descriptor = received_descriptor(carried)
    return IPCAllocationHandle_create(descriptor, uuid)


cdef int descriptor_argument(object handle) except -1:
    if isinstance(handle, bool) or not isinstance(handle, int):
        raise TypeError(f"handle must be an int, a file descriptor, not {type(handle).__name__}")
    if handle < 0:
        raise ValueError(f"handle must be a file descriptor, at least 0, not {handle}")
    if handle > INT_MAX:
        raise OverflowError(f"a file descriptor must be from 0 to {INT_MAX}, not {shown(handle)}")
    return handle


# --- Resources over shared pools ---------------------------------------------------------------------

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
        raise UnavailableError(f"this {type(self).__name__} is not shared between processes; set ipc_enabled=True")
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
    # The argument might be unhashable.
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
    # The resource might have come back to the process that exported it.
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


cdef bint is_uuid(value):
    import uuid  # slow to import, and only needed for sharing

    return isinstance(value, uuid.UUID)


# --- Exported virtual memory -------------------------------------------------------------------------

class _VirtualMemoryDescriptor:
    __slots__ = ("_size", "_sizes")
    handle_type = None

    def __init__(self, *args, **kwargs):
        raise RuntimeError(f"{type(self).__name__} cannot be constructed directly; use Buffer.ipc_descriptor")

    def __repr__(self):
        return f"<{type(self).__name__} of {self._size} bytes in {len(self._sizes)} allocations>"

    @property
    def sizes(self) -> tuple[int, ...]:
        """The size of each physical allocation in bytes, in address order."""
        return self._sizes

    @property
    def size(self) -> int:
        """The size of the buffer in bytes, at most the sum of ``sizes``."""
        return self._size

    def _set_sizes(self, count, sizes, size):
        self._sizes = tuple([size_argument(item) for item in list_argument("sizes", sizes, "an iterable of int")])
        if not count == len(self._sizes) > 0:
            raise ValueError(f"sizes must have one size for each of at least one handle, not {len(self._sizes)}")
        total = sum(self._sizes)
        self._size = total if size is None else size_argument(size)
        if not 0 < self._size <= total:
            raise ValueError(f"size must be from 1 to the sum of sizes, {total}, not {shown(size)}")
        return self


class VirtualMemoryIPCBufferDescriptor(_VirtualMemoryDescriptor):
    """The file descriptors from which another process maps a :class:`~cuda.core.VirtualMemoryBuffer`.

    It comes from :attr:`Buffer.ipc_descriptor`. Send it with ``multiprocessing``, or send its file descriptors through
    a Unix socket; it cannot be pickled otherwise. The memory exists as long as a descriptor of it, in any process.
    """

    __slots__ = ("_handles",)
    handle_type = "posix_fd"

    def __reduce__(self):
        return _rebuild_files, (self._handles, self._sizes, self._size)

    @classmethod
    def from_fds(cls, fds, sizes, *, size: int | None = None) -> VirtualMemoryIPCBufferDescriptor:
        """Create a descriptor from the ``fds`` and ``sizes`` of another one.

        Parameters
        ----------
        fds : iterable of int
            The file descriptors, as this process received them. They are duplicated.
        sizes : iterable of int
            The size of each physical allocation in bytes.
        size : int, optional
            The size of the buffer in bytes. Defaults to the sum of ``sizes``.

        Raises
        ------
        TypeError, OverflowError
            If an argument is not an int, or out of range.
        ValueError
            If the numbers of file descriptors and sizes differ, or are 0, or ``size`` exceeds the sum.
        OSError
            If a file descriptor is not open.
        """
        numbers = [descriptor_argument(item) for item in list_argument("fds", fds, "an iterable of int")]
        return _rebuild_files([IPCAllocationHandle_copy(item) for item in numbers], sizes, size)

    def close(self) -> None:
        """Close the file descriptors. Closing a closed descriptor has no effect."""
        for handle in self._handles:
            handle.close()

    def _copies(self):
        return [IPCAllocationHandle_copy(handle) for handle in self._handles]

    @property
    def handles(self) -> tuple[IPCAllocationHandle, ...]:
        """The file descriptor of each physical allocation, in address order. This object owns them."""
        return self._handles

    @property
    def fds(self) -> tuple[int, ...]:
        """The file descriptors as ints.

        Raises
        ------
        ValueError
            If this object is closed.
        """
        return tuple([int(handle) for handle in self._handles])


class VirtualMemoryFabricBufferDescriptor(_VirtualMemoryDescriptor):
    """The fabric handles from which a process of an NVLink domain maps a :class:`~cuda.core.VirtualMemoryBuffer`.

    It comes from :attr:`Buffer.ipc_descriptor` and can be pickled. It does not keep the memory alive, so the exporting
    process must keep its buffer open until all others have imported it.
    """

    __slots__ = ("_handles", "_owner_uuid")
    handle_type = "fabric"

    def __reduce__(self):
        return _rebuild_fabric, (self._handles, self._sizes, self._size, self._owner_uuid)

    @classmethod
    def from_handles(
        cls, handles, sizes, *, size: int | None = None, owner_uuid: str | None = None
    ) -> VirtualMemoryFabricBufferDescriptor:
        """Create a descriptor from the handles and sizes of another one.

        Parameters
        ----------
        handles : iterable of bytes
            The handle of each physical allocation, 64 bytes each.
        sizes : iterable of int
            The size of each physical allocation in bytes.
        size : int, optional
            The size of the buffer in bytes. Defaults to the sum of ``sizes``.
        owner_uuid : str, optional
            A name of the exporter, which the descriptor carries along.

        Raises
        ------
        TypeError, OverflowError
            If an argument has the wrong type, or is out of range.
        ValueError
            If a handle does not have 64 bytes, the numbers of handles and sizes differ, or are 0, or ``size`` exceeds
            the sum.
        """
        return _rebuild_fabric(handles, sizes, size, owner_uuid)

    def _copies(self):
        return self._handles


def _rebuild_files(handles, sizes, size):
    self = VirtualMemoryIPCBufferDescriptor.__new__(VirtualMemoryIPCBufferDescriptor)
    self._handles = tuple(handles)
    return self._set_sizes(len(self._handles), sizes, size)


def _rebuild_fabric(handles, sizes, size, owner_uuid):
    self = VirtualMemoryFabricBufferDescriptor.__new__(VirtualMemoryFabricBufferDescriptor)
    self._handles = tuple(list_argument("handles", handles, "an iterable of bytes"))
    for handle in self._handles:
        if not isinstance(handle, bytes):
            raise TypeError(f"handles must contain bytes, not {type(handle).__name__}")
        if len(handle) != sizeof(cydriver.CUmemFabricHandle):
            raise ValueError(f"handles must have {sizeof(cydriver.CUmemFabricHandle)} bytes each, not {len(handle)}")
    if not (owner_uuid is None or isinstance(owner_uuid, str)):
        raise TypeError(f"owner_uuid must be a str, not {type(owner_uuid).__name__}")
    self._owner_uuid = owner_uuid
    return self._set_sizes(len(self._handles), sizes, size)


def register_handles() -> None:
    """Let ``multiprocessing`` pickle file descriptors: its pickler must know them before it begins."""
    register_reducer(IPCAllocationHandle, _reduce_allocation_handle)


def export_virtual_memory(Buffer buffer, memory, bint is_fabric):
    """Return the descriptor of a buffer of virtual memory (``cuMemExportToShareableHandle``).

    Parameters
    ----------
    buffer : :class:`~cuda.core.Buffer`
        The buffer, which stays open meanwhile, even if another thread closes it.
    memory : VirtualMemory
        Its memory.
    is_fabric : bool
        Whether to export fabric handles instead of file descriptors.
    """
    cdef AllocationPin pin
    Buffer_pin(buffer, &pin)
    pieces = memory.pieces
    handles = [export_mapped(pointer, is_fabric) for pointer, _ in pieces]
    sizes = [size for _, size in pieces]
    return _rebuild_fabric(handles, sizes, None, None) if is_fabric else _rebuild_files(handles, sizes, None)


# Exports the physical memory that is mapped at an address.
cdef object export_mapped(cydriver.CUdeviceptr pointer, bint is_fabric):
    cdef cydriver.CUmemGenericAllocationHandle memory
    cdef cydriver.CUmemFabricHandle fabric
    cdef int descriptor = -1
    cdef cydriver.CUresult err
    cdef cydriver.CUresult release_err
    with nogil:
        HANDLE_RETURN(
            cydriver.cuMemRetainAllocationHandle(&memory, <void*>pointer), b"cuMemRetainAllocationHandle"
        )
        if is_fabric:
            err = cydriver.cuMemExportToShareableHandle(
                &fabric, memory, cydriver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_FABRIC, 0
            )
        else:
            err = cydriver.cuMemExportToShareableHandle(
                &descriptor, memory, cydriver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0
            )
        release_err = cydriver.cuMemRelease(memory)
    HANDLE_RETURN(err, b"cuMemExportToShareableHandle")
    if is_fabric:
        exported = (<char*>&fabric)[:sizeof(fabric)]
    else:
        exported = IPCAllocationHandle_create(descriptor, None)
    HANDLE_RETURN(release_err, b"cuMemRelease")
    return exported


# --- Exported and imported memory of pools ---------------------------------------------------------------------------

# Exports a pool, so that another process can import it.
cdef IPCAllocationHandle export_pool(const MemoryPoolHandle& h_pool):
    cdef MemoryPoolHandle h_shared = h_pool
    cdef int descriptor = -1
    import uuid

    identity = uuid.uuid4()
    with nogil:
        HANDLE_RETURN(
            cydriver.cuMemPoolExportToShareableHandle(
                &descriptor, h_shared.get(),
                cydriver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0,
            ),
            b"cuMemPoolExportToShareableHandle",
        )
    return IPCAllocationHandle_create(descriptor, identity)


# Exports memory of a shared pool, which the caller keeps alive.
cdef IPCBufferDescriptor export_memory(const Allocation& memory, int device_id):
    cdef cydriver.CUmemPoolPtrExportData data
    cdef ContextHandle h_context
    cdef int is_entered = 0
    cdef cydriver.CUresult err
    memset(&data, 0, sizeof(data))
    # Multiprocessing queues pickle on a separate thread, where no context is current.
    Context_current(&h_context)
    if not h_context:
        Context_primary(max(device_id, 0), &h_context)
    with nogil:
        is_entered = Context_enter(h_context.get())
        err = cydriver.cuMemPoolExportPointer(&data, memory.pointer)
        LEAVE_RETURN(err, b"cuMemPoolExportPointer", Context_leave(is_entered))
    return IPCBufferDescriptor._init((<char*>&data)[:sizeof(data)], memory.size)


cdef int find_export(object uuid, IPCBufferDescriptor descriptor, AllocationHandle* h_allocation) except -1:
    cdef Buffer buffer = _exports.get((uuid, descriptor._payload))
    cdef AllocationPin memory
    if buffer is None or not memory.hold(buffer._h_allocation):
        raise RuntimeError("ipc_descriptor is for memory that this process has freed or never exported")
    if descriptor._size > memory.value().size:
        raise ValueError(f"ipc_descriptor is for {descriptor._size} bytes, but the memory has {memory.value().size}")
    h_allocation[0] = memory.handle()
    return 0


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


# Opens memory of an imported pool. `handle` is the one the pool was imported from. All imports of the same memory share
# one mapping. `grants_access` is false for device memory, which its device can always access.
cdef int import_memory(
    const MemoryPoolHandle& h_pool, IPCAllocationHandle handle, bint grants_access,
    IPCBufferDescriptor descriptor, const StreamHandle& h_stream, AllocationHandle* h_allocation
) except -1:
    cdef Allocation value
    cdef Mapping mapping
    cdef Anchor anchor
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
            mapping = Mapping_create(h_pool, handle, grants_access, descriptor._payload, value)
            _mappings[mapping.key] = mapping
        mapping.users += 1
    value.pointer = mapping.pointer
    value.size = descriptor._size
    value.resource = <PyObject*>mapping
    anchor = Anchor.of_object(<PyObject*>mapping)
    h_allocation[0] = AllocationHandle.own(move(value), &leave_mapping, move(anchor))
    if 0 < mapping.size < descriptor._size:
        h_allocation.reset()
        raise ValueError(f"ipc_descriptor is for {descriptor._size} bytes, but the memory has {mapping.size}")
    return 0


cdef Mapping Mapping_create(
    const MemoryPoolHandle& h_pool,
    IPCAllocationHandle handle,
    bint grants_access,
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
    # Works around a defect of CUDA 13.0 drivers: importing memory into a pool whose access was already set corrupts
    # pools created later. So each allocation has its own imported pool, whose access is set last.
    if not grants_access:
        self.h_source = h_pool
    else:
        mine = IPCAllocationHandle_copy(handle)
        self.h_source = MemPool_import(mine._descriptor, mine)
    importing.h_source = self.h_source
    h_import = Handle[PointerImport].own(importing, &end_pointer_import, Anchor())
    with nogil:
        HANDLE_RETURN(
            <cydriver.CUresult>call_interruptibly(&import_pointer, &h_import.value(), h_import.anchor()),
            b"cuMemPoolImportPointer",
        )
    self.pointer = h_import.value().value.pointer
    (&h_import.value()).value.pointer = 0
    if grants_access:
        try:
            MemPool_grant_imported(self.h_source.get())
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


cdef void end_pointer_import(PointerImport importing) noexcept nogil:
    if importing.value.pointer != 0:
        free_in_stream_order(importing.value)


# The number of bytes from an address to the end of its allocation, or 0 if the driver does not report it.
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


check_self_in_methods(globals())

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Buffers, which are ranges of memory."""

from __future__ import annotations

from libc.stdint cimport intptr_t, uintptr_t

from cpython.buffer cimport PyBuffer_FillInfo
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from cuda.bindings cimport cydriver

from cuda.core._context cimport Context_require
from cuda.core._dlpack cimport DLPack_export_bytes, DLPack_negotiate
from cuda.core._handles._driver_object cimport DriverObject, add_member
from cuda.core._handles._handles cimport AllocationHandle, Keep, StreamHandle
from cuda.core._memory._allocation cimport adopt, borrow, set_stream, size_argument, stream_of
from cuda.core._memory._copy cimport copy, fill
from cuda.core._memory._memory_resource cimport MemoryResource
from cuda.core._memory._operand cimport copy_from_array, copy_to_array
from cuda.core._memory._pointer_info cimport pointer_info
from cuda.core._stream cimport Stream, Stream_accept, default_stream, is_default

import importlib

from cuda.core._dlpack import classify_dl_device

__all__ = ["Buffer", "MemoryResource"]

# This module is the home of both names.
globals()["MemoryResource"] = MemoryResource


cdef class Buffer(DriverObject):
    """A range of memory.

    Buffers come from :meth:`MemoryResource.allocate`, :meth:`Device.allocate` and :meth:`from_handle`;
    there is no direct construction. Dropping the last reference frees like :meth:`close`. As a context
    manager a buffer closes itself at the end of the block.

    Where the host can read the memory, ``memoryview(buffer)`` and ``numpy.asarray(buffer)`` show its
    bytes, without waiting for work that still writes to them.
    """

    made_by = "MemoryResource.allocate(), Device.allocate() or Buffer.from_handle()"

    def __dealloc__(self):
        Py_XDECREF(self._handle_object)
        Py_XDECREF(self._size_object)

    def __repr__(self):
        if not self._h_allocation:
            return f"<{type(self).__name__} closed>"
        mapped = ", mapped" if self.is_mapped else ""
        return f"<{type(self).__name__} {self.handle:#x}, {self.size} bytes{mapped}>"

    def __getbuffer__(self, Py_buffer* view, int flags):
        self._check_open()
        if not self.is_host_accessible:
            raise BufferError(
                "the host cannot read this Buffer: its memory is on a device; copy it to a buffer of "
                "LegacyPinnedMemoryResource first"
            )
        PyBuffer_FillInfo(
            view, self, <void*><uintptr_t>self._h_allocation.value().pointer, self._h_allocation.value().size, 0, flags
        )
        self._export_count += 1

    def __releasebuffer__(self, Py_buffer* view):
        self._export_count -= 1

    def __array__(self, dtype=None, copy=None):
        """Return the bytes as a NumPy array, where the host can read them; BufferError elsewhere."""
        numpy = importlib.import_module("numpy")
        array = numpy.asarray(memoryview(self), dtype=dtype)
        return array.copy() if copy else array

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """Export the memory with DLPack, as a vector of int8.

        The memory stays allocated as long as the consumer uses it, also when this buffer is closed.

        Parameters
        ----------
        stream : int, optional
            The consumer's stream. Nothing is ordered against it.
        max_version : tuple[int, int], optional
            The newest version of DLPack that the consumer understands.
        dl_device : tuple[int, int], optional
            None, or the device where the memory is.
        copy : bool, optional
            Must not be True.

        Raises
        ------
        BufferError
            If the memory would have to be copied or moved, or ``max_version`` is no pair.
        TypeError
            If ``max_version`` is no tuple.
        RuntimeError
            If the buffer is closed.
        """
        device = self.__dlpack_device__()
        versioned = DLPack_negotiate(max_version, dl_device, copy, device)
        return DLPack_export_bytes(
            self._h_allocation.value().pointer, self._h_allocation.value().size, device, self,
            self._h_allocation.keep(), versioned,
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return where the memory is, as ``(device_type, device_id)`` of DLPack."""
        self._check_open()
        return classify_dl_device(self)

    def __reduce__(self):
        self._check_open()
        try:
            return _rebuild_buffer, (type(self), self._memory_resource, self.ipc_descriptor)
        except RuntimeError as error:
            raise RuntimeError(f"a {type(self).__name__} cannot be pickled: {error}") from None

    @staticmethod
    def from_handle(ptr, size: int, mr: MemoryResource | None = None, owner=None, *, stream=None) -> Buffer:
        """Wrap an address.

        Parameters
        ----------
        ptr : int | driver.CUdeviceptr
            The address.
        size : int
            How many bytes are there.
        mr : :class:`MemoryResource`, optional
            Who owns the memory: ``mr.deallocate`` is called once, on close or collection. Without it
            nothing is freed.
        owner : object, optional
            What to keep alive until the buffer is closed; not together with ``mr``.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            The stream in whose order ``mr`` frees; the default stream if None. Only with ``mr``.

        Raises
        ------
        ValueError
            If ``mr`` is given with ``owner``, or ``stream`` without ``mr``.
        TypeError
            If ``ptr`` or ``size`` is no integer, or ``mr`` no memory resource.
        OverflowError
            If ``ptr`` or ``size`` is negative.
        RuntimeError
            If a free is to be ordered on the default stream and no context is current.
        """
        return Buffer_from_handle(Buffer, ptr, size, mr, owner, stream)

    @classmethod
    def from_ipc_descriptor(cls, mr: MemoryResource, ipc_descriptor: IPCBufferDescriptor, *, stream) -> Buffer:
        """Open a buffer of another process (``cuMemPoolImportPointer``).

        The other process must not free the memory before this one has. All imports of one buffer
        share one mapping, which ends in the order of the stream of the last one.

        Parameters
        ----------
        mr : :class:`DeviceMemoryResource` | :class:`PinnedMemoryResource`
            The pool of the buffer, imported from that process.
        ipc_descriptor : IPCBufferDescriptor
            The :attr:`ipc_descriptor` of the buffer there.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream in whose order the memory is given back.

        Raises
        ------
        TypeError
            If an argument is of another type.
        RuntimeError
            If the memory of ``mr`` is not shared between processes, or ``mr`` is closed.
        ValueError
            If the descriptor is too short, or claims more than there is.
        CUDAError
            If the driver does not find the memory in the pool.
        """
        if not isinstance(mr, MemoryResource):
            raise TypeError(f"mr must be a memory resource, not {type(mr).__name__}")
        return Buffer_import(cls, <MemoryResource>mr, ipc_descriptor, Stream_accept(stream))

    def close(self, stream=None) -> None:
        """Free the memory in stream order; calling this again does nothing.

        Memory that others still refer to (a DLPack consumer, a graph) is freed after them. A stream that
        is capturing cannot free memory allocated outside the capture: that shows as a ResourceWarning,
        and the memory is lost to the pool.

        Parameters
        ----------
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            The stream in whose order to free. If None, the recorded one: that of the allocation, or of
            the last :meth:`set_deallocation_stream`.

        Raises
        ------
        BufferError
            If a memoryview or a NumPy array still looks at the memory.
        TypeError
            If ``stream`` is no stream.
        """
        if not self._h_allocation:
            return
        if self._export_count != 0:
            raise BufferError(f"this Buffer cannot be closed: {self._export_count} memoryviews or arrays look at it")
        if stream is not None:
            Buffer_set_stream(self, Stream_accept(stream))
        self._release()

    def set_deallocation_stream(self, stream) -> None:
        """Record another stream in whose order the memory is freed.

        Nothing orders the old stream before the new one: that is up to the caller.

        Parameters
        ----------
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream. For ``PER_THREAD_DEFAULT_STREAM`` it is that of the thread that frees.

        Raises
        ------
        TypeError
            If ``stream`` is no stream.
        RuntimeError
            If the buffer is closed, or the stream is a default stream and no context is current.
        """
        self._check_open()
        Buffer_set_stream(self, Stream_accept(stream))

    def copy_to(self, dst=None, *, stream, options: CopyOptions | None = None):
        """Copy all bytes to other memory, in stream order (``cuMemcpyAsync``).

        Pageable host memory is written when the call returns, or by later work of the stream; all other
        memory by work of the stream only, and it has to stay until then.

        Parameters
        ----------
        dst : :class:`Buffer` | array, optional
            The destination, of the same size: a buffer, or an array with the buffer protocol (such as
            NumPy's), DLPack or the CUDA array interface, which gets the bytes in C order. If None, a
            buffer is allocated from this buffer's resource.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream.
        options : :class:`~cuda.core.utils.CopyOptions`, optional
            Hints for the driver (``cuMemcpyWithAttributesAsync``), honoured from CUDA 13.2 and ignored
            before.

        Returns
        -------
        :class:`Buffer` | array
            The destination.

        Raises
        ------
        ValueError
            If the sizes differ, source and destination overlap, there is neither a destination nor a
            resource, or options come with an array that is not contiguous.
        TypeError
            If ``dst`` is nothing to write to, ``stream`` no stream, ``options`` no CopyOptions, or the
            stream takes none: the legacy default stream, or one that is capturing.
        RuntimeError
            If one of the buffers is closed, or ``"during_api_call"`` is asked for before CUDA 13.2.
        """
        cdef Stream c_stream = Stream_accept(stream)
        cdef Buffer target
        self._check_open()
        if dst is None:
            if self._memory_resource is None:
                raise ValueError("dst is needed: this Buffer has no memory resource to allocate one from")
            target = Buffer_allocate(self._memory_resource, self._h_allocation.value().size, c_stream)
        elif isinstance(dst, Buffer):
            target = <Buffer>dst
        else:
            copy_to_array(dst, self._h_allocation, c_stream, options)
            return dst
        target._check_open()
        copy(target._h_allocation, self._h_allocation, c_stream, options)
        return target

    def copy_from(self, src, *, stream, options: CopyOptions | None = None) -> None:
        """Copy all bytes of other memory to this buffer, in stream order (``cuMemcpyAsync``).

        Pageable host memory has been read when the call returns; all other memory has to stay as it is
        until the stream is done with it.

        Parameters
        ----------
        src : :class:`Buffer` | array
            The source, of the same size: a buffer, or an array with the buffer protocol (such as
            NumPy's), DLPack or the CUDA array interface, whose bytes are taken in C order.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream.
        options : :class:`~cuda.core.utils.CopyOptions`, optional
            Hints for the driver (``cuMemcpyWithAttributesAsync``), honoured from CUDA 13.2 and ignored
            before.

        Raises
        ------
        ValueError
            If the sizes differ, source and destination overlap, or options come with an array that is
            not contiguous.
        TypeError
            If ``src`` is nothing to read from, ``stream`` no stream, ``options`` no CopyOptions, or the
            stream takes none: the legacy default stream, or one that is capturing.
        RuntimeError
            If one of the buffers is closed, or ``"during_api_call"`` is asked for before CUDA 13.2.
        """
        cdef Stream c_stream = Stream_accept(stream)
        self._check_open()
        if isinstance(src, Buffer):
            (<Buffer>src)._check_open()
            copy(self._h_allocation, (<Buffer>src)._h_allocation, c_stream, options)
        else:
            copy_from_array(self._h_allocation, src, c_stream, options)

    def fill(self, value, *, stream) -> None:
        """Fill with repetitions of a value, in stream order (``cuMemsetD8Async`` and its siblings).

        Patterns of 1, 2 or 4 bytes take one call of the driver; for wider ones the part that is filled
        doubles with each call.

        Parameters
        ----------
        value : int | object
            A byte from 0 to 255, or an object with the buffer protocol, such as ``np.float64(1.5)``.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream.

        Raises
        ------
        OverflowError
            If an int is out of range.
        ValueError
            If ``value`` has no bytes, or the buffer is no multiple of it.
        TypeError
            If ``value`` is of another kind, or ``stream`` no stream.
        RuntimeError
            If the buffer is closed.
        """
        cdef Stream c_stream = Stream_accept(stream)
        self._check_open()
        fill(self._h_allocation, value, c_stream)

    @classmethod
    def _init(cls, ptr, size, mr=None, ipc_descriptor=None, owner=None, *, stream=None):
        """Wrap an address, as :meth:`from_handle` does, in an object of ``cls``."""
        cdef Buffer self = Buffer_from_handle(cls, ptr, size, mr, owner, stream)
        self._ipc_descriptor = ipc_descriptor
        return self

    @property
    def handle(self) -> int:
        """The address; 0 when closed."""
        return self._h_allocation.value().pointer if self._h_allocation else 0

    @property
    def size(self) -> int:
        """The number of bytes; 0 when closed."""
        return self._h_allocation.value().size if self._h_allocation else 0

    @property
    def _size(self):
        return self.size

    @_size.setter
    def _size(self, value):
        # For resources that grow a buffer in place.
        self._check_open()
        (&self._h_allocation.value()).size = size_argument(value)
        Buffer_show(self)

    @property
    def _deallocation_stream(self):
        # For resources that move a buffer; None without one.
        self._check_open()
        return stream_of(self._h_allocation.value())

    @property
    def memory_resource(self) -> MemoryResource | None:
        """The resource that frees the memory; None for wrapped memory and when closed."""
        return self._memory_resource

    @property
    def owner(self):
        """The object that wrapped memory keeps alive, or None."""
        return self._owner

    @property
    def device_id(self) -> int:
        """The ordinal of the device where the memory is; -1 for plain host memory."""
        self._check_open()
        if self._memory_resource is not None:
            return self._memory_resource.device_id
        return pointer_info(self._h_allocation.value().pointer).device_id

    @property
    def is_device_accessible(self) -> bool:
        """Whether a device can access the memory."""
        self._check_open()
        if self._memory_resource is not None:
            return self._memory_resource.is_device_accessible
        return bool(pointer_info(self._h_allocation.value().pointer).is_device_accessible)

    @property
    def is_host_accessible(self) -> bool:
        """Whether the host can access the memory."""
        self._check_open()
        if self._memory_resource is not None:
            return self._memory_resource.is_host_accessible
        return bool(pointer_info(self._h_allocation.value().pointer).is_host_accessible)

    @property
    def is_managed(self) -> bool:
        """Whether the memory migrates between host and devices."""
        self._check_open()
        if self._memory_resource is not None and self._memory_resource.is_managed:
            return True
        return bool(pointer_info(self._h_allocation.value().pointer).is_managed)

    @property
    def is_mapped(self) -> bool:
        """Whether the memory was allocated by another process; False when closed."""
        return self._is_mapped

    @property
    def ipc_descriptor(self) -> IPCBufferDescriptor:
        """What another process needs to open this buffer (``cuMemPoolExportPointer``).

        Raises
        ------
        RuntimeError
            If the buffer is closed, or its memory is not shared between processes.
        """
        self._check_open()
        if self._ipc_descriptor is None:
            if self._memory_resource is None:
                raise RuntimeError("its memory was wrapped, and only that of a resource with ipc_enabled is shared")
            self._ipc_descriptor = (<MemoryResource>self._memory_resource)._export(self)
        return self._ipc_descriptor

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return not self._h_allocation

    cdef intptr_t _address(self) noexcept nogil:
        return <intptr_t>self._h_allocation.value().pointer if self._h_allocation else 0

    cdef void _release(self) noexcept:
        self._h_allocation.reset()
        Buffer_show(self)
        self._memory_resource = None
        self._owner = None
        self._ipc_descriptor = None
        self._is_mapped = False

    cdef object _identity(self):
        return (self.handle, self.size)

    cdef int _check_open(self) except -1:
        # An open buffer of no bytes has the address 0.
        if not self._h_allocation:
            raise RuntimeError(f"this {type(self).__name__} is closed")
        return 0


cdef Buffer Buffer_create(type cls, const AllocationHandle& h_allocation, object memory_resource, object owner):
    cdef Buffer self = Buffer.__new__(Buffer) if cls is Buffer else cls.__new__(cls)
    self._h_allocation = h_allocation
    Buffer_show(self)
    self._memory_resource = memory_resource
    self._owner = owner
    return self


cdef Buffer Buffer_allocate(MemoryResource mr, size_t size, Stream stream):
    buffer = mr._allocate(size, stream)
    if not isinstance(buffer, Buffer):
        raise TypeError(f"{type(mr).__name__}.allocate() must return a Buffer, not {type(buffer).__name__}")
    return <Buffer>buffer


# Both are asked for in loops, where a getter costs most: they are kept as objects.
cdef int Buffer_show(Buffer self) except -1:
    cdef bint is_open = <bint>self._h_allocation
    cdef object handle = self._h_allocation.value().pointer if is_open else 0
    cdef object size = self._h_allocation.value().size if is_open else 0
    Py_XDECREF(self._handle_object)
    self._handle_object = <PyObject*>handle
    Py_INCREF(handle)
    Py_XDECREF(self._size_object)
    self._size_object = <PyObject*>size
    Py_INCREF(size)
    return 0


cdef Buffer Buffer_from_handle(type cls, object ptr, object size, object mr, object owner, object stream):
    cdef AllocationHandle h_allocation
    cdef StreamHandle h_stream
    cdef cydriver.CUdeviceptr pointer = pointer_argument(ptr)
    cdef size_t c_size = size_argument(size)
    if mr is None:
        if stream is not None:
            raise ValueError("stream orders how mr frees the memory: it needs mr")
        borrow(pointer, c_size, Keep() if owner is None else Keep.of_object(<PyObject*>owner), &h_allocation)
    else:
        if owner is not None:
            raise ValueError("mr and owner exclude each other: memory is either freed or only kept")
        if not isinstance(mr, MemoryResource):
            raise TypeError(f"mr must be a MemoryResource or None, not {type(mr).__name__}")
        if stream is not None:
            h_stream = Stream_accept(stream)._h_stream
        adopt(pointer, c_size, mr, h_stream, needs_context(mr, h_stream), &h_allocation)
    return Buffer_create(cls, h_allocation, mr, owner)


cdef Buffer Buffer_import(type cls, MemoryResource mr, object descriptor, Stream stream):
    cdef AllocationHandle h_allocation
    cdef bint is_mapped = mr._import(descriptor, stream, &h_allocation)
    cdef Buffer self = Buffer_create(cls, h_allocation, mr, None)
    self._is_mapped = is_mapped
    # It opens the memory in further processes, too.
    self._ipc_descriptor = descriptor
    return self


def _rebuild_buffer(cls, mr, descriptor):
    # The sender could not know a stream of this process.
    Context_require(max(mr.device_id, 0))
    return cls.from_ipc_descriptor(mr, descriptor, stream=default_stream())


cdef int Buffer_set_stream(Buffer self, Stream stream) except -1:
    set_stream(self._h_allocation, stream._h_stream, needs_context(self._memory_resource, stream._h_stream))
    return 0


# Whether a free on this stream depends on the current context.
cdef inline bint needs_context(object mr, const StreamHandle& h_stream) except -1:
    return is_default(h_stream) and mr is not None and mr.is_device_accessible


cdef cydriver.CUdeviceptr pointer_argument(object ptr) except? 0:
    if not hasattr(ptr, "__int__") or isinstance(ptr, (str, bytes, float)):
        raise TypeError(f"ptr must be an int or a CUdeviceptr, not {type(ptr).__name__}")
    pointer = int(ptr)
    if not 0 <= pointer < 1 << 64:
        raise OverflowError(f"ptr must be an address, from 0 to 2**64 - 1, not {pointer}")
    return pointer


cdef int add_members() except -1:
    cdef Buffer sample = Buffer.__new__(Buffer)
    cdef char* start = <char*><void*>sample
    add_member(Buffer, "handle", <char*>&sample._handle_object - start)
    add_member(Buffer, "size", <char*>&sample._size_object - start)
    return 0


add_members()

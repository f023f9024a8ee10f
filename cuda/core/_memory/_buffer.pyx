# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Buffers: ranges of memory with a way to free them."""

from __future__ import annotations

cimport cython

from cuda.core._context cimport Context_require
from cuda.core._handles._driver_object cimport refuse_closed
from cuda.core._handles._handles cimport AllocationHandle, KeptAllocation, KeptStream
from cuda.core._memory._memory_resource cimport MemoryResource as CMemoryResource
from cuda.core._memory.copying._array_operand cimport CopyFromArray, CopyToArray
from cuda.core._memory.copying._copies cimport copy as copy_memory
from cuda.core._memory.copying._fills cimport fill_bytes
from cuda.core._memory.ranges._allocation cimport set_stream, wrap
from cuda.core._memory.ranges._memory_range cimport (
    MemoryRange,
    MemoryRange_cut,
    MemoryRange_keep,
    MemoryRange_refuse_while_exported,
    MemoryRange_update_members,
    check_writable,
    resource_of,
)
from cuda.core._stream cimport Stream, Stream_accept, Stream_keep, default_stream
from cuda.core._utils._cpython cimport answer_hasattr
from cuda.core._utils._weak_handles cimport WeakHandle
from cuda.core._utils._deferred_function cimport DeferredFunction

from collections.abc import Sequence

from cuda.core import typing as aliases
from cuda.core._handles import _late
from cuda.core._memory._memory_resource import MemoryResource
from cuda.core._utils.cuda_utils import CUDAError

__all__ = ["Buffer", "MemoryResource"]


cdef class Buffer(MemoryRange):
    """A range of memory.

    Buffers come from :meth:`MemoryResource.allocate`, :meth:`Device.allocate` and :meth:`from_handle`;
    there is no direct construction. Dropping the last reference frees like :meth:`close`. As a context
    manager a buffer closes itself at the end of the block.

    ``buffer[16:32]`` is a sub-buffer, by the rules of slices: a buffer on the same allocation, which keeps its
    parent alive and is closed with it. Closing a sub-buffer frees nothing, and does not close slices of it.

    Where the host can read the memory, ``memoryview(buffer)`` and ``numpy.asarray(buffer)`` give access to its
    bytes, without waiting for work that still writes to them.
    """

    _made_by = "MemoryResource.allocate(), Device.allocate() or Buffer.from_handle()"

    def __getitem__(self, key: slice) -> Buffer:
        cdef Buffer part = Buffer_new(type(self))
        MemoryRange_cut(self, key, part)
        return part

    def __reduce__(self):
        # Also when closed: a queue pickles on a thread of its own, later.
        try:
            if self._ipc_descriptor is None:
                Buffer_share(self)
            return _rebuild_buffer, (type(self), self._ipc_resource, self._ipc_descriptor)
        except RuntimeError as error:
            # Memory that was never exported is gone with its owner.
            advice = ": close it when it was received, or ask for its ipc_descriptor before"
            advice = "" if self._h_allocation else advice
            raise RuntimeError(f"a {type(self).__name__} cannot be pickled: {error}{advice}") from None

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
            The owner of the memory: ``mr.deallocate`` is called once, on close or garbage collection. Without it
            nothing is freed.
        owner : object, optional
            An object to keep alive until the buffer is closed; excludes ``mr``.
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

        The other process must not free the memory before this one does. All imports of one buffer
        share one mapping, which is freed on the stream of the last one.

        Parameters
        ----------
        mr : :class:`DeviceMemoryResource` | :class:`PinnedMemoryResource`
            The pool of the buffer, imported from that process.
        ipc_descriptor : IPCBufferDescriptor
            The :attr:`ipc_descriptor` of the buffer there.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream on which the memory is freed.

        Raises
        ------
        TypeError
            If an argument is of another type.
        RuntimeError
            If the memory of ``mr`` is not shared between processes, or ``mr`` is closed.
        ValueError
            If the descriptor is too short, or its size exceeds that of the allocation.
        CUDAError
            If the driver does not find the memory in the pool.
        """
        if not isinstance(mr, CMemoryResource):
            raise TypeError(f"mr must be a memory resource, not {type(mr).__name__}")
        return Buffer_import(cls, <CMemoryResource>mr, ipc_descriptor, Stream_accept(stream))

    def close(self, stream=None) -> None:
        """Free the memory in stream order; calling this again does nothing.

        Memory that others still refer to (a DLPack consumer, a graph) is freed after them. A stream that
        is capturing cannot free memory allocated outside the capture: it is freed when the capture ends.

        Parameters
        ----------
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            The stream in whose order to free. If None, the recorded one: that of the allocation, or of
            the last :meth:`set_deallocation_stream`. Has no effect for a sub-buffer.

        Raises
        ------
        BufferError
            If a memoryview or a NumPy array of the memory, or of a slice of it, still exists.
        TypeError
            If ``stream`` is no stream.
        """
        cdef Stream c_stream = None if stream is None else Stream_accept(stream)
        if not self._h_allocation:
            return
        MemoryRange_refuse_while_exported(self)
        if c_stream is not None and not self._is_slice:
            Buffer_set_stream(self, c_stream)
        Buffer_keep_descriptor(self)
        # Meanwhile code of its resource or another thread ran.
        MemoryRange_refuse_while_exported(self)
        self._release()

    def set_deallocation_stream(self, stream) -> None:
        """Set the stream on which the memory is freed.

        The new stream is not ordered after the old one: that is up to the caller.

        Parameters
        ----------
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream. For ``PER_THREAD_DEFAULT_STREAM`` it is that of the thread that frees.

        Raises
        ------
        TypeError
            If ``stream`` is no stream.
        RuntimeError
            If the buffer is closed or a part, or the stream is a default stream and no context is current.
        """
        cdef Stream c_stream = Stream_accept(stream)
        self._check_open()
        if self._is_slice:
            raise RuntimeError("a sub-buffer frees nothing: set the stream of its parent, which is its owner")
        if not Buffer_set_stream(self, c_stream):
            refuse_closed(self)

    def copy_to(self, dst=None, *, stream, options: CopyOptions | None = None):
        """Copy all bytes to other memory, in stream order (``cuMemcpyAsync``).

        Pageable host memory is written before the call returns, or by work of the stream; all other
        memory by work of the stream, and it must stay allocated until then.

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
        cdef KeptAllocation source
        cdef KeptAllocation target
        cdef KeptStream kept_stream
        cdef Stream c_stream = Stream_accept(stream)
        Stream_keep(c_stream, &kept_stream)
        MemoryRange_keep(self, &source)
        if dst is None:
            resource = resource_of(self)
            if resource is None:
                raise ValueError("dst is needed: this Buffer has no memory resource to allocate one from")
            dst = Buffer_allocate(<CMemoryResource>resource, source.value().size, c_stream)
        elif not isinstance(dst, Buffer):
            (<CopyToArray>_copy_to_array.get())(dst, source.value(), kept_stream.handle(), options)
            return dst
        MemoryRange_keep(<Buffer>dst, &target)
        check_writable(<Buffer>dst, "dst")
        copy_memory(target, source, kept_stream.handle(), options)
        return dst

    def copy_from(self, src, *, stream, options: CopyOptions | None = None) -> None:
        """Copy all bytes of other memory to this buffer, in stream order (``cuMemcpyAsync``).

        Pageable host memory has been read when the call returns; all other memory must not be changed
        until the copy has completed.

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
            If ``src`` is nothing to read from, this buffer read-only, ``stream`` no stream, ``options`` no
            CopyOptions, or the stream takes none: the legacy default stream, or one that is capturing.
        RuntimeError
            If one of the buffers is closed, or ``"during_api_call"`` is asked for before CUDA 13.2.
        """
        cdef KeptAllocation source
        cdef KeptAllocation target
        cdef KeptStream kept_stream
        cdef Stream c_stream = Stream_accept(stream)
        Stream_keep(c_stream, &kept_stream)
        MemoryRange_keep(self, &target)
        check_writable(self, "the destination")
        if isinstance(src, Buffer):
            MemoryRange_keep(<Buffer>src, &source)
            copy_memory(target, source, kept_stream.handle(), options)
        else:
            (<CopyFromArray>_copy_from_array.get())(target.value(), src, kept_stream.handle(), options)

    def fill(self, value, *, stream) -> None:
        """Fill with repetitions of a value, in stream order (``cuMemsetD8Async`` and its siblings).

        Patterns of 1, 2 or 4 bytes take one driver call; for wider ones the filled range
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
        cdef KeptAllocation memory
        cdef KeptStream kept_stream
        Stream_keep(Stream_accept(stream), &kept_stream)
        MemoryRange_keep(self, &memory)
        check_writable(self, "the destination")
        fill_bytes(memory.value().pointer, memory.value().size, value, kept_stream.get())

    def view(self, shape: int | tuple[int, ...] | None = None, dtype=None) -> StridedMemoryView:
        """View the memory as an array in C order.

        Parameters
        ----------
        shape : int | tuple[int, ...], optional
            The extents; one of them may be -1, and is computed from the size of the buffer. None means one axis of
            all elements.
        dtype : :class:`numpy.dtype` | type | str, optional
            The type of the elements, ``numpy.uint8`` if None.

        Returns
        -------
        :class:`~cuda.core.utils.StridedMemoryView`
            The view, which keeps the buffer and its memory alive.

        Raises
        ------
        ValueError
            If the buffer is too small, -1 or None gives no whole number, or the address is not aligned for
            the type.
        TypeError
            If ``shape`` or ``dtype`` is of another type.
        RuntimeError
            If the buffer is closed.
        """
        self._check_open()
        return _late.view_of_buffer(self, shape, dtype)

    @classmethod
    def _init(cls, ptr, size, mr=None, ipc_descriptor=None, owner=None, *, stream=None):
        """Wrap an address, as :meth:`from_handle` does, in an object of ``cls``."""
        cdef Buffer self = Buffer_from_handle(cls, ptr, size, mr, owner, stream)
        Buffer_set_descriptor(self, mr, ipc_descriptor)
        return self

    def _weak_handle(self):
        # What weak_handle() returns.
        cdef WeakHandle result = WeakHandle.__new__(WeakHandle)
        cdef KeptAllocation memory
        if not memory.hold(self._h_allocation):
            raise ValueError("this Buffer is closed, so there is no allocation to observe")
        result.cell.observe(memory.handle())
        return result

    @property
    def ipc_descriptor(self) -> IPCBufferDescriptor:
        """The descriptor with which another process opens this buffer (``cuMemPoolExportPointer``).

        Raises
        ------
        RuntimeError
            If the buffer is closed or a part, or its memory is not shared between processes.
        """
        self._check_open()
        if self._ipc_descriptor is None:
            Buffer_share(self)
        return self._ipc_descriptor


cdef Buffer Buffer_create(type cls, const AllocationHandle& h_allocation, object memory_resource, object owner):
    cdef Buffer self = Buffer_new(cls)
    self._h_allocation.set(h_allocation)
    MemoryRange_update_members(self)
    self._memory_resource = memory_resource
    self._owner = owner
    return self


cdef inline Buffer Buffer_new(type cls):
    return Buffer.__new__(Buffer) if cls is Buffer else cls.__new__(cls)


# False if the buffer is closed.
cdef bint Buffer_set_stream(Buffer self, Stream stream) except -1:
    cdef KeptAllocation memory
    cdef KeptStream kept_stream
    Stream_keep(stream, &kept_stream)
    if not memory.hold(self._h_allocation):
        return False
    set_stream(memory.value(), kept_stream.handle(), resource_of(self))
    return True


cdef Buffer Buffer_allocate(CMemoryResource mr, size_t size, Stream stream):
    cdef KeptAllocation memory
    buffer = mr._allocate(size, stream)
    if not isinstance(buffer, Buffer):
        raise TypeError(f"{type(mr).__name__}.allocate() must return a Buffer, not {type(buffer).__name__}")
    if not memory.hold((<Buffer>buffer)._h_allocation):
        raise RuntimeError(f"{type(mr).__name__}.allocate() returned a closed Buffer")
    if memory.value().size < size:
        raise RuntimeError(
            f"{type(mr).__name__}.allocate() returned a Buffer of {memory.value().size} bytes, "
            f"and must return one of at least the {size} bytes asked for"
        )
    return <Buffer>buffer


cdef list buffers_argument(object buffers, str name):
    cdef list checked
    # Lists and tuples are tested first, because the test by the abstract class is slow.
    if not isinstance(buffers, (list, tuple)) and (isinstance(buffers, Buffer) or not isinstance(buffers, Sequence)):
        raise TypeError(f"{name} must be a sequence of Buffer objects, not {type(buffers).__name__}")
    checked = list(buffers)
    if not checked:
        raise ValueError(f"{name} must have at least one Buffer")
    for buffer in checked:
        if not isinstance(buffer, Buffer):
            raise TypeError(f"{name} must have Buffer objects only, not {type(buffer).__name__}")
    return checked


cdef Buffer Buffer_from_handle(type cls, object ptr, object size, object mr, object owner, object stream):
    cdef AllocationHandle h_allocation
    wrap(ptr, size, mr, owner, stream, &h_allocation)
    return Buffer_create(cls, h_allocation, mr, owner)


cdef Buffer Buffer_import(type cls, CMemoryResource mr, object descriptor, Stream stream):
    cdef AllocationHandle h_allocation
    cdef bint is_mapped = mr._import(descriptor, stream, &h_allocation)
    cdef Buffer self = Buffer_create(cls, h_allocation, mr, None)
    self._is_mapped = is_mapped
    # It opens the memory in further processes, too.
    Buffer_set_descriptor(self, mr, descriptor)
    return self


# Exports the memory, for other processes to open.
cdef int Buffer_share(Buffer self) except -1:
    cdef object mr = self.memory_resource
    self._check_open()
    if self._is_slice:
        raise RuntimeError("it is a sub-buffer, and only whole buffers are shared")
    if mr is None:
        raise RuntimeError("its memory was wrapped, and only that of a resource with ipc_enabled is shared")
    Buffer_set_descriptor(self, mr, (<CMemoryResource>mr)._export(self))
    return 0


# Both stay when the buffer is closed.
cdef void Buffer_set_descriptor(Buffer self, object mr, object descriptor) noexcept:
    # The first stays: others read it.
    with cython.critical_section(self):
        if self._ipc_descriptor is None:
            self._ipc_resource = mr
            self._ipc_descriptor = descriptor


# Before a buffer is closed: a queue may pickle it later, and others may keep the memory.
cdef int Buffer_keep_descriptor(Buffer self) except -1:
    cdef object mr = resource_of(self)
    if (
        self._ipc_descriptor is None and self._h_allocation.use_count() > 1 and not self._is_slice
        and mr is not None and (<CMemoryResource>mr)._is_shared()
    ):
        try:
            Buffer_share(self)
        except (CUDAError, RuntimeError):
            pass    # closing does not fail for that
    return 0


def __getattr__(name):
    # Resolved at first use, because it needs the driver module of the bindings.
    if name == "DevicePointerType":
        return aliases.DevicePointerType
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _rebuild_buffer(cls, mr, descriptor):
    # The sender could not know a stream of this process.
    Context_require(max(mr.device_id, 0))
    return cls.from_ipc_descriptor(mr, descriptor, stream=default_stream())


# Loaded by the first copy of a foreign array, which most programs do not make.
cdef DeferredFunction _copy_to_array = DeferredFunction(
    b"cuda.core._memory.copying._array_operand", b"copy_to_array"
)
cdef DeferredFunction _copy_from_array = DeferredFunction(
    b"cuda.core._memory.copying._array_operand", b"copy_from_array"
)

answer_hasattr(Buffer)

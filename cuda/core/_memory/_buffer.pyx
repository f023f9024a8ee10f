# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Buffers: memory ranges with their owner, copies, fills and views."""

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
from cuda.core._utils._cpython cimport make_hasattr_safe
from cuda.core._utils._weak_handles cimport WeakHandle
from cuda.core._utils._deferred_function cimport DeferredFunction

from collections.abc import Sequence

from cuda.core import typing as aliases
from cuda.core._handles import _late
from cuda.core._memory._memory_resource import MemoryResource
from cuda.core._utils.cuda_utils import CUDAError

__all__ = ["Buffer", "MemoryResource"]


cdef class Buffer(MemoryRange):
    """A range of device or host memory.

    A buffer cannot be constructed directly: :meth:`MemoryResource.allocate`, :meth:`Device.allocate` and
    :meth:`from_handle` return one. The memory is freed by :meth:`close` or when the last reference is dropped.
    ``with buffer:`` closes the buffer at the end of the block.

    ``buffer[16:32]`` is a sub-buffer: a buffer over these bytes of the same allocation, which keeps its parent alive
    and is closed with it. Closing a sub-buffer frees no memory, and does not close other slices of it.

    If the memory is host-accessible, ``memoryview(buffer)`` and ``numpy.asarray(buffer)`` give access to its bytes.
    They do not synchronize: wait first for enqueued work that writes to the buffer.
    """

    _made_by = "MemoryResource.allocate(), Device.allocate() or Buffer.from_handle()"

    def __getitem__(self, key: slice) -> Buffer:
        cdef Buffer part = Buffer_new(type(self))
        MemoryRange_cut(self, key, part)
        return part

    def __reduce__(self):
        # A closed buffer can be pickled, too: multiprocessing queues pickle later, on a thread of their own.
        try:
            if self._ipc_descriptor is None:
                Buffer_share(self)
            return _rebuild_buffer, (type(self), self._ipc_resource, self._ipc_descriptor)
        except RuntimeError as error:
            # A closed buffer whose memory was not exported before has no descriptor.
            advice = "; close it after it was received, or read its ipc_descriptor before"
            advice = "" if self._h_allocation else advice
            raise RuntimeError(f"a {type(self).__name__} cannot be pickled: {error}{advice}") from None

    @staticmethod
    def from_handle(ptr, size: int, mr: MemoryResource | None = None, owner=None, *, stream=None) -> Buffer:
        """Wrap existing memory.

        Parameters
        ----------
        ptr : int | driver.CUdeviceptr
            The address of the memory.
        size : int
            The size of the memory in bytes.
        mr : :class:`MemoryResource`, optional
            The resource that frees the memory: ``mr.deallocate`` is called once, when the buffer is closed or its last
            reference is dropped. If None, the memory is not freed.
        owner : object, optional
            An object that is kept alive until the buffer is closed. Excludes ``mr``.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            The stream on which ``mr`` frees the memory. If None, the default stream. Only with ``mr``.

        Returns
        -------
        :class:`Buffer`
            The buffer.

        Raises
        ------
        ValueError
            If both ``mr`` and ``owner`` are given, or ``stream`` without ``mr``.
        TypeError
            If ``ptr`` or ``size`` is not an integer, or ``mr`` not a memory resource.
        OverflowError
            If ``ptr`` or ``size`` is negative or too large.
        RuntimeError
            If the memory is to be freed on the default stream and no context is current.
        """
        return Buffer_from_handle(Buffer, ptr, size, mr, owner, stream)

    @classmethod
    def from_ipc_descriptor(cls, mr: MemoryResource, ipc_descriptor: IPCBufferDescriptor, *, stream) -> Buffer:
        """Open a buffer of another process (``cuMemPoolImportPointer``).

        The exporting process must not free the memory before this process has closed the buffer. All imports of one
        buffer share one mapping, which is freed on the stream of the last import that is closed.

        Parameters
        ----------
        mr : :class:`DeviceMemoryResource` | :class:`PinnedMemoryResource`
            The resource over the pool of the buffer, imported from the exporting process.
        ipc_descriptor : IPCBufferDescriptor
            The :attr:`ipc_descriptor` of the buffer in the exporting process.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream on which the mapping is freed.

        Returns
        -------
        :class:`Buffer`
            The buffer. :attr:`is_mapped` is True.

        Raises
        ------
        TypeError
            If an argument has the wrong type.
        RuntimeError
            If ``mr`` is closed or not shared between processes.
        ValueError
            If the payload of the descriptor has the wrong length, or its size exceeds that of the allocation.
        CUDAError
            If the driver does not find the memory in the pool.
        """
        if not isinstance(mr, CMemoryResource):
            raise TypeError(f"mr must be a memory resource, not {type(mr).__name__}")
        return Buffer_import(cls, <CMemoryResource>mr, ipc_descriptor, Stream_accept(stream))

    def close(self, stream=None) -> None:
        """Free the memory in stream order; calling this again does nothing.

        Memory that a DLPack consumer or a graph still refers to is freed after their references are dropped. A
        capturing stream cannot free memory from outside the capture; such memory is freed when the capture ends.

        Parameters
        ----------
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            The stream on which the memory is freed. If None, the stream of the allocation, or of the last
            :meth:`set_deallocation_stream`. Ignored for a sub-buffer.

        Raises
        ------
        BufferError
            If a memoryview or NumPy array of the buffer or of a slice of it exists.
        TypeError
            If ``stream`` is not a stream.
        """
        cdef Stream c_stream = None if stream is None else Stream_accept(stream)
        if not self._h_allocation:
            return
        MemoryRange_refuse_while_exported(self)
        if c_stream is not None and not self._is_slice:
            Buffer_set_stream(self, c_stream)
        Buffer_keep_descriptor(self)
        # Check again: code of the resource, or another thread, may have exported the memory meanwhile.
        MemoryRange_refuse_while_exported(self)
        self._release()

    def set_deallocation_stream(self, stream) -> None:
        """Set the stream on which the memory is freed.

        This does not order the new stream after the old one; the caller is responsible for that.

        Parameters
        ----------
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream. ``PER_THREAD_DEFAULT_STREAM`` means the default stream of the thread that frees the memory.

        Raises
        ------
        TypeError
            If ``stream`` is not a stream.
        RuntimeError
            If the buffer is closed or a sub-buffer, or ``stream`` is a default stream and no context is current.
        """
        cdef Stream c_stream = Stream_accept(stream)
        self._check_open()
        if self._is_slice:
            raise RuntimeError("a sub-buffer frees no memory; set the deallocation stream of its parent, its owner")
        if not Buffer_set_stream(self, c_stream):
            refuse_closed(self)

    def copy_to(self, dst=None, *, stream, options: CopyOptions | None = None):
        """Copy all bytes of this buffer to other memory, in stream order (``cuMemcpyAsync``).

        Synchronize the stream before the host reads the destination, and keep the destination allocated until then.

        Parameters
        ----------
        dst : :class:`Buffer` | array, optional
            The destination, of the same size: a buffer, or an array with the buffer protocol (such as a NumPy array),
            DLPack or the CUDA array interface, into which the bytes are written in C order. If None, a buffer is
            allocated from the memory resource of this buffer.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream that the copy is enqueued on.
        options : :class:`~cuda.core.utils.CopyOptions`, optional
            Hints for the driver (``cuMemcpyWithAttributesAsync``). Drivers older than CUDA 13.2 ignore them.

        Returns
        -------
        :class:`Buffer` | array
            The destination: ``dst``, or the new buffer.

        Raises
        ------
        ValueError
            If the sizes differ, source and destination overlap, ``dst`` is None and this buffer has no memory
            resource, or ``options`` are given and ``dst`` is a non-contiguous array.
        TypeError
            If ``dst`` is not writable memory, ``stream`` is not a stream or ``options`` not a CopyOptions, or
            ``options`` are given and the stream is the legacy default stream or capturing.
        RuntimeError
            If one of the buffers is closed, or the option ``"during_api_call"`` is given and the driver is older than
            CUDA 13.2.
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
                raise ValueError("dst must not be None: this Buffer has no memory resource to allocate from")
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

        Pageable host memory has been read when the call returns. Any other source must not be changed or freed before
        the copy has completed.

        Parameters
        ----------
        src : :class:`Buffer` | array
            The source, of the same size: a buffer, or an array with the buffer protocol (such as a NumPy array),
            DLPack or the CUDA array interface, whose bytes are read in C order.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream that the copy is enqueued on.
        options : :class:`~cuda.core.utils.CopyOptions`, optional
            Hints for the driver (``cuMemcpyWithAttributesAsync``). Drivers older than CUDA 13.2 ignore them.

        Raises
        ------
        ValueError
            If the sizes differ, source and destination overlap, or ``options`` are given and ``src`` is a
            non-contiguous array.
        TypeError
            If ``src`` is not readable memory, this buffer is read-only, ``stream`` is not a stream or ``options`` not
            a CopyOptions, or ``options`` are given and the stream is the legacy default stream or capturing.
        RuntimeError
            If one of the buffers is closed, or the option ``"during_api_call"`` is given and the driver is older than
            CUDA 13.2.
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
        """Fill the memory with a repeated pattern, in stream order (``cuMemsetD8Async`` and D16, D32).

        A pattern of 1, 2 or 4 bytes takes one driver call. A longer one is written once and then copied
        (``cuMemcpyAsync``), which doubles the filled range with each call.

        Parameters
        ----------
        value : int | object
            A byte from 0 to 255, or an object with the buffer protocol, such as ``np.float64(1.5)``, whose bytes are
            the pattern.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream that the fill is enqueued on.

        Raises
        ------
        OverflowError
            If ``value`` is an int and not from 0 to 255.
        ValueError
            If the pattern is empty, or the size of the buffer is not a multiple of its length.
        TypeError
            If ``value`` is neither an int nor an object with the buffer protocol, or ``stream`` not a stream.
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
            The number of elements along each axis; one of them may be -1, to be computed from the size of the buffer.
            If None, one axis with all elements.
        dtype : :class:`numpy.dtype` | type | str, optional
            The element type. If None, ``numpy.uint8``.

        Returns
        -------
        :class:`~cuda.core.utils.StridedMemoryView`
            The view, which keeps the buffer and its memory alive.

        Raises
        ------
        ValueError
            If the buffer is too small, its size is not a multiple of the computed extent, or its address is not
            aligned for the element type.
        TypeError
            If ``shape`` or ``dtype`` has the wrong type.
        RuntimeError
            If the buffer is closed.
        """
        self._check_open()
        return _late.view_of_buffer(self, shape, dtype)

    @classmethod
    def _init(cls, ptr, size, mr=None, ipc_descriptor=None, owner=None, *, stream=None):
        """Wrap memory in an object of the class ``cls``, as :meth:`from_handle` does."""
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
        """The descriptor from which another process opens this buffer (``cuMemPoolExportPointer``).

        Raises
        ------
        RuntimeError
            If the buffer is closed or a sub-buffer, or its memory is not shared between processes.
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
            f"but the requested size is {size} bytes"
        )
    return <Buffer>buffer


cdef list buffers_argument(object buffers, str name):
    cdef list checked
    # Lists and tuples are tested first, because isinstance() with the abstract class Sequence is slow.
    if not isinstance(buffers, (list, tuple)) and (isinstance(buffers, Buffer) or not isinstance(buffers, Sequence)):
        raise TypeError(f"{name} must be a sequence of Buffer objects, not {type(buffers).__name__}")
    checked = list(buffers)
    if not checked:
        raise ValueError(f"{name} must contain at least one Buffer, not be empty")
    for buffer in checked:
        if not isinstance(buffer, Buffer):
            raise TypeError(f"{name} must contain Buffer objects, not {type(buffer).__name__}")
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
    # The descriptor can be passed on to further processes.
    Buffer_set_descriptor(self, mr, descriptor)
    return self


# Exports the memory, so that other processes can open it.
cdef int Buffer_share(Buffer self) except -1:
    cdef object mr = self.memory_resource
    self._check_open()
    if self._is_slice:
        raise RuntimeError("it is a sub-buffer, and only whole buffers can be shared between processes")
    if mr is None:
        raise RuntimeError("it wraps memory that no resource with ipc_enabled has allocated")
    Buffer_set_descriptor(self, mr, (<CMemoryResource>mr)._export(self))
    return 0


# Both fields stay set when the buffer is closed.
cdef void Buffer_set_descriptor(Buffer self, object mr, object descriptor) noexcept:
    # If two threads export at once, the first descriptor is kept, because a caller may have read it.
    with cython.critical_section(self):
        if self._ipc_descriptor is None:
            self._ipc_resource = mr
            self._ipc_descriptor = descriptor


# Exports a shared buffer before it is closed, if there are other references to its memory: a queue may pickle it later.
cdef int Buffer_keep_descriptor(Buffer self) except -1:
    cdef object mr = resource_of(self)
    if (
        self._ipc_descriptor is None and self._h_allocation.use_count() > 1 and not self._is_slice
        and mr is not None and (<CMemoryResource>mr)._is_shared()
    ):
        try:
            Buffer_share(self)
        except (CUDAError, RuntimeError):
            pass    # a failed export must not prevent closing
    return 0


def __getattr__(name):
    # Resolved at first access, because it imports the driver module of the bindings.
    if name == "DevicePointerType":
        return aliases.DevicePointerType
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _rebuild_buffer(cls, mr, descriptor):
    # A pickle has no stream of this process, so the mapping is freed on the default stream.
    Context_require(max(mr.device_id, 0))
    return cls.from_ipc_descriptor(mr, descriptor, stream=default_stream())


# Imported by the first copy from or to an array of another library: most programs make none.
cdef DeferredFunction _copy_to_array = DeferredFunction(
    b"cuda.core._memory.copying._array_operand", b"copy_to_array"
)
cdef DeferredFunction _copy_from_array = DeferredFunction(
    b"cuda.core._memory.copying._array_operand", b"copy_from_array"
)

make_hasattr_safe(Buffer)

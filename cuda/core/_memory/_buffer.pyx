# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Buffers: ranges of memory on the device or the host."""

from __future__ import annotations

cimport cython
from libc.stdint cimport intptr_t, uintptr_t

from cpython.buffer cimport PyBuffer_FillInfo
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from cpython.weakref cimport PyWeakref_NewRef

from cuda.core._context cimport Context_current, Context_enter, Context_leave, Context_require
from cuda.core._dlpack cimport (
    DEVICE_CPU,
    DEVICE_CUDA_HOST,
    DLPack_check_stream,
    DLPack_export_bytes,
    DLPack_negotiate,
)
from cuda.core._memory._copies cimport copy as copy_memory, fill_bytes
from cuda.core._memory._memory_resource cimport (
    MemoryResource as CMemoryResource,
    borrow,
    pointer_info,
    set_stream,
    size_argument,
    stream_of,
    wrap,
)
from cuda.core._native._cuda_core cimport (
    Allocation,
    AllocationHandle,
    ContextHandle,
    DriverObject,
    Anchor,
    AllocationPin,
    StreamPin,
    LaunchList,
    StreamHandle,
    WeakHandle,
    add_member,
    launch_list,
    refuse_closed,
    retire,
)
from cuda.core._stream cimport (
    Stream,
    Stream_accept,
    Stream_pin,
    Stream_wrap,
    captured_operands,
    default_stream,
    is_captured,
)
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport check_self_in_methods
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, LEAVE_RETURN, c_driver_version, note_left_context

from collections.abc import Sequence
import importlib

from cuda.core import typing as aliases
from cuda.core._dlpack import classify_dl_device
from cuda.core._memory._memory_resource import MemoryResource
from cuda.core._native._cuda_core import explain_other_names
from cuda.core._utils import slots
from cuda.core._utils.cuda_utils import CUDAError, UnavailableError

__all__ = ["Buffer", "MemoryResource", "keep_until_idle"]


cdef extern from "Python.h":
    int PySlice_Check(object key)
    int PySlice_Unpack(object key, Py_ssize_t* start, Py_ssize_t* stop, Py_ssize_t* step) except -1
    Py_ssize_t PySlice_AdjustIndices(Py_ssize_t size, Py_ssize_t* start, Py_ssize_t* stop, Py_ssize_t step) nogil


cdef LaunchList* _launches = launch_list()


cdef class Buffer(DriverObject):
    """A range of device or host memory.

    A buffer cannot be constructed directly: :meth:`MemoryResource.allocate`, :meth:`Device.allocate` and
    :meth:`from_handle` return one. The memory is freed by :meth:`close` or when the last reference is dropped.
    ``with buffer:`` closes the buffer at the end of the block.

    ``buffer[16:32]`` is a sub-buffer: a buffer over these bytes of the same allocation, which keeps its parent alive
    and is closed with it. Closing a sub-buffer frees no memory, and does not close other slices of it.

    If the memory is host-accessible, ``memoryview(buffer)`` and ``numpy.asarray(buffer)`` give access to its bytes.
    They do not synchronize: wait first for enqueued work that writes to the buffer.

    Examples
    --------
    >>> import numpy as np
    >>> from cuda.core import Device
    >>> device = Device()
    >>> device.set_current()
    >>> stream = device.create_stream()
    >>> buffer = device.allocate(16, stream=stream)
    >>> buffer.copy_from(np.arange(4, dtype=np.float32), stream=stream)
    >>> result = np.empty(4, np.float32)
    >>> _ = buffer.copy_to(result, stream=stream)
    >>> stream.sync()
    >>> result.tolist()
    [0.0, 1.0, 2.0, 3.0]
    """

    _made_by = "MemoryResource.allocate(), Device.allocate() or Buffer.from_handle()"

    def __cinit__(self):
        cdef object zero = 0
        Py_INCREF(zero)
        Py_INCREF(zero)
        self._handle_object = self._size_object = <PyObject*>zero

    def __dealloc__(self):
        if self._is_slice:
            Buffer_leave(self)
        Py_XDECREF(self._handle_object)
        Py_XDECREF(self._size_object)

    def __getbuffer__(self, Py_buffer* view, int flags):
        cdef AllocationPin memory
        Buffer_pin(self, &memory)
        if not self.is_host_accessible:
            raise BufferError(
                "the host cannot access this Buffer, which is device memory; copy it with "
                "copy_to(array, stream=stream) first"
            )
        PyBuffer_FillInfo(
            view, self, <void*><uintptr_t>memory.value().pointer, memory.value().size, self._is_readonly, flags
        )
        # The view keeps the memory, because code of the memory resource might have closed the buffer in the meantime.
        view.internal = new AllocationHandle(memory.handle())
        count_exports(self, 1)

    def __releasebuffer__(self, Py_buffer* view):
        cdef AllocationHandle* h_memory = <AllocationHandle*>view.internal
        count_exports(self, -1)
        del h_memory

    def __repr__(self):
        if not self._h_allocation:
            return f"<{type(self).__name__} closed>"
        mapped = " mapped" if self.is_mapped else ""
        return f"<{type(self).__name__} ptr={self.handle:#x} size={self.size}{mapped}>"

    def __array__(self, dtype=None, copy=None):
        """Return the bytes as a NumPy array of uint8. Raises BufferError if the host cannot access the memory."""
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
    ) -> Any:
        """Export the memory through DLPack, as a one-dimensional tensor of int8.

        The memory stays allocated as long as the consumer uses it, even if this buffer is closed.

        Parameters
        ----------
        stream : int, optional
            The consumer's stream. Its later work is ordered after the work now in the stream that the memory was
            allocated on. None and 1 mean the legacy default stream, 2 the per-thread one, and -1 no ordering. Ignored
            for memory of the host that no device can access.
        max_version : tuple[int, int], optional
            The newest version of DLPack that the consumer supports. For (1, 0) and later, the capsule is versioned and
            has the read-only flag.
        dl_device : tuple[int, int], optional
            The device of the exported tensor. If given, it must be the device of the memory.
        copy : bool, optional
            Whether to export a copy; True is not supported.

        Returns
        -------
        capsule
            The DLPack capsule.

        Raises
        ------
        BufferError
            If the export would need a copy, or ``max_version`` is not a pair.
        TypeError
            If ``max_version`` is not a tuple, or ``stream`` is not an int.
        ValueError
            If ``stream`` is 0, which is ambiguous, or less than -1.
        RuntimeError
            If the buffer is closed.
        """
        cdef AllocationPin memory
        Buffer_pin(self, &memory)
        device = self.__dlpack_device__()
        versioned = DLPack_negotiate(max_version, dl_device, copy, device)
        order_consumer(memory.value(), stream, device[0])
        return DLPack_export_bytes(
            memory.value().pointer, memory.value().size, device, self, memory.anchor(), versioned, self._is_readonly
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the DLPack device of the memory, ``(device_type, device_id)``."""
        self._check_open()
        return classify_dl_device(self)

    def __getitem__(self, key: slice) -> Buffer:
        """Return a sub-buffer, ``buffer[16:32]`` in bytes, which shares the allocation and closes with its owner.

        Raises
        ------
        TypeError
            If the index is not a slice of ints without a step.
        """
        cdef Buffer part = Buffer_new(type(self))
        Buffer_cut(self, key, part)
        return part

    def __reduce__(self):
        # Even a closed buffer can be pickled, because multiprocessing queues pickle later, on a separate thread.
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
            An object to keep alive until the buffer is closed. Mutually exclusive with ``mr``.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            The stream that ``mr`` frees the memory on. Defaults to the default stream. Only with ``mr``.

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
        """Open a buffer of another process (``cuMemPoolImportPointer``, ``cuMemImportFromShareableHandle``).

        The exporting process must not free the memory before this process has closed the buffer. All imports of one
        buffer share one mapping, which is freed on the stream of the last import that is closed.

        Parameters
        ----------
        mr : :class:`DeviceMemoryResource` | :class:`PinnedMemoryResource` | :class:`VirtualMemoryResource`
            The resource over the pool of the buffer, imported from the exporting process. For virtual memory, any
            resource of it: its options say where the memory is mapped and which devices have access.
        ipc_descriptor : IPCBufferDescriptor
            The :attr:`ipc_descriptor` of the buffer in the exporting process.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream to free the mapping on.

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
            If the driver does not find the memory in the pool, or rejects a size.
        """
        if not isinstance(mr, CMemoryResource):
            raise TypeError(f"mr must be a memory resource, not {type(mr).__name__}")
        if hasattr(mr, "_open_buffer"):  # virtual memory
            return mr._open_buffer(ipc_descriptor, Stream_accept(stream))
        return Buffer_import(<type>cls, <CMemoryResource>mr, ipc_descriptor, Stream_accept(stream))

    def close(self, stream=None) -> None:
        """Free the memory in stream order.

        Memory still referenced by a DLPack consumer or a graph is freed once that reference is gone. On a capturing
        stream, memory allocated outside the capture is freed when the capture ends. Closing a closed buffer has no
        effect.

        Parameters
        ----------
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            The stream to free the memory on. Defaults to the allocation stream, or to the one last passed to
            :meth:`set_deallocation_stream`. Ignored for a sub-buffer.

        Raises
        ------
        BufferError
            If a memoryview or NumPy array still uses the buffer or one of its slices.
        TypeError
            If ``stream`` is not a stream.

        Examples
        --------
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> stream = device.create_stream()
        >>> buffer = device.allocate(64, stream=stream)
        >>> buffer.close()
        >>> buffer.is_closed
        True
        """
        cdef Stream c_stream = None if stream is None else Stream_accept(stream)
        if not self._h_allocation:
            return
        Buffer_check_unexported(self)
        if c_stream is not None and not self._is_slice:
            Buffer_set_stream(self, c_stream)
        Buffer_keep_descriptor(self)
        # Check again: code of the resource, or another thread, might have exported the memory in the meantime.
        Buffer_check_unexported(self)
        self._release()

    def set_deallocation_stream(self, stream) -> None:
        """Set the stream to free the memory on.

        This does not order the new stream after the old one, which the caller is responsible for.

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
            raise RuntimeError("a sub-buffer does not own its memory; call set_deallocation_stream() on its owner")
        if not Buffer_set_stream(self, c_stream):
            refuse_closed(self)

    def copy_to(self, dst=None, *, stream, options: CopyOptions | dict[str, Any] | None = None):
        """Copy all bytes of this buffer to other memory in stream order (``cuMemcpyAsync``).

        Synchronize the stream before the host reads the destination, and keep the destination allocated until then. A
        graph that captures the copy keeps host memory itself, and each of its launches writes there.

        Parameters
        ----------
        dst : :class:`Buffer` | array, optional
            The destination, of the same size: a buffer, or an array with the buffer protocol (such as a NumPy array),
            DLPack or the CUDA array interface. It receives the bytes in C order. If None, a buffer is allocated from
            the memory resource of this buffer.
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

        Examples
        --------
        >>> import numpy as np
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> stream = device.create_stream()
        >>> buffer = device.allocate(8, stream=stream)
        >>> buffer.fill(np.int32(5), stream=stream)
        >>> clone = buffer.copy_to(stream=stream)  # a new buffer
        >>> host = np.empty(2, np.int32)
        >>> _ = clone.copy_to(host, stream=stream)
        >>> stream.sync()
        >>> host.tolist()
        [5, 5]
        """
        cdef AllocationPin source
        cdef AllocationPin target
        cdef StreamPin stream_pin
        cdef Stream c_stream = Stream_accept(stream)
        Stream_pin(c_stream, &stream_pin)
        Buffer_pin(self, &source)
        if dst is None:
            resource = resource_of(self)
            if resource is None:
                raise ValueError("dst must not be None: this Buffer has no memory resource to allocate from")
            dst = Buffer_allocate(<CMemoryResource>resource, source.value().size, c_stream)
        elif not isinstance(dst, Buffer):
            array_access().copy_to_array(dst, source.value(), stream_pin.handle(), options)
            return dst
        Buffer_pin(<Buffer>dst, &target)
        check_writable(<Buffer>dst, "dst")
        copy_buffers(<Buffer>dst, target, self, source, stream_pin.handle(), options)
        return dst

    def copy_from(self, src, *, stream, options: CopyOptions | dict[str, Any] | None = None) -> None:
        """Copy all bytes of other memory to this buffer, in stream order (``cuMemcpyAsync``).

        Pageable host memory has been read when the call returns. Any other source must not be changed or freed before
        the copy has completed. A graph that captures the copy keeps host memory itself, and each of its launches reads
        it again.

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

        Examples
        --------
        >>> import numpy as np
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> stream = device.create_stream()
        >>> buffer = device.allocate(32, stream=stream)
        >>> buffer.copy_from(np.ones(4), stream=stream)
        """
        cdef AllocationPin source
        cdef AllocationPin target
        cdef StreamPin stream_pin
        cdef Stream c_stream = Stream_accept(stream)
        Stream_pin(c_stream, &stream_pin)
        Buffer_pin(self, &target)
        check_writable(self, "the destination")
        if isinstance(src, Buffer):
            Buffer_pin(<Buffer>src, &source)
            copy_buffers(self, target, <Buffer>src, source, stream_pin.handle(), options)
        else:
            array_access().copy_from_array(target.value(), src, stream_pin.handle(), options)

    def fill(self, value, *, stream) -> None:
        """Fill the memory with a repeated pattern, in stream order (``cuMemsetD8Async`` and D16, D32).

        A pattern of 1, 2 or 4 bytes takes one driver call. A longer one is written once and then copied
        (``cuMemcpyAsync``), which doubles the filled range on every call.

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

        Examples
        --------
        >>> import numpy as np
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> stream = device.create_stream()
        >>> buffer = device.allocate(64, stream=stream)
        >>> buffer.fill(0, stream=stream)  # bytes
        >>> buffer.fill(np.float32(1.5), stream=stream)  # elements
        """
        cdef AllocationPin memory
        cdef StreamPin stream_pin
        Stream_pin(Stream_accept(stream), &stream_pin)
        Buffer_pin(self, &memory)
        check_writable(self, "the destination")
        fill_bytes(memory.value().pointer, memory.value().size, value, stream_pin.get())

    def view(self, shape: int | tuple[int, ...] | None = None, dtype=None) -> StridedMemoryView:
        """View the memory as an array in C order.

        Parameters
        ----------
        shape : int | tuple[int, ...], optional
            The number of elements along each axis. One of them can be -1, which is computed from the size of the
            buffer. Defaults to one axis with all elements.
        dtype : :class:`numpy.dtype` | type | str, optional
            The element type. Defaults to ``numpy.uint8``.

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

        Examples
        --------
        >>> import numpy as np
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> stream = device.create_stream()
        >>> view = device.allocate(128, stream=stream).view((4, 8), np.float32)
        >>> view.shape, view.dtype
        ((4, 8), dtype('float32'))
        """
        self._check_open()
        return slots.get("view of buffer")(self, shape, dtype)

    @classmethod
    def _init(cls, ptr, size, mr=None, ipc_descriptor=None, owner=None, *, stream=None):
        """Wrap memory in an object of the class ``cls``, as :meth:`from_handle` does."""
        cdef Buffer self = Buffer_from_handle(<type>cls, ptr, size, mr, owner, stream)
        Buffer_set_descriptor(self, mr, ipc_descriptor)
        return self

    def _weak_handle(self):
        # What weak_handle() returns.
        cdef WeakHandle result = WeakHandle.__new__(WeakHandle)
        cdef AllocationPin memory
        if not memory.hold(self._h_allocation):
            raise ValueError("this Buffer is closed, so there is no allocation to observe")
        result.cell.observe(memory.handle())
        return result

    @property
    def handle(self) -> int:
        """The address of the memory, or 0 if closed."""
        cdef AllocationPin memory
        return memory.value().pointer if memory.hold(self._h_allocation) else 0

    @property
    def size(self) -> int:
        """The size of the memory in bytes, or 0 if closed."""
        cdef AllocationPin memory
        return memory.value().size if memory.hold(self._h_allocation) else 0

    @property
    def _size(self):
        return self.size

    @_size.setter
    def _size(self, value):
        # For resources that grow a buffer in place.
        cdef AllocationPin memory
        cdef size_t size = size_argument(value)
        Buffer_pin(self, &memory)
        if self._is_slice:
            raise RuntimeError("a sub-buffer cannot grow")
        (&memory.value()).size = size
        Buffer_update_members(self)

    @property
    def _deallocation_stream(self):
        # For resources that move a buffer. None if there is no stream.
        cdef AllocationPin memory
        Buffer_pin(self, &memory)
        return stream_of(memory.value())

    @property
    def memory_resource(self) -> MemoryResource | None:
        """The resource that frees the memory, or None for wrapped memory and if closed."""
        return resource_of(self)

    @property
    def owner(self):
        """The object that a buffer over wrapped memory keeps alive, the parent of a sub-buffer, or None."""
        return owner_of(self)

    @property
    def device_id(self) -> int:
        """The ordinal of the device of the memory, or -1 for pageable host memory."""
        cdef AllocationPin whole
        resource = Buffer_pin_whole(self, &whole)
        return pointer_info(whole.value().pointer).device_id if resource is None else resource.device_id

    @property
    def is_device_accessible(self) -> bool:
        """Whether a device can access the memory."""
        cdef AllocationPin whole
        resource = Buffer_pin_whole(self, &whole)
        if resource is not None:
            return resource.is_device_accessible
        return bool(pointer_info(whole.value().pointer).is_device_accessible)

    @property
    def is_host_accessible(self) -> bool:
        """Whether the host can access the memory."""
        cdef AllocationPin whole
        resource = Buffer_pin_whole(self, &whole)
        if resource is not None:
            return resource.is_host_accessible
        return bool(pointer_info(whole.value().pointer).is_host_accessible)

    @property
    def is_managed(self) -> bool:
        """Whether the memory is managed memory, which migrates between the host and devices."""
        cdef AllocationPin whole
        resource = Buffer_pin_whole(self, &whole)
        if resource is not None and resource.is_managed:
            return True
        return bool(pointer_info(whole.value().pointer).is_managed)

    @property
    def is_mapped(self) -> bool:
        """Whether the memory was allocated by another process. False if closed."""
        return self._is_mapped

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return not self._h_allocation

    def dmabuf_fd(self, *, is_pcie: bool = False) -> int:
        """Export the memory as a dma-buf, for network adapters and other devices (``cuMemGetHandleForAddressRange``).

        Address and size must be multiples of the host's page size, and the memory must not be from a pool; virtual
        memory is always suitable.

        Parameters
        ----------
        is_pcie : bool, optional
            Whether to map the memory through the PCIe BAR1 (``CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE``), even if
            the device has a faster link to the host. Default is False.

        Returns
        -------
        int
            The file descriptor, which the caller closes (:func:`os.close`). It keeps the memory.

        Raises
        ------
        TypeError
            If ``is_pcie`` is not a bool.
        RuntimeError
            If the buffer is closed.
        NotSupportedError
            If the device cannot export dma-bufs (``dma_buf_supported`` of its properties).
        CUDAError
            If the memory is not suitable.

        Examples
        --------
        >>> import os
        >>> from cuda.core import Device, VirtualMemoryResource
        >>> device = Device()
        >>> device.set_current()
        >>> buffer = VirtualMemoryResource(device).allocate(2 << 20)
        >>> if device.properties.dma_buf_supported:
        ...     os.close(buffer.dmabuf_fd())
        """
        cdef AllocationPin memory
        cdef int c_fd = -1
        cdef unsigned long long c_flags = 0
        if not isinstance(is_pcie, bool):
            raise TypeError(f"is_pcie must be a bool, not {type(is_pcie).__name__}")
        if is_pcie:
            c_flags = cydriver.CUmemRangeFlags.CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE
        Buffer_pin(self, &memory)
        with nogil:
            HANDLE_RETURN(
                cydriver.cuMemGetHandleForAddressRange(
                    &c_fd,
                    memory.value().pointer,
                    memory.value().size,
                    cydriver.CUmemRangeHandleType.CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD,
                    c_flags,
                ),
                b"cuMemGetHandleForAddressRange",
            )
        return c_fd

    @property
    def sync_memops(self) -> bool:
        """Whether synchronous copies and fills of the memory always wait (``cuPointerSetAttribute``).

        GPUDirect RDMA needs it, because a network adapter might read the memory while such a call is in progress. The
        driver rejects memory of pools and virtual memory.

        Raises
        ------
        RuntimeError
            If the buffer is closed.
        TypeError
            If a value other than a bool is assigned.
        CUDAError
            If the driver does not have this attribute for the memory.
        """
        cdef AllocationPin memory
        cdef bint c_value = False
        Buffer_pin(self, &memory)
        with nogil:
            HANDLE_RETURN(
                cydriver.cuPointerGetAttribute(
                    &c_value,
                    cydriver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,
                    memory.value().pointer,
                ),
                b"cuPointerGetAttribute",
            )
        return c_value

    @sync_memops.setter
    def sync_memops(self, value: bool):
        cdef AllocationPin memory
        cdef unsigned int c_value
        if not isinstance(value, bool):
            raise TypeError(f"sync_memops must be a bool, not {type(value).__name__}")
        c_value = value
        Buffer_pin(self, &memory)
        with nogil:
            HANDLE_RETURN(
                cydriver.cuPointerSetAttribute(
                    &c_value,
                    cydriver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,
                    memory.value().pointer,
                ),
                b"cuPointerSetAttribute",
            )

    @property
    def locality_domain(self) -> int | None:
        """The locality domain of the memory, or None if it is not in one domain (``cuPointerGetAttribute``).

        It is None on devices with a single domain, and with drivers older than CUDA 13.4.

        Raises
        ------
        RuntimeError
            If the buffer is closed.
        CUDAError
            If the driver has no attributes for the memory, such as unregistered host memory.
        """
        cdef AllocationPin memory
        cdef int c_value = -1
        Buffer_pin(self, &memory)
        if c_driver_version() >= 13040:
            with nogil:
                HANDLE_RETURN(
                    cydriver.cuPointerGetAttribute(
                        &c_value,
                        cydriver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_LOCALITY_DOMAIN_ORDINAL,
                        memory.value().pointer,
                    ),
                    b"cuPointerGetAttribute",
                )
        return None if c_value < 0 else c_value

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

    cdef intptr_t _address(self) noexcept:
        cdef AllocationPin memory
        return <intptr_t>memory.value().pointer if memory.hold(self._h_allocation) else 0

    cdef void _release(self) noexcept:
        if self._slices is not None:
            self._slices.close()
        if self._is_slice:
            Buffer_leave(self)
        _launches.keep_memory_of(<PyObject*>self, self._h_allocation)
        self._h_allocation.close()
        Buffer_update_members(self)
        with cython.critical_section(self):
            self._memory_resource = None
            self._owner = None
            self._is_mapped = False

    cdef object _identity(self):
        cdef AllocationPin memory
        if memory.hold(self._h_allocation):
            return (memory.value().pointer, memory.value().size)
        return (0, 0)

    cdef int _check_open(self) except -1:
        # An open buffer of no bytes has the address 0.
        return 0 if self._h_allocation else refuse_closed(self)


def keep_until_idle(Buffer memory) -> None:
    """Anchor memory alive until all work now pending on any stream has completed."""
    cdef AllocationHandle h_allocation = memory._h_allocation.copy()
    with nogil:
        retire(h_allocation, &drop, Anchor())


cdef void drop(AllocationHandle h_allocation) noexcept nogil:
    pass  # the reference is dropped with the argument


cdef Buffer Buffer_create(type cls, const AllocationHandle& h_allocation, object memory_resource, object owner):
    cdef Buffer self = Buffer_new(cls)
    self._h_allocation.set(h_allocation)
    Buffer_update_members(self)
    self._memory_resource = memory_resource
    self._owner = owner
    return self


cdef inline Buffer Buffer_new(type cls):
    return Buffer.__new__(Buffer) if cls is Buffer else cls.__new__(cls)


# Returns false if the buffer is closed.
cdef bint Buffer_set_stream(Buffer self, Stream stream) except -1:
    cdef AllocationPin memory
    cdef StreamPin stream_pin
    Stream_pin(stream, &stream_pin)
    if not memory.hold(self._h_allocation):
        return False
    set_stream(memory.value(), stream_pin.handle(), resource_of(self))
    return True


cdef Buffer Buffer_allocate(CMemoryResource mr, size_t size, Stream stream):
    cdef AllocationPin memory
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


cdef object stream_address(const Allocation& memory):
    return <uintptr_t>memory.h_stream.get() or 1 if memory.h_stream else None


cdef int wait_for_memory(const Allocation& memory) except -1:
    cdef int is_entered = 0
    if not memory.h_stream:
        return 0
    is_entered = Context_enter(memory.h_context.get())
    try:
        stream_of(memory).sync()
    except BaseException as error:
        note_left_context(error, Context_leave(is_entered))
        raise
    LEAVE_RETURN(cydriver.CUresult.CUDA_SUCCESS, NULL, Context_leave(is_entered))
    return 0


cdef int order_consumer(const Allocation& memory, object stream, int device_type) except -1:
    cdef ContextHandle h_current
    cdef int is_entered = 0
    if device_type == DEVICE_CPU:
        return 0
    DLPack_check_stream(stream)
    Context_current(&h_current)
    # The host reads page-locked memory without a stream, and without a context there is no default stream.
    if stream == -1 or not memory.h_stream or stream is None and (device_type == DEVICE_CUDA_HOST or not h_current):
        return 0
    consumer = 1 if stream is None else stream
    if consumer == stream_address(memory) and (not memory.h_context or memory.h_context.get() == h_current.get()):
        return 0
    # A default stream is that of the context in which the memory was allocated.
    is_entered = Context_enter(memory.h_context.get())
    try:
        event = stream_of(memory).record()
    except BaseException as error:
        note_left_context(error, Context_leave(is_entered))
        raise
    LEAVE_RETURN(cydriver.CUresult.CUDA_SUCCESS, NULL, Context_leave(is_entered))
    Stream_wrap(<cydriver.CUstream><uintptr_t>consumer, None).wait(event)
    return 0


# Exports the memory, so that other processes can open it.
cdef int Buffer_share(Buffer self) except -1:
    cdef object mr = self.memory_resource
    self._check_open()
    if self._is_slice:
        raise UnavailableError("it is a sub-buffer, and only whole buffers can be shared between processes")
    if mr is None:
        raise UnavailableError("it wraps memory that was not allocated by a resource with ipc_enabled")
    Buffer_set_descriptor(self, mr, (<CMemoryResource>mr)._export(self))
    return 0


# Both fields stay set when the buffer is closed.
cdef void Buffer_set_descriptor(Buffer self, object mr, object descriptor) noexcept:
    # If two threads export at the same time, the first descriptor is kept, because a caller might have read it.
    with cython.critical_section(self):
        if self._ipc_descriptor is None:
            self._ipc_resource = mr
            self._ipc_descriptor = descriptor


# Exports a shared buffer before it is closed, if its memory has other references: a queue might pickle it later.
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


# --- Slices ------------------------------------------------------------------------------------------

cdef class SubBuffers:
    """The sub-buffers of one buffer, as weak references, because each sub-buffer keeps the buffer alive.

    It closes the sub-buffers with their parent, so that a sub-buffer need not check whether its parent is open. The
    lifetime of the memory does not depend on it: each sub-buffer keeps the allocation itself.
    """

    def __cinit__(self):
        self._references = {}

    cdef int add(self, DriverObject part) except -1:
        self._references[<uintptr_t><void*>part] = PyWeakref_NewRef(part, None)
        return 0

    cdef void remove(self, DriverObject part) noexcept:
        self._references.pop(<uintptr_t><void*>part, None)

    cdef void close(self) noexcept:
        cdef object part
        while self._references:
            try:
                part = self._references.popitem()[1]()
            except KeyError:    # another thread has removed the last one
                return
            if part is not None:
                (<DriverObject>part)._release()


cdef int Buffer_cut(Buffer self, object key, Buffer part) except -1:
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t stop = 0
    cdef AllocationPin memory
    cdef AllocationPin all_memory
    cdef AllocationHandle h_part
    cdef object resource
    cdef Buffer whole
    with cython.critical_section(self):
        whole = <Buffer>self._owner if self._is_slice and self._owner is not None else self
        resource = self._memory_resource
    read_bounds(key, &start, &stop)
    # Register the slice with its parent before checking that the parent is open, so that it is closed with the parent
    # at any moment.
    with cython.critical_section(whole):
        if whole._slices is None:
            whole._slices = SubBuffers()
    whole._slices.add(part)
    part._is_slice = True
    part._owner = whole
    Buffer_pin(self, &memory)
    Buffer_pin(whole, &all_memory)
    narrow(memory.value(), start, stop, all_memory.anchor(), &h_part)
    part._h_allocation.set(h_part)
    part._memory_resource = resource
    part._is_mapped = self._is_mapped
    part._is_readonly = self._is_readonly
    Buffer_update_members(part)
    return 0


cdef void Buffer_leave(Buffer self) noexcept:
    cdef Buffer whole = <Buffer>owner_of(self)
    # A garbage collection may have cleared either of them.
    if whole is not None and whole._slices is not None:
        whole._slices.remove(self)


cdef int read_bounds(object key, Py_ssize_t* start, Py_ssize_t* stop) except -1:
    cdef Py_ssize_t step = 1
    if not PySlice_Check(key):
        raise TypeError(f"a Buffer index must be a slice, such as buffer[16:32], not {type(key).__name__}")
    PySlice_Unpack(key, start, stop, &step)
    if step != 1:
        raise ValueError(f"the step of a Buffer slice must be 1, not {step}")
    return 0


cdef int narrow(
    const Allocation& whole, Py_ssize_t start, Py_ssize_t stop, const Anchor& anchor, AllocationHandle* h_part
) except -1:
    cdef Py_ssize_t size = PySlice_AdjustIndices(<Py_ssize_t>whole.size, &start, &stop, 1)
    return borrow(whole.pointer + start, <size_t>size, anchor, h_part)


# --- State that closing changes ----------------------------------------------------------------------

cdef int Buffer_check_unexported(Buffer self) except -1:
    if self._export_count != 0:
        raise BufferError(
            f"this Buffer cannot be closed, because {self._export_count} memoryviews or arrays of its memory exist; "
            "release them first"
        )
    return 0


# A view of a sub-buffer also blocks closing its parent.
cdef void count_exports(Buffer self, int step) noexcept:
    cdef Buffer whole = <Buffer>owner_of(self) if self._is_slice else None
    with cython.critical_section(self):
        self._export_count += step
    if whole is not None:
        with cython.critical_section(whole):
            whole._export_count += step


# Closing clears these two fields, so they are read in a critical section.
cdef object resource_of(Buffer self):
    with cython.critical_section(self):
        return self._memory_resource


cdef object owner_of(Buffer self):
    with cython.critical_section(self):
        return self._owner


cdef int Buffer_raise_readonly(Buffer self, str name) except -1:
    raise TypeError(f"{name} must be writable, but is registered as read-only")


# Copies a buffer. The graph of a captured copy keeps host memory. The memory resource says what that is, because the
# driver does not know the memory that a graph allocates, and takes it for pageable memory.
cdef int copy_buffers(
    Buffer dst, const AllocationPin& target, Buffer src, const AllocationPin& source, const StreamHandle& h_stream,
    object options,
) except -1:
    if is_captured(h_stream):
        if src.is_host_accessible:
            captured_operands().keep(h_stream, source.anchor())
        if dst.is_host_accessible:
            captured_operands().keep(h_stream, target.anchor())
    return copy_memory(target, source, h_stream, options)


# Returns the memory resource, and keeps the memory of the parent, because the address of an empty slice might be past
# the end of the allocation, where the driver does not track it.
cdef object Buffer_pin_whole(Buffer self, AllocationPin* pin):
    with cython.critical_section(self):
        owner = self._owner if self._is_slice else None
        resource = self._memory_resource
    Buffer_pin(self if owner is None else <Buffer>owner, pin)
    return resource


# `handle` and `size` are read in loops, where a property getter is slow. So their values are stored as Python objects,
# and exposed as members.
cdef int Buffer_update_members(Buffer self) except -1:
    cdef AllocationPin memory
    cdef bint is_open = memory.hold(self._h_allocation)
    cdef object handle = memory.value().pointer if is_open else 0
    cdef object size = memory.value().size if is_open else 0
    cdef PyObject* old_handle
    cdef PyObject* old_size
    Py_INCREF(handle)
    Py_INCREF(size)
    # The interpreter also reads members in a critical section.
    with cython.critical_section(self):
        old_handle, self._handle_object = self._handle_object, <PyObject*>handle
        old_size, self._size_object = self._size_object, <PyObject*>size
    Py_XDECREF(old_handle)
    Py_XDECREF(old_size)
    return 0


cdef int add_members() except -1:
    cdef Buffer sample = Buffer.__new__(Buffer)
    cdef char* start = <char*><void*>sample
    add_member(Buffer, "handle", <char*>&sample._handle_object - start)
    add_member(Buffer, "size", <char*>&sample._size_object - start)
    return 0


def _rebuild_buffer(cls, mr, descriptor):
    # A pickle has no stream of this process, so the mapping is freed on the default stream.
    Context_require(max(mr.device_id, 0))
    return cls.from_ipc_descriptor(mr, descriptor, stream=default_stream())


def __getattr__(name):
    # Resolved on first access, because it imports the driver module of the bindings.
    if name == "DevicePointerType":
        return aliases.DevicePointerType
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


cdef class ArrayAccess:
    cdef int copy_to_array(
        self, object array, const Allocation& source, const StreamHandle& h_stream, object options
    ) except -1:
        raise NotImplementedError

    cdef int copy_from_array(
        self, const Allocation& target, object array, const StreamHandle& h_stream, object options
    ) except -1:
        raise NotImplementedError

    cdef bint is_array(self, object obj) except -1:
        raise NotImplementedError

    cdef bint is_known_class(self, object cls) except -1:
        raise NotImplementedError

    cdef int read_argument(self, object array, ArrayArgument* argument) except -1:
        raise NotImplementedError


# Fetched on first use, which imports the module, because most programs pass no arrays from other libraries.
cdef ArrayAccess _array_access = None


cdef ArrayAccess array_access():
    global _array_access
    if _array_access is None:
        _array_access = slots.get("arrays")
    return _array_access


add_members()
explain_other_names(Buffer)
check_self_in_methods(globals())

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory without a pool: page-locked, registered, virtual, and allocated synchronously."""

from __future__ import annotations

from libc.stdint cimport uintptr_t
from libc.string cimport memcpy
from libcpp.atomic cimport atomic
from libcpp cimport bool as cpp_bool
from libcpp.utility cimport move, pair
from libcpp.vector cimport vector

from cpython.buffer cimport (
    PyBUF_STRIDED_RO,
    PyBuffer_IsContiguous,
    PyBuffer_Release,
    PyObject_CheckBuffer,
    PyObject_GetBuffer,
)
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF

from cuda.core._context cimport (
    Context_current,
    Context_enter,
    Context_enter_to_release,
    Context_leave,
    Context_leave_to_release,
    Context_primary,
)
from cuda.core._memory._buffer cimport Buffer, Buffer_create, Buffer_pin
from cuda.core._memory._memory_resource cimport (
    MemoryResource,
    freed_address,
    own_by_resource,
    prepare,
    size_argument,
)
from cuda.core._native._cuda_core cimport (
    Allocation,
    AllocationHandle,
    AllocationPin,
    Anchor,
    CaptureModeScope,
    ContextHandle,
    Handle,
    HandleField,
    Pin,
    StreamHandle,
    StreamPin,
    captures_in_progress,
    limit_backlog,
    relax_capture_mode,
    retire,
    wait_for_retired,
)
from cuda.core._native._device_wait cimport call_once, release_interruptibly, wait_for_context
from cuda.core._stream cimport Stream, Stream_accept, Stream_pin, is_default
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport call_with_interpreter
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, LEAVE_RETURN, WARN_RETURN, init_driver, note_left_context

from cuda.core._memory._buffer import Buffer
from cuda.core._memory._copies import holds_objects
from cuda.core._utils.cuda_utils import UnavailableError
from cuda.core._utils.cuda_utils import CUDAError

__all__ = [
    "LegacyPinnedMemoryResource",
    "Multicast",
    "VirtualMemory",
    "allocate_host_with_flags",
    "allocate_managed",
    "allocate_pitched",
    "call_with_memory",
    "check_not_capturing",
    "free_virtual_memory",
    "open_shared_memory",
    "register_host_memory",
    "virtual_memory_of",
    "wait_before_free",
]


class _SynchronousAllocator(MemoryResource):
    """Base of resources that allocate synchronously. A subclass defines ``_free``."""

    _needs_stream = False
    _waits_to_free = True
    _buffer_class = Buffer
    # Whether deallocate() synchronizes its stream. Otherwise the driver call that frees waits for the device itself.
    _synchronizes = True

    def deallocate(self, ptr: DevicePointerType, size: int, *, stream: Stream | GraphBuilder | None = None) -> None:
        """Synchronize ``stream`` if one is given, and free memory (``cuMemFreeHost``, ``cuMemFree``, ``cuMemUnmap``).

        Parameters
        ----------
        ptr : int | driver.CUdeviceptr
            The address of the memory. 0 has no effect.
        size : int
            The size in bytes, which only virtual memory needs.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            The stream to synchronize first.

        Raises
        ------
        CUDAError
            If work in the stream failed. The memory is freed even then.
        """
        cdef cydriver.CUdeviceptr address
        if stream is not None:
            stream = Stream_accept(stream)
        address = freed_address(ptr)
        if address == 0:
            return
        try:
            if stream is not None and self._synchronizes:
                stream.sync()
        finally:
            self._free(address, size)

    _own_deallocate = deallocate


class LegacyPinnedMemoryResource(_SynchronousAllocator):
    """Allocates page-locked host memory synchronously (``cuMemAllocHost``). All devices can access it.

    Examples
    --------
    >>> import numpy as np
    >>> from cuda.core import Device, LegacyPinnedMemoryResource
    >>> Device().set_current()
    >>> buffer = LegacyPinnedMemoryResource().allocate(16)
    >>> array = np.asarray(buffer).view(np.float32)  # the same memory
    >>> array[:] = 1
    >>> buffer.is_host_accessible, buffer.is_device_accessible
    (True, True)
    """

    _accessible_by = ("device", "host")

    def __repr__(self):
        return f"<{type(self).__name__} of the host>"

    def allocate(self, size: int, *, stream: Stream | GraphBuilder | None = None) -> Buffer:
        """Allocate page-locked host memory (``cuMemAllocHost``). A context must be current.

        Parameters
        ----------
        size : int
            The size in bytes. A buffer of 0 bytes has the address 0.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            Accepted for compatibility with other resources; the allocation is synchronous.

        Returns
        -------
        :class:`Buffer`
            The allocated memory, uninitialized.

        Raises
        ------
        OutOfMemoryError
            If there is not enough memory.
        TypeError
            If ``size`` is not an integer, or ``stream`` not a stream.
        OverflowError
            If ``size`` is negative or too large.
        CUDAError
            If no context is current.
        """
        cdef Request request
        request.size = size_argument(size)
        if stream is not None:
            Stream_accept(stream)
        return allocate(self, None, &allocate_host, b"cuMemAllocHost", request)

    def _free(self, address: int, size: int) -> None:
        free_pinned(address)

    @property
    def device_id(self) -> int:
        """-1, because host memory is not tied to a device."""
        return -1


class _SynchronousMemoryResource(_SynchronousAllocator):
    """Allocates device memory synchronously, for devices without memory pools (``cuMemAlloc``, ``cuMemFree``)."""

    _accessible_by = ("device",)

    def __init__(self, device_id):
        self._device_id = int(getattr(device_id, "device_id", device_id))

    def __repr__(self):
        return f"<{type(self).__name__} of device {self._device_id}>"

    def allocate(self, size: int, *, stream: Stream | GraphBuilder | None = None) -> Buffer:
        """Allocate device memory (``cuMemAlloc``), which is freed after ``stream`` has been synchronized."""
        cdef Request request
        request.size = size_argument(size)
        if request.size != 0:
            Context_primary(self._device_id, &request.h_context)
        return allocate(self, stream, &allocate_device, b"cuMemAlloc", request)

    def _free(self, address: int, size: int) -> None:
        free_device(address, self._device_id)

    @property
    def device_id(self) -> int:
        """The ordinal of the device."""
        return self._device_id


def register_host_memory(
    array, *, portable: bool = True, mapped: bool = True, read_only: bool = False, io_memory: bool = False
) -> Buffer:
    """Page-lock the memory of an existing array until the returned buffer is closed (``cuMemHostRegister``).

    Copies between page-locked memory and a device are faster, and asynchronous. The array stays usable; the buffer can
    also be passed to kernels. A context must be current.

    Closing the buffer unregisters the memory (``cuMemHostUnregister``). It first synchronizes the stream that was
    passed to :meth:`Buffer.close` or :meth:`Buffer.set_deallocation_stream`, or the context if there is none; the
    driver may wait for more.

    Parameters
    ----------
    array : object
        Contiguous host memory with the buffer protocol, such as a NumPy array. The buffer keeps it alive, and is
        read-only if the array is.
    portable : bool, optional
        Whether the memory is page-locked for all contexts (``CU_MEMHOSTREGISTER_PORTABLE``). Default is True.
    mapped : bool, optional
        Whether the memory is mapped, so that kernels can access it (``CU_MEMHOSTREGISTER_DEVICEMAP``). Default is True.
    read_only : bool, optional
        Whether devices only read the memory (``CU_MEMHOSTREGISTER_READ_ONLY``). Required for pages without write
        permission; see ``properties.read_only_host_register_supported``. The buffer is then read-only. Default is
        False.
    io_memory : bool, optional
        Whether the memory is memory-mapped I/O space of another device (``CU_MEMHOSTREGISTER_IOMEMORY``). Default is
        False.

    Returns
    -------
    :class:`Buffer`
        The registered memory. Its ``owner`` is the array. If the device address differs from the host address, the
        buffer has the device address, and the host can access the memory only through the array.

    Raises
    ------
    TypeError
        If ``array`` is not host memory, its elements refer to Python objects, or an option is not a bool.
    ValueError
        If ``array`` is not contiguous, or empty.
    CUDAError
        If no context is current, part of the memory is already registered, or the driver rejects it.

    Examples
    --------
    >>> import numpy as np
    >>> from cuda.core import Device, register_host_memory
    >>> device = Device()
    >>> device.set_current()
    >>> array = np.arange(1024, dtype=np.float32)
    >>> with register_host_memory(array) as buffer:
    ...     clone = device.allocate(array.nbytes, stream=device.default_stream)
    ...     clone.copy_from(buffer, stream=device.default_stream)
    ...     device.default_stream.sync()
    """
    cdef HostRegistration self = HostRegistration.__new__(HostRegistration)
    cdef AllocationHandle h_allocation
    cdef Buffer buffer
    cdef unsigned int c_flags = (
        flag(portable, "portable", cydriver.CU_MEMHOSTREGISTER_PORTABLE)
        | flag(mapped, "mapped", cydriver.CU_MEMHOSTREGISTER_DEVICEMAP)
        | flag(read_only, "read_only", cydriver.CU_MEMHOSTREGISTER_READ_ONLY)
        | flag(io_memory, "io_memory", cydriver.CU_MEMHOSTREGISTER_IOMEMORY)
    )
    HostRegistration_open(self, array)
    HostRegistration_create(self, c_flags, &h_allocation)
    buffer = Buffer_create(Buffer, h_allocation, self, array)
    buffer._is_readonly = self._view.readonly or read_only
    return buffer


def wait_before_free(device_id: int) -> None:
    """Wait for all work of a device (``cuCtxSynchronize``), unless that would invalidate a capture in progress.

    Errors of the work are not raised here, because the next driver call reports them.
    """
    cdef ContextHandle h_context
    cdef CaptureModeScope mode
    cdef int is_entered = 0
    if captures_in_progress.load() != 0:
        return
    Context_primary(device_id, &h_context)
    is_entered = Context_enter(h_context.get())
    try:
        with nogil:
            # Another library might be capturing.
            if relax_capture_mode(mode):
                wait_for_context(h_context)
    except CUDAError:
        pass
    finally:
        Context_leave_to_release(is_entered)


def allocate_host_with_flags(resource: MemoryResource, size: int, flags: int, stream=None) -> Buffer:
    """Allocate page-locked host memory with flags (``cuMemHostAlloc``). ``resource`` frees it."""
    cdef Request request
    request.size = size_argument(size)
    request.flags = flags
    return allocate(resource, stream, &call_host_alloc, b"cuMemHostAlloc", request)


def allocate_managed(resource: MemoryResource, size: int, flags: int, stream=None) -> Buffer:
    """Allocate managed memory in the current context (``cuMemAllocManaged``). ``resource`` frees it."""
    cdef Request request
    request.size = size_argument(size)
    request.flags = flags
    return allocate(resource, stream, &call_alloc_managed, b"cuMemAllocManaged", request)


def allocate_pitched(
    resource: MemoryResource, width: int, height: int, access_size: int, stream=None
) -> tuple[Buffer, int]:
    """Allocate rows of device memory, and return the memory and its pitch (``cuMemAllocPitch``)."""
    cdef Request request
    request.width, request.size, request.flags = width, height, access_size
    memory = allocate(resource, stream, &call_alloc_pitch, b"cuMemAllocPitch", request)
    return memory, request.pitch


def open_shared_memory(handle: bytes, flags: int, stream) -> Buffer:
    """Open memory of another process (``cuIpcOpenMemHandle``).

    Closing the buffer closes the memory (``cuIpcCloseMemHandle``).
    """
    cdef Request request
    memcpy(&request.handle, <const char*>handle, sizeof(request.handle))
    request.size = 1    # unknown
    request.flags = flags
    return allocate(_shared_memory, stream, &call_open_handle, b"cuIpcOpenMemHandle", request)


class _SharedMemoryResource(_SynchronousAllocator):
    """Closes memory that was opened by its IPC handle."""

    _accessible_by = ("device",)
    _waits_to_free = False
    _synchronizes = False

    def _free(self, address: int, size: int) -> None:
        cdef cydriver.CUdeviceptr c_pointer = address
        with nogil:
            HANDLE_RETURN(cydriver.cuIpcCloseMemHandle(c_pointer), b"cuIpcCloseMemHandle")


_shared_memory = _SharedMemoryResource()


# The arguments and the results of a driver call that allocates.
cdef cppclass Request:
    size_t size                 # 0 makes no call; of pitched memory, the number of rows until the call returns
    size_t width
    unsigned int flags
    cydriver.CUipcMemHandle handle
    ContextHandle h_context     # to make current during the call, if any
    cydriver.CUdeviceptr pointer
    size_t pitch

    __init__():
        this.size = this.width = this.pitch = 0
        this.flags = 0
        this.pointer = 0


ctypedef cydriver.CUresult (*Allocate)(Request& request) noexcept nogil


# The driver call and the ownership of its result are one native step: Python code, which an exception of a signal
# handler can interrupt, only runs before the call.
cdef Buffer allocate(object resource, object stream, Allocate call, const char* api, Request& request):
    cdef Allocation value
    cdef AllocationHandle h_allocation
    cdef StreamPin stream_pin
    cdef cydriver.CUresult err
    cdef cydriver.CUresult left = cydriver.CUresult.CUDA_SUCCESS
    cdef type cls = resource._buffer_class
    cdef bint waits
    cdef int is_entered = 0
    if stream is not None:
        Stream_pin(Stream_accept(stream), &stream_pin)
    if request.size != 0 and not request.h_context:
        check_context(api)
    waits = prepare(resource, stream_pin.handle(), request.size != 0, value)
    if request.size != 0:
        try:
            with nogil:
                is_entered = Context_enter(request.h_context.get())
                limit_backlog()
                err = call(request)
                if err == cydriver.CUresult.CUDA_ERROR_OUT_OF_MEMORY and wait_for_retired():
                    err = call(request)
                HANDLE_RETURN(err, api)  # in the context, because the error contains its free memory
        except BaseException as error:
            note_left_context(error, Context_leave(is_entered))
            raise
        left = Context_leave(is_entered)
    value.pointer = request.pointer
    value.size = request.size
    own_by_resource(value, waits, &h_allocation)
    LEAVE_RETURN(cydriver.CUresult.CUDA_SUCCESS, NULL, left)
    return Buffer_create(cls, h_allocation, resource, None)


# Raises the driver's error if no context is current.
cdef int check_context(const char* api) except -1:
    cdef ContextHandle h_context
    init_driver()
    Context_current(&h_context)
    if not h_context:
        HANDLE_RETURN(cydriver.CUresult.CUDA_ERROR_INVALID_CONTEXT, api)
    return 0


cdef cydriver.CUresult allocate_device(Request& request) noexcept nogil:
    return cydriver.cuMemAlloc(&request.pointer, request.size)


cdef cydriver.CUresult allocate_host(Request& request) noexcept nogil:
    return cydriver.cuMemAllocHost(<void**>&request.pointer, request.size)


cdef cydriver.CUresult call_host_alloc(Request& request) noexcept nogil:
    return cydriver.cuMemHostAlloc(<void**>&request.pointer, request.size, request.flags)


cdef cydriver.CUresult call_alloc_managed(Request& request) noexcept nogil:
    return cydriver.cuMemAllocManaged(&request.pointer, request.size, request.flags)


cdef cydriver.CUresult call_alloc_pitch(Request& request) noexcept nogil:
    cdef cydriver.CUresult err = cydriver.cuMemAllocPitch(
        &request.pointer, &request.pitch, request.width, request.size, request.flags
    )
    if err == cydriver.CUresult.CUDA_SUCCESS:
        (&request).size *= request.pitch
    return err


cdef cydriver.CUresult call_open_handle(Request& request) noexcept nogil:
    return cydriver.cuIpcOpenMemHandle(&request.pointer, request.handle, request.flags)


cdef int free_device(cydriver.CUdeviceptr c_pointer, int device_id) except -1:
    cdef ContextHandle h_context
    cdef int is_entered = 0
    try:
        Context_primary(device_id, &h_context)
        is_entered = Context_enter(h_context.get())
    finally:
        # Free the memory even if its context could not be made current: the driver identifies it by its address.
        try:
            with nogil:
                HANDLE_RETURN(call_once(&free_memory, c_pointer, release_interruptibly, b"cuMemFree"), b"cuMemFree")
        finally:
            Context_leave_to_release(is_entered)
    return 0


cdef int free_pinned(cydriver.CUdeviceptr c_pointer) except -1:
    with nogil:
        HANDLE_RETURN(
            call_once(&free_host_memory, <void*>c_pointer, release_interruptibly, b"cuMemFreeHost"), b"cuMemFreeHost"
        )
    return 0


cdef cydriver.CUresult free_memory(cydriver.CUdeviceptr c_pointer) noexcept nogil:
    return cydriver.cuMemFree(c_pointer)


cdef cydriver.CUresult free_host_memory(void* c_pointer) noexcept nogil:
    return cydriver.cuMemFreeHost(c_pointer)


# --- Registration of host memory ---------------------------------------------------------------------

cdef class HostRegistration(MemoryResource):
    """The registration of one array, and the memory resource of its buffer."""

    cdef:
        Py_buffer _view
        bint _has_view
        bint _is_mapped
        bint _has_device_address    # the device address differs from the host address
        ContextHandle _h_context    # set once

    def __dealloc__(self):
        if self._has_view:
            PyBuffer_Release(&self._view)

    def allocate(self, size: int, *, stream: Stream | GraphBuilder | None = None) -> Buffer:
        """Raise RuntimeError, because the memory belongs to the array."""
        raise RuntimeError("a registration of host memory cannot allocate; pass dst to copy_to()")

    @property
    def is_device_accessible(self) -> bool:
        """Whether the memory is mapped, so that devices can access it."""
        return self._is_mapped

    @property
    def is_host_accessible(self) -> bool:
        """Whether the host can access the memory at the address of the buffer."""
        return not self._has_device_address

    @property
    def device_id(self) -> int:
        """Raises RuntimeError, because host memory is not tied to a device."""
        raise UnavailableError("registered host memory belongs to no device, so it has no device_id")


cdef unsigned int flag(object value, str name, unsigned int c_flag) except? 0:
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be a bool, not {type(value).__name__}")
    return c_flag if value else 0


cdef int HostRegistration_open(HostRegistration self, object array) except -1:
    if not PyObject_CheckBuffer(array):
        raise TypeError(
            f"array must be host memory with the buffer protocol, such as a NumPy array, "
            f"not {type(array).__name__}"
        )
    try:
        PyObject_GetBuffer(array, &self._view, PyBUF_STRIDED_RO)
    except (BufferError, ValueError) as error:
        raise TypeError(f"array must be host memory: {error}") from error
    self._has_view = True
    if holds_objects(array, b"" if self._view.format == NULL else self._view.format):
        raise TypeError("array must have elements of plain data, not references to Python objects")
    if not PyBuffer_IsContiguous(&self._view, c"A"):
        raise ValueError("array must be contiguous; register the array that this is a view of")
    if self._view.len == 0:
        raise ValueError("array must not be empty")
    return 0


# The data for unregistering, which may be deferred to another thread.
cdef cppclass Registered:
    PyObject* resource
    void* address
    StreamHandle h_stream
    ContextHandle h_context
    Anchor anchor


cdef int HostRegistration_create(
    HostRegistration self, unsigned int c_flags, AllocationHandle* h_allocation
) except -1:
    cdef Allocation value
    cdef Anchor anchor = Anchor.of_object(<PyObject*>self)
    cdef cydriver.CUdeviceptr pointer = 0
    cdef cydriver.CUresult err
    value.pointer = <uintptr_t>self._view.buf
    value.size = self._view.len
    value.resource = <PyObject*>self
    Context_current(&self._h_context)
    with nogil:
        limit_backlog()
        err = cydriver.cuMemHostRegister(self._view.buf, value.size, c_flags)
        # An earlier registration might still wait to be unregistered.
        if err == cydriver.CUresult.CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED and wait_for_retired():
            err = cydriver.cuMemHostRegister(self._view.buf, value.size, c_flags)
        HANDLE_RETURN(err, b"cuMemHostRegister")
    h_allocation[0] = AllocationHandle.own_with_wait(move(value), &HostRegistration_destroy, move(anchor))
    self._is_mapped = c_flags & cydriver.CU_MEMHOSTREGISTER_DEVICEMAP != 0
    if self._is_mapped:
        HANDLE_RETURN(
            cydriver.cuMemHostGetDevicePointer(&pointer, self._view.buf, 0), b"cuMemHostGetDevicePointer"
        )
        self._has_device_address = pointer != h_allocation.value().pointer
        (&h_allocation.value()).pointer = pointer
    return 0


cdef void HostRegistration_destroy(Allocation value, cpp_bool may_wait) noexcept nogil:
    cdef Registered registered
    registered.resource = value.resource
    registered.h_stream = value.h_stream
    registered.h_context = value.h_context
    call_with_interpreter(&read_registration, registered)
    if registered.anchor.object() != NULL:  # NULL if the interpreter is exiting
        end_registration(registered, may_wait)


cdef void read_registration(Registered& value) noexcept:
    cdef HostRegistration self = <HostRegistration>value.resource
    (&value).address = self._view.buf
    if not value.h_context:
        (&value).h_context = self._h_context
    (&value).anchor = Anchor.of_object(value.resource)


cdef void end_retired_registration(Registered registered) noexcept nogil:
    end_registration(registered, False)


cdef void end_registration(Registered registered, bint may_wait) noexcept nogil:
    if may_wait or not retire(registered, &end_retired_registration, Anchor()):
        call_once(&unregister, registered, release_interruptibly, b"cuMemHostUnregister")


# If one call fails, the next is made anyway, because the right context might already be current.
cdef cydriver.CUresult unregister(Registered value) noexcept nogil:
    cdef cydriver.CUcontext c_context = NULL
    cdef cydriver.CUresult err = cydriver.cuCtxPushCurrent(value.h_context.get())
    cdef bint is_entered = err == cydriver.CUresult.CUDA_SUCCESS
    cdef CaptureModeScope mode
    WARN_RETURN(err, b"cuCtxPushCurrent", value.h_context.get())
    relax_capture_mode(mode)
    if value.h_stream:
        WARN_RETURN(cydriver.cuStreamSynchronize(value.h_stream.get()), b"cuStreamSynchronize", value.h_stream.get())
    err = cydriver.cuMemHostUnregister(value.address)
    mode.end()
    if is_entered:
        WARN_RETURN(cydriver.cuCtxPopCurrent(&c_context), b"cuCtxPopCurrent", value.h_context.get())
    if err != cydriver.CUresult.CUDA_SUCCESS:
        WARN_RETURN(err, b"cuMemHostUnregister", value.address)
        # Devices may still access the memory, so it must never be freed.
        call_with_interpreter(&leak_registration, value)
    return cydriver.CUresult.CUDA_SUCCESS  # the warning has reported it


cdef void leak_registration(Registered& value) noexcept:
    Py_INCREF(<object>value.anchor.object())


# --- Virtual memory ------------------------------------------------------------------------------------

ctypedef pair[cydriver.CUdeviceptr, size_t] Range   # address and size in bytes


# In ascending order.
cdef cppclass Ranges:
    vector[Range] reserved
    vector[Range] mapped
    Ranges* base            # those before these, which have at least as many users; NULL if these are the first
    atomic[int] users       # buffers that are not yet closed


ctypedef Ranges* RangesPointer
ctypedef Handle[RangesPointer] RangesHandle
ctypedef cydriver.CUmemGenericAllocationHandle MulticastMemory
ctypedef Handle[MulticastMemory] MulticastHandle
ctypedef HandleField[MulticastMemory] MulticastField
ctypedef Pin[MulticastMemory] MulticastPin


cdef class VirtualMemory:
    """Reserved address ranges and the physical memory mapped there, released with the last reference.

    If ``base`` is given, the ranges continue that memory, which they keep.

    Each method is one native step, so an exception of a signal handler cannot come between a driver call and the
    ownership of its result.
    """

    cdef RangesHandle _h_ranges     # set once
    cdef VirtualMemory _base        # the memory before these ranges, or None

    def __cinit__(self, VirtualMemory base=None):
        cdef Anchor anchor
        cdef Ranges* ranges = new Ranges()
        ranges.base = NULL
        ranges.users.store(0)
        if base is not None:
            anchor = base._h_ranges.anchor()
            ranges.base = base._h_ranges.get()
        self._base = base
        self._h_ranges = RangesHandle.own(ranges, &destroy_ranges, anchor)

    def reserve(self, size_t size, size_t align, cydriver.CUdeviceptr hint) -> int:
        """Reserve an address range (``cuMemAddressReserve``), and return its address."""
        cdef Ranges* ranges = self._h_ranges.get()
        cdef cydriver.CUdeviceptr pointer = 0
        make_room(ranges.reserved)
        with nogil:
            HANDLE_RETURN(cydriver.cuMemAddressReserve(&pointer, size, align, hint, 0), b"cuMemAddressReserve")
        ranges.reserved.push_back(Range(pointer, size))
        return pointer

    def back(self, cydriver.CUdeviceptr pointer, size_t size, uintptr_t properties) -> None:
        """Create physical memory, and map it in a reserved range (``cuMemCreate``, ``cuMemMap``).

        Parameters
        ----------
        pointer, size : int
            The address and the size in bytes.
        properties : int
            The address of a ``CUmemAllocationProp``.
        """
        cdef cydriver.CUmemGenericAllocationHandle memory
        make_room(self._h_ranges.get().mapped)
        with nogil:
            HANDLE_RETURN(
                cydriver.cuMemCreate(&memory, size, <cydriver.CUmemAllocationProp*>properties, 0), b"cuMemCreate"
            )
        map_memory(self._h_ranges.get(), pointer, size, memory)

    def share(self, cydriver.CUdeviceptr pointer, size_t size, cydriver.CUdeviceptr mapped) -> None:
        """Map memory that is already mapped at another address (``cuMemRetainAllocationHandle``, ``cuMemMap``)."""
        cdef cydriver.CUmemGenericAllocationHandle memory
        make_room(self._h_ranges.get().mapped)
        with nogil:
            HANDLE_RETURN(
                cydriver.cuMemRetainAllocationHandle(&memory, <void*>mapped), b"cuMemRetainAllocationHandle"
            )
        map_memory(self._h_ranges.get(), pointer, size, memory)

    def open(self, cydriver.CUdeviceptr pointer, size_t size, exported: int | bytes, int kind) -> None:
        """Map memory that another process exported (``cuMemImportFromShareableHandle``, ``cuMemMap``).

        Parameters
        ----------
        pointer, size : int
            The address and the size in bytes.
        exported : int | bytes
            A file descriptor, or a fabric handle.
        kind : int
            The ``CUmemAllocationHandleType``.
        """
        cdef cydriver.CUmemGenericAllocationHandle memory
        cdef uintptr_t source = <uintptr_t><char*>exported if isinstance(exported, bytes) else exported
        make_room(self._h_ranges.get().mapped)
        with nogil:
            HANDLE_RETURN(
                cydriver.cuMemImportFromShareableHandle(
                    &memory, <void*>source, <cydriver.CUmemAllocationHandleType>kind
                ),
                b"cuMemImportFromShareableHandle",
            )
        map_memory(self._h_ranges.get(), pointer, size, memory)

    def make_buffer(self, type cls, resource: MemoryResource, stream, size_t opened=0) -> Buffer:
        """Return a buffer of the mapped memory, which releases it when it is closed.

        For memory of another process, ``opened`` is the size of the buffer, at most that of the memory.
        """
        cdef Allocation value
        cdef AllocationHandle h_allocation
        cdef Anchor anchor = Anchor.of_object(<PyObject*>self)
        cdef StreamPin stream_pin
        cdef Buffer buffer
        if stream is not None:
            Stream_pin(Stream_accept(stream), &stream_pin)
        prepare(resource, stream_pin.handle(), True, value)
        value.resource = <PyObject*>self
        value.pointer, _ = self.pieces[0]
        value.size = opened or self.size
        add_users(self._h_ranges.get())
        h_allocation = AllocationHandle.own_with_wait(move(value), &VirtualMemory_destroy, move(anchor))
        buffer = Buffer_create(cls, h_allocation, resource, None)
        buffer._is_mapped = opened != 0
        return buffer

    @property
    def size(self) -> int:
        """The size of the mapped memory in bytes."""
        return size_of(self._h_ranges.get()) + (0 if self._base is None else self._base.size)

    @property
    def pieces(self) -> list[tuple[int, int]]:
        """The address and the size in bytes of each piece of mapped memory."""
        cdef Ranges* ranges = self._h_ranges.get()
        cdef size_t i
        mine = [(ranges.mapped[i].first, ranges.mapped[i].second) for i in range(ranges.mapped.size())]
        return mine if self._base is None else self._base.pieces + mine


cdef class Multicast:
    """Owns a multicast object of the driver (``cuMulticastCreate``). Each method raises if it is closed.

    Parameters
    ----------
    properties : int
        The address of a ``CUmulticastObjectProp``.
    """

    cdef MulticastField _h_multicast

    def __init__(self, uintptr_t properties):
        cdef MulticastMemory memory
        with nogil:
            HANDLE_RETURN(
                cydriver.cuMulticastCreate(&memory, <cydriver.CUmulticastObjectProp*>properties), b"cuMulticastCreate"
            )
        self._h_multicast.set(MulticastHandle.own(memory, &release_multicast, Anchor()))

    def add_device(self, int device_id) -> None:
        """Add a device to the team (``cuMulticastAddDevice``)."""
        cdef MulticastPin pin
        Multicast_pin(self, &pin)
        with nogil:
            HANDLE_RETURN(cydriver.cuMulticastAddDevice(pin.get(), device_id), b"cuMulticastAddDevice")

    def bind(self, size_t offset, Buffer buffer not None) -> None:
        """Bind the memory of a buffer (``cuMulticastBindAddr``)."""
        cdef MulticastPin pin
        cdef AllocationPin memory
        Multicast_pin(self, &pin)
        Buffer_pin(buffer, &memory)
        with nogil:
            HANDLE_RETURN(
                cydriver.cuMulticastBindAddr(pin.get(), offset, memory.value().pointer, memory.value().size, 0),
                b"cuMulticastBindAddr",
            )

    def unbind(self, int device_id, size_t offset, size_t size) -> None:
        """Unbind memory of a device (``cuMulticastUnbind``)."""
        cdef MulticastPin pin
        Multicast_pin(self, &pin)
        with nogil:
            HANDLE_RETURN(cydriver.cuMulticastUnbind(pin.get(), device_id, offset, size), b"cuMulticastUnbind")

    def map(self, VirtualMemory memory not None, cydriver.CUdeviceptr pointer, size_t size) -> None:
        """Map the object in a reserved range (``cuMemMap``)."""
        cdef MulticastPin pin
        cdef Ranges* ranges = memory._h_ranges.get()
        Multicast_pin(self, &pin)
        make_room(ranges.mapped)
        with nogil:
            HANDLE_RETURN(cydriver.cuMemMap(pointer, size, 0, pin.get(), 0), b"cuMemMap")
        ranges.mapped.push_back(Range(pointer, size))

    def close(self) -> None:
        """Release the object, which stays mapped (``cuMemRelease``)."""
        self._h_multicast.close()

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return not self._h_multicast


cdef int Multicast_pin(Multicast self, MulticastPin* pin) except -1:
    if not pin.hold(self._h_multicast):
        raise UnavailableError("this MulticastObject is closed")
    return 0


cdef void release_multicast(MulticastMemory memory) noexcept nogil:
    WARN_RETURN(cydriver.cuMemRelease(memory), b"cuMemRelease", <void*><uintptr_t>memory)


def virtual_memory_of(Buffer buffer) -> VirtualMemory | None:
    """Return the memory of a buffer of :meth:`VirtualMemory.make_buffer`, or None for other buffers."""
    cdef AllocationPin memory
    Buffer_pin(buffer, &memory)
    if memory.value().resource == NULL or not isinstance(<object>memory.value().resource, VirtualMemory):
        return None
    return <object>memory.value().resource


def call_with_memory(Buffer buffer not None, function, *arguments):
    """Return ``function(*arguments)``. The memory of ``buffer`` is not released before it returns, even if closed."""
    cdef AllocationPin memory
    Buffer_pin(buffer, &memory)
    return function(*arguments)


def check_not_capturing(Stream stream) -> None:
    """Raise RuntimeError if a stream, which may be None, is capturing, unless it is a default stream."""
    cdef StreamPin pin
    cdef cydriver.CUresult err
    if stream is None:
        return
    Stream_pin(stream, &pin)
    # If the driver cannot tell, because the context is lost, releasing the memory warns.
    err = cydriver.CUresult.CUDA_SUCCESS if is_default(pin.handle()) else capture_error(pin.get())
    if err == cydriver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
        raise RuntimeError("stream must not be capturing, because closing virtual memory waits for its work")


def free_virtual_memory(resource, cydriver.CUdeviceptr address, size_t size) -> None:
    """Unmap one range that :class:`VirtualMemory` does not own, and free its addresses."""
    with nogil:
        HANDLE_RETURN(call_once(&free_range, Range(address, size), release_interruptibly, b"cuMemUnmap"), b"cuMemUnmap")


cdef cydriver.CUresult free_range(Range value) noexcept nogil:
    cdef cydriver.CUresult unmap_err = cydriver.cuMemUnmap(value.first, value.second)
    cdef cydriver.CUresult free_err = cydriver.cuMemAddressFree(value.first, value.second)
    return free_err if unmap_err == cydriver.CUresult.CUDA_SUCCESS else unmap_err


# Makes room for one more range, so that storing the result of a driver call cannot fail.
cdef int make_room(vector[Range]& ranges) except -1:
    ranges.reserve(ranges.size() + 1)
    return 0


cdef size_t size_of(const Ranges* ranges) noexcept nogil:
    cdef size_t size = 0
    cdef size_t i
    for i in range(ranges.mapped.size()):
        size += ranges.mapped[i].second
    return size


# Maps memory and releases its handle: the memory then exists as long as it is mapped.
cdef int map_memory(
    Ranges* ranges, cydriver.CUdeviceptr pointer, size_t size, cydriver.CUmemGenericAllocationHandle memory
) except -1:
    cdef cydriver.CUresult err
    cdef cydriver.CUresult release_err
    with nogil:
        err = cydriver.cuMemMap(pointer, size, 0, memory, 0)
        release_err = cydriver.cuMemRelease(memory)
    if err == cydriver.CUresult.CUDA_SUCCESS:
        ranges.mapped.push_back(Range(pointer, size))
    HANDLE_RETURN(err, b"cuMemMap")
    HANDLE_RETURN(release_err, b"cuMemRelease")
    return 0


cdef void add_users(Ranges* ranges) noexcept nogil:
    while ranges != NULL:
        ranges.users.fetch_add(1)
        ranges = ranges.base


# Releases what has no other users.
cdef void remove_users(Ranges* ranges) noexcept nogil:
    while ranges != NULL:
        if ranges.users.fetch_sub(1) == 1:
            release_ranges(ranges)
        ranges = ranges.base


cdef void destroy_ranges(Ranges* ranges) noexcept nogil:
    release_ranges(ranges)
    del ranges


# Goes on if a call fails, and warns of the first failure.
cdef void release_ranges(Ranges* ranges) noexcept nogil:
    cdef cydriver.CUresult unmap_err = cydriver.CUresult.CUDA_SUCCESS
    cdef cydriver.CUresult free_err = cydriver.CUresult.CUDA_SUCCESS
    cdef cydriver.CUresult err
    cdef uintptr_t still_mapped = 0
    cdef uintptr_t still_reserved = 0
    cdef size_t i
    for i in range(ranges.mapped.size()):
        err = cydriver.cuMemUnmap(ranges.mapped[i].first, ranges.mapped[i].second)
        if unmap_err == cydriver.CUresult.CUDA_SUCCESS:
            unmap_err, still_mapped = err, ranges.mapped[i].first
    for i in range(ranges.reserved.size()):
        err = cydriver.cuMemAddressFree(ranges.reserved[i].first, ranges.reserved[i].second)
        if free_err == cydriver.CUresult.CUDA_SUCCESS:
            free_err, still_reserved = err, ranges.reserved[i].first
    ranges.mapped.clear()
    ranges.reserved.clear()
    if unmap_err != cydriver.CUresult.CUDA_SUCCESS:
        WARN_RETURN(unmap_err, b"cuMemUnmap", <void*>still_mapped)
    else:
        WARN_RETURN(free_err, b"cuMemAddressFree", <void*>still_reserved)


# The data for releasing the memory of a buffer, which may be deferred to another thread.
cdef cppclass Unmapping:
    PyObject* memory
    Ranges* ranges
    StreamHandle h_stream
    ContextHandle h_context
    Anchor anchor


cdef void VirtualMemory_destroy(Allocation value, cpp_bool may_wait) noexcept nogil:
    cdef Unmapping unmapping
    unmapping.memory = value.resource
    unmapping.h_stream = value.h_stream
    unmapping.h_context = value.h_context
    call_with_interpreter(&read_ranges, unmapping)
    if unmapping.anchor.object() != NULL:  # NULL if the interpreter is exiting
        end_mapping(unmapping, may_wait)


cdef void read_ranges(Unmapping& value) noexcept:
    (&value).ranges = (<VirtualMemory>value.memory)._h_ranges.get()
    (&value).anchor = Anchor.of_object(value.memory)


cdef void end_retired_mapping(Unmapping unmapping) noexcept nogil:
    end_mapping(unmapping, False)


cdef void end_mapping(Unmapping unmapping, bint may_wait) noexcept nogil:
    if may_wait or not retire(unmapping, &end_retired_mapping, Anchor()):
        call_once(&unmap, unmapping, release_interruptibly, b"cuMemUnmap")


# Unmapping memory that running work accesses causes a device fault, so the stream is synchronized first.
cdef cydriver.CUresult unmap(Unmapping value) noexcept nogil:
    cdef int is_entered = 0
    cdef CaptureModeScope mode
    if value.h_context:
        is_entered = Context_enter_to_release(value.h_context.get())
    relax_capture_mode(mode)
    if value.h_stream:
        WARN_RETURN(synchronize(value.h_stream.get()), b"cuStreamSynchronize", value.h_stream.get())
    mode.end()
    remove_users(value.ranges)
    Context_leave_to_release(is_entered > 0)
    return cydriver.CUresult.CUDA_SUCCESS  # the warnings have reported all failures


# Synchronizing a stream that captures, or a default stream while another one captures, would end the capture.
cdef cydriver.CUresult synchronize(cydriver.CUstream c_stream) noexcept nogil:
    cdef cydriver.CUresult err = capture_error(c_stream)
    return cydriver.cuStreamSynchronize(c_stream) if err == cydriver.CUresult.CUDA_SUCCESS else err


cdef cydriver.CUresult capture_error(cydriver.CUstream c_stream) noexcept nogil:
    cdef cydriver.CUstreamCaptureStatus c_capture = cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    cdef cydriver.CUresult err = cydriver.cuStreamIsCapturing(c_stream, &c_capture)
    if (
        err == cydriver.CUresult.CUDA_SUCCESS
        and c_capture != cydriver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    ):
        return cydriver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
    return err

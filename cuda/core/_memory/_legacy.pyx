# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory without a pool: page-locked, registered, and allocated synchronously."""

from __future__ import annotations

from libc.stdint cimport uintptr_t
from libcpp cimport bool as cpp_bool
from libcpp.utility cimport move

from cpython.buffer cimport (
    PyBUF_STRIDED_RO,
    PyBuffer_IsContiguous,
    PyBuffer_Release,
    PyObject_CheckBuffer,
    PyObject_GetBuffer,
)
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF

from cuda.core._context cimport Context_current, Context_enter, Context_leave, Context_primary
from cuda.core._memory._buffer cimport Buffer, Buffer_create
from cuda.core._memory._memory_resource cimport MemoryResource, size_argument
from cuda.core._native._cuda_core cimport (
    Allocation,
    AllocationHandle,
    CaptureModeScope,
    ContextHandle,
    Anchor,
    StreamHandle,
    captures_in_progress,
    limit_backlog,
    relax_capture_mode,
    retire,
    wait_for_retired,
)
from cuda.core._native._device_wait cimport call_once, release_interruptibly, wait_for_context
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport call_with_interpreter
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, WARN_RETURN, init_driver, warn_driver_error

from cuda.core._memory._buffer import Buffer
from cuda.core._memory._copies import holds_objects
from cuda.core._stream import Stream_accept
from cuda.core._utils.cuda_utils import UnavailableError
from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils.validators import address_argument

__all__ = [
    "LegacyPinnedMemoryResource",
    "allocate_device",
    "allocate_pinned",
    "free_device",
    "free_pinned",
    "register_host_memory",
    "wait_before_free",
]


class _SynchronousAllocator(MemoryResource):
    """Base of resources that allocate synchronously; a subclass defines ``_free``."""

    _needs_stream = False
    _waits_to_free = True

    def deallocate(self, ptr, size: int, *, stream=None) -> None:
        """Synchronize ``stream`` if one is given, and free memory (``cuMemFreeHost``, ``cuMemFree``).

        Parameters
        ----------
        ptr : int
            The address of the memory. 0 has no effect.
        size : int
            The size in bytes, which is ignored.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            The stream to synchronize first.

        Raises
        ------
        CUDAError
            If work in the stream failed. The memory is freed even then.
        """
        if stream is not None:
            stream = Stream_accept(stream)
        address = address_argument("ptr", ptr)
        if address == 0:
            return
        try:
            if stream is not None:
                stream.sync()
        finally:
            self._free(address)


class LegacyPinnedMemoryResource(_SynchronousAllocator):
    """Allocates page-locked host memory synchronously (``cuMemAllocHost``); all devices can access it."""

    _accessible_by = ("device", "host")

    def __repr__(self):
        return f"<{type(self).__name__} of the host>"

    def allocate(self, size: int, *, stream=None) -> Buffer:
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
        if stream is not None:
            Stream_accept(stream)
        pointer = allocate_pinned(size)
        try:
            return Buffer.from_handle(pointer, size, mr=self)
        except BaseException:
            free_pinned(pointer)
            raise

    def _free(self, address: int) -> None:
        free_pinned(address)

    @property
    def device_id(self) -> int:
        """Raises RuntimeError, because host memory is not tied to a device."""
        raise UnavailableError("page-locked host memory belongs to no device, so it has no device_id")


class _SynchronousMemoryResource(_SynchronousAllocator):
    """Allocates device memory synchronously, for devices without memory pools (``cuMemAlloc``, ``cuMemFree``)."""

    _accessible_by = ("device",)

    def __init__(self, device_id):
        self._device_id = int(getattr(device_id, "device_id", device_id))

    def __repr__(self):
        return f"<{type(self).__name__} of device {self._device_id}>"

    def allocate(self, size: int, *, stream=None) -> Buffer:
        """Allocate device memory (``cuMemAlloc``), which is freed after ``stream`` has been synchronized."""
        if stream is not None:
            stream = Stream_accept(stream)
        pointer = allocate_device(size, self._device_id)
        try:
            return Buffer.from_handle(pointer, size, mr=self, stream=stream)
        except BaseException:
            free_device(pointer, self._device_id)
            raise

    def _free(self, address: int) -> None:
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


def allocate_device(size: int, device_id: int) -> int:
    """Allocate device memory and return its address, or 0 for a size of 0 (``cuMemAlloc``)."""
    cdef ContextHandle h_context
    cdef cydriver.CUdeviceptr pointer = 0
    cdef size_t c_size = size_argument(size)
    cdef cydriver.CUresult err
    cdef int is_entered = 0
    if c_size == 0:
        return 0
    Context_primary(device_id, &h_context)
    is_entered = Context_enter(h_context.get())
    try:
        with nogil:
            limit_backlog()
            err = cydriver.cuMemAlloc(&pointer, c_size)
            if err == cydriver.CUresult.CUDA_ERROR_OUT_OF_MEMORY and wait_for_retired():
                err = cydriver.cuMemAlloc(&pointer, c_size)
            HANDLE_RETURN(err, b"cuMemAlloc")
    finally:
        Context_leave(is_entered)
    return pointer


def free_device(pointer: int, device_id: int) -> None:
    """Wait for the work that uses memory of :func:`allocate_device`, and free it (``cuMemFree``)."""
    cdef ContextHandle h_context
    cdef cydriver.CUdeviceptr c_pointer = pointer
    cdef int is_entered = 0
    if c_pointer == 0:
        return
    try:
        Context_primary(device_id, &h_context)
        is_entered = Context_enter(h_context.get())
    finally:
        # Free the memory even if its context could not be made current: the driver identifies it by its address.
        try:
            with nogil:
                HANDLE_RETURN(call_once(&free_memory, c_pointer, release_interruptibly, b"cuMemFree"), b"cuMemFree")
        finally:
            Context_leave(is_entered)


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
        Context_leave(is_entered)


def allocate_pinned(size: int) -> int:
    """Allocate page-locked host memory and return its address, or 0 for a size of 0 (``cuMemAllocHost``)."""
    cdef void* pointer = NULL
    cdef cydriver.CUresult err
    cdef size_t c_size = size_argument(size)
    if c_size == 0:
        return 0
    init_driver()
    with nogil:
        limit_backlog()
        err = cydriver.cuMemAllocHost(&pointer, c_size)
        if err == cydriver.CUresult.CUDA_ERROR_OUT_OF_MEMORY and wait_for_retired():
            err = cydriver.cuMemAllocHost(&pointer, c_size)
        HANDLE_RETURN(err, b"cuMemAllocHost")
    return <uintptr_t>pointer


def free_pinned(pointer: int) -> None:
    """Free memory of :func:`allocate_pinned` (``cuMemFreeHost``)."""
    cdef void* c_pointer = <void*><uintptr_t>pointer
    if c_pointer == NULL:
        return
    with nogil:
        HANDLE_RETURN(
            call_once(&free_host_memory, c_pointer, release_interruptibly, b"cuMemFreeHost"), b"cuMemFreeHost"
        )


cdef cydriver.CUresult free_memory(cydriver.CUdeviceptr c_pointer) noexcept nogil:
    return cydriver.cuMemFree(c_pointer)


cdef cydriver.CUresult free_host_memory(void* c_pointer) noexcept nogil:
    return cydriver.cuMemFreeHost(c_pointer)


# --- Registration of host memory ---------------------------------------------------------------------

cdef class HostRegistration(MemoryResource):
    """The registration of one array; the memory resource of its buffer."""

    cdef:
        Py_buffer _view
        bint _has_view
        bint _is_mapped
        bint _has_device_address    # the device address differs from the host address
        ContextHandle _h_context    # set once

    def __dealloc__(self):
        if self._has_view:
            PyBuffer_Release(&self._view)

    def allocate(self, size: int, *, stream=None) -> Buffer:
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
    WARN_RETURN(err, b"cuCtxPushCurrent")
    relax_capture_mode(mode)
    if value.h_stream:
        WARN_RETURN(cydriver.cuStreamSynchronize(value.h_stream.get()), b"cuStreamSynchronize")
    err = cydriver.cuMemHostUnregister(value.address)
    mode.end()
    if is_entered:
        WARN_RETURN(cydriver.cuCtxPopCurrent(&c_context), b"cuCtxPopCurrent")
    if err != cydriver.CUresult.CUDA_SUCCESS:
        warn_driver_error(err, b"cuMemHostUnregister", b"registered host memory")
        # Devices may still access the memory, so it must never be freed.
        call_with_interpreter(&leak_registration, value)
    return cydriver.CUresult.CUDA_SUCCESS  # the warning has reported it


cdef void leak_registration(Registered& value) noexcept:
    Py_INCREF(<object>value.anchor.object())

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory without a pool, which the driver allocates and frees synchronously."""

from __future__ import annotations

from libc.string cimport memcpy

from cuda.core._context cimport Context_current, Context_enter, Context_leave, Context_leave_to_release, Context_primary
from cuda.core._memory._buffer cimport Buffer, Buffer_create
from cuda.core._memory._memory_resource cimport (
    MemoryResource,
    free_after_wait,
    freed_address,
    own_by_resource,
    prepare,
    size_argument,
)
from cuda.core._native._cuda_core cimport (
    Allocation,
    AllocationHandle,
    CaptureModeScope,
    ContextHandle,
    StreamPin,
    captures_in_progress,
    limit_backlog,
    relax_capture_mode,
    wait_for_retired,
)
from cuda.core._native._device_wait cimport wait_for_context
from cuda.core._stream cimport Stream, Stream_accept, Stream_pin
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport check_self_in_methods
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, LEAVE_RETURN, init_driver, note_left_context

from cuda.core._utils.cuda_utils import CUDAError

__all__ = [
    "SynchronousAllocator",
    "allocate_host",
    "allocate_host_with_flags",
    "allocate_managed",
    "allocate_pitched",
    "free_host",
    "open_shared_memory",
    "register_host_memory",
    "wait_before_free",
]

include "_host_registration.pxi"


class SynchronousAllocator(MemoryResource):
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


class _SynchronousMemoryResource(SynchronousAllocator):
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
        return allocate(self, stream, &call_alloc, b"cuMemAlloc", request)

    def _free(self, address: int, size: int) -> None:
        free_device(address, self._device_id)

    @property
    def device_id(self) -> int:
        """The ordinal of the device."""
        return self._device_id


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


def allocate_host(resource: MemoryResource, size: int, stream=None) -> Buffer:
    """Allocate page-locked host memory (``cuMemAllocHost``). ``resource`` frees it. ``stream`` is only checked."""
    cdef Request request
    request.size = size_argument(size)
    if stream is not None:
        Stream_accept(stream)
    return allocate(resource, None, &call_alloc_host, b"cuMemAllocHost", request)


def allocate_host_with_flags(resource: MemoryResource, size: int, flags: int, stream=None) -> Buffer:
    """Allocate page-locked host memory with flags (``cuMemHostAlloc``). ``resource`` frees it."""
    cdef Request request
    request.size = size_argument(size)
    request.flags = flags
    return allocate(resource, stream, &call_host_alloc, b"cuMemHostAlloc", request)


def free_host(resource: MemoryResource, cydriver.CUdeviceptr c_pointer, size: int) -> None:
    """Free page-locked host memory (``cuMemFreeHost``). Serves as a method, which no signal handler can interrupt."""
    free_after_wait(&free_host_memory, c_pointer, size, b"cuMemFreeHost")


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


class _SharedMemoryResource(SynchronousAllocator):
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
    cdef type cls = <type>resource._buffer_class  # its metaclass may be another one, such as ABCMeta
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


cdef cydriver.CUresult call_alloc(Request& request) noexcept nogil:
    return cydriver.cuMemAlloc(&request.pointer, request.size)


cdef cydriver.CUresult call_alloc_host(Request& request) noexcept nogil:
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
            free_after_wait(&free_memory, c_pointer, 0, b"cuMemFree")
        finally:
            Context_leave_to_release(is_entered)
    return 0


cdef cydriver.CUresult free_memory(cydriver.CUdeviceptr c_pointer, size_t size) noexcept nogil:
    return cydriver.cuMemFree(c_pointer)


cdef cydriver.CUresult free_host_memory(cydriver.CUdeviceptr c_pointer, size_t size) noexcept nogil:
    return cydriver.cuMemFreeHost(<void*>c_pointer)


check_self_in_methods(globals())

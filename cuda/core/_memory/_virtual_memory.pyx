# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Virtual memory: reserved address ranges, and the memory that is mapped there."""

from __future__ import annotations

from libc.stdint cimport uintptr_t
from libcpp cimport bool as cpp_bool
from libcpp.atomic cimport atomic
from libcpp.utility cimport move, pair
from libcpp.vector cimport vector

from cpython.object cimport PyObject

from cuda.core._context cimport Context_enter_to_release, Context_leave_to_release
from cuda.core._memory._buffer cimport Buffer, Buffer_create, Buffer_pin
from cuda.core._memory._memory_resource cimport MemoryResource, domain_of, free_after_wait, prepare
from cuda.core._native._cuda_core cimport (
    Allocation,
    AllocationHandle,
    AllocationPin,
    Anchor,
    CaptureModeScope,
    ContextHandle,
    Handle,
    StreamHandle,
    StreamPin,
    relax_capture_mode,
    retire,
)
from cuda.core._native._device_wait cimport wait_before_release
from cuda.core._stream cimport Stream, Stream_accept, Stream_pin, is_default
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport call_with_interpreter, check_self_in_methods
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, WARN_RETURN


__all__ = [
    "Multicast",
    "VirtualMemory",
    "call_with_memory",
    "check_not_capturing",
    "free_virtual_memory",
    "set_domain",
    "virtual_memory_of",
]


ctypedef pair[cydriver.CUdeviceptr, size_t] Range   # address and size in bytes


# In ascending order.
cdef cppclass Ranges:
    vector[Range] reserved
    vector[Range] mapped
    Ranges* base            # those before these, which have at least as many users; NULL if these are the first
    atomic[int] users       # buffers that are not yet closed


ctypedef Ranges* RangesPointer
ctypedef Handle[RangesPointer] RangesHandle


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

    def make_buffer(self, cls, resource: MemoryResource, stream, size_t opened=0) -> Buffer:
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
        buffer = Buffer_create(<type>cls, h_allocation, resource, None)
        buffer._is_mapped = opened != 0
        return buffer

    @property
    def size(self) -> int:
        """The size of the mapped memory in bytes."""
        return mapped_size(self._h_ranges.get()) + (0 if self._base is None else self._base.size)

    @property
    def pieces(self) -> list[tuple[int, int]]:
        """The address and the size in bytes of each piece of mapped memory."""
        cdef Ranges* ranges = self._h_ranges.get()
        cdef size_t i
        mine = [(ranges.mapped[i].first, ranges.mapped[i].second) for i in range(ranges.mapped.size())]
        return mine if self._base is None else self._base.pieces + mine


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


def set_domain(uintptr_t properties, int device_id, int domain) -> None:
    """Set the locality domain in a ``CUmemAllocationProp`` at an address. Older bindings do not have the type."""
    (<cydriver.CUmemAllocationProp*>properties).location = domain_of(device_id, domain)


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
    free_after_wait(&free_range, address, size, b"cuMemUnmap")


cdef cydriver.CUresult free_range(cydriver.CUdeviceptr address, size_t size) noexcept nogil:
    cdef cydriver.CUresult unmap_err = cydriver.cuMemUnmap(address, size)
    cdef cydriver.CUresult free_err = cydriver.cuMemAddressFree(address, size)
    return free_err if unmap_err == cydriver.CUresult.CUDA_SUCCESS else unmap_err


# Makes room for one more range, so that storing the result of a driver call cannot fail.
cdef int make_room(vector[Range]& ranges) except -1:
    ranges.reserve(ranges.size() + 1)
    return 0


cdef size_t mapped_size(const Ranges* ranges) noexcept nogil:
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
        end_unmapping(unmapping, may_wait)


cdef void read_ranges(Unmapping& value) noexcept:
    (&value).ranges = (<VirtualMemory>value.memory)._h_ranges.get()
    (&value).anchor = Anchor.of_object(value.memory)


cdef void end_retired_mapping(Unmapping unmapping) noexcept nogil:
    end_unmapping(unmapping, False)


cdef void end_unmapping(Unmapping unmapping, bint may_wait) noexcept nogil:
    if (may_wait and wait_before_release()) or not retire(unmapping, &end_retired_mapping, Anchor()):
        unmap(unmapping)


# Unmapping memory that running work accesses causes a device fault, so the stream is synchronized first.
cdef void unmap(Unmapping value) noexcept nogil:
    cdef int is_entered = 0
    cdef CaptureModeScope mode
    if value.h_context:
        is_entered = Context_enter_to_release(value.h_context.get())
    relax_capture_mode(mode)
    if value.h_stream:
        WARN_RETURN(synchronize_stream(value.h_stream.get()), b"cuStreamSynchronize", value.h_stream.get())
    mode.end()
    remove_users(value.ranges)
    Context_leave_to_release(is_entered > 0)


# Synchronizing a stream that captures, or a default stream while another one captures, would end the capture.
cdef cydriver.CUresult synchronize_stream(cydriver.CUstream c_stream) noexcept nogil:
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


include "_multicast_handle.pxi"

check_self_in_methods(globals())

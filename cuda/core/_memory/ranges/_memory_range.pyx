# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory ranges: the properties of a buffer's memory, its export to other libraries, and slicing."""

from __future__ import annotations

cimport cython
from libc.stdint cimport intptr_t, uintptr_t

from cpython.buffer cimport PyBuffer_FillInfo
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF

from cuda.core._dlpack cimport DLPack_export_bytes, DLPack_negotiate
from cuda.core._handles._deferred_destruction cimport destroy_later, find_work, postpone, set_closing
from cuda.core._handles._driver_object cimport DriverObject, add_member, refuse_closed
from cuda.core._handles._handles cimport AllocationHandle, Keep, KeptAllocation
from cuda.core._handles._launches cimport LaunchList, launch_list
from cuda.core._memory.ranges._allocation cimport size_argument, stream_of
from cuda.core._memory.ranges._pointer_info cimport pointer_info
from cuda.core._memory.ranges._slices cimport SubBuffers, narrow, read_bounds
from cuda.core._utils._cpython cimport make_hasattr_safe

import importlib

from cuda.core._dlpack import classify_dl_device

__all__ = ["keep_until_idle"]

cdef LaunchList* _launches = launch_list()


cdef class MemoryRange(DriverObject):
    """Base of buffers: the address, size, location and owner of memory."""

    def __cinit__(self):
        cdef object zero = 0
        Py_INCREF(zero)
        Py_INCREF(zero)
        self._handle_object = self._size_object = <PyObject*>zero

    def __dealloc__(self):
        if self._is_slice:
            MemoryRange_leave(self)
        Py_XDECREF(self._handle_object)
        Py_XDECREF(self._size_object)

    def __getbuffer__(self, Py_buffer* view, int flags):
        cdef KeptAllocation memory
        MemoryRange_keep(self, &memory)
        if not self.is_host_accessible:
            raise BufferError(
                "the host cannot access this Buffer, which is device memory; copy it to a buffer of "
                "LegacyPinnedMemoryResource first"
            )
        PyBuffer_FillInfo(
            view, self, <void*><uintptr_t>memory.value().pointer, memory.value().size, self._is_readonly, flags
        )
        # The view keeps the memory, because code of the memory resource may have closed the buffer meanwhile.
        view.internal = new AllocationHandle(memory.handle())
        count_exports(self, 1)

    def __releasebuffer__(self, Py_buffer* view):
        cdef AllocationHandle* h_memory = <AllocationHandle*>view.internal
        count_exports(self, -1)
        del h_memory

    def __repr__(self):
        if not self._h_allocation:
            return f"<{type(self).__name__} ptr=0x0 size=0>"
        mapped = " mapped" if self.is_mapped else ""
        return f"<{type(self).__name__} ptr={self.handle:#x} size={self.size}{mapped}>"

    def __array__(self, dtype=None, copy=None):
        """Return the bytes as a NumPy array of uint8; BufferError if the host cannot access the memory."""
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
        """Export the memory through DLPack, as a one-dimensional tensor of int8.

        The memory stays allocated as long as the consumer uses it, even if this buffer is closed.

        Parameters
        ----------
        stream : int, optional
            The consumer's stream. It is ignored: the buffer does not order work.
        max_version : tuple[int, int], optional
            The newest version of DLPack that the consumer supports. From (1, 0) on, the capsule is versioned and has
            the read-only flag.
        dl_device : tuple[int, int], optional
            The device of the exported tensor; if given, it must be the device of the memory.
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
            If ``max_version`` is not a tuple.
        RuntimeError
            If the buffer is closed.
        """
        cdef KeptAllocation memory
        MemoryRange_keep(self, &memory)
        device = self.__dlpack_device__()
        versioned = DLPack_negotiate(max_version, dl_device, copy, device)
        return DLPack_export_bytes(
            memory.value().pointer, memory.value().size, device, self, memory.keep(), versioned, self._is_readonly
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the DLPack device of the memory, ``(device_type, device_id)``."""
        self._check_open()
        return classify_dl_device(self)

    @property
    def handle(self) -> int:
        """The address of the memory; 0 when closed."""
        cdef KeptAllocation memory
        return memory.value().pointer if memory.hold(self._h_allocation) else 0

    @property
    def size(self) -> int:
        """The size of the memory in bytes; 0 when closed."""
        cdef KeptAllocation memory
        return memory.value().size if memory.hold(self._h_allocation) else 0

    @property
    def _size(self):
        return self.size

    @_size.setter
    def _size(self, value):
        # For resources that grow a buffer in place.
        cdef KeptAllocation memory
        cdef size_t size = size_argument(value)
        MemoryRange_keep(self, &memory)
        if self._is_slice:
            raise RuntimeError("a sub-buffer cannot grow")
        (&memory.value()).size = size
        MemoryRange_update_members(self)

    @property
    def _deallocation_stream(self):
        # For resources that move a buffer; None if there is no stream.
        cdef KeptAllocation memory
        MemoryRange_keep(self, &memory)
        return stream_of(memory.value())

    @property
    def memory_resource(self) -> MemoryResource | None:
        """The resource that frees the memory; None for wrapped memory and when closed."""
        return resource_of(self)

    @property
    def owner(self):
        """The object that a buffer of wrapped memory keeps alive, or None; for a sub-buffer, its parent."""
        return owner_of(self)

    @property
    def device_id(self) -> int:
        """The ordinal of the device of the memory; -1 for pageable host memory."""
        cdef KeptAllocation whole
        resource = MemoryRange_keep_whole(self, &whole)
        return pointer_info(whole.value().pointer).device_id if resource is None else resource.device_id

    @property
    def is_device_accessible(self) -> bool:
        """Whether a device can access the memory."""
        cdef KeptAllocation whole
        resource = MemoryRange_keep_whole(self, &whole)
        if resource is not None:
            return resource.is_device_accessible
        return bool(pointer_info(whole.value().pointer).is_device_accessible)

    @property
    def is_host_accessible(self) -> bool:
        """Whether the host can access the memory."""
        cdef KeptAllocation whole
        resource = MemoryRange_keep_whole(self, &whole)
        if resource is not None:
            return resource.is_host_accessible
        return bool(pointer_info(whole.value().pointer).is_host_accessible)

    @property
    def is_managed(self) -> bool:
        """Whether the memory is managed memory, which migrates between the host and devices."""
        cdef KeptAllocation whole
        resource = MemoryRange_keep_whole(self, &whole)
        if resource is not None and resource.is_managed:
            return True
        return bool(pointer_info(whole.value().pointer).is_managed)

    @property
    def is_mapped(self) -> bool:
        """Whether the memory was allocated by another process; False when closed."""
        return self._is_mapped

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return not self._h_allocation

    cdef intptr_t _address(self) noexcept:
        cdef KeptAllocation memory
        return <intptr_t>memory.value().pointer if memory.hold(self._h_allocation) else 0

    cdef void _release(self) noexcept:
        if self._slices is not None:
            self._slices.close()
        if self._is_slice:
            MemoryRange_leave(self)
        _launches.keep_memory_of(<PyObject*>self, self._h_allocation)
        set_closing(True)
        self._h_allocation.reset()
        set_closing(False)
        MemoryRange_update_members(self)
        with cython.critical_section(self):
            self._memory_resource = None
            self._owner = None
            self._is_mapped = False

    cdef object _identity(self):
        cdef KeptAllocation memory
        if memory.hold(self._h_allocation):
            return (memory.value().pointer, memory.value().size)
        return (0, 0)

    cdef int _check_open(self) except -1:
        # An open buffer of no bytes has the address 0.
        return 0 if self._h_allocation else refuse_closed(self)


def keep_until_idle(MemoryRange memory) -> None:
    """Keep memory alive until all work that is enqueued now, on all streams, has completed."""
    cdef AllocationHandle h_allocation = memory._h_allocation.copy()
    with nogil:
        postpone(h_allocation, &drop, Keep(), find_work, destroy_later)


cdef void drop(AllocationHandle h_allocation) noexcept nogil:
    pass  # the reference is dropped with the argument


cdef int MemoryRange_cut(MemoryRange self, object key, MemoryRange part) except -1:
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t stop = 0
    cdef KeptAllocation memory
    cdef KeptAllocation all_memory
    cdef AllocationHandle h_part
    cdef object resource
    cdef MemoryRange whole
    with cython.critical_section(self):
        whole = <MemoryRange>self._owner if self._is_slice and self._owner is not None else self
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
    MemoryRange_keep(self, &memory)
    MemoryRange_keep(whole, &all_memory)
    narrow(memory.value(), start, stop, all_memory.keep(), &h_part)
    part._h_allocation.set(h_part)
    part._memory_resource = resource
    part._is_mapped = self._is_mapped
    part._is_readonly = self._is_readonly
    MemoryRange_update_members(part)
    return 0


cdef void MemoryRange_leave(MemoryRange self) noexcept:
    cdef MemoryRange whole = <MemoryRange>owner_of(self)
    # A garbage collection may have cleared either of them.
    if whole is not None and whole._slices is not None:
        whole._slices.remove(self)


cdef int MemoryRange_refuse_while_exported(MemoryRange self) except -1:
    if self._export_count != 0:
        raise BufferError(
            f"this Buffer cannot be closed, because {self._export_count} memoryviews or arrays of its memory exist; "
            "release them first"
        )
    return 0


# A view of a sub-buffer also blocks closing its parent.
cdef void count_exports(MemoryRange self, int step) noexcept:
    cdef MemoryRange whole = <MemoryRange>owner_of(self) if self._is_slice else None
    with cython.critical_section(self):
        self._export_count += step
    if whole is not None:
        with cython.critical_section(whole):
            whole._export_count += step


# What closing drops is read like these two.
cdef object resource_of(MemoryRange self):
    with cython.critical_section(self):
        return self._memory_resource


cdef object owner_of(MemoryRange self):
    with cython.critical_section(self):
        return self._owner


cdef int MemoryRange_refuse_write(MemoryRange self, str name) except -1:
    raise TypeError(f"{name} must be writable, but is registered as read-only")


# Returns the memory resource, and keeps the memory of the parent: an empty slice may have the address after its end,
# which the driver does not know.
cdef object MemoryRange_keep_whole(MemoryRange self, KeptAllocation* kept):
    with cython.critical_section(self):
        owner = self._owner if self._is_slice else None
        resource = self._memory_resource
    MemoryRange_keep(self if owner is None else <MemoryRange>owner, kept)
    return resource


# `handle` and `size` are read in loops, where a property getter is slow. So their values are stored as Python objects,
# and exposed as members.
cdef int MemoryRange_update_members(MemoryRange self) except -1:
    cdef KeptAllocation memory
    cdef bint is_open = memory.hold(self._h_allocation)
    cdef object handle = memory.value().pointer if is_open else 0
    cdef object size = memory.value().size if is_open else 0
    cdef PyObject* old_handle
    cdef PyObject* old_size
    Py_INCREF(handle)
    Py_INCREF(size)
    # The interpreter reads members in a critical section, too.
    with cython.critical_section(self):
        old_handle, self._handle_object = self._handle_object, <PyObject*>handle
        old_size, self._size_object = self._size_object, <PyObject*>size
    Py_XDECREF(old_handle)
    Py_XDECREF(old_size)
    return 0


cdef int add_members() except -1:
    cdef MemoryRange sample = MemoryRange.__new__(MemoryRange)
    cdef char* start = <char*><void*>sample
    add_member(MemoryRange, "handle", <char*>&sample._handle_object - start)
    add_member(MemoryRange, "size", <char*>&sample._size_object - start)
    return 0


add_members()
make_hasattr_safe(MemoryRange)

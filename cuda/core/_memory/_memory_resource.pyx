# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The base class of memory resources."""

from __future__ import annotations

from cuda.core._handles._handles cimport AllocationHandle
from cuda.core._stream cimport Stream
from cuda.core._utils._cpython cimport make_hasattr_safe

from cuda.core._utils.errors.values import as_attribute_error
from cuda.core._utils.signatures import ConstructorSignature

__all__ = ["MemoryResource"]


cdef class MemoryResource:
    """The base class of memory resources, which allocate and free memory for buffers.

    A subclass must define :meth:`allocate`, :meth:`deallocate`, :attr:`is_device_accessible`,
    :attr:`is_host_accessible` and :attr:`device_id`.
    """

    # Whether allocation is stream-ordered; if not, allocate() accepts stream=None.
    _needs_stream = True
    # What can access the memory: "device", "host" or both. None if a class defines the two properties instead.
    _accessible_by = None
    # Whether freeing blocks until the device is idle. If so, memory that is freed by garbage collection, and not by
    # close(), is freed later, when the device is idle.
    _waits_to_free = False
    __signature__ = ConstructorSignature()

    def __repr__(self):
        return f"<{type(self).__name__} at {id(self):#x}>"

    def allocate(self, size: int, *, stream) -> Buffer:
        """Allocate memory. A subclass returns ``Buffer.from_handle(ptr, size, mr=self)``.

        Parameters
        ----------
        size : int
            The size in bytes.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream that the allocation is ordered on.

        Returns
        -------
        :class:`Buffer`
            The allocated memory, of at least ``size`` bytes.

        Raises
        ------
        TypeError
            If the subclass does not define this method.
        """
        raise missing(self, "allocate()")

    def deallocate(self, ptr, size: int, *, stream) -> None:
        """Free memory. A :class:`Buffer` calls this once, when it is closed or deleted.

        An exception raised in such a call is passed to ``sys.unraisablehook``. After the interpreter has begun to
        exit, buffers do not call this method.

        Parameters
        ----------
        ptr : int
            The address of the memory.
        size : int
            The size in bytes.
        stream : :class:`Stream`
            The stream that the free is ordered on.

        Raises
        ------
        TypeError
            If the subclass does not define this method.
        """
        raise missing(self, "deallocate()")

    @property
    def is_device_accessible(self) -> bool:
        """Whether a device can access the memory."""
        if self._accessible_by is None:
            raise missing_property(self, "is_device_accessible")
        return "device" in self._accessible_by

    @property
    def is_host_accessible(self) -> bool:
        """Whether the host can access the memory."""
        if self._accessible_by is None:
            raise missing_property(self, "is_host_accessible")
        return "host" in self._accessible_by

    @property
    def is_managed(self) -> bool:
        """Whether the memory is managed memory, which migrates between the host and devices."""
        return False

    @property
    def device_id(self) -> int:
        """The ordinal of the device of the memory; -1 for memory of no specific device."""
        raise missing_property(self, "device_id")

    cdef object _allocate(self, size_t size, Stream stream):
        return self.allocate(size, stream=stream)

    cdef bint _is_shared(self) noexcept:
        return False

    cdef object _export(self, object buffer):
        raise not_shared(self)

    cdef bint _import(self, object descriptor, Stream stream, AllocationHandle* h_allocation) except -1:
        raise not_shared(self)


cdef object missing(MemoryResource resource, str member):
    return TypeError(f"{type(resource).__name__} must define {member}, as every memory resource does")


cdef object missing_property(MemoryResource resource, str name):
    return as_attribute_error(missing(resource, name), (TypeError,))


cdef object not_shared(MemoryResource resource):
    return RuntimeError(f"this {type(resource).__name__} is not shared between processes; set ipc_enabled=True")


make_hasattr_safe(MemoryResource)

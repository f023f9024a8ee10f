# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The base class of memory resources."""

from __future__ import annotations

from cuda.core._handles._handles cimport AllocationHandle
from cuda.core._stream cimport Stream
from cuda.core._utils._cpython cimport answer_hasattr

from cuda.core._utils.errors.values import restated
from cuda.core._utils.signatures import ConstructorSignature

__all__ = ["MemoryResource"]


cdef class MemoryResource:
    """The base of memory resources; use one of the built-in ones, or derive a class from it.

    A subclass defines :meth:`allocate`, :meth:`deallocate`, :attr:`is_device_accessible`,
    :attr:`is_host_accessible` and :attr:`device_id`.
    """

    # Whether memory can be used after the work of a stream only; the others take stream=None.
    _needs_stream = True
    # Who accesses the memory of every resource of a class: "device", "host" or both. None where that differs from one
    # resource to another, or a subclass of a user says it: then the class has the two properties.
    _accessible_by = None
    # Whether freeing waits for the device. Then memory whose last reference is dropped is freed when the device rests.
    _waits_to_free = False
    __signature__ = ConstructorSignature()

    def __repr__(self):
        return f"<{type(self).__name__} at {id(self):#x}>"

    def allocate(self, size: int, *, stream) -> Buffer:
        """Allocate memory: return a :class:`Buffer` made by ``Buffer.from_handle(ptr, size, mr=self)``.

        Parameters
        ----------
        size : int
            The number of bytes.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream in whose order the memory is allocated.

        Raises
        ------
        TypeError
            If the subclass does not define it.
        """
        raise missing(self, "allocate()")

    def deallocate(self, ptr, size: int, *, stream) -> None:
        """Free memory; a :class:`Buffer` calls this once.

        An exception raised while a buffer is released is passed to ``sys.unraisablehook``. This method is not
        called once the interpreter exits.

        Parameters
        ----------
        ptr : int
            The address.
        size : int
            The number of bytes.
        stream : :class:`Stream`
            The stream in whose order the memory is freed.

        Raises
        ------
        TypeError
            If the subclass does not define it.
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
        """Whether the memory migrates between host and devices."""
        return False

    @property
    def device_id(self) -> int:
        """The ordinal of the device where the memory is; -1 where none is meant."""
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
    return restated(missing(resource, name), (TypeError,))


cdef object not_shared(MemoryResource resource):
    return RuntimeError(f"memory of this {type(resource).__name__} is not shared between processes; see ipc_enabled")


answer_hasattr(MemoryResource)

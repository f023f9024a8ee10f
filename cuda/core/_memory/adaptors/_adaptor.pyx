# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The base of memory resources that allocate from another memory resource."""

from __future__ import annotations

from cuda.core._handles._driver_object cimport refuse_closed
from cuda.core._handles._handles cimport Allocation, AllocationHandle, KeptStream
from cuda.core._memory._buffer cimport Buffer, Buffer_allocate, Buffer_create
from cuda.core._memory._memory_resource cimport MemoryResource
from cuda.core._memory.ranges._allocation cimport fix_context, size_argument
from cuda.core._stream cimport Stream, Stream_accept, Stream_keep, default_stream
from cuda.core._utils._cpython cimport make_hasattr_safe

__all__ = ["MemoryResourceAdaptor"]


cdef class MemoryResourceAdaptor(MemoryResource):
    """Base of memory resources that allocate from another memory resource, the upstream resource."""

    def __cinit__(self, *args, **kwargs):
        self._is_overridden = type(self).allocate is not MemoryResourceAdaptor.allocate

    def __init__(self, upstream):
        """Wrap another resource."""
        if not isinstance(upstream, MemoryResource):
            raise TypeError(f"upstream must be a MemoryResource, not {type(upstream).__name__}")
        self._is_ordered = upstream.is_device_accessible
        self._upstream = upstream

    def __repr__(self):
        return f"<{type(self).__name__} {'closed' if self._is_closed else 'over'} {self._upstream!r}>"

    def __reduce__(self):
        raise RuntimeError(f"a {type(self).__name__} cannot be pickled: its buffers belong to this process")

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.close()

    def allocate(self, size: int, *, stream=None) -> Buffer:
        """Allocate memory from the upstream resource.

        Parameters
        ----------
        size : int
            The size in bytes.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream that the allocation is ordered on: work enqueued on it afterwards can use the memory. The
            memory is freed on the same stream, unless another one is set. Optional if the upstream resource does not
            need a stream, such as :class:`LegacyPinnedMemoryResource`.

        Returns
        -------
        :class:`Buffer`
            A buffer of this resource, of the same class as the buffers of the upstream resource.

        Raises
        ------
        OutOfMemoryError
            If there is not enough memory.
        RuntimeError
            If the resource is closed.
        TypeError
            If ``size`` is not an integer or ``stream`` not a stream.
        OverflowError
            If ``size`` is negative.
        Exception
            Exceptions of the upstream resource are passed on.
        """
        cdef size_t c_size = size_argument(size)
        cdef Stream c_stream
        Adaptor_check_open(self)
        c_stream = default_stream() if stream is None and not self._needs_stream else Stream_accept(stream)
        return self._allocate_open(c_size, c_stream)

    def deallocate(self, ptr, size: int, *, stream) -> None:
        """Call ``deallocate`` of the upstream resource. Buffers of this resource do not use it.

        Parameters
        ----------
        ptr : int | driver.CUdeviceptr
            The address of memory that was allocated from the upstream resource directly.
        size : int
            The size in bytes.
        stream : :class:`Stream`
            The stream that the free is ordered on.
        """
        Adaptor_upstream(self).deallocate(ptr, size, stream=stream)

    def close(self) -> None:
        """Refuse further allocations. Buffers of this resource and the upstream resource stay valid."""
        self._is_closed = True

    @property
    def upstream(self) -> MemoryResource:
        """The resource that memory is allocated from."""
        return Adaptor_upstream(self)

    @property
    def is_device_accessible(self) -> bool:
        """Whether a device can access the memory, as for the upstream resource."""
        return Adaptor_upstream(self).is_device_accessible

    @property
    def is_host_accessible(self) -> bool:
        """Whether the host can access the memory, as for the upstream resource."""
        return Adaptor_upstream(self).is_host_accessible

    @property
    def is_managed(self) -> bool:
        """Whether the memory is managed memory, as for the upstream resource."""
        return Adaptor_upstream(self).is_managed

    @property
    def device_id(self) -> int:
        """The ordinal of the device of the memory, as for the upstream resource."""
        return Adaptor_upstream(self).device_id

    @property
    def _needs_stream(self):
        return Adaptor_upstream(self)._needs_stream

    @property
    def _waits_to_free(self):
        return Adaptor_upstream(self)._waits_to_free

    @property
    def attributes(self):
        """The attributes of the upstream resource; AttributeError if it has none."""
        return Adaptor_upstream(self).attributes

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._is_closed

    cdef object _allocate(self, size_t size, Stream stream):
        if self._is_overridden:
            return MemoryResource._allocate(self, size, stream)
        Adaptor_check_open(self)
        return self._allocate_open(size, stream)

    cdef Buffer _allocate_open(self, size_t size, Stream stream):
        # By default, a buffer of this resource refers to the allocation of the upstream resource.
        cdef AllocationHandle h_memory
        cdef Buffer inner = Adaptor_allocate_upstream(self, size, stream, &h_memory)
        return Buffer_create(type(inner), h_memory, self, None)


cdef MemoryResource Adaptor_upstream(MemoryResourceAdaptor self):
    if self._upstream is None:
        raise RuntimeError(f"this {type(self).__name__} has no upstream; call super().__init__(upstream)")
    return self._upstream


cdef int Adaptor_check_open(MemoryResourceAdaptor self) except -1:
    if self._is_closed:
        raise RuntimeError(f"this {type(self).__name__} is closed")
    if self._upstream is None:
        Adaptor_upstream(self)
    return 0


cdef Buffer Adaptor_allocate_upstream(
    MemoryResourceAdaptor self, size_t size, Stream stream, AllocationHandle* h_memory
):
    cdef Buffer inner = Buffer_allocate(self._upstream, size, stream)
    h_memory[0] = inner._h_allocation.copy()
    if not h_memory[0]:
        refuse_closed(inner)
    return inner


cdef int Adaptor_set_stream(MemoryResourceAdaptor self, Stream stream, Allocation* value) except -1:
    cdef KeptStream kept_stream
    Stream_keep(stream, &kept_stream)
    value.h_stream = kept_stream.handle()
    if self._is_ordered:
        fix_context(value[0])
    return 0


make_hasattr_safe(MemoryResourceAdaptor)

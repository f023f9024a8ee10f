# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory resource for graph memory, which nodes of a graph allocate and free."""

from __future__ import annotations

from libc.stdint cimport uint64_t

from cuda.core._native._cuda_core cimport AllocationHandle, ContextHandle, KeptStream
from cuda.core._memory._buffer cimport Buffer, Buffer_create
from cuda.core._memory._device_memory_resource cimport device_argument
from cuda.core._memory._memory_resource cimport MemoryResource
from cuda.core._memory._memory_resource cimport allocate_in_graph, size_argument
from cuda.core._stream cimport Stream, Stream_accept, Stream_context, Stream_keep
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN

import threading

from cuda.core._memory._memory_resource import free_async
from cuda.core._utils.validators import address_argument, shown

__all__ = ["GraphMemoryResource"]


cdef class cyGraphMemoryResource(MemoryResource):
    """The extension type behind :class:`GraphMemoryResource`."""

    _accessible_by = ("device",)

    cdef int _device_id

    def __cinit__(self, *args, **kwargs):
        self._device_id = -1

    def __repr__(self):
        return f"<{type(self).__name__} of device {self._device_id}>"

    def allocate(self, size: int, *, stream) -> Buffer:
        """Add a memory allocation node to the graph being captured (``cuMemAllocAsync``).

        Closing the buffer during the capture adds a memory free node. If the graph does not free the memory, it exists
        after a launch of the graph, and closing the buffer frees it in stream order.

        Parameters
        ----------
        size : int
            The size in bytes. A buffer of 0 bytes has the address 0 and needs no node.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            A capturing stream of the device, or the graph builder.

        Returns
        -------
        :class:`Buffer`
            The buffer. Its address is fixed by the capture.

        Raises
        ------
        RuntimeError
            If the stream is not capturing.
        ValueError
            If the stream belongs to another device.
        TypeError
            If ``size`` is not an integer or ``stream`` not a stream.
        OverflowError
            If ``size`` is negative.
        """
        return GraphMemory_allocate(self, size_argument(size), Stream_accept(stream))

    def deallocate(self, ptr, size: int, *, stream) -> None:
        """Free memory in stream order; on a capturing stream, add a memory free node (``cuMemFreeAsync``).

        Parameters
        ----------
        ptr : int | driver.CUdeviceptr
            The address of the memory.
        size : int
            The size in bytes; ignored.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream on which the memory is freed.
        """
        free_async(address_argument("ptr", ptr), Stream_accept(stream))

    def trim(self) -> None:
        """Return unused graph memory of the device to the operating system (``cuDeviceGraphMemTrim``)."""
        cdef int device_id = self._device_id
        with nogil:
            HANDLE_RETURN(cydriver.cuDeviceGraphMemTrim(device_id), b"cuDeviceGraphMemTrim")

    def close(self) -> None:
        """Do nothing: the driver manages the graph memory of a device."""

    @property
    def attributes(self) -> GraphMemoryResourceAttributes:
        """The usage of graph memory on the device; each access queries the driver."""
        cdef GraphMemoryResourceAttributes attributes
        attributes = GraphMemoryResourceAttributes.__new__(GraphMemoryResourceAttributes)
        attributes._device_id = self._device_id
        return attributes

    @property
    def device_id(self) -> int:
        """The ordinal of the device."""
        return self._device_id


class GraphMemoryResource(cyGraphMemoryResource):
    """Allocates graph memory of one device while a stream is being captured.

    There is one object per device and class: constructing it again returns the same object.

    Parameters
    ----------
    device_id : :class:`Device` | int
        The device, or its ordinal.

    Raises
    ------
    TypeError
        If ``device_id`` is neither a :class:`Device` nor an int.
    ValueError
        If there is no such device.
    """

    def __new__(cls, device_id):
        ordinal = device_argument(device_id)
        with _lock:
            self = _resources.get((cls, ordinal))
            if self is None:
                self = GraphMemory_create(cls, ordinal)
                _resources[cls, ordinal] = self
        return self

    def __reduce__(self):
        return type(self), (self.device_id,)


cdef class GraphMemoryResourceAttributes:
    """The usage of graph memory on a device, in bytes (``cuDeviceGetGraphMemAttribute``).

    Setting a ``_high`` attribute to 0 resets it to the current value (``cuDeviceSetGraphMemAttribute``).
    """

    cdef int _device_id

    def __init__(self, *args, **kwargs):
        raise RuntimeError("GraphMemoryResourceAttributes cannot be constructed; use the resource's attributes")

    def __repr__(self):
        figures = ", ".join(f"{name}={getattr(self, name)}" for name in _ATTRIBUTES)
        return f"{type(self).__name__}({figures})"

    @property
    def reserved_mem_current(self) -> int:
        """The bytes now reserved for graphs."""
        return usage_of(self, cydriver.CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT)

    @property
    def reserved_mem_high(self) -> int:
        """The largest number of bytes reserved since the last reset."""
        return usage_of(self, cydriver.CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)

    @reserved_mem_high.setter
    def reserved_mem_high(self, value):
        reset(self, "reserved_mem_high", cydriver.CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, value)

    @property
    def used_mem_current(self) -> int:
        """The bytes now in use by graphs."""
        return usage_of(self, cydriver.CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT)

    @property
    def used_mem_high(self) -> int:
        """The largest number of bytes in use by graphs since the last reset."""
        return usage_of(self, cydriver.CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)

    @used_mem_high.setter
    def used_mem_high(self, value):
        reset(self, "used_mem_high", cydriver.CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, value)


_ATTRIBUTES = [name for name in vars(GraphMemoryResourceAttributes) if not name.startswith("_")]
_resources = {}
_lock = threading.RLock()


cdef cyGraphMemoryResource GraphMemory_create(type cls, int device_id):
    cdef cyGraphMemoryResource self = cyGraphMemoryResource.__new__(cls)
    self._device_id = device_id
    return self


cdef Buffer GraphMemory_allocate(cyGraphMemoryResource self, size_t size, Stream stream):
    cdef AllocationHandle h_allocation
    cdef ContextHandle h_context
    cdef KeptStream kept_stream
    cdef int device_id = -1
    Stream_keep(stream, &kept_stream)
    Stream_context(stream, &h_context, &device_id)
    if device_id != self._device_id:
        raise ValueError(f"stream must be a stream of device {self._device_id}, not of device {device_id}")
    allocate_in_graph(size, kept_stream.handle(), &h_allocation)
    return Buffer_create(Buffer, h_allocation, self, None)


cdef uint64_t usage_of(GraphMemoryResourceAttributes self, cydriver.CUgraphMem_attribute attribute) except? 0:
    cdef uint64_t value = 0
    cdef int device_id = self._device_id
    with nogil:
        HANDLE_RETURN(
            cydriver.cuDeviceGetGraphMemAttribute(device_id, attribute, &value), b"cuDeviceGetGraphMemAttribute"
        )
    return value


cdef int reset(
    GraphMemoryResourceAttributes self, str name, cydriver.CUgraphMem_attribute attribute, object value
) except -1:
    cdef uint64_t zero = 0
    cdef int device_id = self._device_id
    if value != 0:
        raise AttributeError(f"{name} can only be set to 0, which resets it, not to {shown(value)}")
    with nogil:
        HANDLE_RETURN(
            cydriver.cuDeviceSetGraphMemAttribute(device_id, attribute, &zero), b"cuDeviceSetGraphMemAttribute"
        )
    return 0

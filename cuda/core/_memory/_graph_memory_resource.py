# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory resource for graph memory, which nodes of a graph allocate and free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuda.core._memory._buffer import Buffer
from cuda.core._memory._memory_pool import (
    allocate_graph_memory,
    device_argument,
    get_graph_memory,
    reset_graph_memory,
    trim_graph_memory,
)
from cuda.core._memory._memory_resource import MemoryResource, free_async
from cuda.core._stream import Stream_accept
from cuda.core._utils.locks import RLock
from cuda.core._utils.validators import address_argument

if TYPE_CHECKING:
    from cuda.core._stream import Stream
    from cuda.core.graph import GraphBuilder
    from cuda.core.typing import DevicePointerType

__all__ = ["GraphMemoryResource", "GraphMemoryResourceAttributes"]


class cyGraphMemoryResource(MemoryResource):
    """The base of :class:`GraphMemoryResource`, which adds that there is one object per device."""

    __slots__ = ("_device_id",)

    _accessible_by = ("device",)

    def __repr__(self):
        return f"<{type(self).__name__} of device {self._device_id}>"

    def allocate(self, size: int, *, stream: Stream | GraphBuilder) -> Buffer:
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
        return allocate_graph_memory(self, self._device_id, size, stream)

    def deallocate(self, ptr: DevicePointerType, size: int, *, stream: Stream | GraphBuilder) -> None:
        """Free memory in stream order, or add a memory free node on a capturing stream (``cuMemFreeAsync``).

        Parameters
        ----------
        ptr : int | driver.CUdeviceptr
            The address of the memory.
        size : int
            The size in bytes, which is ignored.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`
            The stream to free the memory on.
        """
        free_async(address_argument("ptr", ptr), Stream_accept(stream))

    _own_deallocate = deallocate

    def trim(self) -> None:
        """Return unused graph memory of the device to the operating system (``cuDeviceGraphMemTrim``)."""
        trim_graph_memory(self._device_id)

    def close(self) -> None:
        """Do nothing, because the driver manages the graph memory of a device."""

    @property
    def attributes(self) -> GraphMemoryResourceAttributes:
        """The usage of graph memory on the device, which every access queries."""
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

    Examples
    --------
    >>> from cuda.core import Device, GraphMemoryResource
    >>> device = Device()
    >>> device.set_current()
    >>> builder = device.create_graph_builder().begin_building()
    >>> scratch = GraphMemoryResource(device).allocate(1024, stream=builder)
    >>> scratch.fill(0, stream=builder)
    >>> scratch.close()
    >>> graph = builder.end_building().complete()
    """

    __slots__ = ()

    def __new__(cls, device_id):
        ordinal = device_argument(device_id)
        with _lock:
            self = _resources.get((cls, ordinal))
            if self is None:
                self = super().__new__(cls)
                self._device_id = ordinal
                _resources[cls, ordinal] = self
        return self

    def __reduce__(self):
        return type(self), (self.device_id,)


class GraphMemoryResourceAttributes:
    """The usage of graph memory on a device, in bytes (``cuDeviceGetGraphMemAttribute``).

    Setting a ``_high`` attribute to 0 resets it to the current value (``cuDeviceSetGraphMemAttribute``).
    """

    __slots__ = ("_device_id",)

    def __init__(self, *args, **kwargs):
        raise RuntimeError("GraphMemoryResourceAttributes cannot be constructed; use the resource's attributes")

    def __repr__(self):
        figures = ", ".join(f"{name}={getattr(self, name)}" for name in _ATTRIBUTES)
        return f"{type(self).__name__}({figures})"

    @property
    def reserved_mem_current(self) -> int:
        """The number of bytes now reserved for graphs."""
        return get_graph_memory(self._device_id, "reserved_mem_current")

    @property
    def reserved_mem_high(self) -> int:
        """The largest number of bytes reserved since the last reset."""
        return get_graph_memory(self._device_id, "reserved_mem_high")

    @reserved_mem_high.setter
    def reserved_mem_high(self, value):
        reset_graph_memory(self._device_id, "reserved_mem_high", value)

    @property
    def used_mem_current(self) -> int:
        """The number of bytes graphs now use."""
        return get_graph_memory(self._device_id, "used_mem_current")

    @property
    def used_mem_high(self) -> int:
        """The largest number of bytes graphs have used since the last reset."""
        return get_graph_memory(self._device_id, "used_mem_high")

    @used_mem_high.setter
    def used_mem_high(self, value):
        reset_graph_memory(self._device_id, "used_mem_high", value)


_ATTRIBUTES = ("reserved_mem_current", "reserved_mem_high", "used_mem_current", "used_mem_high")
_resources = {}
_lock = RLock()

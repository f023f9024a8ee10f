# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Multicast objects: one address for memory of several devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuda.core._memory._buffer import Buffer
from cuda.core._memory._virtual_memory import Multicast, VirtualMemory
from cuda.core._memory._virtual_memory_resource import VirtualMemoryBuffer, VirtualMemoryResource
from cuda.core._stream import Stream_accept
from cuda.core._utils import cuda_utils, slots
from cuda.core._utils.cuda_utils import call_driver
from cuda.core._utils.validators import int_argument, list_argument, shown

if TYPE_CHECKING:
    from cuda.core._stream import Stream
    from cuda.core.graph import GraphBuilder

__all__ = ["MulticastObject"]


class MulticastObject:
    """A team of devices with memory that kernels reach through one address (``cuMulticastCreate``).

    :meth:`bind` memory of each device, then :meth:`map` the object. The ``multimem`` instructions of a kernel store to
    the memory of all devices, or reduce over it, at the address of the map. Ordinary loads, stores and copies do not
    work there.

    Parameters
    ----------
    devices : iterable of :class:`Device` or int
        The team. All devices are added to the object (``cuMulticastAddDevice``).
    size : int
        The size in bytes, which is rounded up to the granularity.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If ``devices`` is empty or names a device twice, there is no such device, or ``size`` is 0.
    OverflowError
        If ``size`` is negative or 2**63 or more.
    NotSupportedError
        If a device does not support multicast.
    CUDAError
        If the driver rejects the team.

    Examples
    --------
    >>> from cuda.core import MulticastObject, VirtualMemoryResource
    >>> team = MulticastObject([0, 1], 1 << 21)  # doctest: +SKIP
    >>> buffers = [VirtualMemoryResource(i).allocate(team.size) for i in (0, 1)]  # doctest: +SKIP
    >>> for buffer in buffers:  # doctest: +SKIP
    ...     team.bind(buffer)
    >>> everywhere = team.map()  # doctest: +SKIP
    """

    __slots__ = ("__weakref__", "_devices", "_handle", "_size")

    def __init__(self, devices, size: int):
        self._devices = _team(devices)
        size = _check_bytes("size", size)
        if size == 0:
            raise ValueError("size must be at least 1 byte, not 0")
        driver = cuda_utils.driver
        properties = driver.CUmulticastObjectProp()
        properties.numDevices, properties.size = len(self._devices), size
        recommended = driver.CUmulticastGranularity_flags.CU_MULTICAST_GRANULARITY_RECOMMENDED
        granularity = call_driver("cuMulticastGetGranularity", properties, recommended)
        self._size = properties.size = -(-size // granularity) * granularity
        self._handle = Multicast(properties.getPtr())
        # Binding waits for the whole team, so all devices are added here.
        for device in self._devices:
            self._handle.add_device(int(device))

    def __repr__(self) -> str:
        state = "closed" if self.is_closed else f"{self._size} bytes"
        return f"<MulticastObject of devices {[int(device) for device in self._devices]}, {state}>"

    def __reduce__(self):
        raise TypeError("a MulticastObject cannot be pickled or copied: it refers to memory of this process")

    def __enter__(self) -> MulticastObject:
        if self.is_closed:
            raise cuda_utils.UnavailableError("this MulticastObject is closed")
        return self

    def __exit__(self, exc_type, exc_value, traceback) -> None:
        self.close()

    def bind(self, buffer: Buffer, *, offset: int = 0) -> None:
        """Bind memory of one device of the team (``cuMulticastBindAddr``).

        The object keeps the memory alive until it is unbound, or the object is closed and all its maps are.

        Parameters
        ----------
        buffer : :class:`Buffer`
            Virtual memory of a device of the team. Its size must be a multiple of the granularity.
        offset : int, optional
            Where in the object the memory begins, in bytes: a multiple of the granularity. Defaults to 0.

        Raises
        ------
        TypeError
            If an argument has the wrong type.
        RuntimeError
            If the object or the buffer is closed.
        CUDAError
            If the driver rejects the memory, its size or the offset, or the device has memory there already.
        """
        if not isinstance(buffer, Buffer):
            raise TypeError(f"buffer must be a Buffer, not {type(buffer).__name__}")
        offset = _check_bytes("offset", offset)
        self._handle.bind(offset, buffer)

    def unbind(self, device, *, offset: int = 0, size: int | None = None) -> None:
        """Unbind memory of a device (``cuMulticastUnbind``). It must not be in use.

        Parameters
        ----------
        device : :class:`Device` | int
            The device of the memory.
        offset : int, optional
            Where in the object the memory begins, in bytes. Defaults to 0.
        size : int, optional
            The size in bytes. Defaults to the rest of the object.

        Raises
        ------
        TypeError, OverflowError
            If an argument has the wrong type, or is negative.
        ValueError
            If ``device`` does not belong to the team.
        RuntimeError
            If the object is closed.
        CUDAError
            If the range does not consist of whole bound memory.
        """
        [device] = _team([device])
        if device not in self._devices:
            team = [int(item) for item in self._devices]
            raise ValueError(f"device must belong to the team, {team}, not {int(device)}")
        offset = _check_bytes("offset", offset)
        size = max(self._size - offset, 0) if size is None else _check_bytes("size", size)
        self._handle.unbind(int(device), offset, size)

    def map(self, *, stream: Stream | GraphBuilder | None = None) -> VirtualMemoryBuffer:
        """Map the object for all devices of the team (``cuMemMap``, ``cuMemSetAccess``).

        Parameters
        ----------
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            The stream to synchronize before the map is closed. Defaults to the default stream.

        Returns
        -------
        :class:`VirtualMemoryBuffer`
            The addresses, which work after the object is closed as well.

        Raises
        ------
        TypeError
            If ``stream`` is not a stream.
        RuntimeError
            If the object is closed, or ``stream`` is a default stream and no context is current.
        CUDAError
            If the driver cannot map it.
        """
        stream = None if stream is None else Stream_accept(stream)
        first, *others = self._devices
        resource = VirtualMemoryResource(first, {"handle_type": None, "peers": others})
        memory = VirtualMemory()
        self._handle.map(memory, memory.reserve(self._size, 0, 0), self._size)
        resource._grant(resource._access(resource.config), memory.pieces)
        return memory.make_buffer(VirtualMemoryBuffer, resource, stream)

    def close(self) -> None:
        """Release the object (``cuMemRelease``). Maps of it still work. Closing a closed object has no effect."""
        self._handle.close()

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._handle.is_closed

    @property
    def devices(self) -> tuple:
        """The devices of the team."""
        return self._devices

    @property
    def size(self) -> int:
        """The size in bytes, a multiple of the granularity."""
        return self._size


def _team(devices) -> tuple:
    """Return devices as a tuple of :class:`Device`, which support multicast and differ."""
    items = list_argument("devices", devices, "an iterable of Device or int")
    # Device() checks the ordinals, and initializes the driver.
    team = tuple([slots.get("Device")(getattr(item, "device_id", item)) for item in items])
    if not team or len(set(team)) < len(team):
        raise ValueError(f"devices must be different ones, and at least one, not {[int(item) for item in team]}")
    for device in team:
        if not device.properties.multicast_supported:
            raise cuda_utils.NotSupportedError(f"device {int(device)} does not support multicast")
    return team


def _check_bytes(name: str, value) -> int:
    value = int_argument(name, value, "an int, a number of bytes")
    if not 0 <= value < 1 << 63:
        raise OverflowError(f"{name} must be a number of bytes, from 0 to 2**63 - 1, not {shown(value)}")
    return value

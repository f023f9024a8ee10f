# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory resources over the driver's synchronous allocators."""

from __future__ import annotations

from cuda.core._memory._buffer import Buffer, MemoryResource
from cuda.core._memory.ranges._allocation import allocate_device, allocate_pinned, free_device, free_pinned
from cuda.core._stream import Stream_accept
from cuda.core._utils.errors.values import hasattr_safe
from cuda.core._utils.validators import address_argument

__all__ = ["LegacyPinnedMemoryResource"]


class _SynchronousAllocator(MemoryResource):
    """Base of resources that allocate synchronously; a subclass defines ``_free``."""

    _needs_stream = False

    _waits_to_free = True

    def deallocate(self, ptr, size: int, *, stream=None) -> None:
        """Synchronize ``stream`` if one is given, and free memory (``cuMemFreeHost``, ``cuMemFree``).

        Parameters
        ----------
        ptr : int
            The address of the memory; 0 does nothing.
        size : int
            The size in bytes; ignored.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            The stream to synchronize first.

        Raises
        ------
        CUDAError
            If work in the stream failed; the memory is freed nevertheless.
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


@hasattr_safe
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
        """Not supported: host memory belongs to no device; raises RuntimeError."""
        raise RuntimeError("page-locked host memory belongs to no device and has no device_id")


class _SynchronousMemoryResource(_SynchronousAllocator):
    """Allocates device memory synchronously, for devices without memory pools (``cuMemAlloc``, ``cuMemFree``)."""

    _accessible_by = ("device",)

    def __init__(self, device_id):
        self._device_id = int(getattr(device_id, "device_id", device_id))

    def __repr__(self):
        return f"<{type(self).__name__} of device {self._device_id}>"

    def allocate(self, size: int, *, stream=None) -> Buffer:
        """Allocate device memory (``cuMemAlloc``); ``stream`` is synchronized before it is freed."""
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

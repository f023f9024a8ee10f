# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Resources over the synchronous allocators of the driver."""

from __future__ import annotations

from cuda.core._memory._buffer import Buffer, MemoryResource
from cuda.core._memory.ranges._allocation import allocate_device, allocate_pinned, free_device, free_pinned
from cuda.core._stream import Stream_accept
from cuda.core._utils.errors.values import answering
from cuda.core._utils.validators import address_argument

__all__ = ["LegacyPinnedMemoryResource"]


class _SynchronousAllocator(MemoryResource):
    """Memory that needs no stream; a subclass has ``_free``, which is called once the work of a stream is done."""

    _needs_stream = False

    _waits_to_free = True

    def deallocate(self, ptr, size: int, *, stream=None) -> None:
        """Free memory (``cuMemFreeHost``, ``cuMemFree``), after all work of ``stream`` if one is given.

        Parameters
        ----------
        ptr : int
            The address; 0 is not freed.
        size : int
            Not used.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            The host waits for its work first.

        Raises
        ------
        CUDAError
            If work of the stream failed; the memory is freed nevertheless.
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


@answering
class LegacyPinnedMemoryResource(_SynchronousAllocator):
    """Page-locked host memory, which devices can also access; not stream-ordered."""

    _accessible_by = ("device", "host")

    def __repr__(self):
        return f"<{type(self).__name__} of the host>"

    def allocate(self, size: int, *, stream=None) -> Buffer:
        """Allocate memory (``cuMemAllocHost``); a context has to be current.

        Parameters
        ----------
        size : int
            The number of bytes. No bytes have the address 0.
        stream : :class:`Stream` | :class:`~cuda.core.graph.GraphBuilder`, optional
            Only checked: the memory can be used at once.

        Raises
        ------
        OutOfMemoryError
            If there is not so much memory.
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
        """Not supported: the memory is on no device."""
        raise RuntimeError("page-locked host memory is on no device, so it has no device_id")


class _SynchronousMemoryResource(_SynchronousAllocator):
    """Device memory without pools: ``cuMemAlloc`` and ``cuMemFree``."""

    _accessible_by = ("device",)

    def __init__(self, device_id):
        self._device_id = int(getattr(device_id, "device_id", device_id))

    def __repr__(self):
        return f"<{type(self).__name__} of device {self._device_id}>"

    def allocate(self, size: int, *, stream=None) -> Buffer:
        """Allocate memory (``cuMemAlloc``); ``stream`` is the one after whose work it is freed."""
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

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Page-locked host memory, allocated without a pool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuda.core._memory._unpooled import SynchronousAllocator, allocate_host, free_host

if TYPE_CHECKING:
    from cuda.core._memory._buffer import Buffer
    from cuda.core._stream import Stream
    from cuda.core.graph import GraphBuilder

__all__ = ["LegacyPinnedMemoryResource"]


class LegacyPinnedMemoryResource(SynchronousAllocator):
    """Allocates page-locked host memory synchronously (``cuMemAllocHost``). All devices can access it.

    Examples
    --------
    >>> import numpy as np
    >>> from cuda.core import Device, LegacyPinnedMemoryResource
    >>> Device().set_current()
    >>> buffer = LegacyPinnedMemoryResource().allocate(16)
    >>> array = np.asarray(buffer).view(np.float32)  # the same memory
    >>> array[:] = 1
    >>> buffer.is_host_accessible, buffer.is_device_accessible
    (True, True)
    """

    _accessible_by = ("device", "host")

    def __repr__(self):
        return f"<{type(self).__name__} of the host>"

    def allocate(self, size: int, *, stream: Stream | GraphBuilder | None = None) -> Buffer:
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
        return allocate_host(self, size, stream)

    _free = free_host

    @property
    def device_id(self) -> int:
        """-1, because host memory is not tied to a device."""
        return -1

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory for tests: resources that no public call creates on every device, and reading back from a device."""

from __future__ import annotations

import ctypes

from cuda.core import LEGACY_DEFAULT_STREAM, Buffer, LegacyPinnedMemoryResource, MemoryResource
from cuda.core._memory._unpooled import _SynchronousMemoryResource  # noqa: F401 (for devices without pools)


class HostMemoryResource(MemoryResource):
    """Ordinary host memory; ``freed`` lists the arguments of each call of ``deallocate``.

    If ``error`` is set, ``allocate`` raises it.
    """

    is_device_accessible = False
    is_host_accessible = True
    device_id = -1

    def __init__(self):
        self.blocks = {}
        self.freed = []
        self.error = None

    def allocate(self, size, *, stream=None):
        if self.error is not None:
            raise self.error
        block = ctypes.create_string_buffer(max(size, 1))
        address = ctypes.addressof(block)
        self.blocks[address] = block
        return Buffer.from_handle(address, size, mr=self, stream=stream)

    def deallocate(self, ptr, size, *, stream):
        self.freed.append((ptr, size, stream))
        del self.blocks[ptr]


def read(buffer, stream) -> bytes:
    """Return the contents of a buffer after all work of the stream."""
    pinned = LegacyPinnedMemoryResource().allocate(buffer.size)
    buffer.copy_to(pinned, stream=stream)
    stream.sync()
    return bytes(memoryview(pinned))


def write(buffer, data, stream) -> None:
    """Copy the bytes of ``data`` to a buffer, and wait for the copy."""
    pinned = LegacyPinnedMemoryResource().allocate(buffer.size)
    memoryview(pinned)[:] = data
    buffer.copy_from(pinned, stream=stream)
    stream.sync()


def allocate_and_free(mr, size, stream=LEGACY_DEFAULT_STREAM) -> int:
    """Allocate and free memory; return its address."""
    with mr.allocate(size, stream=stream) as buffer:
        return buffer.handle


class ShortList(list):
    """A list with one item less than its length, as if another thread shortens it."""

    def __len__(self):
        return super().__len__() + 1

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels compiled for the current device, and memory that host and device access."""

from __future__ import annotations

import ctypes
import functools


@functools.cache
def compiled(source: str):
    """Return the :class:`ObjectCode` of CUDA C++ for the current device; equal sources are compiled once."""
    from cuda.core import Program, ProgramOptions

    return Program(source, "c++", ProgramOptions(std="c++17")).compile("cubin")


class HostMemory:
    """Pinned memory, zeroed: kernels write to it, and ``bytes()`` reads it after a synchronization."""

    def __init__(self, size: int):
        from cuda.core import LegacyPinnedMemoryResource

        self.buffer = LegacyPinnedMemoryResource().allocate(size)
        self.address = int(self.buffer.handle)
        self.size = size
        ctypes.memset(self.address, 0, size)

    def __bytes__(self) -> bytes:
        return ctypes.string_at(self.address, self.size)

    def array(self, dtype):
        """Return a copy as a NumPy array."""
        import numpy

        return numpy.frombuffer(bytes(self), dtype)

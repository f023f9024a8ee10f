# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Functions that tests call in a child process: checkpointed memory, and a forked resource."""

import os

import numpy as np

from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    CachingMemoryResource,
    Device,
    LegacyPinnedMemoryResource,
    StatisticsMemoryResource,
)
from support.memory import HostMemoryResource

_kept = {}


def fill(count: int) -> str:
    """Put numbers into memory of device 0; returns its UUID."""
    device = Device(0)
    stream = device.create_stream()
    host = LegacyPinnedMemoryResource().allocate(4 * count)
    np.from_dlpack(host).view(np.int32)[:] = np.arange(count)
    buffer = device.allocate(4 * count, stream=stream)
    buffer.copy_from(host, stream=stream)
    stream.sync()
    _kept.update(device=device, stream=stream, host=host, buffer=buffer, count=count)
    return device.uuid


def check() -> bool:
    """Return whether the memory still has the numbers."""
    host, stream = _kept["host"], _kept["stream"]
    numbers = np.from_dlpack(host).view(np.int32)
    numbers[:] = 0
    _kept["buffer"].copy_to(host, stream=stream)
    stream.sync()
    return bool((numbers == np.arange(_kept["count"])).all())


def uuid() -> str:
    """Return the UUID of the device, which a restore may have changed."""
    return _kept["device"].uuid


def allocate_after_fork():
    """Use a caching resource on both sides of a fork; return the exit status there, and two states of this side."""
    mr = CachingMemoryResource(StatisticsMemoryResource(HostMemoryResource()))
    cached, held = (mr.allocate(size, stream=LEGACY_DEFAULT_STREAM) for size in (64, 5000))
    cached.close()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            assert mr.cached_bytes == 0
            held.close()
            mr.allocate(64, stream=LEGACY_DEFAULT_STREAM).close()
            assert mr.cached_bytes == 512
            mr.trim()
            mr.close()
            status = 0
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status, held.is_closed, mr.cached_bytes

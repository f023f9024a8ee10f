# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Functions that run in the child process that a test checkpoints."""

import numpy as np

from cuda.core import Device, LegacyPinnedMemoryResource

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

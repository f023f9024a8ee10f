# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Use of the device memory and of the BAR1 aperture."""

from __future__ import annotations

from cuda.core.system._attributes import Snapshot, field

__all__ = ["BAR1MemoryInfo", "MemoryInfo"]


class MemoryInfo(Snapshot):
    """The device memory at one moment, in bytes; ``free``, ``used`` and ``reserved`` add up to ``total``."""

    __slots__ = ()

    free = field("free", "Bytes that can be allocated.")
    total = field("total", "All bytes.")
    used = field("used", "Bytes that processes have allocated.")
    reserved = field("reserved", "Bytes that the driver and the firmware reserve.")


class BAR1MemoryInfo(MemoryInfo):
    """The BAR1 aperture at one moment, in bytes: the window through which the host and other devices map memory."""

    __slots__ = ()

    free = field("bar1_free", "Bytes that can be mapped.")
    total = field("bar1_total", "All bytes.")
    used = field("bar1_used", "Bytes that are mapped.")
    reserved = property(lambda self: 0, doc="Always 0.")

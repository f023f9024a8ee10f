# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory of a device, and of its BAR1 window."""

from __future__ import annotations

from cuda.core.system._attributes import Snapshot, answering, field

__all__ = ["BAR1MemoryInfo", "MemoryInfo"]


@answering
class MemoryInfo(Snapshot):
    """The memory of a device at one moment, in bytes; the parts add up to the total."""

    __slots__ = ()

    free = field("free", "Bytes that can be allocated.")
    total = field("total", "Bytes in all.")
    used = field("used", "Bytes in use, by any process.")
    reserved = field("reserved", "Bytes that the driver and the firmware keep for themselves.")


@answering
class BAR1MemoryInfo(MemoryInfo):
    """The BAR1 window at one moment, in bytes: what of the memory the host and other devices can map."""

    __slots__ = ()

    free = field("bar1_free", "Bytes that can be mapped.")
    total = field("bar1_total", "Bytes in all.")
    used = field("bar1_used", "Bytes that are mapped.")
    reserved = property(lambda self: 0, doc="Always 0: of BAR1 nothing is reserved.")

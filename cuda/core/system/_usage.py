# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Use of a device: its memory, its utilization, and the processes on it."""

from __future__ import annotations

from cuda.core.system._attributes import Items, Snapshot, field
from cuda.core.system._support import nvml

__all__ = [
    "BAR1MemoryInfo",
    "GpuDynamicPstatesInfo",
    "GpuDynamicPstatesUtilization",
    "MemoryInfo",
    "ProcessInfo",
    "Utilization",
]


class MemoryInfo(Snapshot):
    """The device memory at one moment, in bytes. ``free``, ``used`` and ``reserved`` add up to ``total``."""

    __slots__ = ()

    free = field("free", "Bytes that can be allocated.")
    total = field("total", "All bytes.")
    used = field("used", "Bytes that processes have allocated.")
    reserved = field("reserved", "Bytes that the driver and the firmware reserve.")


class BAR1MemoryInfo(MemoryInfo):
    """The BAR1 aperture, through which the host and other devices map memory, at one moment, in bytes."""

    __slots__ = ()

    free = field("bar1_free", "Bytes that can be mapped.")
    total = field("bar1_total", "All bytes.")
    used = field("bar1_used", "Bytes that are mapped.")
    reserved = property(lambda self: 0, doc="Always 0.")


class Utilization(Snapshot):
    """Utilization in the last sample period, which is between 1/6 second and 1 second, depending on the product."""

    __slots__ = ()

    gpu = field("gpu", "Percent of the time during which kernels ran.")
    memory = field("memory", "Percent of the time during which device memory was read or written.")


class GpuDynamicPstatesUtilization(Snapshot):
    """Utilization of one domain (graphics, frame buffer, video, bus), which the performance state follows."""

    __slots__ = ()

    is_present = field("b_is_present", "Whether the device has this domain.", bool)
    percentage = field("percentage", "Percent of the last second in which the domain was busy.")
    inc_threshold = field("inc_threshold", "Percent above which the performance state may rise.")
    dec_threshold = field("dec_threshold", "Percent below which the performance state may fall.")


class GpuDynamicPstatesInfo(Items):
    """Utilization by domain, a sequence of :class:`GpuDynamicPstatesUtilization`."""

    __slots__ = ()

    def __init__(self, record):
        super().__init__(record.utilization, GpuDynamicPstatesUtilization)


_NO_INSTANCE = 0xFFFFFFFF


def _instance_id(value: int) -> int:
    if value == _NO_INSTANCE:
        raise nvml.NotSupportedError(nvml.Return.ERROR_NOT_SUPPORTED)
    return int(value)


class ProcessInfo(Snapshot):
    """A process with a context on a device.

    Without MIG, the instance IDs raise :class:`~cuda.core.system.NotSupportedError`.
    """

    __slots__ = ()

    pid = field("pid", "The process ID.")
    used_gpu_memory = field("used_gpu_memory", "Bytes of device memory that the process uses.")
    gpu_instance_id = field("gpu_instance_id", "The ID of the GPU instance that the process uses.", _instance_id)
    compute_instance_id = field(
        "compute_instance_id", "The ID of the compute instance that the process uses.", _instance_id
    )

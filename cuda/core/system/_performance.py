# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Utilization and performance states of a device, its units and repairs."""

from __future__ import annotations

from cuda.core.system._attributes import Items, Snapshot, answering, field

__all__ = [
    "DeviceAttributes",
    "GpuDynamicPstatesInfo",
    "GpuDynamicPstatesUtilization",
    "RepairStatus",
    "Utilization",
]


@answering
class Utilization(Snapshot):
    """Utilisation of a device in the last sample period, which is between a sixth of a second and a second."""

    __slots__ = ()

    gpu = field("gpu", "Percent of the time during which kernels ran.")
    memory = field("memory", "Percent of the time during which the memory of the device was read or written.")


@answering
class GpuDynamicPstatesUtilization(Snapshot):
    """Utilization of one domain (graphics, frame buffer, video, bus), which performance states follow."""

    __slots__ = ()

    is_present = field("b_is_present", "Whether the device has this domain.", bool)
    percentage = field("percentage", "Percent of the last second in which the domain was busy.")
    inc_threshold = field("inc_threshold", "Percent above which the performance rises.")
    dec_threshold = field("dec_threshold", "Percent below which the performance falls.")


class GpuDynamicPstatesInfo(Items):
    """Utilization by domain, a sequence of :class:`GpuDynamicPstatesUtilization`."""

    __slots__ = ()

    def __init__(self, record):
        super().__init__(record.utilization, GpuDynamicPstatesUtilization)


@answering
class DeviceAttributes(Snapshot):
    """The units of a device or of a MIG instance."""

    __slots__ = ()

    multiprocessor_count = field("multiprocessor_count", "Multiprocessors.")
    shared_copy_engine_count = field("shared_copy_engine_count", "Copy engines, shared.")
    shared_decoder_count = field("shared_decoder_count", "Video decoders, shared.")
    shared_encoder_count = field("shared_encoder_count", "Video encoders, shared.")
    shared_jpeg_count = field("shared_jpeg_count", "JPEG engines, shared.")
    shared_ofa_count = field("shared_ofa_count", "Optical flow accelerators, shared.")
    gpu_instance_slice_count = field("gpu_instance_slice_count", "Slices of the GPU instance.")
    compute_instance_slice_count = field("compute_instance_slice_count", "Slices of the compute instance.")
    memory_size_mb = field("memory_size_mb", "Memory in MiB.")


@answering
class RepairStatus(Snapshot):
    """Repairs of the hardware that wait for a reset."""

    __slots__ = ()

    channel_repair_pending = field("b_channel_repair_pending", "Whether a memory channel waits for its repair.", bool)
    tpc_repair_pending = field(
        "b_tpc_repair_pending", "Whether a cluster of multiprocessors waits for its repair.", bool
    )

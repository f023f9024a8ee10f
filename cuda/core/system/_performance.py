# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Utilization, performance states, hardware units and pending repairs of a device."""

from __future__ import annotations

from cuda.core.system._attributes import Items, Snapshot, field

__all__ = [
    "DeviceAttributes",
    "GpuDynamicPstatesInfo",
    "GpuDynamicPstatesUtilization",
    "RepairStatus",
    "Utilization",
]


class Utilization(Snapshot):
    """Utilization in the last sample period, which is between 1/6 second and 1 second, depending on the product."""

    __slots__ = ()

    gpu = field("gpu", "Percent of the time during which kernels ran.")
    memory = field("memory", "Percent of the time during which the memory of the device was read or written.")


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


class DeviceAttributes(Snapshot):
    """The hardware units of a device or of a MIG instance. Compute instances share those that are called shared."""

    __slots__ = ()

    multiprocessor_count = field("multiprocessor_count", "The number of multiprocessors.")
    shared_copy_engine_count = field("shared_copy_engine_count", "The number of shared copy engines.")
    shared_decoder_count = field("shared_decoder_count", "The number of shared video decoders.")
    shared_encoder_count = field("shared_encoder_count", "The number of shared video encoders.")
    shared_jpeg_count = field("shared_jpeg_count", "The number of shared JPEG engines.")
    shared_ofa_count = field("shared_ofa_count", "The number of shared optical flow accelerators.")
    gpu_instance_slice_count = field("gpu_instance_slice_count", "The number of slices of the GPU instance.")
    compute_instance_slice_count = field(
        "compute_instance_slice_count", "The number of slices of the compute instance."
    )
    memory_size_mb = field("memory_size_mb", "The device memory in MiB.")


class RepairStatus(Snapshot):
    """Hardware repairs that the next reset of the device makes."""

    __slots__ = ()

    channel_repair_pending = field(
        "b_channel_repair_pending", "Whether the repair of a memory channel is pending.", bool
    )
    tpc_repair_pending = field(
        "b_tpc_repair_pending", "Whether the repair of a TPC, a cluster of multiprocessors, is pending.", bool
    )

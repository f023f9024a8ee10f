# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Multi-instance GPUs (MIG), and the hardware units of devices and instances."""

from __future__ import annotations

from collections.abc import Iterator

from cuda.core.system._attributes import DeviceView, Snapshot, check_int, field, nvml_property, reading
from cuda.core.system._support import nvml

__all__ = ["DeviceAttributes", "MigInfo"]


class MigInfo(DeviceView):
    """MIG state of a device, from :attr:`Device.mig`: the instances of a physical device, the parent of an instance."""

    __slots__ = ()

    def get_device_by_index(self, index: int) -> Device:  # noqa: F821
        """Return a MIG instance of this device (``nvml.device_get_mig_device_handle_by_index``).

        Parameters
        ----------
        index : int
            From 0 to :attr:`device_count` - 1. Not every index needs to have an instance.

        Raises
        ------
        TypeError
            If ``index`` is not an int.
        ValueError
            If ``index`` is negative or needs more than 32 bits.
        NvmlError
            If there is no such instance.
        """
        handle = nvml.device_get_mig_device_handle_by_index(self._handle, check_int("index", index, 1 << 32))
        return self._device._of_handle(handle)

    def get_all_devices(self) -> Iterator[Device]:  # noqa: F821
        """Yield the MIG instances of this device."""
        for index in range(self.device_count):
            try:
                device = self.get_device_by_index(index)
            except (nvml.NotFoundError, nvml.InvalidArgumentError):
                continue
            yield device

    is_mig_device = reading("device_is_mig_device_handle", "Whether this device is a MIG instance.", bool)

    @nvml_property
    def mode(self) -> bool:
        """Whether MIG mode is on (``nvml.device_get_mig_mode``, ``nvml.device_set_mig_mode``).

        Setting it needs administrator rights, and might not take effect until the next device reset.
        """
        return nvml.device_get_mig_mode(self._handle)[0] == nvml.DeviceMig.ENABLE

    @mode.setter
    def mode(self, mode: bool) -> None:
        nvml.device_set_mig_mode(self._handle, nvml.DeviceMig.ENABLE if mode else nvml.DeviceMig.DISABLE)

    @nvml_property
    def pending_mode(self) -> bool:
        """Whether MIG mode is on after the next reset, or False without MIG support (``nvml.device_get_mig_mode``)."""
        try:
            return nvml.device_get_mig_mode(self._handle)[1] == nvml.DeviceMig.ENABLE
        except nvml.NotSupportedError:
            return False

    @nvml_property
    def device_count(self) -> int:
        """The maximum number of instances, or 0 without MIG support (``nvml.device_get_max_mig_device_count``)."""
        try:
            return nvml.device_get_max_mig_device_count(self._handle)
        except nvml.NotSupportedError:
            return 0

    @nvml_property
    def parent(self) -> Device:  # noqa: F821
        """The physical device of this instance (``nvml.device_get_device_handle_from_mig_device_handle``)."""
        return self._device._of_handle(nvml.device_get_device_handle_from_mig_device_handle(self._handle))


class DeviceAttributes(Snapshot):
    """The hardware units of a device or of a MIG instance. Compute instances share the units called shared."""

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

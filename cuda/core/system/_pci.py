# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""PCI address and link of a device."""

from __future__ import annotations

from cuda.core.system._attributes import DeviceView, nvml_property, reading
from cuda.core.system._support import nvml

__all__ = ["PciInfo"]


class PciInfo(DeviceView):
    """The PCI address and link of a device, from :attr:`Device.pci_info`.

    The address is queried when the object is created; the attributes of the link query NVML at each access.

    Raises
    ------
    RuntimeError
        If the device is a MIG instance, which does not have its own PCI address.
    """

    __slots__ = ("_extended", "_record")

    def __init__(self, device):
        super().__init__(device)
        self._extended = True
        try:
            self._record = nvml.device_get_pci_info_ext(self._handle)
        except (nvml.NotSupportedError, nvml.FunctionNotFoundError):
            self._extended = False
            self._record = nvml.device_get_pci_info_v3(self._handle)
        if not self._record.bus_id:
            raise RuntimeError(f"{device!r} has no PCI address; for a MIG instance, use that of mig.parent")

    def __repr__(self):
        return f"<PciInfo {self.bus_id} of {self._device!r}>"

    def _class_code(self, name: str) -> int:
        if not self._extended:
            raise nvml.NotSupportedError(nvml.Return.ERROR_NOT_SUPPORTED)
        return int(getattr(self._record, name))

    @nvml_property
    def bus(self) -> int:
        """The number of the bus."""
        return int(self._record.bus)

    @nvml_property
    def bus_id(self) -> str:
        """The address as ``domain:bus:device.function``, with 8 digits for the domain: ``00000000:17:00.0``."""
        return self._record.bus_id

    @nvml_property
    def device(self) -> int:
        """The number of the device on the bus."""
        return int(self._record.device_)

    @nvml_property
    def domain(self) -> int:
        """The number of the domain."""
        return int(self._record.domain)

    @nvml_property
    def vendor_id(self) -> int:
        """The vendor ID, ``0x10de`` for NVIDIA."""
        return int(self._record.pci_device_id) & 0xFFFF

    @nvml_property
    def device_id(self) -> int:
        """The device ID: the vendor's number of the product."""
        return int(self._record.pci_device_id) >> 16

    @nvml_property
    def subsystem_id(self) -> int:
        """The subsystem ID, with the subsystem's vendor ID in the lower 16 bits."""
        return int(self._record.pci_sub_system_id)

    @nvml_property
    def base_class(self) -> int:
        """The 8-bit base class code."""
        return self._class_code("base_class")

    @nvml_property
    def sub_class(self) -> int:
        """The 8-bit subclass code."""
        return self._class_code("sub_class")

    link_generation = reading(
        "device_get_max_pcie_link_generation",
        "The highest PCIe generation that the device and the system support, an int.",
    )
    max_link_generation = reading(
        "device_get_gpu_max_pcie_link_generation", "The highest PCIe generation that the device supports, an int."
    )
    max_link_width = reading(
        "device_get_max_pcie_link_width", "The largest number of lanes that the device and the system support, an int."
    )
    current_link_generation = reading(
        "device_get_curr_pcie_link_generation", "The PCIe generation that is in use now, an int."
    )
    current_link_width = reading("device_get_curr_pcie_link_width", "The number of lanes that are in use now, an int.")
    replay_counter = reading("device_get_pcie_replay_counter", "The number of retransmitted packets, an int.")
    rx_throughput = reading(
        lambda handle: nvml.device_get_pcie_throughput(handle, nvml.PcieUtilCounter.PCIE_UTIL_RX_BYTES),
        "KB/s received, measured for 20 ms while the call blocks (``nvml.device_get_pcie_throughput``).",
    )
    tx_throughput = reading(
        lambda handle: nvml.device_get_pcie_throughput(handle, nvml.PcieUtilCounter.PCIE_UTIL_TX_BYTES),
        "KB/s sent, measured for 20 ms while the call blocks (``nvml.device_get_pcie_throughput``).",
    )

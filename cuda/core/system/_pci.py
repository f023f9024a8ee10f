# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""PCI: where a device is connected, and how fast."""

from __future__ import annotations

from cuda.core.system._attributes import DeviceView, answering, reading
from cuda.core.system._support import nvml

__all__ = ["PciInfo"]


@answering
class PciInfo(DeviceView):
    """The PCI address and link of a device, from :attr:`Device.pci_info`.

    The address was read when this object was made; what the link does is read each time.

    Raises
    ------
    RuntimeError
        If the device has no PCI address of its own, as instances of MIG.
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
            raise RuntimeError(f"{device!r} has no PCI address; for an instance, use that of mig.parent")

    def __repr__(self):
        return f"<PciInfo {self.bus_id} of {self._device!r}>"

    def _class(self, name: str) -> int:
        if not self._extended:
            raise nvml.NotSupportedError(nvml.Return.ERROR_NOT_SUPPORTED)
        return int(getattr(self._record, name))

    @property
    def bus(self) -> int:
        """The bus."""
        return int(self._record.bus)

    @property
    def bus_id(self) -> str:
        """The address as text, ``domain:bus:device.function`` with 8 digits for the domain."""
        return self._record.bus_id

    @property
    def device(self) -> int:
        """The device on the bus."""
        return int(self._record.device_)

    @property
    def domain(self) -> int:
        """The domain."""
        return int(self._record.domain)

    @property
    def vendor_id(self) -> int:
        """The vendor of the device; NVIDIA is ``0x10de``."""
        return int(self._record.pci_device_id) & 0xFFFF

    @property
    def device_id(self) -> int:
        """The vendor's number of the product."""
        return int(self._record.pci_device_id) >> 16

    @property
    def subsystem_id(self) -> int:
        """The number of the subsystem, with its vendor in the lower 16 bits."""
        return int(self._record.pci_sub_system_id)

    @property
    def base_class(self) -> int:
        """The class code."""
        return self._class("base_class")

    @property
    def sub_class(self) -> int:
        """The subclass code."""
        return self._class("sub_class")

    link_generation = reading(
        "device_get_max_pcie_link_generation", "The highest generation of the link in this system, an int."
    )
    max_link_generation = reading(
        "device_get_gpu_max_pcie_link_generation", "The highest generation that the GPU itself can, an int."
    )
    max_link_width = reading("device_get_max_pcie_link_width", "The most lanes of the link in this system, an int.")
    current_link_generation = reading("device_get_curr_pcie_link_generation", "The generation now, an int.")
    current_link_width = reading("device_get_curr_pcie_link_width", "The lanes now, an int.")
    replay_counter = reading("device_get_pcie_replay_counter", "How many packets were sent again, an int.")
    rx_throughput = reading(
        lambda handle: nvml.device_get_pcie_throughput(handle, nvml.PcieUtilCounter.PCIE_UTIL_RX_BYTES),
        "KB/s received, over 20 ms in which the call waits (``nvml.device_get_pcie_throughput``).",
    )
    tx_throughput = reading(
        lambda handle: nvml.device_get_pcie_throughput(handle, nvml.PcieUtilCounter.PCIE_UTIL_TX_BYTES),
        "KB/s sent, over 20 ms in which the call waits (``nvml.device_get_pcie_throughput``).",
    )

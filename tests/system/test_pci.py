# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""PCI addresses and links."""

import pytest
from cuda.bindings import nvml

from cuda.core import system

pytestmark = pytest.mark.requires(nvml=True)
LINK = {
    "link_generation": "device_get_max_pcie_link_generation",
    "max_link_generation": "device_get_gpu_max_pcie_link_generation",
    "max_link_width": "device_get_max_pcie_link_width",
    "current_link_generation": "device_get_curr_pcie_link_generation",
    "current_link_width": "device_get_curr_pcie_link_width",
    "replay_counter": "device_get_pcie_replay_counter",
}


def test_address_matches_the_device(gpus):
    for gpu in gpus:
        pci = gpu.pci_info
        assert type(pci).__name__ == "PciInfo" and pci.bus_id == gpu.pci_bus_id
        assert system.Device(pci_bus_id=pci.bus_id).index == gpu.index
        assert pci.bus_id.upper() == f"{pci.domain:08X}:{pci.bus:02X}:{pci.device:02X}.0"
        for name in ("vendor_id", "device_id", "subsystem_id", "base_class", "sub_class"):
            assert type(getattr(pci, name)) is int
        assert repr(pci) == f"<PciInfo {pci.bus_id} of {gpu!r}>"


def test_vendor_and_device_are_parts_of_the_id(gpu, fake):
    record = nvml.PciInfoExt_v1()
    record.pci_device_id, record.pci_sub_system_id, record.base_class, record.sub_class = 0x233510DE, 0x18BE10DE, 3, 2
    record.bus_id = "00000000:17:00.0"
    fake("device_get_pci_info_ext", record)
    pci = gpu.pci_info
    assert (pci.vendor_id, pci.device_id, pci.subsystem_id) == (0x10DE, 0x2335, 0x18BE10DE)
    assert (pci.base_class, pci.sub_class) == (3, 2)


def test_older_drivers_do_not_return_the_class(gpu, fake, not_supported):
    record = nvml.PciInfo()
    record.pci_device_id, record.bus, record.bus_id = 0x233510DE, 0x17, "00000000:17:00.0"
    fake("device_get_pci_info_ext", not_supported)
    fake("device_get_pci_info_v3", record)
    pci = gpu.pci_info
    assert (pci.vendor_id, pci.bus, pci.bus_id) == (0x10DE, 0x17, "00000000:17:00.0")
    for name in ("base_class", "sub_class"):
        with pytest.raises(system.NotSupportedError):
            getattr(pci, name)


def test_mig_instances_have_no_address(gpu, fake):
    fake("device_get_pci_info_ext", nvml.PciInfoExt_v1())
    with pytest.raises(RuntimeError, match="has no PCI address; for a MIG instance, use that of mig.parent"):
        gpu.pci_info  # noqa: B018


@pytest.mark.parametrize("name", LINK)
def test_attributes_of_the_link_are_read(gpu, fake, name):
    fake(LINK[name], 4)
    assert getattr(gpu.pci_info, name) == 4 and fake.calls == [(LINK[name], gpu._handle)]


def test_throughput_is_read_for_both_directions(gpu, fake):
    fake("device_get_pcie_throughput", 512)
    pci = gpu.pci_info
    assert pci.tx_throughput == pci.rx_throughput == 512
    assert [counter for _, _, counter in fake.calls] == [nvml.PcieUtilCounter.TX_BYTES, nvml.PcieUtilCounter.RX_BYTES]

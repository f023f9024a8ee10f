# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Public names of the package, with an NVML module in the bindings and without one."""

import pytest

from cuda.core import system

ALWAYS = {
    "CUDA_BINDINGS_NVML_IS_COMPATIBLE",
    "get_driver_branch",
    "get_kernel_mode_driver_version",
    "get_num_devices",
    "get_nvml_version",
    "get_process_name",
    "get_user_mode_driver_version",
}
NVML_ONLY = {"Device", "NvlinkInfo", "get_p2p_status", "get_topology_common_ancestor", "register_events"}


def test_public_names_match_the_package_and_its_modules():
    assert set(system.__all__) == ALWAYS | NVML_ONLY | set(system.exceptions.__all__)
    assert len(system.__all__) == len(set(system.__all__))
    assert all(hasattr(system, name) for name in system.__all__)
    for name in ("exceptions", "typing", "_device", "_system", "_system_events", "_nvml_context"):
        assert getattr(system, name).__name__ == f"cuda.core.system.{name}"
    assert system.Device is system._device.Device and system.NvlinkInfo is system._device.NvlinkInfo


@pytest.mark.requires(device=True)
def test_without_nvml_in_the_bindings_seven_names_remain(run_without_nvml):
    out = run_without_nvml(
        "from cuda.core import Device\nfrom support.bindings import driver_version\n"
        "print(sorted(system.__all__), sorted(set(system.typing.__all__) & {'DeviceArch', 'FieldId'}))\n"
        "print(system.CUDA_BINDINGS_NVML_IS_COMPATIBLE, hasattr(system, 'Device'))\n"
        "print(system.get_user_mode_driver_version() == driver_version()[:2])\n"
        "print(system.get_num_devices() == len(Device.get_all_devices()))"
    )
    assert out.splitlines() == [f"{sorted(ALWAYS)} []", "False False", "True", "True"]

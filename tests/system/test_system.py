# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Versions, counts and process names, and CUDA and NVML devices, which find each other."""

import os

import pytest

from cuda.core import Device, system
from support.interpreter import run

# Above the largest number that Linux gives a process.
NO_PROCESS = (1 << 22) + 1


@pytest.mark.requires(nvml=True)
def test_versions_agree_with_each_other():
    from support.bindings import driver_version

    assert system.get_user_mode_driver_version() == driver_version()[:2]
    kernel, library = system.get_kernel_mode_driver_version(), system.get_nvml_version()
    assert len(kernel) in (2, 3) and len(library) in (3, 4)
    assert library[1:] == kernel and library[0] == system.get_user_mode_driver_version()[0]
    assert all(type(part) is int for part in (*kernel, *library))
    assert isinstance(system.get_driver_branch(), str) and system.get_driver_branch()


@pytest.mark.parametrize(
    "text, version", [("580.65.06", (580, 65, 6)), ("580.65", (580, 65)), ("13.580.65.06", (13, 580, 65, 6))]
)
def test_versions_are_tuples_of_ints(fake, text, version):
    fake("init_v2")
    fake("system_get_driver_version", text)
    fake("system_get_nvml_version", text)
    assert system.get_kernel_mode_driver_version() == version == system.get_nvml_version()


@pytest.mark.requires(nvml=True)
def test_devices_are_counted():
    assert system.get_num_devices() == system.Device.get_device_count() == len(list(system.Device.get_all_devices()))


@pytest.mark.requires(nvml=True)
def test_name_of_a_process_is_found_by_its_pid(device):
    device.create_stream().close()
    name = system.get_process_name(os.getpid())
    assert isinstance(name, str) and "python" in name
    with pytest.raises(system.NotFoundError):
        system.get_process_name(NO_PROCESS)


def test_pid_must_be_an_int_of_32_bits():
    with pytest.raises(TypeError, match="pid must be an int, not str"):
        system.get_process_name("1")
    for pid in (-1, 1 << 32):
        with pytest.raises(ValueError, match="pid must be"):
            system.get_process_name(pid)


@pytest.mark.requires(nvml=True)
def test_devices_of_cuda_and_nvml_find_each_other(devices):
    for device in devices:
        counterpart = device.to_system_device()
        assert type(counterpart) is system.Device
        assert counterpart.uuid_without_prefix == device.uuid
        assert counterpart.to_cuda_device() == device
        assert counterpart.pci_bus_id[4:] == device.pci_bus_id
        assert counterpart.cuda_compute_capability == tuple(device.compute_capability)


def test_device_hidden_from_cuda_is_named(fake):
    hidden = "GPU-00000000-0000-4000-8000-000000000000"
    fake("init_v2")
    fake("device_get_handle_by_index_v2", 1)
    fake("device_get_uuid", hidden)
    gpu = system.Device(index=0)
    with pytest.raises(RuntimeError, match=f"CUDA sees no device with the UUID {hidden}"):
        gpu.to_cuda_device()


def test_package_is_imported_at_its_first_use():
    out = run(
        "import sys, cuda.core; print('cuda.core.system' in sys.modules)\n"
        "cuda.core.system.Device; print('system' in dir(cuda.core))"
    )
    assert out.split() == ["False", "True"]


@pytest.mark.requires(nvml=True)
def test_queries_create_no_context():
    out = run(
        "from cuda.core import system\nfrom cuda.bindings import driver\n"
        "for d in system.Device.get_all_devices(): d.memory_info, d.name, repr(d), d._repr_html_()\n"
        "driver.cuInit(0); print(driver.cuDevicePrimaryCtxGetState(0)[2])"
    )
    assert out.split() == ["0"]
    assert Device is not system.Device

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The package itself: versions, counts, names of processes, and its public names."""

import os

import pytest
from cuda.bindings import nvml

from cuda.core import Device, system
from support.interpreter import run

ALWAYS = {
    "CUDA_BINDINGS_NVML_IS_COMPATIBLE",
    "get_driver_branch",
    "get_kernel_mode_driver_version",
    "get_num_devices",
    "get_nvml_version",
    "get_process_name",
    "get_user_mode_driver_version",
}
# Above the largest number that Linux gives a process.
NO_PROCESS = (1 << 22) + 1
NVML_ONLY = {"Device", "NvlinkInfo", "get_p2p_status", "get_topology_common_ancestor", "register_events"}
ERRORS = set(
    """NvmlError UninitializedError InvalidArgumentError NotSupportedError NoPermissionError AlreadyInitializedError
    NotFoundError InsufficientSizeError InsufficientPowerError DriverNotLoadedError TimeoutError IrqIssueError
    LibraryNotFoundError FunctionNotFoundError CorruptedInforomError GpuIsLostError ResetRequiredError
    OperatingSystemError LibRmVersionMismatchError InUseError MemoryError NoDataError VgpuEccNotSupportedError
    InsufficientResourcesError FreqNotSupportedError ArgumentVersionMismatchError DeprecatedError NotReadyError
    GpuNotFoundError InvalidStateError ResetTypeNotSupportedError UnknownError""".split()
)


def test_public_names_are_those_of_the_package_and_its_modules():
    assert len(ERRORS) == 32
    assert set(system.__all__) == ALWAYS | NVML_ONLY | ERRORS
    assert len(system.__all__) == len(set(system.__all__))
    assert all(hasattr(system, name) for name in system.__all__)
    for name in ("exceptions", "typing", "_device", "_system", "_system_events", "_nvml_context"):
        assert getattr(system, name).__name__ == f"cuda.core.system.{name}"
    assert system.Device is system._device.Device and system.NvlinkInfo is system._device.NvlinkInfo


@pytest.mark.parametrize("name", sorted(ERRORS))
def test_errors_are_those_of_the_bindings(name):
    error = getattr(system, name)
    assert error is getattr(nvml, name) is getattr(system.exceptions, name)
    assert issubclass(error, system.NvmlError)


def test_errors_do_not_hide_builtin_ones_by_inheritance():
    import builtins

    assert not issubclass(system.TimeoutError, builtins.TimeoutError)
    assert not issubclass(system.MemoryError, builtins.MemoryError)


def test_every_code_of_nvml_has_an_error_class():
    codes = {member.name for member in nvml.Return} - {"SUCCESS"}
    raised = set()
    for code in codes:
        with pytest.raises(system.NvmlError) as caught:
            nvml.check_status(nvml.Return.__members__[code])
        raised.add(type(caught.value).__name__.removeprefix("Nvml"))
    assert raised == ERRORS - {"NvmlError"}, "NVML has an error that has no public name"


@pytest.mark.requires(nvml=True)
def test_versions_agree_with_each_other():
    from cuda.core._utils.version import driver_version

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
def test_the_name_of_a_process_is_found_by_its_pid(device):
    device.create_stream().close()
    name = system.get_process_name(os.getpid())
    assert isinstance(name, str) and "python" in name
    with pytest.raises(system.NotFoundError):
        system.get_process_name(NO_PROCESS)


def test_a_pid_must_be_an_int_of_32_bits():
    with pytest.raises(TypeError, match="pid must be an int, not str"):
        system.get_process_name("1")
    for pid in (-1, 1 << 32):
        with pytest.raises(ValueError, match="pid must be"):
            system.get_process_name(pid)


NO_NVML = "import sys; sys.modules['cuda.bindings.nvml'] = None\nfrom cuda.core import system\n"


@pytest.mark.requires(device=True)
def test_without_nvml_in_the_bindings_seven_names_remain():
    out = run(
        NO_NVML + "from cuda.core._utils.version import driver_version\nfrom cuda.core import Device\n"
        "print(sorted(system.__all__), sorted(set(system.typing.__all__) & {'DeviceArch', 'FieldId'}))\n"
        "print(system.CUDA_BINDINGS_NVML_IS_COMPATIBLE, hasattr(system, 'Device'))\n"
        "print(system.get_user_mode_driver_version() == driver_version()[:2])\n"
        "print(system.get_num_devices() == len(Device.get_all_devices()))"
    )
    assert out.splitlines() == [f"{sorted(ALWAYS)} []", "False False", "True", "True"]


@pytest.mark.requires(device=True)
def test_without_nvml_in_the_bindings_other_calls_name_the_version_they_need():
    out = run(
        NO_NVML + "from cuda.core import Device\n"
        "for call in (system.get_driver_branch, system.get_kernel_mode_driver_version, system.get_nvml_version,\n"
        "             lambda: system.get_process_name(1), Device(0).to_system_device,\n"
        "             system._nvml_context.initialize, system._nvml_context.validate):\n"
        "    try: call()\n"
        "    except RuntimeError as error: print(error)"
    )
    lines = out.splitlines()
    assert len(lines) == 7 and all("needs cuda-bindings 13.2 or later" in line for line in lines)
    assert lines[4].startswith("Device.to_system_device needs")


@pytest.mark.parametrize(
    "version, fits",
    [
        ((12, 9, 5), False),
        ((12, 9, 6), True),
        ((13, 0, 3), False),
        ((13, 1, 9), False),
        ((13, 2, 0), True),
        ((14, 0, 0), True),
    ],
)
def test_versions_of_compatible_bindings(version, fits):
    assert system._support._is_compatible(version) is fits


@pytest.mark.requires(nvml=True)
def test_devices_of_cuda_and_nvml_find_each_other(devices):
    for device in devices:
        counterpart = device.to_system_device()
        assert type(counterpart) is system.Device
        assert counterpart.uuid_without_prefix == device.uuid
        assert counterpart.to_cuda_device() == device
        assert counterpart.pci_bus_id[4:] == device.pci_bus_id
        assert counterpart.cuda_compute_capability == tuple(device.compute_capability)


def test_a_device_that_is_hidden_from_cuda_is_named(fake):
    hidden = "GPU-00000000-0000-4000-8000-000000000000"
    fake("init_v2")
    fake("device_get_handle_by_index_v2", 1)
    fake("device_get_uuid", hidden)
    gpu = system.Device(index=0)
    with pytest.raises(RuntimeError, match=f"CUDA sees no device with the UUID {hidden}"):
        gpu.to_cuda_device()


def test_the_package_is_imported_at_its_first_use():
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

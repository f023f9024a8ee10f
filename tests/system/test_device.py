# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""NVML devices: how they are found, their attributes, and rejected arguments."""

import builtins
import copy
import pickle

import pytest
from cuda.bindings import nvml

from cuda.core import system
from cuda.core.system import _device
from cuda.core.system.typing import AddressingMode, ClocksEventReasons, DeviceArch, GpuTopologyLevel
from support.threads import COUNT, run_in_threads

pytestmark = pytest.mark.requires(nvml=True)

READINGS = {
    # The NVML function, its result, and the value of the attribute.
    "serial": ("device_get_serial", "1650123", "1650123"),
    "module_id": ("device_get_module_id", 3, 3),
    "minor_number": ("device_get_minor_number", 0, 0),
    "numa_node_id": ("device_get_numa_node_id", 0xFFFFFFFF, -1),
    "is_display_connected": ("device_get_display_mode", 1, True),
    "is_display_active": ("device_get_display_active", 0, False),
    "is_auto_boosted_clocks_enabled": ("device_get_auto_boosted_clocks_enabled", (1, 0), (True, False)),
    "is_persistence_mode_enabled": ("device_get_persistence_mode", 1, True),
    "num_fans": ("device_get_num_fans", 2, 2),
    "arch": ("device_get_architecture", 11, DeviceArch.UNKNOWN),
    "brand": ("device_get_brand", 15, "GeForce RTX"),
    "performance_state": ("device_get_performance_state", 8, 8),
    "supported_pstates": ("device_get_supported_performance_states", [0, 2, 8, 32, 32], [0, 2, 8]),
    "current_clock_event_reasons": (
        "device_get_current_clocks_event_reasons",
        0x24,
        [ClocksEventReasons.SW_POWER_CAP, ClocksEventReasons.SW_THERMAL_SLOWDOWN],
    ),
    "supported_clock_event_reasons": ("device_get_supported_clocks_event_reasons", 0, []),
}


@pytest.mark.parametrize("name", READINGS)
def test_attribute_is_converted_from_the_value_of_nvml(gpu, fake, name):
    function, raw, expected = READINGS[name]
    fake(function, raw)
    value = getattr(gpu, name)
    assert value == expected and type(value) is type(expected)
    assert fake.calls == [(function, gpu._handle)]


def test_all_attributes_can_be_read_or_are_not_supported(gpu):
    missing = set()
    for name in dir(gpu):
        if not name.startswith("_"):
            try:
                getattr(gpu, name)
            except system.NotSupportedError:
                missing.add(name)
    assert not missing & {"index", "uuid", "name", "arch", "memory_info", "mig", "pci_info", "temperature", "num_fans"}


def test_devices_are_found_by_index_uuid_and_pci_bus_id(gpus):
    for position, gpu in enumerate(gpus):
        assert gpu.index == position
        assert gpu.uuid[:4] in ("GPU-", "MIG-") and gpu.uuid[4:] == gpu.uuid_without_prefix
        assert isinstance(gpu.arch, DeviceArch) and isinstance(gpu.brand, str) and gpu.name
        major, minor = gpu.cuda_compute_capability
        assert type(gpu.cuda_compute_capability) is tuple and type(major) is type(minor) is int
        assert type(gpu._handle) is int
        keys = [{"index": gpu.index}, {"pci_bus_id": gpu.pci_bus_id}, {"pci_bus_id": gpu.pci_bus_id.encode()}]
        keys += [{"uuid": uuid} for uuid in (gpu.uuid, gpu.uuid.encode(), gpu.uuid_without_prefix)]
        assert all(system.Device(**key)._handle == gpu._handle for key in keys)


@pytest.mark.parametrize("keys", [{}, {"index": 0, "uuid": "x"}, {"uuid": "x", "pci_bus_id": "y"}])
def test_exactly_one_key_is_needed(keys):
    with pytest.raises(ValueError, match="exactly one of index, uuid and pci_bus_id"):
        system.Device(**keys)


@pytest.mark.parametrize(
    "keys, error, message",
    [
        ({"index": "0"}, TypeError, "index must be an int, not str"),
        ({"index": 1.5}, TypeError, "index must be an int, not float"),
        ({"index": -1}, ValueError, "index must be in the range"),
        ({"index": 1 << 32}, ValueError, "index must be in the range"),
        ({"uuid": 5}, TypeError, "uuid must be a str or bytes, not int"),
        ({"pci_bus_id": 5}, TypeError, "pci_bus_id must be a str or bytes, not int"),
        ({"uuid": b"\xff\xfe"}, system.NvmlError, None),
        ({"uuid": "GPU-0"}, system.NvmlError, None),
        ({"index": 12345}, system.InvalidArgumentError, None),
        ({"pci_bus_id": "00000000:01:1f.0"}, system.NvmlError, None),
    ],
)
def test_invalid_keys_are_rejected(keys, error, message):
    with pytest.raises(error, match=message):
        system.Device(**keys)


def test_positional_arguments_are_rejected():
    with pytest.raises(TypeError):
        system.Device(0)


def test_objects_are_equal_to_themselves_only(gpu):
    other = system.Device(index=0)
    assert gpu == gpu and gpu != other and len({gpu, other}) == 2


def test_devices_are_pickled_and_copied_by_uuid(gpu):
    for other in (pickle.loads(pickle.dumps(gpu)), copy.copy(gpu), copy.deepcopy(gpu)):
        assert type(other) is system.Device and other.uuid == gpu.uuid


def test_get_all_devices_returns_instances_of_the_class(gpu):
    class Mine(system.Device):
        pass

    assert all(type(device) is Mine for device in Mine.get_all_devices())
    assert type(pickle.loads(pickle.dumps(gpu))) is system.Device


def test_attributes_cannot_be_set_or_deleted(gpu):
    assert gpu.name  # cached attributes cannot be set, either
    for name in ("name", "index", "memory_info", "temperature", "get_fan", "unknown"):
        with pytest.raises(AttributeError, match=f"'{name}' of a Device cannot be set"):
            setattr(gpu, name, 1)
    with pytest.raises(AttributeError, match="cannot be deleted"):
        del gpu.name


def test_identity_is_read_once_and_state_each_time(gpu, fake):
    fake("device_get_name", "first")
    fake("device_get_display_active", 0)
    assert gpu.name == "first"
    fake("device_get_name", "second")
    fake("device_get_display_active", 1)
    assert gpu.name == "first" and gpu.is_display_active is True


def test_attributes_are_documented_properties_of_the_class():
    for name in ("name", "uuid", "memory_info", "mig", "is_persistence_mode_enabled"):
        attribute = getattr(system.Device, name)
        assert isinstance(attribute, property) and attribute.__doc__


def test_tab_completion_does_not_call_nvml(gpu, fake):
    import rlcompleter

    fake("device_get_serial")
    completer = rlcompleter.Completer({"gpu": gpu})
    assert "gpu.serial" in [completer.complete("gpu.se", state) for state in range(3)]
    assert fake.calls == []


def test_repr_has_index_and_name_or_the_handle(gpu, fake, not_supported):
    assert repr(gpu) == f"<Device {gpu.index} ({gpu.name})>"
    fake("device_get_index", not_supported)
    other = system.Device(index=0)
    assert repr(other) == f"<Device handle={other._handle:#x} (Not Supported)>"


def test_unknown_clock_event_reasons_are_an_error(gpu, fake):
    fake("device_get_current_clocks_event_reasons", 1 << 40)
    with pytest.raises(ValueError, match="reasons that this version does not know: 0x10000000000"):
        gpu.current_clock_event_reasons  # noqa: B018


def test_addressing_mode_is_a_member_or_none(gpu, fake):
    mode = nvml.DeviceAddressingMode_v1()
    fake("device_get_addressing_mode", mode)
    for value, expected in ((0, None), (1, AddressingMode.HMM), (2, AddressingMode.ATS)):
        mode.value = value
        assert gpu.addressing_mode is expected


def test_unknown_architectures_and_brands_have_a_name(fake):
    fake("device_get_architecture", 77)
    fake("device_get_brand", 77)
    gpu = system.Device(index=0)
    assert gpu.arch is DeviceArch.UNKNOWN and gpu.brand == "Unknown"


def test_is_c2c_enabled_is_read(fake):
    info = nvml.C2cModeInfo_v1()
    info.is_c2c_enabled = 1
    fake("device_get_c2c_mode_info_v", info)
    assert system.Device(index=0).is_c2c_enabled is True


def test_num_fans_is_0_if_fans_are_not_supported(gpu, fake, not_supported):
    fake("device_get_num_fans", not_supported)
    assert system.Device(index=0).num_fans == 0


def test_persistence_mode_is_set_and_the_handle_found_again(gpu, fake):
    fake("device_set_persistence_mode")
    fake("device_get_handle_by_uuid", gpu._handle + 0)
    gpu.is_persistence_mode_enabled = True
    gpu.is_persistence_mode_enabled = False
    handle, uuid = gpu._handle, gpu.uuid
    one = [("device_set_persistence_mode", handle, 1), ("device_get_handle_by_uuid", uuid)]
    assert fake.calls == one + [("device_set_persistence_mode", handle, 0), one[1]]


def test_persistence_mode_cannot_be_set_without_permission(gpu, fake):
    fake("device_set_persistence_mode", system.NoPermissionError(4))
    with pytest.raises(system.NoPermissionError):
        gpu.is_persistence_mode_enabled = True


@pytest.mark.parametrize("cpu, error", [(-1, ValueError), ("0", TypeError)])
def test_invalid_processors_are_rejected(cpu, error):
    with pytest.raises(error):
        list(system.Device.get_all_devices_with_cpu_affinity(cpu))


@pytest.mark.requires(devices=2)
def test_common_ancestor_of_two_devices_is_a_level(gpus):
    first, second = gpus[:2]
    level = system.get_topology_common_ancestor(first, second)
    assert type(level) is GpuTopologyLevel


def test_unknown_levels_are_an_error(gpu, fake):
    fake("device_get_topology_common_ancestor", 77)
    with pytest.raises(ValueError, match="a level that this version does not know: 0x4d"):
        system.get_topology_common_ancestor(gpu, gpu)


def test_hasattr_is_false_for_unsupported_attributes(gpu, fake, not_supported):
    fake("device_get_memory_info_v2", not_supported)
    fake("device_get_utilization_rates", system.GpuIsLostError(15))
    assert not hasattr(gpu, "memory_info") and getattr(gpu, "memory_info", None) is None
    with pytest.raises(system.NotSupportedError, match=str(not_supported)) as caught:
        gpu.memory_info  # noqa: B018
    assert (caught.value.status, type(caught.value).__name__) == (not_supported.status, "NotSupportedError")
    assert type(pickle.loads(pickle.dumps(caught.value))) is type(caught.value)
    with pytest.raises(system.GpuIsLostError):
        hasattr(gpu, "utilization")
    fake("device_get_serial", not_supported)
    assert not hasattr(system.Device(index=0), "serial")


@pytest.mark.parametrize("view", ["mig", "pci_info", "inforom", "temperature", "memory_info", "utilization"])
def test_hasattr_raises_for_no_attribute_of_a_device(gpu, view):
    for thing in (gpu, getattr(gpu, view, gpu)):
        answers = {name: hasattr(thing, name) for name in dir(type(thing)) if not name.startswith("_")}
        assert answers and set(answers.values()) <= {True, False}


@pytest.mark.requires(devices=2)
def test_p2p_status_is_read_for_each_capability(gpus):
    first, second = gpus[:2]
    for index in ("read", "WRITE", "nvlink", "atomics", "pci", "prop"):
        assert type(system.get_p2p_status(first, second, index)) is system.typing.GpuP2PStatus
    with pytest.raises(ValueError, match="not a valid index"):
        system.get_p2p_status(first, second, "telepathy")


def test_unknown_p2p_status_is_unknown(gpu, fake):
    fake("device_get_p2p_status", 99)
    assert system.get_p2p_status(gpu, gpu, "read") == "unknown"


def test_topology_functions_need_devices(gpu):
    from cuda.core import Device

    for wrong in (0, None, Device(0)):
        name = type(wrong).__name__
        with pytest.raises(TypeError, match=f"device2 must be a cuda.core.system.Device, not {name}"):
            system.get_topology_common_ancestor(gpu, wrong)
        with pytest.raises(TypeError, match=f"device1 must be a cuda.core.system.Device, not {name}"):
            system.get_p2p_status(wrong, gpu, "read")


def test_helper_classes_are_names_of_the_module():
    for name in _device.__all__:
        assert not hasattr(builtins, name)
        assert callable(getattr(_device, name))


def test_many_threads_read_one_device(gpu):
    seen = []

    def read(_):
        other = system.Device(index=0)
        seen.extend((other.name, other.uuid, other.memory_info.total) for _ in range(50))

    assert run_in_threads(read) == []
    assert len(seen) == 50 * COUNT and len(set(seen)) == 1

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The public members of every class, with the parameters of methods and their defaults."""

import inspect

import pytest

from cuda.core import system
from cuda.core.system import _device, _system_events

MEMBERS = {
    "BAR1MemoryInfo": [
        "free",
        "reserved",
        "total",
        "used",
    ],
    "ClockInfo": [
        "get_current_mhz(clock_id=current)",
        "get_max_customer_boost_mhz()",
        "get_max_mhz()",
        "get_min_max_clock_of_pstate_mhz(pstate)",
        "get_offsets(pstate)",
    ],
    "ClockOffsets": [
        "clock_offset_mhz",
        "max_offset_mhz",
        "min_offset_mhz",
    ],
    "CoolerInfo": [
        "signal_type",
        "target",
    ],
    "Device": [
        "addressing_mode",
        "arch",
        "attributes",
        "bar1_memory_info",
        "brand",
        "clear_cpu_affinity()",
        "clear_field_values(field_ids)",
        "compute_running_processes",
        "cooler",
        "cuda_compute_capability",
        "current_clock_event_reasons",
        "dynamic_pstates_info",
        "get_all_devices()",
        "get_all_devices_with_cpu_affinity(cpu_index)",
        "get_clock(clock_type)",
        "get_cpu_affinity(scope=node)",
        "get_device_count()",
        "get_fan(fan=0)",
        "get_field_values(field_ids)",
        "get_memory_affinity(scope=node)",
        "get_nvlink(link)",
        "get_nvlink_count()",
        "get_nvlinks()",
        "get_supported_event_types()",
        "get_topology_nearest_gpus(level)",
        "index",
        "inforom",
        "is_auto_boosted_clocks_enabled",
        "is_c2c_enabled",
        "is_display_active",
        "is_display_connected",
        "is_persistence_mode_enabled settable",
        "memory_info",
        "mig",
        "minor_number",
        "module_id",
        "name",
        "num_fans",
        "numa_node_id",
        "pci_bus_id",
        "pci_info",
        "performance_state",
        "register_events(events)",
        "repair_status",
        "serial",
        "set_cpu_affinity()",
        "supported_clock_event_reasons",
        "supported_pstates",
        "temperature",
        "to_cuda_device()",
        "utilization",
        "uuid",
        "uuid_without_prefix",
    ],
    "DeviceAttributes": [
        "compute_instance_slice_count",
        "gpu_instance_slice_count",
        "memory_size_mb",
        "multiprocessor_count",
        "shared_copy_engine_count",
        "shared_decoder_count",
        "shared_encoder_count",
        "shared_jpeg_count",
        "shared_ofa_count",
    ],
    "DeviceEvents": [
        "wait(timeout_ms=0)",
    ],
    "EventData": [
        "compute_instance_id",
        "device",
        "event_data",
        "event_type",
        "gpu_instance_id",
    ],
    "FanInfo": [
        "control_policy",
        "min_max_speed",
        "set_default_speed()",
        "speed settable",
        "speed_rpm",
        "target_speed",
    ],
    "FieldValue": [
        "field_id",
        "latency_usec",
        "scope_id",
        "timestamp",
        "value",
    ],
    "FieldValues": [
        "__getitem__(idx)",
        "__len__()",
        "get_all_values()",
        "validate()",
    ],
    "GpuDynamicPstatesInfo": [
        "__getitem__(idx)",
        "__len__()",
    ],
    "GpuDynamicPstatesUtilization": [
        "dec_threshold",
        "inc_threshold",
        "is_present",
        "percentage",
    ],
    "InforomInfo": [
        "bbx_flush_time",
        "board_part_number",
        "configuration_checksum",
        "get_version(inforom)",
        "image_version",
        "validate()",
    ],
    "MemoryInfo": [
        "free",
        "reserved",
        "total",
        "used",
    ],
    "MigInfo": [
        "device_count",
        "get_all_devices()",
        "get_device_by_index(index)",
        "is_mig_device",
        "mode settable",
        "parent",
        "pending_mode",
    ],
    "NvlinkInfo": [
        "state",
        "version",
    ],
    "PciInfo": [
        "base_class",
        "bus",
        "bus_id",
        "current_link_generation",
        "current_link_width",
        "device",
        "device_id",
        "domain",
        "link_generation",
        "max_link_generation",
        "max_link_width",
        "replay_counter",
        "rx_throughput",
        "sub_class",
        "subsystem_id",
        "tx_throughput",
        "vendor_id",
    ],
    "ProcessInfo": [
        "compute_instance_id",
        "gpu_instance_id",
        "pid",
        "used_gpu_memory",
    ],
    "RepairStatus": [
        "channel_repair_pending",
        "tpc_repair_pending",
    ],
    "Temperature": [
        "get_sensor()",
        "get_thermal_settings(sensor_index)",
        "get_threshold(threshold_type)",
        "margin",
    ],
    "ThermalSensor": [
        "controller",
        "current_temp",
        "default_max_temp",
        "default_min_temp",
        "target",
    ],
    "ThermalSettings": [
        "__getitem__(idx)",
        "__len__()",
    ],
    "Utilization": [
        "gpu",
        "memory",
    ],
    "RegisteredSystemEvents": [
        "wait(timeout_ms=0, buffer_size=1)",
    ],
    "SystemEvents": [
        "__getitem__(idx)",
        "__len__()",
    ],
    "SystemEvent": [
        "device",
        "event_type",
        "gpu_id",
    ],
}
FUNCTIONS = [
    "get_driver_branch()",
    "get_kernel_mode_driver_version()",
    "get_num_devices()",
    "get_nvml_version()",
    "get_p2p_status(device1, device2, index)",
    "get_process_name(pid)",
    "get_topology_common_ancestor(device1, device2)",
    "get_user_mode_driver_version()",
    "register_events(events)",
]


def parameters(function, skip=0):
    rows = list(inspect.signature(function).parameters.values())[skip:]
    return ", ".join(row.name + ("" if row.default is row.empty else f"={row.default}") for row in rows)


def described(cls, name):
    raw = inspect.getattr_static(cls, name)
    if isinstance(raw, classmethod) or callable(raw):
        return f"{name}({parameters(getattr(raw, '__func__', raw), 1)})"
    return name + (" settable" if getattr(cls, name).fset else "")


def find(name):
    return getattr(_device, name, None) or getattr(_system_events, name)


@pytest.mark.parametrize("name", MEMBERS)
def test_members_match_the_table(name):
    cls = find(name)
    names = [key for key in dir(cls) if not key.startswith("_") or key in ("__len__", "__getitem__")]
    assert sorted(described(cls, key) for key in names) == sorted(MEMBERS[name])


@pytest.mark.parametrize("name", MEMBERS)
def test_members_are_documented(name):
    cls = find(name)
    assert cls.__doc__
    for key in dir(cls):
        assert key.startswith("_") or getattr(cls, key).__doc__, key


def test_every_class_is_in_the_table():
    classes = {name for name in (*_device.__all__, *_system_events.__all__) if inspect.isclass(find(name))}
    assert classes == set(MEMBERS)


def test_functions_match_the_table():
    found = [name for name in system.__all__ if inspect.isfunction(getattr(system, name))]
    assert sorted(f"{name}({parameters(getattr(system, name))})" for name in found) == FUNCTIONS


def test_device_accepts_only_keywords():
    rows = inspect.signature(system.Device).parameters.values()
    assert [(row.name, row.kind, row.default) for row in rows] == [
        (name, inspect.Parameter.KEYWORD_ONLY, None) for name in ("index", "uuid", "pci_bus_id")
    ]

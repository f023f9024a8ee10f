# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The system management enums, which cover NVML's."""

import pickle
from enum import IntEnum, StrEnum

import pytest
from cuda.bindings import nvml

from cuda.core import system
from cuda.core.system import _device, _system_events, typing

STRINGS = [name for name in typing.__all__ if name not in ("DeviceArch", "FieldId")]
# NVML members without a public name: member counts, combinations, and deprecated members.
SENTINELS = {
    "AddressingMode": {"NONE"},
    "BrandType": {"COUNT"},
    "ClockId": {"COUNT", "APP_CLOCK_TARGET", "APP_CLOCK_DEFAULT"},
    "ClockType": {"COUNT"},
    "CoolerControl": {"COUNT", "NONE"},
    "CoolerTarget": {"GPU_RELATED"},
    "InforomObject": {"COUNT"},
    "NvlinkVersion": {"VERSION_INVALID", "NVLINK_VERSION_INVALID"},
    "TemperatureThresholds": {"COUNT"},
    "ThermalController": {"NONE"},
    "ThermalTarget": {"UNKNOWN"},
}
# Each table: NVML's enum, and the public one, or None if its values are not an enum.
TABLES = {
    "_ADDRESSING_MODE_MAPPING": ("DeviceAddressingModeType", "AddressingMode"),
    "_AFFINITY_SCOPE_MAPPING": ("AffinityScope", "AffinityScope"),
    "_BRAND_TYPE_MAPPING": ("BrandType", None),
    "_CLOCKS_EVENT_REASONS_MAPPING": ("ClocksEventReasons", "ClocksEventReasons"),
    "_CLOCK_ID_MAPPING": ("ClockId", "ClockId"),
    "_CLOCK_TYPE_MAPPING": ("ClockType", "ClockType"),
    "_COOLER_CONTROL_MAPPING": ("CoolerControl", "CoolerControl"),
    "_COOLER_TARGET_MAPPING": ("CoolerTarget", "CoolerTarget"),
    "_EVENT_TYPE_MAPPING": ("EventType", "EventType"),
    "_FAN_CONTROL_POLICY_MAPPING": ("FanControlPolicy", "FanControlPolicy"),
    "_GPU_P2P_CAPS_INDEX_MAPPING": ("GpuP2PCapsIndex", "GpuP2PCapsIndex"),
    "_GPU_P2P_STATUS_MAPPING": ("GpuP2PStatus", "GpuP2PStatus"),
    "_GPU_TOPOLOGY_LEVEL_MAPPING": ("GpuTopologyLevel", "GpuTopologyLevel"),
    "_INFOROM_OBJECT_MAPPING": ("InforomObject", "InforomObject"),
    "_NVLINK_VERSION_MAPPING": ("NvlinkVersion", None),
    "_SYSTEM_EVENT_TYPE_MAPPING": ("SystemEventType", "SystemEventType"),
    "_TEMPERATURE_THRESHOLD_MAPPING": ("TemperatureThresholds", "TemperatureThresholds"),
    "_THERMAL_CONTROLLER_MAPPING": ("ThermalController", "ThermalController"),
    "_THERMAL_TARGET_MAPPING": ("ThermalTarget", "ThermalTarget"),
}


def table(name):
    return getattr(_device, name, None) or getattr(_system_events, name)


def sides(name):
    """Return NVML's members and the public values of a table, whichever are its keys."""
    theirs = getattr(nvml, TABLES[name][0])
    rows = table(name)
    if all(isinstance(key, theirs) for key in rows):
        return list(rows), list(rows.values())
    return list(rows.values()), list(rows)


@pytest.mark.parametrize("name", TABLES)
def test_table_has_every_member_of_nvml(name):
    theirs, ours = TABLES[name]
    left_out = SENTINELS.get(ours or theirs, set())
    members = getattr(nvml, theirs).__members__
    known = set(sides(name)[0])
    new = {key for key, member in members.items() if member not in known and member not in map(members.get, left_out)}
    assert new == set(), f"NVML has members of {theirs} that have no public name"
    assert left_out <= set(members), "a member that is left out is gone"


@pytest.mark.parametrize("name", [name for name, (_, ours) in TABLES.items() if ours])
def test_table_has_every_public_member(name):
    assert set(sides(name)[1]) == set(getattr(typing, TABLES[name][1]))


@pytest.mark.parametrize("name", TABLES)
def test_table_pairs_members_of_the_same_name(name):
    renamed = {"MEM": "MEMORY", "TEMPERATURE_CONTINUOUS_SW": "TEMPERATURE_CONTROLLED"}
    if TABLES[name][1] is None:
        return_type = str if name == "_BRAND_TYPE_MAPPING" else tuple
        assert all(isinstance(value, return_type) for value in table(name).values())
        return
    aliases = {}
    for key, member in getattr(nvml, TABLES[name][0]).__members__.items():
        aliases.setdefault(member, []).append(renamed.get(key, key))
    for theirs, ours in zip(*sides(name), strict=True):
        assert any(key == ours.name or key.endswith(f"_{ours.name}") for key in aliases[theirs]), (theirs, ours)


def test_all_enums_of_strings_have_a_table():
    assert {ours for _, ours in TABLES.values() if ours} == set(STRINGS)


@pytest.mark.parametrize("name", STRINGS)
def test_members_are_their_strings(name):
    enum = getattr(typing, name)
    assert enum.__mro__[1] is StrEnum
    for member in enum:
        assert member == member.value == str(member) == f"{member}"
        assert enum(member.value) is member is pickle.loads(pickle.dumps(member))
        assert {member: 1}[member.value] == 1
        assert repr(member) == f"<{name}.{member.name}: {member.value!r}>"


def test_values_are_lower_case_names_except_for_the_p2p_status():
    texts = [member.value for member in typing.GpuP2PStatus]
    assert texts == [
        "ok",
        "chipset not supported",
        "GPU not supported",
        "IOH topology not supported",
        "disabled by regkey",
        "not supported",
        "unknown",
    ]
    for name in set(STRINGS) - {"GpuP2PStatus"}:
        assert all(member.value == member.name.lower() for member in getattr(typing, name))


def test_architectures_are_ordered_numbers():
    assert issubclass(typing.DeviceArch, IntEnum)
    assert typing.DeviceArch.HOPPER == 9 > typing.DeviceArch.ADA
    names = nvml.DeviceArch.__members__
    # NVML's enum includes processors that are no GPUs.
    assert set(names) - set(typing.DeviceArch.__members__) == {"DLA", "DLA2", "NPU3"}
    assert all(names[member.name] == member for member in typing.DeviceArch)


def test_field_ids_match_nvml():
    assert typing.FieldId is nvml.FieldId


def test_module_has_no_public_helpers():
    extra = {name for name in vars(typing) if not name.startswith("_")} - set(typing.__all__)
    assert extra == {"CUDA_BINDINGS_NVML_IS_COMPATIBLE", "IntEnum", "StrEnum", "annotations", "nvml"}


def test_typing_is_a_package_attribute():
    assert system.typing is typing

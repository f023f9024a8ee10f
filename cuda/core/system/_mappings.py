# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Tables between the public enums and NVML's: to NVML for arguments, from NVML for results."""

from __future__ import annotations

from enum import StrEnum

from cuda.core._utils.validators import find_str_enum, shown
from cuda.core.system._support import nvml
from cuda.core.system.typing import (
    AddressingMode,
    AffinityScope,
    ClockId,
    ClocksEventReasons,
    ClockType,
    CoolerControl,
    CoolerTarget,
    EventType,
    FanControlPolicy,
    GpuP2PCapsIndex,
    GpuP2PStatus,
    GpuTopologyLevel,
    InforomObject,
    SystemEventType,
    TemperatureThresholds,
    ThermalController,
    ThermalTarget,
)

__all__ = [
    "_ADDRESSING_MODE_MAPPING",
    "_AFFINITY_SCOPE_MAPPING",
    "_BRAND_TYPE_MAPPING",
    "_CLOCKS_EVENT_REASONS_MAPPING",
    "_CLOCK_ID_MAPPING",
    "_CLOCK_TYPE_MAPPING",
    "_COOLER_CONTROL_MAPPING",
    "_COOLER_TARGET_MAPPING",
    "_EVENT_TYPE_MAPPING",
    "_FAN_CONTROL_POLICY_MAPPING",
    "_GPU_P2P_CAPS_INDEX_MAPPING",
    "_GPU_P2P_STATUS_MAPPING",
    "_GPU_TOPOLOGY_LEVEL_MAPPING",
    "_INFOROM_OBJECT_MAPPING",
    "_NVLINK_VERSION_MAPPING",
    "_SYSTEM_EVENT_TYPE_MAPPING",
    "_TEMPERATURE_THRESHOLD_MAPPING",
    "_THERMAL_CONTROLLER_MAPPING",
    "_THERMAL_TARGET_MAPPING",
    "_unpack_bitmask",
    "choose",
    "inverse",
    "member_of",
    "named_flags",
]


def _member(theirs, name: str):
    """Return NVML's member of this name, with or without a prefix such as BRAND_."""
    members = theirs.__members__
    if name in members:
        return members[name]
    return next((member for key, member in members.items() if key.endswith(f"_{name}")), None)


def _to_nvml(ours: type[StrEnum], theirs, **renamed: str) -> dict:
    """Return the table from our members to NVML's, with the names in ``renamed`` where NVML's differ."""
    pairs = {member: _member(theirs, renamed.get(member.name, member.name)) for member in ours}
    return {member: value for member, value in pairs.items() if value is not None}


def _from_nvml(ours: type[StrEnum], theirs, **renamed: str) -> dict:
    return {value: member for member, value in _to_nvml(ours, theirs, **renamed).items()}


_ADDRESSING_MODE_MAPPING = _from_nvml(AddressingMode, nvml.DeviceAddressingModeType)
_AFFINITY_SCOPE_MAPPING = _to_nvml(AffinityScope, nvml.AffinityScope)
_CLOCKS_EVENT_REASONS_MAPPING = _from_nvml(ClocksEventReasons, nvml.ClocksEventReasons)
_CLOCK_ID_MAPPING = _to_nvml(ClockId, nvml.ClockId)
_CLOCK_TYPE_MAPPING = _to_nvml(ClockType, nvml.ClockType, MEMORY="MEM")
_COOLER_CONTROL_MAPPING = _from_nvml(CoolerControl, nvml.CoolerControl)
_COOLER_TARGET_MAPPING = _from_nvml(CoolerTarget, nvml.CoolerTarget)
_EVENT_TYPE_MAPPING = _from_nvml(EventType, nvml.EventType)
_FAN_CONTROL_POLICY_MAPPING = _from_nvml(
    FanControlPolicy, nvml.FanControlPolicy, TEMPERATURE_CONTROLLED="TEMPERATURE_CONTINUOUS_SW"
)
_GPU_P2P_CAPS_INDEX_MAPPING = _to_nvml(GpuP2PCapsIndex, nvml.GpuP2PCapsIndex)
_GPU_P2P_STATUS_MAPPING = _from_nvml(GpuP2PStatus, nvml.GpuP2PStatus)
_GPU_TOPOLOGY_LEVEL_MAPPING = _to_nvml(GpuTopologyLevel, nvml.GpuTopologyLevel)
_INFOROM_OBJECT_MAPPING = _to_nvml(InforomObject, nvml.InforomObject)
_SYSTEM_EVENT_TYPE_MAPPING = _from_nvml(SystemEventType, nvml.SystemEventType)
_TEMPERATURE_THRESHOLD_MAPPING = _to_nvml(TemperatureThresholds, nvml.TemperatureThresholds)
_THERMAL_CONTROLLER_MAPPING = _from_nvml(ThermalController, nvml.ThermalController)
_THERMAL_TARGET_MAPPING = _from_nvml(ThermalTarget, nvml.ThermalTarget)

_BRANDS = {
    "UNKNOWN": "Unknown",
    "QUADRO": "Quadro",
    "TESLA": "Tesla",
    "NVS": "NVS",
    "GRID": "GRID",
    "GEFORCE": "GeForce",
    "TITAN": "Titan",
    "NVIDIA_VAPPS": "NVIDIA vApps",
    "NVIDIA_VPC": "NVIDIA VPC",
    "NVIDIA_VCS": "NVIDIA VCS",
    "NVIDIA_VWS": "NVIDIA VWS",
    "NVIDIA_VGAMING": "NVIDIA vGaming",
    "QUADRO_RTX": "Quadro RTX",
    "NVIDIA_RTX": "NVIDIA RTX",
    "NVIDIA": "NVIDIA",
    "GEFORCE_RTX": "GeForce RTX",
    "TITAN_RTX": "Titan RTX",
    "NVIDIA_DLA": "NVIDIA DLA",
    "NVIDIA_VGAMEDEV": "NVIDIA vGameDev",
    "NVIDIA_NPU": "NVIDIA NPU",
}
_BRAND_TYPE_MAPPING = {
    nvml.BrandType.__members__[name]: text for name, text in _BRANDS.items() if name in nvml.BrandType.__members__
}

# The member of version N.M is called VERSION_N_M.
_NVLINK_VERSION_MAPPING = {
    member: tuple(int(part) for part in name.split("_")[-2:])
    for name, member in nvml.NvlinkVersion.__members__.items()
    if name.split("_")[-1].isdigit()
}


def choose(value: str, choices: dict, label: str):
    """Return NVML's value for a public string, upper or lower case.

    Parameters
    ----------
    value : str
        The string.
    choices : dict
        A table to NVML.
    label : str
        The name of the argument, for the message.

    Raises
    ------
    ValueError
        If the table does not have the string; the message lists what it has.
    """
    return choices[find_str_enum(value, [member.value for member in choices], label)]


def inverse(table: dict) -> dict:
    """Return a table with its keys and values exchanged."""
    return {value: key for key, value in table.items()}


def member_of(code: int, table: dict, label: str):
    """Return our member for a code that NVML returned, which the message calls ``label``.

    Raises
    ------
    ValueError
        If the code is unknown, as that of a newer driver may be.
    """
    member = table.get(code)
    if member is None:
        raise ValueError(f"NVML returned {label} that this version does not know: {int(code):#x}")
    return member


def named_flags(mask: int, table: dict, label: str | None = None) -> list:
    """Return our members for the bits of a mask, the lowest bit first.

    Parameters
    ----------
    mask : int
        The bit mask.
    table : dict
        From NVML's flags to our members.
    label : str, optional
        What the bits mean, for the message. Without it an unknown bit is ignored.

    Raises
    ------
    ValueError
        If a bit is unknown and ``label`` is given.
    """
    flags = [1 << bit for bit in _unpack_bitmask([mask])]
    if label is not None and (unknown := [flag for flag in flags if flag not in table]):
        raise ValueError(f"NVML returned {label} that this version does not know: {', '.join(map(hex, unknown))}")
    return [table[flag] for flag in flags if flag in table]


def _unpack_bitmask(words) -> list[int]:
    """Return the numbers of the bits that are set in an array of 64-bit words, in ascending order."""
    if isinstance(words, int):
        raise TypeError(f"words must be a sequence of ints, not {shown(words)}")
    return [
        64 * position + bit
        for position, word in enumerate(words)
        for bit in range(64)
        if int(word) & 0xFFFF_FFFF_FFFF_FFFF & 1 << bit
    ]

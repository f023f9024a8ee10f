# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Enums of system management. Members of string enums equal their strings, and functions accept either."""

from __future__ import annotations

from enum import IntEnum, StrEnum

from cuda.core.system._support import CUDA_BINDINGS_NVML_IS_COMPATIBLE, nvml

__all__ = [
    "AddressingMode",
    "AffinityScope",
    "ClockId",
    "ClockType",
    "ClocksEventReasons",
    "CoolerControl",
    "CoolerTarget",
    "EventType",
    "FanControlPolicy",
    "GpuP2PCapsIndex",
    "GpuP2PStatus",
    "GpuTopologyLevel",
    "InforomObject",
    "SystemEventType",
    "TemperatureThresholds",
    "ThermalController",
    "ThermalTarget",
]


class AddressingMode(StrEnum):
    """How a device accesses pageable host memory.

    ``HMM`` is heterogeneous memory management, in software; ``ATS`` are address translation services, in hardware.
    """

    HMM = "hmm"
    ATS = "ats"


class AffinityScope(StrEnum):
    """The scope of an affinity query: the NUMA node or the processor socket of a device."""

    NODE = "node"
    SOCKET = "socket"


class ClockId(StrEnum):
    """Which frequency of a clock domain: the one now, or the maximum boost frequency that the OEM defined."""

    CURRENT = "current"
    CUSTOMER_BOOST_MAX = "customer_boost_max"


class ClockType(StrEnum):
    """A clock domain of a device."""

    GRAPHICS = "graphics"
    SM = "sm"
    MEMORY = "memory"
    VIDEO = "video"


class ClocksEventReasons(StrEnum):
    """Why the clocks of a device are below their maximum (``nvmlClocksEventReasons``)."""

    NONE = "none"
    GPU_IDLE = "gpu_idle"
    APPLICATIONS_CLOCKS_SETTING = "applications_clocks_setting"
    SW_POWER_CAP = "sw_power_cap"
    HW_SLOWDOWN = "hw_slowdown"
    SYNC_BOOST = "sync_boost"
    SW_THERMAL_SLOWDOWN = "sw_thermal_slowdown"
    HW_THERMAL_SLOWDOWN = "hw_thermal_slowdown"
    HW_POWER_BRAKE_SLOWDOWN = "hw_power_brake_slowdown"
    DISPLAY_CLOCK_SETTING = "display_clock_setting"
    BOARD_LIMIT = "board_limit"
    RELIABILITY = "reliability"


class CoolerControl(StrEnum):
    """How a cooler is controlled: switched on and off, or at a variable speed."""

    TOGGLE = "toggle"
    VARIABLE = "variable"


class CoolerTarget(StrEnum):
    """What a cooler cools."""

    NONE = "none"
    GPU = "gpu"
    MEMORY = "memory"
    POWER_SUPPLY = "power_supply"


class EventType(StrEnum):
    """An event type of a device (``nvmlEventType``)."""

    NONE = "none"
    SINGLE_BIT_ECC_ERROR = "single_bit_ecc_error"
    DOUBLE_BIT_ECC_ERROR = "double_bit_ecc_error"
    PSTATE = "pstate"
    XID_CRITICAL_ERROR = "xid_critical_error"
    CLOCK = "clock"
    POWER_SOURCE_CHANGE = "power_source_change"
    MIG_CONFIG_CHANGE = "mig_config_change"
    SINGLE_BIT_ECC_ERROR_STORM = "single_bit_ecc_error_storm"
    DRAM_RETIREMENT_EVENT = "dram_retirement_event"
    DRAM_RETIREMENT_FAILURE = "dram_retirement_failure"
    NON_FATAL_POISON_ERROR = "non_fatal_poison_error"
    FATAL_POISON_ERROR = "fatal_poison_error"
    GPU_UNAVAILABLE_ERROR = "gpu_unavailable_error"
    GPU_RECOVERY_ACTION = "gpu_recovery_action"


class FanControlPolicy(StrEnum):
    """The control policy of a fan: its speed follows the temperature, or is set by the user."""

    TEMPERATURE_CONTROLLED = "temperature_controlled"
    MANUAL = "manual"


class GpuP2PCapsIndex(StrEnum):
    """A peer-to-peer capability between two devices. ``PROP`` is NVML's old name of ``PCI``."""

    READ = "read"
    WRITE = "write"
    NVLINK = "nvlink"
    ATOMICS = "atomics"
    PCI = "pci"
    PROP = "prop"
    UNKNOWN = "unknown"


class GpuP2PStatus(StrEnum):
    """Whether two devices have a peer-to-peer capability, or why not."""

    OK = "ok"
    CHIPSET_NOT_SUPPORTED = "chipset not supported"
    GPU_NOT_SUPPORTED = "GPU not supported"
    IOH_TOPOLOGY_NOT_SUPPORTED = "IOH topology not supported"
    DISABLED_BY_REGKEY = "disabled by regkey"
    NOT_SUPPORTED = "not supported"
    UNKNOWN = "unknown"


class GpuTopologyLevel(StrEnum):
    """The nearest common ancestor of two devices in the PCIe topology, from near to far.

    ``INTERNAL``: the same board; ``SINGLE``: one PCIe switch; ``MULTIPLE``: several switches, no host bridge;
    ``HOSTBRIDGE``: one host bridge; ``NODE``: one NUMA node; ``SYSTEM``: different NUMA nodes.
    """

    INTERNAL = "internal"
    SINGLE = "single"
    MULTIPLE = "multiple"
    HOSTBRIDGE = "hostbridge"
    NODE = "node"
    SYSTEM = "system"


class InforomObject(StrEnum):
    """An object in the InfoROM, the non-volatile memory of a board, where ``DEN`` is DRAM encryption."""

    OEM = "oem"
    ECC = "ecc"
    POWER = "power"
    DEN = "den"


class SystemEventType(StrEnum):
    """A system event: the driver was bound to a device, or unbound from it."""

    UNBIND = "unbind"
    BIND = "bind"


class TemperatureThresholds(StrEnum):
    """A temperature threshold: the device shuts down or slows down, or the limit of an operating range."""

    SHUTDOWN = "shutdown"
    SLOWDOWN = "slowdown"
    MEM_MAX = "mem_max"
    GPU_MAX = "gpu_max"
    ACOUSTIC_MIN = "acoustic_min"
    ACOUSTIC_CURR = "acoustic_curr"
    ACOUSTIC_MAX = "acoustic_max"
    GPS_CURR = "gps_curr"


class ThermalController(StrEnum):
    """The chip that reads a thermal sensor."""

    GPU_INTERNAL = "gpu_internal"
    ADM1032 = "adm1032"
    ADT7461 = "adt7461"
    MAX6649 = "max6649"
    MAX1617 = "max1617"
    LM99 = "lm99"
    LM89 = "lm89"
    LM64 = "lm64"
    G781 = "g781"
    ADT7473 = "adt7473"
    SBMAX6649 = "sbmax6649"
    VBIOSEVT = "vbiosevt"
    OS = "os"
    NVSYSCON_CANOAS = "nvsyscon_canoas"
    NVSYSCON_E551 = "nvsyscon_e551"
    MAX6649R = "max6649r"
    ADT7473S = "adt7473s"
    UNKNOWN = "unknown"


class ThermalTarget(StrEnum):
    """What a thermal sensor measures."""

    NONE = "none"
    GPU = "gpu"
    MEMORY = "memory"
    POWER_SUPPLY = "power_supply"
    BOARD = "board"
    VCD_BOARD = "vcd_board"
    VCD_INLET = "vcd_inlet"
    VCD_OUTLET = "vcd_outlet"
    ALL = "all"


if CUDA_BINDINGS_NVML_IS_COMPATIBLE:
    __all__ += ["DeviceArch", "FieldId"]

    FieldId = nvml.FieldId

    class DeviceArch(IntEnum):
        """The architecture of a GPU. Members compare by generation: ``arch >= DeviceArch.ADA``."""

        KEPLER = 2
        MAXWELL = 3
        PASCAL = 4
        VOLTA = 5
        TURING = 6
        AMPERE = 7
        ADA = 8
        HOPPER = 9
        BLACKWELL = 10
        UNKNOWN = 0xFFFFFFFF


def __dir__():
    return list(__all__)

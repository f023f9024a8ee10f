# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Devices as NVML sees them."""

from __future__ import annotations

import html
from collections.abc import Iterator

from cuda.core._utils import slots
from cuda.core.system import _fields
from cuda.core.system._attributes import Constant, check_int, check_text, nvml_property, reading
from cuda.core.system._board import CoolerInfo, FanInfo, InforomInfo, RepairStatus
from cuda.core.system._clocks import ClockInfo, ClockOffsets
from cuda.core.system._events import DeviceEvents, EventData
from cuda.core.system._fields import FieldValue, FieldValues
from cuda.core.system._mappings import (  # noqa: F401 (other packages import some tables from here)
    _ADDRESSING_MODE_MAPPING,
    _AFFINITY_SCOPE_MAPPING,
    _BRAND_TYPE_MAPPING,
    _CLOCK_ID_MAPPING,
    _CLOCK_TYPE_MAPPING,
    _CLOCKS_EVENT_REASONS_MAPPING,
    _COOLER_CONTROL_MAPPING,
    _COOLER_TARGET_MAPPING,
    _EVENT_TYPE_MAPPING,
    _FAN_CONTROL_POLICY_MAPPING,
    _GPU_P2P_CAPS_INDEX_MAPPING,
    _GPU_P2P_STATUS_MAPPING,
    _GPU_TOPOLOGY_LEVEL_MAPPING,
    _INFOROM_OBJECT_MAPPING,
    _NVLINK_VERSION_MAPPING,
    _TEMPERATURE_THRESHOLD_MAPPING,
    _THERMAL_CONTROLLER_MAPPING,
    _THERMAL_TARGET_MAPPING,
    _unpack_bitmask,
    choose,
    inverse,
    member_of,
    named_flags,
)
from cuda.core.system._mig import DeviceAttributes, MigInfo
from cuda.core.system._nvml_context import DeviceHandle, initialize
from cuda.core.system._pci import PciInfo
from cuda.core.system._support import nvml
from cuda.core.system._temperature import Temperature, ThermalSensor, ThermalSettings
from cuda.core.system._topology import DeviceTopology, NvlinkInfo
from cuda.core.system._usage import (
    BAR1MemoryInfo,
    GpuDynamicPstatesInfo,
    GpuDynamicPstatesUtilization,
    MemoryInfo,
    ProcessInfo,
    Utilization,
)
from cuda.core.system.typing import (
    AddressingMode,
    ClocksEventReasons,
    ClockType,
    DeviceArch,
    EventType,
    GpuP2PCapsIndex,
    GpuP2PStatus,
    GpuTopologyLevel,
)

__all__ = [
    "BAR1MemoryInfo",
    "ClockInfo",
    "ClockOffsets",
    "CoolerInfo",
    "Device",
    "DeviceAttributes",
    "DeviceEvents",
    "EventData",
    "FanInfo",
    "FieldValue",
    "FieldValues",
    "GpuDynamicPstatesInfo",
    "GpuDynamicPstatesUtilization",
    "InforomInfo",
    "MemoryInfo",
    "MigInfo",
    "NvlinkInfo",
    "PciInfo",
    "ProcessInfo",
    "RepairStatus",
    "Temperature",
    "ThermalSensor",
    "ThermalSettings",
    "Utilization",
    "get_p2p_status",
    "get_topology_common_ancestor",
]

_TOPOLOGY_LEVELS = inverse(_GPU_TOPOLOGY_LEVEL_MAPPING)
_UNKNOWN_PSTATE = int(nvml.Pstates.PSTATE_UNKNOWN)
_PREFIXES = ("GPU-", "MIG-")


def _running_processes(handle: int) -> list[ProcessInfo]:
    """Return the processes; the query asks for their number first, and fails if one starts meanwhile."""
    while True:
        try:
            return [ProcessInfo(record) for record in nvml.device_get_compute_running_processes_v3(handle)]
        except nvml.InsufficientSizeError:
            continue


class Device(DeviceTopology):
    """Device(*, index=None, uuid=None, pci_bus_id=None)

    A device that NVML manages, including those that CUDA cannot use or that ``CUDA_VISIBLE_DEVICES`` hides.

    Attributes that identify a device are queried once; all others query NVML at each access. An attribute that the
    device does not support raises :class:`~cuda.core.system.NotSupportedError`. Objects compare by identity: two
    objects of one device are not equal; compare their :attr:`uuid`.

    Parameters
    ----------
    index : int, optional
        NVML's index, in the order of PCI addresses, which may differ from the CUDA ordinal.
    uuid : str | bytes, optional
        The UUID, with or without its prefix ``GPU-`` or ``MIG-``.
    pci_bus_id : str | bytes, optional
        The PCI address, ``domain:bus:device.function``.

    Raises
    ------
    ValueError
        If not exactly one argument is given, or ``index`` is negative or needs more than 32 bits.
    TypeError
        If an argument has another type.
    NvmlError
        If there is no such device.
    RuntimeError
        If the machine has no NVML library.
    """

    def __init__(
        self, *, index: int | None = None, uuid: bytes | str | None = None, pci_bus_id: bytes | str | None = None
    ):
        if sum(key is not None for key in (index, uuid, pci_bus_id)) != 1:
            raise ValueError("exactly one of index, uuid and pci_bus_id must be given")
        if index is not None:
            index = check_int("index", index, 1 << 32)
        else:
            text = check_text("uuid", uuid) if pci_bus_id is None else check_text("pci_bus_id", pci_bus_id)
        initialize()
        if index is not None:
            handle = nvml.device_get_handle_by_index_v2(index)
        elif uuid is not None:
            handle = _find_by_uuid(text)
        else:
            handle = nvml.device_get_handle_by_pci_bus_id_v2(text)
        type(self)._handle.keep(self, handle)

    def __repr__(self):
        try:
            return f"<Device {self.index} ({self.name})>"
        except nvml.NvmlError as error:
            return f"<Device handle={self.__dict__.get('_handle', 0):#x} ({error})>"

    def __reduce__(self):
        return _of_uuid, (type(self), self.uuid)

    def __setattr__(self, name, value):
        if getattr(getattr(type(self), name, None), "fset", None) is None:
            raise AttributeError(f"attribute {name!r} of a Device cannot be set")
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        raise AttributeError(f"attribute {name!r} of a Device cannot be deleted")

    def _repr_html_(self) -> str:
        return _html_table(self)

    @classmethod
    def _of_handle(cls, handle: int) -> Device:
        self = cls.__new__(cls)
        cls._handle.keep(self, handle)
        return self

    _handle = DeviceHandle()

    # ------------------------------------------------------------------------------ all devices

    @classmethod
    def get_device_count(cls) -> int:
        """Return the number of devices (``nvml.device_get_count_v2``)."""
        initialize()
        return nvml.device_get_count_v2()

    @classmethod
    def get_all_devices(cls) -> Iterator[Device]:
        """Yield all devices, in the order of their indices."""
        for index in range(cls.get_device_count()):
            yield cls(index=index)

    @classmethod
    def get_all_devices_with_cpu_affinity(cls, cpu_index: int) -> Iterator[Device]:
        """Yield the devices with an affinity to a processor (``nvml.system_get_topology_gpu_set``). Linux only.

        Parameters
        ----------
        cpu_index : int
            The operating system's number of the processor.

        Raises
        ------
        TypeError
            If ``cpu_index`` is not an int.
        ValueError
            If ``cpu_index`` is negative or needs more than 32 bits.
        """
        cpu_index = check_int("cpu_index", cpu_index, 1 << 32)
        initialize()
        for handle in nvml.system_get_topology_gpu_set(cpu_index):
            yield cls._of_handle(int(handle))

    def to_cuda_device(self) -> cuda.core.Device:  # noqa: F821
        """Return the :class:`cuda.core.Device` with the same UUID.

        Raises
        ------
        RuntimeError
            If CUDA does not see the device: ``CUDA_VISIBLE_DEVICES`` hides it, or it is in MIG mode, where CUDA
            sees its instances only.
        """
        devices = slots.get("Device").get_all_devices()
        device = next((device for device in devices if device.uuid == self.uuid_without_prefix), None)
        if device is None:
            raise RuntimeError(f"CUDA sees no device with the UUID {self.uuid}; in MIG mode it sees the instances only")
        return device

    # --------------------------------------------------------------------------------- identity

    index: int = Constant("device_get_index", "NVML's index, in the order of PCI addresses.")
    uuid: str = Constant("device_get_uuid", "The UUID with its prefix, ``GPU-`` or ``MIG-``.")
    uuid_without_prefix: str = Constant(
        lambda handle: _without_prefix(nvml.device_get_uuid(handle)),
        "The UUID without its prefix, as :attr:`cuda.core.Device.uuid`.",
    )
    pci_bus_id: str = Constant(
        lambda handle: PciInfo(Device._of_handle(handle)).bus_id,
        "The PCI address, with 8 digits for the domain: ``00000000:17:00.0``.",
    )
    name: str = Constant("device_get_name", "The product name, such as ``'NVIDIA H100 80GB HBM3'``.")
    brand: str = Constant(
        "device_get_brand",
        "The brand of the product, such as ``'GeForce RTX'``; ``'Unknown'`` if NVML's code has no name here.",
        lambda code: _BRAND_TYPE_MAPPING.get(code, "Unknown"),
    )
    arch: DeviceArch = Constant(
        "device_get_architecture",
        "The architecture, a :class:`~cuda.core.system.typing.DeviceArch`; UNKNOWN if it is newer than this package.",
        lambda code: DeviceArch(code) if code in DeviceArch._value2member_map_ else DeviceArch.UNKNOWN,
    )
    cuda_compute_capability: tuple[int, int] = Constant(
        "device_get_cuda_compute_capability", "The compute capability as ``(major, minor)``.", tuple
    )
    serial: str = Constant("device_get_serial", "The serial number of the board.")
    module_id: int = Constant("device_get_module_id", "The ID of the module on its baseboard; 0 without a baseboard.")
    minor_number: int = Constant("device_get_minor_number", "The N of ``/dev/nvidiaN``. Linux only.")
    numa_node_id: int = Constant(
        "device_get_numa_node_id",
        "The ID of the NUMA node that the memory of the device forms, or -1 if it is not a NUMA node.",
        lambda node: -1 if node == 0xFFFFFFFF else node,
    )
    is_c2c_enabled: bool = Constant(
        "device_get_c2c_mode_info_v",
        "Whether the device is connected to the CPU by a chip-to-chip link (C2C).",
        lambda info: bool(info.is_c2c_enabled),
    )
    attributes: DeviceAttributes = reading(
        "device_get_attributes_v2", "The hardware units of the device, a :class:`DeviceAttributes`.", DeviceAttributes
    )

    @nvml_property
    def pci_info(self) -> PciInfo:
        """The PCI address and link. Raises RuntimeError for MIG instances, which have none."""
        return PciInfo(self)

    @nvml_property
    def mig(self) -> MigInfo:
        """Multi-instance GPU (MIG): the mode, the instances of a physical device, the parent of an instance."""
        return MigInfo(self)

    @nvml_property
    def inforom(self) -> InforomInfo:
        """The InfoROM: configuration stored on the board."""
        return InforomInfo(self)

    # ------------------------------------------------------------------------------------ state

    @nvml_property
    def is_persistence_mode_enabled(self) -> bool:
        """Whether the driver stays loaded while no process uses the device. Setting it needs administrator
        rights. Linux only (``nvml.device_get_persistence_mode``, ``nvml.device_set_persistence_mode``).
        """
        return bool(nvml.device_get_persistence_mode(self._handle))

    @is_persistence_mode_enabled.setter
    def is_persistence_mode_enabled(self, enabled: bool) -> None:
        uuid = self.uuid
        nvml.device_set_persistence_mode(self._handle, int(bool(enabled)))
        # The call may invalidate the handle of a device that is a NUMA node.
        type(self)._handle.keep(self, nvml.device_get_handle_by_uuid(uuid))

    addressing_mode: AddressingMode | None = reading(
        "device_get_addressing_mode",
        "How the device accesses pageable host memory; None if it does not.",
        lambda mode: _ADDRESSING_MODE_MAPPING.get(mode.value),
    )
    is_display_connected: bool = reading("device_get_display_mode", "Whether a monitor is connected.", bool)
    is_display_active: bool = reading(
        "device_get_display_active", "Whether a display is initialized on the device, with or without a monitor.", bool
    )
    memory_info: MemoryInfo = reading(
        "device_get_memory_info_v2", "The memory in use and in all, a :class:`MemoryInfo`.", MemoryInfo
    )
    bar1_memory_info: BAR1MemoryInfo = reading(
        "device_get_bar1_memory_info", "The use of the BAR1 aperture, a :class:`BAR1MemoryInfo`.", BAR1MemoryInfo
    )
    utilization: Utilization = reading(
        "device_get_utilization_rates", "The utilization of the device, a :class:`Utilization`.", Utilization
    )
    compute_running_processes: list[ProcessInfo] = reading(
        _running_processes,
        "The processes with a context on the device, a list of :class:`ProcessInfo` "
        "(``nvml.device_get_compute_running_processes_v3``).",
    )
    repair_status: RepairStatus = reading(
        "device_get_repair_status", "Repairs that a reset will make, a :class:`RepairStatus`.", RepairStatus
    )
    performance_state: int | None = reading(
        "device_get_performance_state",
        "The performance state, from 0 (the highest performance) to 15; None if NVML does not know it.",
        lambda state: None if state == _UNKNOWN_PSTATE else state,
    )
    supported_pstates: list[int] = reading(
        "device_get_supported_performance_states",
        "The performance states that the device supports.",
        lambda states: [int(state) for state in states if state != _UNKNOWN_PSTATE],
    )
    dynamic_pstates_info: GpuDynamicPstatesInfo = reading(
        "device_get_dynamic_pstates_info",
        "The utilization of each domain, a :class:`GpuDynamicPstatesInfo`.",
        GpuDynamicPstatesInfo,
    )
    is_auto_boosted_clocks_enabled: tuple[bool, bool] = reading(
        "device_get_auto_boosted_clocks_enabled",
        "Whether auto-boosted clocks are enabled: a tuple of the state now and the default.",
        lambda pair: (bool(pair[0]), bool(pair[1])),
    )
    current_clock_event_reasons: list[ClocksEventReasons] = reading(
        "device_get_current_clocks_event_reasons",
        "Why the clocks are below their maximum now; ValueError if NVML reports a reason that has no name here.",
        lambda mask: named_flags(mask, _CLOCKS_EVENT_REASONS_MAPPING, "reasons"),
    )
    supported_clock_event_reasons: list[ClocksEventReasons] = reading(
        "device_get_supported_clocks_event_reasons",
        "The reasons that the device can report; ValueError if one has no name here.",
        lambda mask: named_flags(mask, _CLOCKS_EVENT_REASONS_MAPPING, "reasons"),
    )
    cooler: CoolerInfo = reading("device_get_cooler_info", "The cooler, a :class:`CoolerInfo`.", CoolerInfo)
    num_fans: int = reading(
        lambda handle: _zero_if_unsupported(nvml.device_get_num_fans, handle),
        "The number of fans (``nvml.device_get_num_fans``).",
    )

    @nvml_property
    def temperature(self) -> Temperature:
        """Temperatures, thresholds and thermal sensors."""
        return Temperature(self)

    def get_clock(self, clock_type: ClockType | str) -> ClockInfo:
        """Return a clock domain.

        Parameters
        ----------
        clock_type : :class:`~cuda.core.system.typing.ClockType` | str
            The clock domain.

        Raises
        ------
        ValueError
            If ``clock_type`` is not one of the domains.
        """
        return ClockInfo(self, clock_type)

    def get_fan(self, fan: int = 0) -> FanInfo:
        """Return a fan.

        Parameters
        ----------
        fan : int, optional
            The index of the fan, less than :attr:`num_fans`. Default is 0.

        Raises
        ------
        TypeError
            If ``fan`` is not an int.
        ValueError
            If there is no such fan.
        """
        return FanInfo(self, check_int("fan", fan, self.num_fans))

    # -------------------------------------------------------------------------- field values

    def get_field_values(self, field_ids: list[int | tuple[int, int]]) -> FieldValues:
        """Return the values of several fields with one call (``nvml.device_get_field_values``).

        Parameters
        ----------
        field_ids : list
            Each entry is a :class:`~cuda.core.system.typing.FieldId`, or a tuple of one and a scope ID, such as the
            number of a link.

        Returns
        -------
        :class:`FieldValues`
            One value per entry, in the same order. A field that the device does not support raises when its
            value is read.

        Raises
        ------
        TypeError
            If ``field_ids`` is not a list.
        ValueError
            If an entry is not a field ID or such a tuple.
        """
        return _fields.read_field_values(self._handle, field_ids)

    def clear_field_values(self, field_ids: list[int | tuple[int, int]]) -> None:
        """Reset counters to 0 (``nvml.device_clear_field_values``). See :meth:`get_field_values` for the argument."""
        _fields.clear_field_values(self._handle, field_ids)

    # ------------------------------------------------------------------------------- events

    def register_events(self, events: EventType | str | list[EventType | str]) -> DeviceEvents:
        """Register for events of the device (``nvml.device_register_events``). Linux only.

        Earlier events are not reported. Several registrations can exist at the same time.

        Parameters
        ----------
        events : :class:`~cuda.core.system.typing.EventType` | str | list
            One or several event types.

        Raises
        ------
        TypeError
            If ``events`` is neither a string nor a list.
        ValueError
            If an entry is not one of the event types.
        NotSupportedError
            If the device does not support one of the event types.
        """
        return DeviceEvents(self, events)

    def get_supported_event_types(self) -> list[EventType]:
        """Return the event types that the device supports (``nvml.device_get_supported_event_types``)."""
        return named_flags(nvml.device_get_supported_event_types(self._handle), _EVENT_TYPE_MAPPING)


def get_topology_common_ancestor(device1: Device, device2: Device) -> GpuTopologyLevel:
    """Return the nearest common ancestor of two devices (``nvml.device_get_topology_common_ancestor``). Linux only.

    Parameters
    ----------
    device1, device2 : :class:`Device`
        The devices, in any order.

    Raises
    ------
    TypeError
        If one of them is not a :class:`Device`.
    ValueError
        If NVML returns a level that has no name here.
    """
    first, second = _handle_of("device1", device1), _handle_of("device2", device2)
    return member_of(nvml.device_get_topology_common_ancestor(first, second), _TOPOLOGY_LEVELS, "a level")


def get_p2p_status(device1: Device, device2: Device, index: GpuP2PCapsIndex | str) -> GpuP2PStatus:
    """Return whether two devices have a peer-to-peer capability, or why not (``nvml.device_get_p2p_status``).

    Parameters
    ----------
    device1, device2 : :class:`Device`
        The device that accesses memory, and the one whose memory is accessed.
    index : :class:`~cuda.core.system.typing.GpuP2PCapsIndex` | str
        The capability.

    Raises
    ------
    TypeError
        If a device is not a :class:`Device`.
    ValueError
        If ``index`` is not one of the capabilities.
    """
    code = choose(index, _GPU_P2P_CAPS_INDEX_MAPPING, "index")
    first, second = _handle_of("device1", device1), _handle_of("device2", device2)
    status = nvml.device_get_p2p_status(first, second, code)
    return _GPU_P2P_STATUS_MAPPING.get(status, GpuP2PStatus.UNKNOWN)


def _handle_of(label: str, device: Device) -> int:
    if not isinstance(device, Device):
        raise TypeError(f"{label} must be a cuda.core.system.Device, not {type(device).__name__}")
    return device._handle


def _without_prefix(uuid: str) -> str:
    return uuid[4:] if uuid.startswith(_PREFIXES) else uuid


def _find_by_uuid(uuid: str) -> int:
    """Return the handle for a UUID with NVML's prefix, or without one, as CUDA has it."""
    if not uuid.upper().startswith(_PREFIXES):
        for prefix in _PREFIXES:
            try:
                return nvml.device_get_handle_by_uuid(prefix + uuid)
            except (nvml.NotFoundError, nvml.InvalidArgumentError):
                continue
    return nvml.device_get_handle_by_uuid(uuid)


def _of_uuid(cls: type[Device], uuid: str) -> Device:
    return cls(uuid=uuid)


def _zero_if_unsupported(query, handle: int) -> int:
    try:
        return query(handle)
    except nvml.NotSupportedError:
        return 0


def _memory(device) -> str:
    info = device.memory_info
    return f"{info.used / 2**30:.1f} of {info.total / 2**30:.1f} GiB in use"


def _utilization(device) -> str:
    rates = device.utilization
    return f"{rates.gpu} % kernels, {rates.memory} % memory"


_ROWS = {
    "Index": lambda device: device.index,
    "UUID": lambda device: device.uuid,
    "PCI address": lambda device: device.pci_bus_id,
    "Architecture": lambda device: device.arch.name.capitalize(),
    "Compute capability": lambda device: "{}.{}".format(*device.cuda_compute_capability),
    "Memory": _memory,
    "Utilization": _utilization,
    "Temperature": lambda device: f"{device.temperature.get_sensor()} °C",
    "Performance state": lambda device: device.performance_state,
    "Processes": lambda device: len(device.compute_running_processes),
}


def _html_table(device) -> str:
    """Return the table that a notebook displays for a device, without rows that the device does not support."""
    cells = {"Device": _cell(lambda device: device.name, device)}
    cells.update((title, _cell(row, device)) for title, row in _ROWS.items())
    rows = "".join(
        f"<tr><th style='text-align:left'>{title}</th><td style='text-align:left'>{html.escape(text)}</td></tr>"
        for title, text in cells.items()
        if text is not None
    )
    return f"<table>{rows}</table>"


def _cell(row, device) -> str | None:
    try:
        value = row(device)
    except (nvml.NvmlError, RuntimeError):
        return None
    return None if value is None else str(value)

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The board of a device: its coolers and fans, its InfoROM, and pending repairs."""

from __future__ import annotations

from cuda.core.system._attributes import DeviceView, Snapshot, check_int, field, nvml_property, reading
from cuda.core.system._mappings import (
    _COOLER_CONTROL_MAPPING,
    _COOLER_TARGET_MAPPING,
    _FAN_CONTROL_POLICY_MAPPING,
    _INFOROM_OBJECT_MAPPING,
    choose,
    member_of,
    named_flags,
)
from cuda.core.system._support import nvml
from cuda.core.system.typing import FanControlPolicy, InforomObject

__all__ = ["CoolerInfo", "FanInfo", "InforomInfo", "RepairStatus"]


class CoolerInfo(Snapshot):
    """The cooler of a device."""

    __slots__ = ()

    signal_type = field(
        "signal_type",
        "How the cooler is controlled, a :class:`~cuda.core.system.typing.CoolerControl`, or None if it is not.",
        _COOLER_CONTROL_MAPPING.get,
    )
    target = field(
        "target",
        "What the cooler cools, a list of :class:`~cuda.core.system.typing.CoolerTarget`.",
        lambda mask: named_flags(mask, _COOLER_TARGET_MAPPING),
    )


class FanInfo(DeviceView):
    """A fan of a device, from :meth:`Device.get_fan`.

    Speeds are in percent of the speed at the maximum noise level of the product.
    """

    __slots__ = ("_fan",)

    def __init__(self, device, fan: int):
        super().__init__(device)
        self._fan = fan

    def __repr__(self):
        return f"<FanInfo {self._fan} of {self._device!r}>"

    def set_default_speed(self) -> None:
        """Return control of the fan to the driver (``nvml.device_set_default_fan_speed_v2``)."""
        nvml.device_set_default_fan_speed_v2(self._handle, self._fan)

    @nvml_property
    def speed(self) -> int:
        """The speed in percent, which can exceed 100 (``nvml.device_get_fan_speed_v2``, ``device_set_fan_speed_v2``).

        Setting it takes control from the driver, and needs administrator rights.
        """
        return nvml.device_get_fan_speed_v2(self._handle, self._fan)

    @speed.setter
    def speed(self, speed: int) -> None:
        nvml.device_set_fan_speed_v2(self._handle, self._fan, check_int("speed", speed))

    @nvml_property
    def speed_rpm(self) -> int:
        """The speed in rotations per minute (``nvml.device_get_fan_speed_rpm``)."""
        return nvml.device_get_fan_speed_rpm(self._handle, self._fan)

    @nvml_property
    def target_speed(self) -> int:
        """The speed that the driver aims at, in percent (``nvml.device_get_target_fan_speed``)."""
        return nvml.device_get_target_fan_speed(self._handle, self._fan)

    @nvml_property
    def min_max_speed(self) -> tuple[int, int]:
        """The lowest and the highest speed that can be set, in percent (``nvml.device_get_min_max_fan_speed``)."""
        return tuple(nvml.device_get_min_max_fan_speed(self._handle))

    @nvml_property
    def control_policy(self) -> FanControlPolicy:
        """Who controls the speed (``nvml.device_get_fan_control_policy_v2``). ValueError for an unknown policy."""
        policy = nvml.device_get_fan_control_policy_v2(self._handle, self._fan)
        return member_of(policy, _FAN_CONTROL_POLICY_MAPPING, "a policy")


class InforomInfo(DeviceView):
    """The InfoROM of a device, from :attr:`Device.inforom`."""

    __slots__ = ()

    def get_version(self, inforom: InforomObject | str) -> str:
        """Return the version of an InfoROM object (``nvml.device_get_inforom_version``).

        Parameters
        ----------
        inforom : :class:`~cuda.core.system.typing.InforomObject` | str
            The object.

        Raises
        ------
        ValueError
            If ``inforom`` is not one of the objects.
        NvmlError
            If the InfoROM of the device does not have the object.
        """
        return nvml.device_get_inforom_version(self._handle, choose(inforom, _INFOROM_OBJECT_MAPPING, "inforom"))

    def validate(self) -> None:
        """Check the InfoROM against its checksum (``nvml.device_validate_inforom``).

        Raises
        ------
        CorruptedInforomError
            If the checksum is wrong.
        """
        nvml.device_validate_inforom(self._handle)

    image_version = reading("device_get_inforom_image_version", "The version of the InfoROM image, a str.")
    configuration_checksum = reading(
        "device_get_inforom_configuration_checksum",
        "The checksum of the InfoROM configuration, an int. Boards with equal configurations have equal checksums.",
    )
    bbx_flush_time = reading(
        "device_get_last_bbx_flush_time",
        "The timestamp of the last flush of the black box (BBX) object and its duration in µs, a tuple of two ints.",
        tuple,
    )
    board_part_number = reading(
        "device_get_board_part_number", "The part number of the board, which can be empty.", str.strip
    )


class RepairStatus(Snapshot):
    """Hardware repairs that the next device reset makes."""

    __slots__ = ()

    channel_repair_pending = field(
        "b_channel_repair_pending", "Whether the repair of a memory channel is pending.", bool
    )
    tpc_repair_pending = field(
        "b_tpc_repair_pending", "Whether the repair of a TPC, a cluster of multiprocessors, is pending.", bool
    )

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Coolers and fans of a device."""

from __future__ import annotations

from cuda.core.system._attributes import DeviceView, Snapshot, check_int, field, nvml_property
from cuda.core.system._mappings import (
    _COOLER_CONTROL_MAPPING,
    _COOLER_TARGET_MAPPING,
    _FAN_CONTROL_POLICY_MAPPING,
    flags_of,
    member_of,
)
from cuda.core.system._support import nvml
from cuda.core.system.typing import FanControlPolicy

__all__ = ["CoolerInfo", "FanInfo"]


class CoolerInfo(Snapshot):
    """The cooler of a device."""

    __slots__ = ()

    signal_type = field(
        "signal_type",
        "How the cooler is controlled, a :class:`~cuda.core.system.typing.CoolerControl`; None if it is not.",
        _COOLER_CONTROL_MAPPING.get,
    )
    target = field(
        "target",
        "What the cooler cools, a list of :class:`~cuda.core.system.typing.CoolerTarget`.",
        lambda mask: flags_of(mask, _COOLER_TARGET_MAPPING),
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
        """The speed in percent; it may exceed 100. Setting it takes the control from the driver, and needs
        administrator rights (``nvml.device_get_fan_speed_v2``, ``nvml.device_set_fan_speed_v2``).
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
        """Who controls the speed (``nvml.device_get_fan_control_policy_v2``); ValueError if it has no name here."""
        policy = nvml.device_get_fan_control_policy_v2(self._handle, self._fan)
        return member_of(policy, _FAN_CONTROL_POLICY_MAPPING, "a policy")

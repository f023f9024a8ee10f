# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Temperatures of a device, in degrees Celsius."""

from __future__ import annotations

import warnings

from cuda.core.system._attributes import DeviceView, Items, Snapshot, field, nvml_property
from cuda.core.system._mappings import (
    _TEMPERATURE_THRESHOLD_MAPPING,
    _THERMAL_CONTROLLER_MAPPING,
    _THERMAL_TARGET_MAPPING,
    choose,
    inverse,
)
from cuda.core.system._support import nvml
from cuda.core.system.typing import DeviceArch, TemperatureThresholds, ThermalController, ThermalTarget

__all__ = ["Temperature", "ThermalSensor", "ThermalSettings"]

_THERMAL_TARGET_INV_MAPPING = inverse(_THERMAL_TARGET_MAPPING)
# Thresholds that devices since the Ada architecture report as field values.
_BY_FIELD_VALUES = {
    _TEMPERATURE_THRESHOLD_MAPPING[kind]: f"DEV_TEMPERATURE_{kind.name}_TLIMIT"
    for kind in (
        TemperatureThresholds.SHUTDOWN,
        TemperatureThresholds.SLOWDOWN,
        TemperatureThresholds.MEM_MAX,
        TemperatureThresholds.GPU_MAX,
    )
}


class Temperature(DeviceView):
    """The temperatures of a device, in degrees Celsius, from :attr:`Device.temperature`."""

    __slots__ = ()

    def get_sensor(self) -> int:
        """Return the temperature of the GPU (``nvml.device_get_temperature_v``)."""
        return nvml.device_get_temperature_v(self._handle, nvml.TemperatureSensors.TEMPERATURE_GPU)

    def get_threshold(self, threshold_type: TemperatureThresholds | str) -> int:
        """Return a temperature threshold (``nvml.device_get_temperature_threshold``).

        Devices since the Ada architecture report the thresholds ``shutdown``, ``slowdown``, ``mem_max`` and
        ``gpu_max`` as field values; this method is deprecated for them and may fail.

        Parameters
        ----------
        threshold_type : :class:`~cuda.core.system.typing.TemperatureThresholds` | str
            The threshold.

        Raises
        ------
        ValueError
            If ``threshold_type`` is not one of the thresholds.
        NvmlError
            If the device does not support the threshold.

        Warns
        -----
        DeprecationWarning
            If the device reports the threshold as a field value.
        """
        threshold = choose(threshold_type, _TEMPERATURE_THRESHOLD_MAPPING, "threshold_type")
        if threshold in _BY_FIELD_VALUES and self._device.arch >= DeviceArch.ADA:
            warnings.warn(
                f"the threshold {threshold_type!s} is deprecated for devices since the Ada architecture; "
                f"use Device.get_field_values([FieldId.{_BY_FIELD_VALUES[threshold]}])",
                DeprecationWarning,
                stacklevel=2,
            )
        return nvml.device_get_temperature_threshold(self._handle, threshold)

    def get_thermal_settings(self, sensor_index: ThermalTarget | str) -> ThermalSettings:
        """Return the thermal sensors of a target (``nvml.device_get_thermal_settings``).

        Parameters
        ----------
        sensor_index : :class:`~cuda.core.system.typing.ThermalTarget` | str
            The target.

        Raises
        ------
        ValueError
            If ``sensor_index`` is not one of the targets.
        NvmlError
            If the device does not support the query.
        """
        target = choose(sensor_index, _THERMAL_TARGET_INV_MAPPING, "sensor_index")
        return ThermalSettings(nvml.device_get_thermal_settings(self._handle, target))

    @nvml_property
    def margin(self) -> int:
        """Degrees Celsius below the nearest slowdown threshold (``nvml.device_get_margin_temperature``)."""
        return nvml.device_get_margin_temperature(self._handle)


class ThermalSensor(Snapshot):
    """A thermal sensor at one moment."""

    __slots__ = ()

    controller = field(
        "controller",
        "The controller of the sensor, a :class:`~cuda.core.system.typing.ThermalController`.",
        lambda code: _THERMAL_CONTROLLER_MAPPING.get(code, ThermalController.UNKNOWN),
    )
    default_min_temp = field("default_min_temp", "The lowest temperature of the default range, in °C.")
    default_max_temp = field("default_max_temp", "The highest temperature of the default range, in °C.")
    current_temp = field("current_temp", "The temperature, in °C.")
    target = field(
        "target",
        "What the sensor measures, a :class:`~cuda.core.system.typing.ThermalTarget`.",
        lambda code: _THERMAL_TARGET_MAPPING.get(code, ThermalTarget.NONE),
    )


class ThermalSettings(Items):
    """The thermal sensors of a device, a sequence of :class:`ThermalSensor`."""

    __slots__ = ()

    def __init__(self, record):
        super().__init__(list(record.sensor)[: record.count], ThermalSensor)

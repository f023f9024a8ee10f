# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Temperatures, thresholds and thermal sensors."""

import pytest
from cuda.bindings import nvml

from cuda.core import system
from cuda.core.system.typing import DeviceArch, FieldId, TemperatureThresholds, ThermalController, ThermalTarget

pytestmark = pytest.mark.requires(nvml=True)


def test_temperatures_and_thresholds_are_read(gpu, fake):
    fake("device_get_temperature_v", 45)
    fake("device_get_temperature_threshold", 92)
    fake("device_get_margin_temperature", 40)
    temperature = gpu.temperature
    assert type(temperature).__name__ == "Temperature"
    assert (temperature.get_sensor(), temperature.margin) == (45, 40)
    fake("device_get_architecture", int(DeviceArch.AMPERE))
    temperature = system.Device(index=0).temperature
    for threshold in TemperatureThresholds:
        assert temperature.get_threshold(threshold) == 92
    thresholds = [call[2] for call in fake.calls if call[0] == "device_get_temperature_threshold"]
    assert thresholds == list(range(8))


@pytest.mark.parametrize("threshold", ["shutdown", "slowdown", "mem_max", "gpu_max"])
def test_thresholds_that_newer_devices_replace_are_deprecated(fake, threshold):
    fake("device_get_temperature_threshold", 92)
    fake("device_get_architecture", int(DeviceArch.ADA))
    temperature = system.Device(index=0).temperature
    field = f"DEV_TEMPERATURE_{threshold.upper()}_TLIMIT"
    with pytest.warns(DeprecationWarning, match=rf"threshold {threshold} .*FieldId.{field}\]") as caught:
        assert temperature.get_threshold(threshold) == 92
    assert caught[0].filename == __file__ and hasattr(FieldId, field)
    assert temperature.get_threshold("acoustic_curr") == 92


def test_unknown_thresholds_and_sensors_are_rejected(gpu):
    with pytest.raises(ValueError, match="not a valid threshold_type"):
        gpu.temperature.get_threshold("boiling")
    with pytest.raises(ValueError, match="not a valid sensor_index"):
        gpu.temperature.get_thermal_settings("cat")


def test_thermal_sensors_are_read(gpu, fake):
    record = nvml.GpuThermalSettings()
    sensors = nvml.GpuThermalSettings().sensor
    sensors.controller, sensors.target = [1, 99, 0], [1, -1, 0]
    sensors.default_min_temp, sensors.default_max_temp, sensors.current_temp = [-10, 0, 0], [110, 5, 0], [45, 3, 0]
    record.sensor, record.count = sensors, 2
    fake("device_get_thermal_settings", record)
    settings = gpu.temperature.get_thermal_settings(ThermalTarget.ALL)
    assert fake.calls == [("device_get_thermal_settings", gpu._handle, nvml.ThermalTarget.ALL)]
    assert type(settings).__name__ == "ThermalSettings" and len(settings) == len(list(settings)) == 2
    first, second = settings
    assert type(first).__name__ == "ThermalSensor"
    assert first.controller is ThermalController.GPU_INTERNAL and first.target is ThermalTarget.GPU
    assert (first.default_min_temp, first.default_max_temp, first.current_temp) == (-10, 110, 45)
    assert second.controller is ThermalController.UNKNOWN and second.target is ThermalTarget.NONE
    with pytest.raises(IndexError):
        settings[2]
    record.count = 0
    assert list(gpu.temperature.get_thermal_settings("gpu")) == []

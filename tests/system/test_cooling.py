# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Coolers and fans."""

import pytest
from cuda.bindings import nvml

from cuda.core import system
from cuda.core.system import _device
from cuda.core.system.typing import CoolerControl, CoolerTarget, FanControlPolicy

pytestmark = pytest.mark.requires(nvml=True)


@pytest.mark.parametrize(
    "signal, target, control, targets",
    [
        (0, 1, None, [CoolerTarget.NONE]),
        (1, 2, CoolerControl.TOGGLE, [CoolerTarget.GPU]),
        (2, 14, CoolerControl.VARIABLE, [CoolerTarget.GPU, CoolerTarget.MEMORY, CoolerTarget.POWER_SUPPLY]),
    ],
)
def test_cooler_returns_its_control_and_targets(gpu, fake, signal, target, control, targets):
    record = nvml.CoolerInfo_v1()
    record.signal_type, record.target = signal, target
    fake("device_get_cooler_info", record)
    cooler = gpu.cooler
    assert type(cooler) is _device.CoolerInfo
    assert cooler.signal_type is control and cooler.target == targets


@pytest.fixture
def fan(gpu, fake):
    """The second of two fans."""
    fake("device_get_num_fans", 2)
    gpu.__dict__.pop("num_fans", None)
    fan = gpu.get_fan(1)
    fake.calls.clear()
    return fan


def test_fan_is_read_and_set(gpu, fake, fan):
    fake("device_get_fan_speed_v2", 40)
    fake("device_get_fan_speed_rpm", 1200)
    fake("device_get_target_fan_speed", 45)
    fake("device_get_min_max_fan_speed", (30, 100))
    fake("device_get_fan_control_policy_v2", 1)
    fake("device_set_fan_speed_v2")
    fake("device_set_default_fan_speed_v2")
    assert type(fan) is _device.FanInfo and repr(fan) == f"<FanInfo 1 of {gpu!r}>"
    assert (fan.speed, fan.speed_rpm, fan.target_speed, fan.min_max_speed) == (40, 1200, 45, (30, 100))
    assert fan.control_policy is FanControlPolicy.MANUAL
    fake("device_get_fan_control_policy_v2", 9)
    assert not hasattr(fan, "control_policy")
    with pytest.raises(ValueError, match="a policy that this version does not know: 0x9"):
        fan.control_policy  # noqa: B018
    fake.calls.clear()
    fan.speed = 60
    assert fan.set_default_speed() is None
    handle = gpu._handle
    assert fake.calls == [("device_set_fan_speed_v2", handle, 1, 60), ("device_set_default_fan_speed_v2", handle, 1)]


def test_invalid_speeds_are_refused(fan, fake):
    with pytest.raises(TypeError, match="speed must be an int, not str"):
        fan.speed = "60"
    with pytest.raises(ValueError, match="speed must be at least 0, not -1"):
        fan.speed = -1
    fake("device_set_fan_speed_v2", system.NoPermissionError(4))
    with pytest.raises(system.NoPermissionError):
        fan.speed = 60
    with pytest.raises(AttributeError):
        fan.speed_rpm = 3


@pytest.mark.parametrize("number, error", [(2, ValueError), (-1, ValueError), ("a", TypeError)])
def test_invalid_fan_numbers_are_refused(gpu, fan, number, error):
    with pytest.raises(error, match="fan must be"):
        gpu.get_fan(number)


@pytest.mark.requires(software=True)
def test_a_device_without_fans_refuses_each_number(gpu):
    with pytest.raises(ValueError, match=r"fan must be in the range \[0, 0\), not 0"):
        gpu.get_fan()

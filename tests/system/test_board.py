# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Coolers, fans, the InfoROM and pending repairs."""

import pytest
from cuda.bindings import nvml

from cuda.core import system
from cuda.core.system.typing import CoolerControl, CoolerTarget, FanControlPolicy, InforomObject

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
    assert type(cooler).__name__ == "CoolerInfo"
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
    assert type(fan).__name__ == "FanInfo" and repr(fan) == f"<FanInfo 1 of {gpu!r}>"
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


def test_invalid_speeds_are_rejected(fan, fake):
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
def test_invalid_fan_numbers_are_rejected(gpu, fan, number, error):
    with pytest.raises(error, match="fan must be"):
        gpu.get_fan(number)


@pytest.mark.requires(software=True)
def test_device_without_fans_rejects_each_number(gpu):
    with pytest.raises(ValueError, match=r"fan must be in the range \[0, 0\), not 0"):
        gpu.get_fan()


def test_repair_status_is_read(gpu, fake):
    record = nvml.RepairStatus_v1()
    record.b_tpc_repair_pending = 1
    fake("device_get_repair_status", record)
    status = gpu.repair_status
    assert type(status).__name__ == "RepairStatus"
    assert (status.channel_repair_pending, status.tpc_repair_pending) == (False, True)
    assert type(status.tpc_repair_pending) is bool


def test_versions_and_checksums_are_read(gpu, fake):
    fake("device_get_inforom_version", "2.1")
    fake("device_get_inforom_image_version", "G525")
    fake("device_get_inforom_configuration_checksum", 0xABCD)
    fake("device_get_last_bbx_flush_time", [5, 6])
    fake("device_get_board_part_number", " 900-1 ")
    fake("device_validate_inforom")
    inforom = gpu.inforom
    assert type(inforom).__name__ == "InforomInfo"
    assert [inforom.get_version(name) for name in InforomObject] == ["2.1"] * 4
    assert [code for _, _, code in fake.calls] == list(nvml.InforomObject)[:4]
    assert (inforom.image_version, inforom.configuration_checksum) == ("G525", 0xABCD)
    assert inforom.bbx_flush_time == (5, 6) and inforom.board_part_number == "900-1"
    assert inforom.validate() is None


def test_unknown_objects_are_rejected_and_corruption_is_reported(gpu, fake):
    with pytest.raises(ValueError, match="not a valid inforom; it must be 'den', 'ecc', 'oem' or 'power'"):
        gpu.inforom.get_version("bios")
    fake("device_validate_inforom", system.CorruptedInforomError(14))
    with pytest.raises(system.CorruptedInforomError):
        gpu.inforom.validate()

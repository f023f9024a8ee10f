# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The InfoROM."""

import pytest
from cuda.bindings import nvml

from cuda.core import system
from cuda.core.system import _device
from cuda.core.system.typing import InforomObject

pytestmark = pytest.mark.requires(nvml=True)


def test_versions_and_checksums_are_read(gpu, fake):
    fake("device_get_inforom_version", "2.1")
    fake("device_get_inforom_image_version", "G525")
    fake("device_get_inforom_configuration_checksum", 0xABCD)
    fake("device_get_last_bbx_flush_time", [5, 6])
    fake("device_get_board_part_number", " 900-1 ")
    fake("device_validate_inforom")
    inforom = gpu.inforom
    assert type(inforom) is _device.InforomInfo
    assert [inforom.get_version(name) for name in InforomObject] == ["2.1"] * 4
    assert [code for _, _, code in fake.calls] == list(nvml.InforomObject)[:4]
    assert (inforom.image_version, inforom.configuration_checksum) == ("G525", 0xABCD)
    assert inforom.bbx_flush_time == (5, 6) and inforom.board_part_number == "900-1"
    assert inforom.validate() is None


def test_unknown_objects_are_refused_and_corruption_is_reported(gpu, fake):
    with pytest.raises(ValueError, match="not a valid inforom; it must be 'den', 'ecc', 'oem' or 'power'"):
        gpu.inforom.get_version("bios")
    fake("device_validate_inforom", system.CorruptedInforomError(14))
    with pytest.raises(system.CorruptedInforomError):
        gpu.inforom.validate()

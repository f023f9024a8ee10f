# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""``CUDA_VISIBLE_DEVICES`` selects and orders the devices for CUDA, but not for NVML."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

COUNT = 4
SHOW = """
from cuda.core import Device, system
names = {device.uuid: device.index for device in system.Device.get_all_devices()}
print(*(names["GPU-" + device.uuid] for device in Device.get_all_devices()))
"""

pytestmark = pytest.mark.requires(software=True)


def run(code: str, value: str | None) -> str:
    variables = {name: text for name, text in os.environ.items() if name != "CUDA_VISIBLE_DEVICES"}
    variables |= {"CUDA_CORE_DEVICE": "software", "CUDA_EMULATOR_DEVICES": str(COUNT)}
    if value is not None:
        variables["CUDA_VISIBLE_DEVICES"] = value
    done = subprocess.run([sys.executable, "-P", "-c", code], env=variables, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def uuids() -> list[str]:
    code = "from cuda.core import system\nfor d in system.Device.get_all_devices(): print(d.uuid)"
    return run(code, "0").split()


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        (None, "0 1 2 3"),
        ("0", "0"),
        ("2,0", "2 0"),
        (" 3 , 1 ", "3 1"),
        ("1,-1,2", "1"),
        ("1,4,2", "1"),
        ("1,two,2", "1"),
        ("1,,2", "1"),
        ("2gpu,1x", "2 1"),
        ("+1", "1"),
        ("2, +0 ,x1", "2 0"),
        ("2,99999999999999999999", "2"),
        ("1,GPU-", "1"),
    ],
)
def test_devices_are_selected_by_number_up_to_the_first_bad_one(value, seen):
    assert run(SHOW, value).strip() == seen


def test_devices_are_selected_by_uuid_or_its_beginning():
    ids = uuids()
    assert len(set(ids)) == COUNT and all(text.startswith("GPU-") for text in ids)
    short = next(n for n in range(5, 41) if len({text[:n] for text in ids}) == COUNT)
    assert run(SHOW, f"{ids[2]},{ids[0][:short]}").strip() == "2 0"
    assert run(SHOW, f"{ids[3].replace(ids[3][4:], ids[3][4:].upper())},1,{ids[0]}").strip() == "3"
    assert run(SHOW, f"1,{ids[1]},0").strip() == "1"
    assert run(SHOW, f"0,{ids[1][:short]}").strip() == "0"
    assert run(SHOW, f"1,{ids[0]}0,2").strip() == "1"


@pytest.mark.parametrize("value", ["", "-1", "none", "NoDevFiles", "4", ",", "1,1", "3,0,3,1", "0,1,0"])
def test_values_without_device_hide_all_from_cuda_only(value):
    code = "from cuda.bindings import driver\nimport cuda.core\nprint(driver.cuInit(0)[0].name)"
    assert run(code, value).strip() == "CUDA_ERROR_NO_DEVICE"
    assert run("from cuda.core import system\nprint(system.get_num_devices())", value).strip() == str(COUNT)


def test_program_can_set_the_variable_before_its_first_call():
    code = f"import os, cuda.core\nos.environ['CUDA_VISIBLE_DEVICES'] = '3,2'\n{SHOW}"
    assert run(code, None).strip() == "3 2"


def test_selected_devices_can_be_used():
    code = """
import numpy as np
from cuda.core import Device, system
for device, bus in zip(Device.get_all_devices(), (0xE3, 0xE1), strict=True):
    device.set_current()
    stream = device.create_stream()
    buffer = device.allocate(4096, stream=stream)
    buffer.fill(5, stream=stream)
    stream.sync()
    buffer.close(stream)
    stream.sync()
    assert device.properties.pci_bus_id == bus, device.properties.pci_bus_id
assert Device(0).can_access_peer(Device(1))
assert [d.memory_info.total for d in system.Device.get_all_devices()] == [4 << 30] * 4
print("done")
"""
    assert run(code, "3,1").strip() == "done"

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The choice between hardware and software device by the environment variable."""

import os
from types import SimpleNamespace

import pytest

from cuda import emulator as software
from cuda.core._utils import device_choice


@pytest.fixture
def emulator(monkeypatch):
    """Replaces the software device and the hardware; ``has_hardware`` sets whether there is any."""
    from cuda import emulator

    machine = SimpleNamespace(has_hardware=False, is_activated=False)
    monkeypatch.setattr(emulator, "activate", lambda: vars(machine).update(is_activated=True))
    monkeypatch.setattr(device_choice, "_chosen", None)
    monkeypatch.setattr(device_choice, "is_software", lambda: False)
    monkeypatch.setattr(device_choice, "_has_hardware", lambda: machine.has_hardware)
    return machine


@pytest.mark.parametrize("value", ["gpu", "1", "software,auto"])
def test_other_values_are_rejected(monkeypatch, value):
    monkeypatch.setattr(device_choice, "_chosen", None)
    monkeypatch.setenv("CUDA_CORE_DEVICE", value)
    with pytest.raises(ValueError, match=f"CUDA_CORE_DEVICE must be one of hardware, software, auto, not {value!r}"):
        device_choice.apply()


@pytest.mark.parametrize(
    "value, has_hardware, is_activated",
    [
        (None, False, False),
        ("hardware", False, False),
        ("software", True, True),
        (" Software ", False, True),
        ("auto", True, False),
        ("auto", False, True),
    ],
)
def test_variable_chooses(monkeypatch, emulator, value, has_hardware, is_activated):
    emulator.has_hardware = has_hardware
    if value is None:
        monkeypatch.delenv("CUDA_CORE_DEVICE", raising=False)
    else:
        monkeypatch.setenv("CUDA_CORE_DEVICE", value)
    device_choice.apply()
    assert emulator.is_activated is is_activated


def test_choice_by_auto_is_announced_and_passed_on(monkeypatch, emulator, capsys):
    monkeypatch.setenv("CUDA_CORE_DEVICE", "auto")
    device_choice.apply()
    assert os.environ["CUDA_CORE_DEVICE"] == "software" and device_choice.choice() == "auto"
    assert capsys.readouterr().err == "cuda.core: no CUDA device was found; using the software device\n"


@pytest.mark.requires(software=True)
def test_software_device_has_a_build_and_headers():
    state = os.stat(software.library_path())
    assert device_choice.software_build() == f"software {state.st_size} {state.st_mtime_ns}"
    assert all(map(os.path.isdir, device_choice.software_headers())) and device_choice.software_headers()


def test_hardware_has_no_build_and_no_headers(emulator):
    assert device_choice.software_build() == "" and device_choice.software_headers() == []

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The choice between hardware and software device by the environment variable."""

import pytest

from cuda.core._utils import device_choice


@pytest.fixture
def emulator(monkeypatch):
    """Replaces the activation of the software device; returns the list of its calls."""
    from cuda import emulator

    calls = []
    monkeypatch.setattr(emulator, "activate", lambda: calls.append("activated"))
    monkeypatch.setattr(device_choice, "is_software", lambda: False)
    return calls


@pytest.mark.parametrize("value", ["gpu", "1", "software,auto"])
def test_other_values_are_refused(monkeypatch, value):
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
    monkeypatch.setattr(device_choice, "_has_hardware", lambda: has_hardware)
    if value is None:
        monkeypatch.delenv("CUDA_CORE_DEVICE", raising=False)
    else:
        monkeypatch.setenv("CUDA_CORE_DEVICE", value)
    device_choice.apply()
    assert bool(emulator) is is_activated


def test_choice_by_auto_is_announced_and_passed_on(monkeypatch, emulator, capsys):
    import os

    monkeypatch.setattr(device_choice, "_has_hardware", lambda: False)
    monkeypatch.setenv("CUDA_CORE_DEVICE", "auto")
    device_choice.apply()
    assert os.environ["CUDA_CORE_DEVICE"] == "software"
    assert capsys.readouterr().err == "cuda.core: no CUDA device was found; using the software device\n"


def test_only_the_software_device_has_a_build_and_headers(monkeypatch, tmp_path):
    library = tmp_path / "library"
    library.write_bytes(b"1234")
    monkeypatch.setattr(device_choice, "software_library", lambda: str(library))
    monkeypatch.setattr(device_choice, "is_software", lambda: True)
    first = device_choice.software_build()
    library.write_bytes(b"12345")
    assert first.startswith("software 4 ") and device_choice.software_build().startswith("software 5 ")
    monkeypatch.setattr(device_choice, "is_software", lambda: False)
    assert device_choice.software_build() == "" and device_choice.software_headers() == []

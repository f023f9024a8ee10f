# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The choice between hardware and software device, and the seam with the package of the software device."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

import cuda.emulator
from cuda.core._utils import device_choice, libraries
from support.source import CORE


class Emulator:
    """A package ``cuda.emulator`` that does nothing."""

    INTERFACE = device_choice.NEEDED
    is_used = has_hardware = is_interrupted = False
    activations = resets = 0

    def activate(self):
        self.activations += 1
        self.is_used = True

    def has_gpu(self):
        return self.has_hardware

    def is_active(self):
        return self.is_used

    def describe(self):
        return {"library": __file__, "code": "of a test"}

    def reset(self):
        self.resets += 1

    def settle_interrupts(self):
        return self.is_interrupted


@pytest.fixture
def emulator(monkeypatch):
    """Replaces the package of the software device."""
    emulator = Emulator()
    monkeypatch.setattr(device_choice, "_chosen", None)
    monkeypatch.setitem(sys.modules, "cuda.emulator", emulator)
    return emulator


def run(code: str, **variables: str) -> subprocess.CompletedProcess:
    """Run code in a new interpreter."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **variables}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=60)


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
    assert emulator.is_used is is_activated


def test_choice_by_auto_is_announced_and_passed_on(monkeypatch, emulator, capsys):
    monkeypatch.setenv("CUDA_CORE_DEVICE", "auto")
    device_choice.apply()
    assert os.environ["CUDA_CORE_DEVICE"] == "software" and device_choice.facts()["choice"] == "auto"
    assert capsys.readouterr().err == "cuda.core: no CUDA device was found; using the software device\n"


def test_active_device_is_not_announced(monkeypatch, emulator, capsys):
    emulator.is_used = True
    monkeypatch.setenv("CUDA_CORE_DEVICE", "auto")
    device_choice.apply()
    assert os.environ["CUDA_CORE_DEVICE"] == "auto" and emulator.activations == 1
    assert capsys.readouterr().err == ""


# --- The list -------------------------------------------------------------------------------------


def test_seam_is_a_list_of_at_most_six_functions():
    used = set(re.findall(r"\bemulator\.(\w+)\(", (CORE / "_utils" / "device_choice.py").read_text()))
    assert used == set(device_choice.CALLS) and len(used) <= 6


def test_installed_package_has_the_functions():
    assert cuda.emulator.INTERFACE >= device_choice.NEEDED
    assert [name for name in device_choice.CALLS if not callable(getattr(cuda.emulator, name, None))] == []


@pytest.mark.requires(software=True)
def test_active_device_keeps_the_promises():
    assert cuda.emulator.is_active() is True
    assert cuda.emulator.has_gpu() is False
    assert cuda.emulator.settle_interrupts() is False
    assert cuda.emulator.activate() is None and cuda.emulator.reset() is None
    assert libraries.compiler_build() == f"software {cuda.emulator.describe()['code']}"
    assert libraries.facts()["library"] == cuda.emulator.describe()["library"] == cuda.emulator.library_path()
    assert libraries.checks_memory() and device_choice.recover() and not device_choice.has_dropped_work()


def test_software_device_answers(emulator):
    emulator.is_used = emulator.is_interrupted = True
    assert device_choice.has_dropped_work() and device_choice.checks_memory()
    assert device_choice.recover() and emulator.resets == 1
    assert device_choice.compiler_build() == "software of a test"
    assert device_choice.facts()["is_active"] and device_choice.facts()["library"] == __file__


@pytest.mark.parametrize("package", ["inactive", "not imported", "not installed"])
def test_hardware_has_none_of_it(monkeypatch, emulator, package):
    emulator.is_interrupted = True
    if package == "not imported":
        monkeypatch.delitem(sys.modules, "cuda.emulator")
    elif package == "not installed":
        monkeypatch.setitem(sys.modules, "cuda.emulator", None)
    assert not device_choice.has_dropped_work() and not device_choice.checks_memory() and not device_choice.recover()
    assert device_choice.compiler_build() == "" and emulator.resets == 0


@pytest.mark.parametrize(("package", "library"), [(Emulator(), __file__), (None, None)])
def test_facts_of_hardware(monkeypatch, package, library):
    monkeypatch.setattr(device_choice, "_chosen", "hardware")
    monkeypatch.setitem(sys.modules, "cuda.emulator", package)
    assert device_choice.facts() == {"choice": "hardware", "is_active": False, "library": library}


def test_facts_do_not_ask_an_older_device(monkeypatch):
    older = SimpleNamespace(is_active=lambda: False)
    monkeypatch.setitem(sys.modules, "cuda.emulator", older)
    assert device_choice.facts()["library"] is None


# --- Without the package, or with another version -------------------------------------------------


@pytest.mark.parametrize("version", [{"INTERFACE": 0}, {}])
def test_older_device_is_named_with_both_versions(monkeypatch, version):
    older = SimpleNamespace(is_active=lambda: True, **version)
    monkeypatch.setattr(device_choice, "_chosen", None)
    monkeypatch.setattr(device_choice, "NEEDED", 3)
    monkeypatch.setitem(sys.modules, "cuda.emulator", older)
    monkeypatch.setenv("CUDA_CORE_DEVICE", "software")
    message = r"needs cuda\.emulator with interface 3 or newer, and the installed one has interface 0: run `pip install"
    with pytest.raises(RuntimeError, match=message):
        device_choice.apply()
    with pytest.raises(RuntimeError, match=message):
        device_choice.compiler_build()


def test_newer_device_is_used(monkeypatch, emulator):
    emulator.INTERFACE = device_choice.NEEDED + 1
    monkeypatch.setenv("CUDA_CORE_DEVICE", "software")
    device_choice.apply()
    assert emulator.is_used


MISSING = "import sys; sys.modules['cuda.emulator'] = None\n"


def test_without_the_package_software_says_how_to_install_it():
    done = run(MISSING + "import cuda.core", CUDA_CORE_DEVICE="software")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "RuntimeError: CUDA_CORE_DEVICE=software needs the package cuda-emulator: install it from its wheel file, or "
        "run `pip install ./emulator` in a clone"
    )
    assert done.stderr.count("Traceback") == 1


def test_without_the_package_auto_leaves_it_to_the_first_use():
    code = MISSING + (
        "from cuda.core import Device\nfrom cuda.core._utils import libraries\n"
        "def search(name): raise RuntimeError(name)\n"
        "libraries._DRIVER, libraries._search = 'libnothing.so.1', search\n"
        "try: Device()\nexcept RuntimeError as error: print(error)"
    )
    done = run(code, CUDA_CORE_DEVICE="auto")
    assert done.stdout.strip() == libraries.MISSING_DRIVER and done.stderr == ""


def test_errors_of_the_package_itself_are_not_hidden(monkeypatch, tmp_path):
    code = (
        "import sys\nclass Finder:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'cuda.emulator': raise ModuleNotFoundError('no lz4', name='lz4')\n"
        "sys.meta_path.insert(0, Finder())\nimport cuda.core"
    )
    assert run(code, CUDA_CORE_DEVICE="auto").stderr.splitlines()[-1] == "ModuleNotFoundError: no lz4"


def test_wrong_variable_of_the_device_is_one_clear_error():
    done = run("import cuda.core", CUDA_CORE_DEVICE="software", CUDA_EMULATOR_CHECK="memory,bogus")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "ValueError: CUDA_EMULATOR_CHECK=memory,bogus is not valid: it must be none, all, or a list of memory, sync, "
        "initialized, races, stack and rows"
    )
    assert done.stderr.count("Traceback") == 1 and "cuInit" not in done.stderr

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What packages above rely on, here seen from below: ``cuda.core`` is not used, and need not be installed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cuda.emulator

FOLDER = Path(cuda.emulator.__file__).parent


@pytest.fixture
def run():
    """Return a function that runs code where ``cuda.core`` cannot be imported, and returns what it prints."""

    def run(code, **variables):
        code = f"import sys\nsys.modules['cuda.core'] = None\nimport cuda.emulator as emulator\n{code}"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **variables}
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


@pytest.fixture
def driver_with(tmp_path):
    """Return a function that builds a driver with a number of devices, and returns the variables for it."""

    def build(count, result=0):
        source = tmp_path / "driver.c"
        source.write_text(
            f"int cuInit(unsigned flags) {{ return {result}; }}\n"
            f"int cuDeviceGetCount(int* count) {{ *count = {count}; return 0; }}\n"
        )
        library = tmp_path / "libcuda.so.1"
        subprocess.run(["cc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", source, "-o", library], check=True)
        return {"LD_LIBRARY_PATH": str(tmp_path)}

    return build


def test_the_interface_has_a_version():
    assert type(cuda.emulator.INTERFACE) is int and cuda.emulator.INTERFACE >= 1


def test_the_device_can_be_used_without_cuda_core(run):
    code = (
        "print(emulator.is_active(), emulator.activate(), emulator.is_active(), emulator.activate())\n"
        "from cuda.bindings import driver as d\n"
        "print(d.cuInit(0)[0].name, emulator.has_gpu(), emulator.settle_interrupts(), emulator.reset())"
    )
    assert run(code).splitlines() == ["False None True None", "CUDA_SUCCESS False False None"]


def test_the_library_has_a_path():
    assert os.path.isfile(cuda.emulator.library_path())


@pytest.mark.parametrize(("count", "result", "expected"), [(1, 0, True), (0, 0, False), (1, 100, False)])
def test_a_gpu_is_found_by_its_driver(run, driver_with, count, result, expected):
    code = "print(emulator.has_gpu())"
    assert run(code, **driver_with(count, result)) == str(expected)


def test_a_driver_without_a_gpu_does_not_keep_its_place(run, driver_with):
    code = "print(emulator.has_gpu(), emulator.activate(), emulator.is_active())"
    assert run(code, **driver_with(0)) == "False None True"


def test_a_driver_with_a_gpu_keeps_its_place(run, driver_with):
    code = "print(emulator.has_gpu())\ntry: emulator.activate()\nexcept RuntimeError as error: print(error)"
    assert "libcuda.so.1 is already loaded in this process" in run(code, **driver_with(1))


def test_a_wrong_variable_is_an_error_of_each_activation(run):
    code = (
        "for _ in range(2):\n"
        "    try: emulator.activate()\n"
        "    except ValueError as error: print(error)\n"
        "from cuda.bindings import driver as d\n"
        "print(d.cuInit(0)[0].name)"
    )
    sentence = "CUDA_EMULATOR_DEVICES=9 is not valid: it must be a whole number from 0 to 8"
    assert run(code, CUDA_EMULATOR_DEVICES="9").splitlines() == [sentence, sentence, "CUDA_ERROR_INVALID_VALUE"]


IMPORT = re.compile(r"^( *)(?:from cuda\.core\b|import cuda\.core\b|from cuda import core\b)", re.MULTILINE)
TYPE_CHECKING = re.compile(r"^if TYPE_CHECKING:.*\n(?:(?: .*)?\n)*", re.MULTILINE)


def imports_of_core(source):
    """Return where the source imports ``cuda.core``: "module", or "function"."""
    return ["function" if indent else "module" for indent in IMPORT.findall(TYPE_CHECKING.sub("", source))]


def test_only_fixtures_of_the_plugin_import_cuda_core():
    found = {path.name: imports_of_core(path.read_text()) for path in sorted(FOLDER.glob("*.py"))}
    assert {name: places for name, places in found.items() if places} == {"pytest_plugin.py": ["function"]}


def test_planted_imports_are_found():
    source = (
        "if TYPE_CHECKING:\n    from cuda.core import Kernel\n\nimport cuda.core\ndef f():\n    from cuda import core\n"
    )
    assert imports_of_core(source) == ["module", "function"]

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""``python -m cuda.core``, and the message of a checkout that is not built."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cuda.core
import cuda.emulator
from cuda.core import __main__ as program

ROOT = Path(__file__).resolve().parents[1]
SENTENCE = "which is not built for this Python"


def python(*arguments: str, cwd=None, **variables: str) -> subprocess.CompletedProcess:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"} | variables
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=60)


def test_command_prints_a_page_with_every_section(tmp_path):
    done = python("-m", "cuda.core", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for title in ("Packages", "Driver", "Devices", "CUDA toolkit", "Software device", "Caches", "roblems"):
        assert title in done.stdout


def test_help_lists_the_other_commands(capsys):
    with pytest.raises(SystemExit):
        program.main(["--help"])
    shown = capsys.readouterr().out
    assert "python -m cuda.core prebuild " in shown and "python -m cuda.core.examples " in shown


@pytest.mark.requires(devices=2)
def test_page_has_the_links_between_devices(tmp_path):
    done = python("-m", "cuda.core", cwd=tmp_path)
    assert "from 0  itself" in done.stdout, done.stdout + done.stderr


def test_command_prints_json(tmp_path):
    done = python("-m", "cuda.core", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["packages"][0]["version"] == cuda.core.__version__


def test_closed_output_pipe_is_not_an_error():
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as output:
        command = [sys.executable, "-P", "-m", "cuda.core"]
        done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True, timeout=60)
    assert (done.returncode, done.stderr.count("Error")) == (0, 0), done.stderr


@pytest.mark.requires(software=True)
def test_command_without_a_driver_says_so_and_succeeds(tmp_path):
    done = python("-m", "cuda.core", cwd=tmp_path, CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 0, done.stderr
    assert "the CUDA driver cannot be initialized: CUDA_ERROR_NO_DEVICE" in done.stdout


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1 KiB"), (5 << 20, "5 MiB"), (4 << 30, "4.0 GiB")]
)
def test_sizes_are_shown_in_the_unit_that_fits(count, text):
    assert program.size(count) == text


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """A checkout that is not built."""
    root = tmp_path_factory.mktemp("fresh") / "clone"
    shutil.copytree(ROOT / "cuda", root / "cuda", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    shutil.copytree(ROOT / "examples", root / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "setup.py", root)
    return root


@pytest.mark.requires(source=True)
@pytest.mark.parametrize(
    "code",
    [
        "from cuda.core import Device",
        "from cuda.core import graph",
        "from cuda.core.utils import StridedMemoryView",
        "import cuda.core; cuda.core.launch",
    ],
)
def test_unbuilt_checkout_says_so_in_one_sentence(checkout, code):
    done = python("-c", code, cwd=checkout, PYTHONPATH="", CUDA_CORE_DEVICE="hardware")
    assert done.returncode == 1
    assert SENTENCE in done.stderr.splitlines()[-1]
    assert "python -P" in done.stderr
    assert done.stderr.count("Traceback") == 1


@pytest.mark.requires(source=True)
def test_command_in_an_unbuilt_checkout_says_so(checkout):
    done = python("-m", "cuda.core", cwd=checkout, PYTHONPATH="", CUDA_CORE_DEVICE="hardware")
    assert done.returncode == 1
    assert SENTENCE in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.requires(source=True)
def test_safe_path_finds_the_installed_package_from_a_checkout(checkout):
    installed = os.pathsep.join(str(Path(package.__file__).parents[2]) for package in (cuda.core, cuda.emulator))
    done = python("-P", "-m", "cuda.emulator", "examples/saxpy.py", cwd=checkout, PYTHONPATH=installed)
    assert done.returncode == 0, done.stderr
    assert "verified" in done.stdout


@pytest.mark.requires(source=True)
def test_incomplete_installation_should_be_reinstalled(checkout, tmp_path):
    shutil.copytree(checkout / "cuda", tmp_path / "cuda")
    done = python("-c", "from cuda.core import Device", cwd=tmp_path, PYTHONPATH="", CUDA_CORE_DEVICE="hardware")
    assert done.returncode == 1
    assert "incomplete" in done.stderr and "pip install --force-reinstall" in done.stderr

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Versions of Triton with another interface, which import the device's modules wherever it is installed."""

import os
import subprocess
import sys

import pytest

ABSTRACT = "import abc\nclass {}(abc.ABC):\n    @abc.abstractmethod\n    def unknown(self): pass\n"


@pytest.fixture
def run(tmp_path):
    """Run code beside a small package in place of Triton, whose classes require a method that ours do not have."""
    backends = tmp_path / "triton" / "backends"
    backends.mkdir(parents=True)
    for package in (backends.parent, backends):
        (package / "__init__.py").touch()
    (backends / "compiler.py").write_text(ABSTRACT.format("BaseBackend"))
    (backends / "driver.py").write_text(ABSTRACT.format("DriverBase"))
    information = tmp_path / "triton-99.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: triton\nVersion: 99.0\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])

    def run(code, device):
        environment = {**os.environ, "PYTHONPATH": path, "CUDA_CORE_DEVICE": device}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=60)
        return done.stdout, done.stderr

    return run


@pytest.mark.parametrize("device", ["hardware", "software"])
def test_device_is_found_by_unknown_versions(run, device):
    code = (
        "import inspect\nfrom cuda.emulator.triton import compiler, driver\n"
        "print(*map(inspect.isabstract, (compiler.SoftwareBackend, driver.SoftwareDriver)), driver.is_wanted())"
    )
    assert run(code, device) == (f"False False {device == 'software'}\n", "")


def test_unknown_versions_are_rejected_by_the_device(run):
    output, error = run("from cuda.emulator.triton import driver\ndriver.SoftwareDriver()", "software")
    assert output == ""
    assert error.splitlines()[-1].startswith(
        "RuntimeError: the software device knows the interface of Triton 3.8 and 3.9, not that of 99.0: cannot import"
    )

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Core dumps of the GPU."""

import os
import re
import subprocess
import sys

import pytest
from cuda.bindings import driver

from cuda.core import NotSupportedError
from cuda.core.utils import coredump


@pytest.fixture
def calls(monkeypatch):
    """The driver calls, which are recorded and not made."""
    found = []

    def record(*arguments):
        found.append(arguments)
        return (driver.CUresult.CUDA_SUCCESS,)

    monkeypatch.setattr(driver, "cuCoredumpSetAttributeGlobal", record)
    return found


@pytest.mark.requires(cuda=(12, 5))
@pytest.mark.requires(bindings=(13, 0))
def test_flags_and_file_are_set_before_core_dumps_are_enabled(calls, tmp_path):
    coredump(tmp_path / "dump", lightweight=True)
    (flags, value), (file, path), (enable, is_enabled) = calls
    assert (flags.name, value) == ("CU_COREDUMP_GENERATION_FLAGS", 303 | 16)
    assert (file.name, path) == ("CU_COREDUMP_FILE", str(tmp_path / "dump").encode())
    assert (enable.name, is_enabled) == ("CU_COREDUMP_ENABLE_ON_EXCEPTION", True)


@pytest.mark.requires(cuda=(12, 5))
@pytest.mark.parametrize("aborts, flags", [(True, 0), (False, 16)])
def test_process_goes_on_unless_it_shall_abort(calls, aborts, flags):
    coredump(aborts=aborts)
    assert [call[-1] for call in calls] == [flags, True]


def test_wrong_paths_are_rejected():
    with pytest.raises(TypeError):
        coredump(3)
    with pytest.raises(ValueError, match="at most 1023 bytes, not 1024"):
        coredump("x" * 1024)
    with pytest.raises(ValueError, match="file must have no null characters or halves of surrogate pairs"):
        coredump("\ud800")


@pytest.mark.requires(software=True)
def test_older_drivers_are_named():
    environment = {**os.environ, "CUDA_CORE_DEVICE": "software", "CUDA_EMULATOR_DRIVER_VERSION": "12.4"}
    command = [sys.executable, "-c", "from cuda.core.utils import coredump; coredump()"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    assert re.search(
        r"TooOldError: a core dump needs .* CUDA 12\.5 or newer; this one is for CUDA 12\.4", done.stderr
    ), done.stderr


@pytest.mark.requires(software=True, cuda=(12, 9))
def test_software_device_has_no_core_dumps():
    assert driver.cuDriverGetVersion()[1] >= 12050
    with pytest.raises(NotSupportedError, match="cuCoredumpSetAttributeGlobal"):
        coredump()

# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Core dumps of the GPU."""

import os
import re
import signal
import subprocess
import sys

import pytest
from cuda.bindings import driver

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
    with pytest.raises(TypeError, match="on_complete must be callable, not int"):
        coredump(on_complete=3)


FAULT = """
import os, sys, threading
import numpy as np
from cuda.core import CUDAError, Device, LaunchConfig, Program, launch
from cuda.core.utils import coredump

calls, called = [], threading.Event()

def note(device, process):
    calls.append((device, process, open("dump").read()))
    called.set()

CALL
device = Device(1)
device.set_current()
stream = device.create_stream()
source = 'extern "C" __global__ void wild(int* p) { *p = 1; }'
kernel = Program(source, "c++").compile("ptx").get_kernel("wild")
launch(stream, LaunchConfig(grid=1, block=1), kernel, np.uint64(1 << 40))
try:
    stream.sync()
except CUDAError as error:
    print(error.name)
"""


def run_fault(directory, call, after, version="13.5"):
    variables = {"CUDA_CORE_DEVICE": "software", "CUDA_EMULATOR_DRIVER_VERSION": version}
    command = [sys.executable, "-c", FAULT.replace("CALL", call) + after]
    environment = {**os.environ, **variables}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, cwd=directory)


@pytest.mark.requires(software=True)
def test_function_is_called_after_a_core_dump(tmp_path):
    done = run_fault(
        tmp_path,
        "coredump('dump', on_complete=note)",
        "assert called.wait(30)\n((device, process, text),) = calls\n"
        "assert (device, process) == (1, os.getpid()) and 'wild' in text, calls\n",
    )
    assert (done.returncode, done.stdout) == (0, "CUDA_ERROR_ILLEGAL_ADDRESS\n"), done.stderr


@pytest.mark.requires(software=True)
@pytest.mark.parametrize("last, count", [("note", 1), ("None", 0)])
def test_later_call_replaces_the_function(tmp_path, last, count):
    done = run_fault(
        tmp_path,
        "coredump('dump', on_complete=print)\ncoredump('dump', on_complete=note)\n"
        f"coredump('dump', on_complete={last})",
        f"called.wait(30 * {count})\nprint(len(calls), os.path.exists('dump'))",
    )
    assert done.stdout == f"CUDA_ERROR_ILLEGAL_ADDRESS\n{count} True\n", done.stderr


@pytest.mark.requires(software=True)
def test_exception_in_the_function_is_reported(tmp_path):
    done = run_fault(
        tmp_path,
        "def fail(device, process):\n    raise KeyError('upload')\n"
        "sys.unraisablehook = lambda shown: (calls.append(shown.exc_value), called.set())\n"
        "coredump('dump', on_complete=fail)",
        "called.wait(30)\nprint(calls)\n",
    )
    assert done.stdout == "CUDA_ERROR_ILLEGAL_ADDRESS\n[KeyError('upload')]\n", done.stderr


@pytest.mark.requires(software=True)
def test_process_aborts_after_the_core_dump_if_asked(tmp_path):
    done = run_fault(tmp_path, "coredump('dump', aborts=True)", "")
    assert done.returncode == -signal.SIGABRT and "wild" in (tmp_path / "dump").read_text()


@pytest.mark.requires(software=True)
def test_older_drivers_have_no_callback(tmp_path):
    done = run_fault(tmp_path, "coredump('dump', on_complete=note)", "", version="13.1")
    assert re.search(r"TooOldError: on_complete needs .* CUDA 13\.2 or newer", done.stderr), done.stderr


@pytest.mark.requires(software=True)
def test_older_drivers_are_named():
    environment = {**os.environ, "CUDA_CORE_DEVICE": "software", "CUDA_EMULATOR_DRIVER_VERSION": "12.4"}
    command = [sys.executable, "-c", "from cuda.core.utils import coredump; coredump()"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    assert re.search(
        r"TooOldError: a core dump needs .* CUDA 12\.5 or newer; this one is for CUDA 12\.4", done.stderr
    ), done.stderr
